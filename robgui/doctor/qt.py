"""Qt: its version, whether it starts, its fonts, and OpenGL."""

from __future__ import annotations

import os

from robgui.doctor.check import Check, numbers, probe, version
from robgui.doctor.display import display_problem
from robgui.doctor.libraries import check_qt_libraries, check_x11_libraries

FONTS = "fonts-dejavu-core"


def check_qt_version() -> Check:
    """Checks that PySide6 is installed and new enough."""
    found = version("PySide6-Essentials")
    if found is None:
        return Check(
            "qt version",
            "FAIL",
            "PySide6 is not installed; install it with: pip install PySide6-Essentials",
        )
    if numbers(found) < (6, 8):
        return Check(
            "qt version",
            "FAIL",
            f"PySide6 {found} is too old; upgrade it with: pip install --upgrade"
            " PySide6-Essentials",
        )
    return Check("qt version", "OK", f"PySide6 {found}.")


def check_qt_starts() -> Check:
    """Checks that a Qt application starts, on the screen if there is one."""
    found, error = probe("qt", _platform())
    if found is None and any(
        check().state == "FAIL" for check in (check_qt_libraries, check_x11_libraries)
    ):
        return Check(
            "qt", "WARN", "Qt does not start, because it lacks the system libraries named above."
        )
    if found is None:
        return Check("qt", "FAIL", f"Qt does not start: {error}")
    return Check("qt", "OK", f"Qt {found['version']} starts on the platform {found['platform']}.")


def check_fonts() -> Check:
    """Checks that Qt finds fonts with the symbols that the window shows."""
    found, _ = probe("fonts", _platform())
    if found is None:
        return Check("fonts", "WARN", "The fonts cannot be looked at, because Qt does not start.")
    if not found["families"]:
        return Check(
            "fonts",
            "WARN",
            f"Qt finds no fonts, so text stays invisible; install some: apt-get install {FONTS}",
            (FONTS,),
        )
    if found["missing"]:
        signs = " ".join(found["missing"])
        return Check(
            "fonts",
            "WARN",
            f"No font has the signs {signs}, so boxes stand for them; install: apt-get install"
            f" {FONTS}",
            (FONTS,),
        )
    return Check(
        "fonts",
        "OK",
        f"{found['families']} font families; the window uses {found['family']}, and"
        f" {found['fixed']} for columns.",
    )


def check_gl() -> Check:
    """Checks that OpenGL works, or at least does no harm; nothing in robgui needs it."""
    found, error = probe("gl", _platform())
    # Asked only then: it tells a Qt that does not start from an OpenGL that does not work.
    if found is None and probe("qt", _platform())[0] is None:
        return Check(
            "opengl",
            "WARN",
            "OpenGL cannot be looked at, because Qt does not start; robgui draws without it.",
        )
    if found is None:
        return Check(
            "opengl",
            "WARN",
            f"OpenGL cannot be tried ({error}); robgui draws without it, but the graphics driver"
            " may need an update.",
        )
    if not found["renderer"]:
        return Check(
            "opengl",
            "OK",
            f"No OpenGL on the platform {found['platform']}; robgui draws without it.",
        )
    return Check(
        "opengl",
        "OK",
        f"OpenGL {found['version']} by {found['renderer']}; robgui draws without it.",
    )


def _platform() -> dict[str, str]:
    # A probe on a display that does not answer would abort.
    chosen = os.environ.get("QT_QPA_PLATFORM") or (
        "offscreen" if display_problem(os.environ) else ""
    )
    if chosen:
        return {"QT_QPA_PLATFORM": chosen}
    return {}
