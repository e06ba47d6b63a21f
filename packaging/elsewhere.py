"""The hashes for systems other than this one: what pip would install there.

Run with the Python of .venv, which has the library that reads requirements:
``python -P packaging/elsewhere.py``. pip chooses the files for another system but believes that
requirements speak of this one; so their conditions are judged here and pip is asked package by
package, each with the version of packaging/constraints.txt.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

sys.path.append(str(Path(__file__).resolve().parent))

from environment import CONSTRAINTS, HASHES, Problem
from pins import APART, HEAD, PURPOSES, hashed, read_report, requirements


@dataclass(frozen=True, slots=True)
class System:
    """Another system.

    Attributes:
        platforms: The names under which pip knows its files, the best first.
        markers: What the conditions of requirements see there.
    """

    platforms: tuple[str, ...]
    markers: Mapping[str, str]


def _markers(name: str, system: str, machine: str, kind: str = "posix") -> dict[str, str]:
    return {
        "sys_platform": name,
        "platform_system": system,
        "platform_machine": machine,
        "os_name": kind,
        "python_version": "3.11",
        "python_full_version": "3.11.7",
        "implementation_name": "cpython",
        "platform_python_implementation": "CPython",
    }


SYSTEMS = {
    "darwin-arm64": System(
        (
            *(f"macosx_{version}_0_arm64" for version in (14, 13, 12, 11)),
            *(f"macosx_{version}_universal2" for version in ("13_0", "11_0", "10_13", "10_9")),
        ),
        _markers("darwin", "Darwin", "arm64"),
    ),
    "win32-amd64": System(("win_amd64",), _markers("win32", "Windows", "AMD64", "nt")),
    "linux-aarch64": System(
        (
            *(f"manylinux_2_{minor}_aarch64" for minor in (39, 34, 31, 28, 27, 26, 24, 17)),
            "manylinux2014_aarch64",
        ),
        _markers("linux", "Linux", "aarch64"),
    ),
}


def write(name: str) -> list[Path]:
    """The files of hashes for the system called ``name``."""
    made = []
    known: dict[str, dict[str, Any]] = {}
    for purpose, extras in PURPOSES.items():
        lines = hashed({"install": closure(SYSTEMS[name], requirements(extras), known)})
        target = HASHES / f"{name}-cp311.{purpose}.txt"
        target.write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")
        print(f"{target.name}: {len(lines)} packages", flush=True)
        made.append(target)
    return made


def closure(
    system: System, wanted: Iterable[str], known: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Everything that ``wanted`` needs there, as pip reports it; ``known`` keeps what it said."""
    found: dict[str, dict[str, Any]] = {}
    waiting = asked_by(map(Requirement, wanted), system, {""})
    pins = re.findall(r"^([\w.-]+)==", CONSTRAINTS.read_text(encoding="utf-8"), re.MULTILINE)
    pinned = set(map(canonicalize_name, pins))
    while waiting:
        if asked := sorted(set(waiting) - set(known)):
            for item in report(system, asked):
                known[canonicalize_name(item["metadata"]["name"])] = item
        found |= {name: known[name] for name in waiting}
        fresh: dict[str, set[str]] = {}
        for name, extras in waiting.items():
            needs = map(Requirement, found[name]["metadata"].get("requires_dist", ()))
            for other, more in asked_by(needs, system, extras).items():
                if name != APART or other in pinned:  # not the libraries of its build for CUDA
                    fresh.setdefault(other, {""}).update(more)
        waiting = {name: extras for name, extras in fresh.items() if name not in found}
    return list(found.values())


def asked_by(needs: Iterable[Requirement], system: System, extras: set[str]) -> dict[str, set[str]]:
    """The packages that are needed there, each with the extras it is needed with."""
    found: dict[str, set[str]] = {}
    for need in needs:
        if need.marker is None or any(
            need.marker.evaluate({**system.markers, "extra": extra}) for extra in extras
        ):
            found.setdefault(canonicalize_name(need.name), {""}).update(need.extras)
    return found


def report(system: System, names: list[str]) -> list[dict[str, Any]]:
    """What pip would install of exactly these packages there."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "report.json"
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
        command += ["--disable-pip-version-check", "--ignore-installed", "--target", folder]
        command += ["--report", str(target), "--constraint", str(CONSTRAINTS)]
        command += ["--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp"]
        for tag in system.platforms:
            command += ["--platform", tag]
        for abi in ("cp311", "abi3", "none"):
            command += ["--abi", abi]
        if subprocess.run([*command, *names], check=False).returncode:
            raise Problem("pip could not say what it would install (its reason is above).")
        items: list[dict[str, Any]] = read_report(target)["install"]
    return items


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SYSTEMS:
        write(chosen)
