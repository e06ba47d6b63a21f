"""The hashes of what is installed: written from what pip finds, and asked for by pip itself.

One file per system, Python and purpose in packaging/hashes. Where there is one, every package must
be exactly the file it names. On other systems the versions of packaging/constraints.txt hold and
the index is believed.
"""

from __future__ import annotations

import json
import re
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from environment import CONSTRAINTS, PYTHON, ROOT, Problem, call, hashes_for

#: What is installed for what: the extras of pyproject.toml.
PURPOSES = {"dev": ("dev",), "app": ("onnx", "sklearn", "imagenet", "package")}
#: Its builds for CPU and CUDA come from different indexes, so there is no one file of it.
APART = "torch"


def pin(arguments: Sequence[str]) -> int:
    """Writes the hashes of everything that pip would install here, or on other systems."""
    if arguments and list(arguments) != ["others"]:
        raise Problem(f"pin takes others or nothing, not: {' '.join(arguments)}.")
    if arguments:
        return call([PYTHON, "-P", ROOT / "packaging" / "elsewhere.py"])
    for purpose, extras in PURPOSES.items():
        target = hashes_for(purpose)
        target.parent.mkdir(exist_ok=True)
        lines = hashed(report(requirements(extras)))
        target.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")
        print(f"{target.relative_to(ROOT)}: {len(lines)} packages", flush=True)
    return 0


HEAD = "# Made by packaging/dev.py pin. pip refuses any other file of these packages."


def requirements(extras: Iterable[str]) -> list[str]:
    """What pyproject.toml asks for with these extras, robgui itself left out."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    stated: dict[str, list[str]] = project["project"]["optional-dependencies"]
    found: list[str] = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    waiting = list(extras)
    while waiting:
        for one in stated[waiting.pop()]:
            own = re.fullmatch(r"robgui\[([\w,]+)\]", one)
            if own:
                waiting += own[1].split(",")
            else:
                found.append(one)
    return found


def report(wanted: Sequence[str]) -> dict[str, Any]:
    """What pip would install into an empty environment, torch pinned as always."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "report.json"
        command: list[str | Path] = [
            PYTHON,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--dry-run",
            "--ignore-installed",
            "--report",
            target,
            "--constraint",
            CONSTRAINTS,
            *wanted,
        ]
        if call(command):
            raise Problem("pip could not say what it would install (its reason is above).")
        return read_report(target)


def read_report(target: Path) -> dict[str, Any]:
    """What pip has written of an installation."""
    found: dict[str, Any] = json.loads(target.read_text(encoding="utf-8"))
    return found


def hashed(found: dict[str, Any]) -> list[str]:
    """One line per package but torch: its version and the hash of its file."""
    lines = []
    for item in found["install"]:
        name, version = item["metadata"]["name"], item["metadata"]["version"]
        if name == APART:
            continue
        digest = item["download_info"].get("archive_info", {}).get("hashes", {}).get("sha256", "")
        if not re.fullmatch(r"[0-9a-f]{64}", digest):
            raise Problem(f"The index names no SHA-256 for {name}; use one that does.")
        lines.append(f"{name}=={version} --hash=sha256:{digest}")
    return sorted(lines, key=str.casefold)
