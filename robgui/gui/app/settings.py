"""What the program remembers about the user; a bad settings file never stops the start."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from robgui.core.files import private_folder, write_whole
from robgui.core.regular import read_regular

RECENT = 12
#: Follows the system, or what the user has chosen.
Look = Literal["system", "light", "dark"]
#: Largest settings file: twelve paths and the layout of a window take less.
_LARGEST = 1_000_000


class Settings(BaseModel):
    """Choices that outlive a session."""

    # A later version may have written more; its file still opens here.
    model_config = ConfigDict(extra="ignore", validate_assignment=True)

    look: Look = "system"
    font_scale: float = 1.0
    #: The user's own thresholds, by ``analysis.field``; the program's apply to all others.
    thresholds: dict[str, float] = {}
    recent: tuple[str, ...] = ()
    #: Workspaces, the last one first.
    workspaces: tuple[str, ...] = ()
    geometry: str = ""
    layout: str = ""
    #: Parts of the window that the user folded or unfolded; its size decides about the others.
    folded: dict[str, bool] = {}
    last_folder: str = ""
    #: Gigabytes of memory that each process for models may take; 0 shares 80 % of what the machine
    #: has.
    memory_gb: float = Field(default=0.0, ge=0)
    #: How many runs compute at once; 16 is the MOST_AT_ONCE of their places.
    runs_at_once: int = Field(default=1, ge=1, le=16)

    @model_validator(mode="before")
    @classmethod
    def _old_dark(cls, values: Any) -> Any:
        """Reads older files, which only knew whether the user had asked for dark."""
        if isinstance(values, dict) and values.get("dark") is True and "look" not in values:
            return {**values, "look": "dark"}
        return values

    @property
    def memory(self) -> int:
        """Bytes that each process for models may take; 0 lets the program choose."""
        return round(self.memory_gb * 1e9)

    def add_recent(self, path: Path) -> None:
        """Puts ``path`` at the head of the recently opened files."""
        self.recent = _first(path, self.recent)

    def add_workspace(self, path: Path) -> None:
        """Puts ``path`` at the head of the workspaces."""
        self.workspaces = _first(path, self.workspaces)

    @property
    def last_workspace(self) -> Path | None:
        """The workspace that was open last, if its file is still there."""
        if self.workspaces:
            path = Path(self.workspaces[0])
        else:
            path = None
        if path is not None and path.exists():
            return path
        return None


def _first(path: Path, paths: tuple[str, ...]) -> tuple[str, ...]:
    text = str(path.absolute())
    return (text, *(other for other in paths if other != text))[:RECENT]


def config_path() -> Path:
    """The settings file; ``ROBGUI_CONFIG`` moves it."""
    chosen = os.environ.get("ROBGUI_CONFIG")
    if chosen:
        return Path(chosen)
    return Path(platformdirs.user_config_dir("robgui", appauthor=False)) / "settings.json"


def load_settings() -> Settings:
    """Reads the settings; anything wrong is logged and the defaults are used."""
    path = config_path()
    try:
        return Settings.model_validate(json.loads(read_regular(path, _LARGEST)))
    except FileNotFoundError:
        return Settings()
    # json raises RecursionError for thousands of nested brackets.
    except (OSError, ValueError, RecursionError, ValidationError) as error:
        logging.getLogger("robgui").warning(
            "%s cannot be read, so the defaults are used: %s", path, error
        )
        return Settings()


def save_settings(settings: Settings) -> None:
    """Writes the settings whole or not at all; failing to is logged, never fatal."""
    path = config_path()
    try:
        private_folder(path.parent)
        write_whole(path, settings.model_dump_json(indent=2).encode(), private=True)
    except OSError as error:
        logging.getLogger("robgui").warning("%s cannot be written: %s", path, error)
