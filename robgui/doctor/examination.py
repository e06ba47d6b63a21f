"""Runs all checks, a few at a time, and reports them as text or JSON."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict

from robgui.doctor.check import Check
from robgui.doctor.compute import check_torch
from robgui.doctor.confinement import check_confinement
from robgui.doctor.display import check_display
from robgui.doctor.files import check_data_folder, check_resources, check_settings_folder
from robgui.doctor.formats import (
    check_further_formats,
    check_onnx,
    check_opencv,
    check_sklearn,
)
from robgui.doctor.libraries import check_qt_libraries, check_x11_libraries
from robgui.doctor.methods import check_methods
from robgui.doctor.probes import PROBES
from robgui.doctor.python import check_python, check_requirements, check_versions
from robgui.doctor.qt import check_fonts, check_gl, check_qt_starts, check_qt_version

SECTIONS: dict[str, tuple[Callable[[], Check], ...]] = {
    "python": (check_python, check_requirements, check_versions),
    "window": (check_qt_libraries, check_x11_libraries, check_display),
    "qt": (check_qt_version, check_qt_starts, check_fonts, check_gl),
    "compute": (check_torch,),
    "formats": (check_opencv, check_onnx, check_sklearn, check_further_formats),
    "methods": (check_methods,),
    "confinement": (check_confinement,),
    "files": (check_resources, check_data_folder, check_settings_folder),
}


def examine(only: Sequence[str] = ()) -> list[Check]:
    """Runs the checks of the sections named, or all, a few at a time."""
    chosen = [
        check for name, checks in SECTIONS.items() if not only or name in only for check in checks
    ]
    # Threads are enough, as the work is in child processes; each imports a library of hundreds of
    # megabytes, so only a few at once.
    with ThreadPoolExecutor(max_workers=4) as pool:
        return list(pool.map(lambda check: check(), chosen))


def as_text(checks: Sequence[Check]) -> str:
    """One line per check and a closing sentence, to be read or copied into a report."""
    lines = [f"{check.state:<4}  {check.name}: {check.sentence}" for check in checks]
    counts = {state: sum(check.state == state for check in checks) for state in ("FAIL", "WARN")}
    if not any(counts.values()):
        closing = "Everything is well."
    else:
        closing = f"{counts['FAIL']} to repair, {counts['WARN']} to know about."
    return "\n".join([*lines, closing])


def report() -> str:
    """Everything examined, as text to copy."""
    return as_text(examine())


def parser() -> argparse.ArgumentParser:
    """What the command takes."""
    made = argparse.ArgumentParser(
        prog="robgui doctor", description="Says what is installed and what is broken."
    )
    made.add_argument("--json", action="store_true", help="print JSON instead of text")
    made.add_argument(
        "--only",
        action="append",
        choices=list(SECTIONS),
        default=[],
        help="look at this section only (may be repeated)",
    )
    made.add_argument("--probe", choices=list(PROBES), help=argparse.SUPPRESS)
    return made


def main(argv: Sequence[str] | None = None) -> int:
    """Prints what was found; returns 1 if something is broken."""
    arguments = parser().parse_args(argv)
    if arguments.probe:
        print(json.dumps(PROBES[arguments.probe]()))
        return 0
    checks = examine(arguments.only)
    broken = any(check.state == "FAIL" for check in checks)
    print(
        json.dumps({"ok": not broken, "checks": [asdict(check) for check in checks]}, indent=1)
        if arguments.json
        else as_text(checks)
    )
    return int(broken)
