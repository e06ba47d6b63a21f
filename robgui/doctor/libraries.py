"""The system libraries Qt needs, found without importing Qt, and the packages holding them."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from robgui.doctor.check import Check, State, output

#: Debian package of each system library that Qt may lack.
DEBIAN_PACKAGES = {
    "libEGL.so.1": "libegl1",
    "libGL.so.1": "libgl1",
    "libGLX.so.0": "libglx0",
    "libICE.so.6": "libice6",
    "libSM.so.6": "libsm6",
    "libX11-xcb.so.1": "libx11-xcb1",
    "libX11.so.6": "libx11-6",
    "libdbus-1.so.3": "libdbus-1-3",
    "libfontconfig.so.1": "libfontconfig1",
    "libfreetype.so.6": "libfreetype6",
    "libglib-2.0.so.0": "libglib2.0-0",
    "libgthread-2.0.so.0": "libglib2.0-0",
    "libxcb-cursor.so.0": "libxcb-cursor0",
    "libxcb-icccm.so.4": "libxcb-icccm4",
    "libxcb-image.so.0": "libxcb-image0",
    "libxcb-keysyms.so.1": "libxcb-keysyms1",
    "libxcb-randr.so.0": "libxcb-randr0",
    "libxcb-render-util.so.0": "libxcb-render-util0",
    "libxcb-render.so.0": "libxcb-render0",
    "libxcb-shape.so.0": "libxcb-shape0",
    "libxcb-shm.so.0": "libxcb-shm0",
    "libxcb-sync.so.1": "libxcb-sync1",
    "libxcb-util.so.1": "libxcb-util1",
    "libxcb-xfixes.so.0": "libxcb-xfixes0",
    "libxcb-xkb.so.1": "libxcb-xkb1",
    "libxcb.so.1": "libxcb1",
    "libxkbcommon-x11.so.0": "libxkbcommon-x11-0",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libz.so.1": "zlib1g",
    "libzstd.so.1": "libzstd1",
}


def check_qt_libraries() -> Check:
    """Checks that Qt finds the system libraries it needs even without a window."""
    # This plugin needs what every Qt program needs, and nothing of X11.
    missing, problem = missing_libraries("libqoffscreen.so")
    if problem:
        return Check("qt libraries", "FAIL", problem)
    if missing:
        return _advise("qt libraries", "FAIL", "Qt cannot start", missing)
    return Check("qt libraries", "OK", "Qt has all its system libraries.")


def check_x11_libraries() -> Check:
    """Checks that Qt's X11 plugin finds its further system libraries.

    They matter only where it would be used.
    """
    missing = [
        name
        for name in missing_libraries("libqxcb.so")[0]
        if name not in missing_libraries("libqoffscreen.so")[0]
    ]
    if not missing:
        return Check("x11 libraries", "OK", "Qt's X11 plugin has all its system libraries.")
    used = bool(os.environ.get("DISPLAY")) and not os.environ.get("WAYLAND_DISPLAY")
    return _advise(
        "x11 libraries", "FAIL" if used else "WARN", "Qt cannot open an X11 window", missing
    )


def missing_libraries(plugin: str) -> tuple[list[str], str]:
    """Libraries that a platform plugin lacks, and a sentence if the system is too old for it."""
    path = platform_plugin(plugin)
    if path is None or shutil.which("ldd") is None:
        return [], ""
    # ldd resolves as the loader would, without starting Qt, which aborts when something is missing.
    lines = output(["ldd", str(path)]).splitlines()
    missing = sorted(
        {match[1] for line in lines if (match := re.match(r"\s*(\S+) => not found", line))}
    )
    wanted = [
        match[1] for line in lines if (match := re.search(r"version [`']([^']+)' not found", line))
    ]
    too_old = (
        f"This system's C library is too old for this PySide6, which wants {wanted[0]}; install an"
        " older PySide6."
        if wanted
        else ""
    )
    return missing, too_old


def platform_plugin(name: str) -> Path | None:
    """The file of one of Qt's platform plugins; None if PySide6 is missing."""
    try:
        files = importlib.metadata.distribution("PySide6-Essentials")
    except importlib.metadata.PackageNotFoundError:
        return None
    path = Path(str(files.locate_file(f"PySide6/Qt/plugins/platforms/{name}")))
    if path.is_file():
        return path
    return None


def _advise(name: str, state: State, trouble: str, libraries: Sequence[str]) -> Check:
    packages = tuple(
        sorted({DEBIAN_PACKAGES[library] for library in libraries if library in DEBIAN_PACKAGES})
    )
    unknown = [library for library in libraries if library not in DEBIAN_PACKAGES]
    if packages:
        advice = f"on Debian and Ubuntu: apt-get install {' '.join(packages)}"
    else:
        advice = "install the packages that hold them"
    if packages and unknown:
        also = f", and the packages with {', '.join(unknown)}"
    else:
        also = ""
    return Check(name, state, f"{trouble} without {', '.join(libraries)}; {advice}{also}", packages)
