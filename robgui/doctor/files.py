"""The folders that robgui writes to."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from robgui.doctor.check import Check, State

SPACE_WANTED = 10**9


def check_data_folder() -> Check:
    """Checks that the folder of the default workspace is writable and has room."""
    try:
        import platformdirs
    except ImportError:
        return Check(
            "data folder",
            "FAIL",
            "platformdirs is missing; install it with: pip install platformdirs",
        )
    return _look(
        "data folder",
        Path(platformdirs.user_data_path("robgui", appauthor=False)),
        "give a workspace elsewhere",
        "FAIL",
    )


def check_settings_folder() -> Check:
    """Checks that the window's settings can be stored."""
    try:
        import platformdirs
    except ImportError:
        return Check(
            "settings folder",
            "FAIL",
            "platformdirs is missing; install it with: pip install platformdirs",
        )
    folder = Path(platformdirs.user_config_path("robgui", appauthor=False))
    return _look("settings folder", folder, "set ROBGUI_CONFIG to a file elsewhere", "WARN")


def check_resources() -> Check:
    """Checks that icons, help and the demo are there."""
    from robgui import resources
    from robgui.core.errors import RobguiError

    try:
        entries = resources.demo()
        folder = resources.path("icons", "app.svg").parent.parent
    except RobguiError as error:
        return Check("resources", "FAIL", str(error))
    return Check("resources", "OK", f"{folder} holds the icons, the help and {len(entries)} demos.")


def _look(name: str, folder: Path, remedy: str, worst: State) -> Check:
    # The folder itself is made by the first run.
    existing = next(parent for parent in (folder, *folder.parents) if parent.is_dir())
    try:
        # Really written: permissions say nothing of quotas and read-only mounts.
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        sentence = f"{folder} cannot be written ({error.strerror}); make it writable or {remedy}."
        return Check(name, worst, sentence)
    free = shutil.disk_usage(existing).free
    if free < SPACE_WANTED:
        return Check(
            name, "WARN", f"{folder} has only {free / 1e9:.1f} GB left; make room before long runs."
        )
    return Check(name, "OK", f"{folder} can be written and has {free / 1e9:.0f} GB left.")
