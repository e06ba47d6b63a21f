"""Whether there is a screen to show a window on."""

from __future__ import annotations

import os
import re
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from robgui.doctor.check import Check
from robgui.doctor.libraries import check_qt_libraries, check_x11_libraries


def check_display() -> Check:
    """Checks that there is a screen to show a window on."""
    problem = display_problem(os.environ)
    if problem:
        return Check("display", "WARN", problem)
    return Check("display", "OK", "There is a display for the window.")


def display_problem(environment: Mapping[str, str]) -> str:
    """Why no window can be shown with these environment variables; empty if one can.

    Only Linux and other X11 systems can lack a display. The named display is contacted, since a
    stale DISPLAY makes Qt abort.
    """
    if sys.platform in ("win32", "darwin"):
        return ""
    wayland, x11 = environment.get("WAYLAND_DISPLAY", ""), environment.get("DISPLAY", "")
    if wayland and _answers(
        socket.AF_UNIX, str(Path(environment.get("XDG_RUNTIME_DIR", "/")) / wayland)
    ):
        return ""
    if x11 and _x11_answers(x11):
        return ""
    remedy = "log in at the screen, use ssh -X, or start Xvfb."
    if x11 or wayland:
        return f"The display {x11 or wayland} does not answer; {remedy}"
    return (
        f"There is no display for the window (neither DISPLAY nor WAYLAND_DISPLAY is set); {remedy}"
    )


def window_problem(environment: Mapping[str, str]) -> str:
    """Why Qt would abort instead of opening a window, in a sentence; empty if it would not."""
    checks = [check_qt_libraries()]
    if not environment.get("QT_QPA_PLATFORM"):
        if problem := display_problem(environment):
            return problem
        checks.append(check_x11_libraries())
    return next(
        (f"{check.sentence.removesuffix('.')}." for check in checks if check.state == "FAIL"), ""
    )


def _x11_answers(display: str) -> bool:
    match = re.fullmatch(r"(?:unix/?)?([^:]*):(\d+)(?:\.\d+)?", display)
    if match is None:
        return Path(display.partition(":")[0]).exists()  # A socket's own path, as on macOS.
    host, number = match[1], int(match[2])
    if host:
        # X11 listens at 6000 plus the number of the display; ssh -X starts at 10.
        return _answers(socket.AF_INET, (host, 6000 + number))
    path = f"/tmp/.X11-unix/X{number}"
    # As a file or, on Linux, in the abstract namespace.
    return _answers(socket.AF_UNIX, path) or _answers(socket.AF_UNIX, "\0" + path)


def _answers(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    with socket.socket(family, socket.SOCK_STREAM) as connection:
        # A display of another machine may never answer, and connecting waits for minutes.
        connection.settimeout(2)
        try:
            connection.connect(address)
        except OSError:
            return False
    return True
