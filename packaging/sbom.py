"""The list of what an application is made of, in CycloneDX JSON.

Run with the Python whose packages are meant: ``python packaging/sbom.py TARGET``. It names robgui
and every package that it needs there, with version, licence, the hash of its file where
packaging/hashes knows it, and which needs which.
"""

from __future__ import annotations

import datetime as dt
import importlib.metadata as metadata
import json
import platform
import re
import sys
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
#: The extras that an application holds.
EXTRAS = ("onnx", "sklearn", "imagenet")


def document(root: str = "robgui", hashes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The whole list, for the packages that the running Python finds."""
    graph = needed(root)
    main = _component(root, {})
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid4()}",
        "version": 1,
        "metadata": {
            "timestamp": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            "component": {**main, "type": "application"},
            "properties": [
                {"name": "python", "value": platform.python_version()},
                {"name": "platform", "value": f"{sys.platform} {platform.machine()}"},
            ],
        },
        "components": [_component(name, hashes or {}) for name in sorted(graph) if name != root],
        "dependencies": [
            {"ref": _reference(name), "dependsOn": sorted(map(_reference, below))}
            for name, below in sorted(graph.items())
        ],
    }


def needed(root: str) -> dict[str, set[str]]:
    """Every installed package that ``root`` needs, directly or not, and what each needs."""
    graph: dict[str, set[str]] = {}
    waiting = [(root, EXTRAS)]
    while waiting:
        name, extras = waiting.pop()
        below = {other for other in _requirements(name, extras) if _installed(other)}
        fresh = below - graph.get(name, set())
        graph.setdefault(name, set()).update(below)
        waiting += [(other, ()) for other in fresh if other not in graph]
    return graph


def known_hashes(folder: Path) -> dict[str, str]:
    """``name==version`` -> SHA-256, from every file of hashes."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            match = re.fullmatch(r"(\S+)==(\S+) --hash=sha256:([0-9a-f]{64})", line)
            if match and _fits(path.name):
                found[f"{_plain(match[1])}=={match[2]}"] = match[3]
    return found


def _fits(name: str) -> bool:
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return name.startswith(f"{sys.platform}-{platform.machine().lower()}-{python}.")


def _requirements(name: str, extras: tuple[str, ...]) -> Iterator[str]:
    from packaging.requirements import Requirement

    for line in metadata.requires(name) or ():
        needs = Requirement(line)
        chosen = ("", *extras)
        if needs.marker is None or any(needs.marker.evaluate({"extra": one}) for one in chosen):
            yield _plain(needs.name)


def _installed(name: str) -> bool:
    try:
        metadata.distribution(name)
    except metadata.PackageNotFoundError:  # for another system, or an extra that is not there
        return False
    return True


def _component(name: str, hashes: Mapping[str, str]) -> dict[str, Any]:
    found = metadata.distribution(name)
    component: dict[str, Any] = {
        "type": "library",
        "bom-ref": _reference(name),
        "name": found.metadata["Name"],
        "version": found.version,
        "purl": _reference(name),
    }
    if licence := _licence(found):
        component["licenses"] = [{"license": {"name": licence}}]
    if digest := hashes.get(f"{_plain(name)}=={found.version}"):
        component["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return component


def _licence(found: metadata.Distribution) -> str:
    """What the package says of its licence, in one line."""
    stated = found.metadata.get("License-Expression") or ""
    classified = [
        line.rpartition(" :: ")[2]
        for line in found.metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    free = (found.metadata.get("License") or "").strip().splitlines()
    return stated or ", ".join(classified) or (free[0][:100] if free else "")


def _reference(name: str) -> str:
    return f"pkg:pypi/{_plain(name)}@{metadata.version(name)}"


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    made = document(hashes=known_hashes(ROOT / "packaging" / "hashes"))
    Path(sys.argv[1]).write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
