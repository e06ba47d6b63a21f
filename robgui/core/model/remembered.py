"""What the user has said about a model, kept by the content of its file.

It holds in every workspace and wherever the file lies. The latest word counts. A side file changed
or added since then is newer than the memory: the fields it names are taken from it. Content tells
whether it changed, because copying a file changes its time. Only the window consults the memory. A
command or script does what it says, the same on every machine, and a command points out where that
differs from the window.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from robgui.core.errors import ModelError
from robgui.core.model.folder import files_of, folder_of
from robgui.core.model.settings import (
    ModelSettings,
    parse,
    read_side_file,
    side_bytes,
    side_file,
)
from robgui.core.records import Records
from robgui.core.regular import open_regular

_RECORDS = Records("models")
_CHUNK = 2**20


def remember(path: Path, settings: ModelSettings) -> None:
    """Keeps what the user said about the model in ``path``, replacing what they said before.

    Nothing is kept for a file or folder that is gone.
    """
    if not _is_there(path):
        return
    record = {
        "name": path.name,
        "settings": settings.model_dump(mode="json"),
        "side": _side(path),
        "when": time.time(),
    }
    _RECORDS.write(content(path), record)


def recall(path: Path) -> dict[str, Any]:
    """The settings the user gave the model in ``path``; empty if none."""
    if not _is_there(path):  # The loader will say what is wrong with it.
        return {}
    record = _RECORDS.read(content(path))
    if record is None or not isinstance(record.get("settings"), dict):
        return {}
    try:
        values = parse(record["settings"], path.name).model_dump()
    except ModelError as error:  # A record of another version of the program.
        logging.getLogger("robgui").warning(
            "What is remembered of %s cannot be used: %s", path.name, error
        )
        return {}
    if record.get("side") == _side(path):
        return values
    return _without_named(values, path)


def recent(most: int = 8) -> list[tuple[str, ModelSettings]]:
    """The models the user has said something about, by name, the newest first."""
    found = []
    for key in _RECORDS.known():
        record = _RECORDS.read(key) or {}
        name, values, when = (record.get(field) for field in ("name", "settings", "when"))
        if isinstance(name, str) and isinstance(values, dict) and isinstance(when, int | float):
            try:
                found.append((when, name, parse(values, name)))
            except ModelError:  # A record of another version of the program.
                continue
    found.sort(key=lambda each: -each[0])
    return [(name, settings) for _, name, settings in found[:most]]


def overlooked(path: Path, settings: ModelSettings) -> list[str]:
    """Names of the settings that differ from what the user said about the model in the window."""
    # Asked first, because ``recall`` reads the whole model for its digest.
    if any(True for _ in _RECORDS.known()):
        said = recall(path)
    else:
        said = {}
    return [name for name, value in said.items() if value != getattr(settings, name)]


def settled(path: Path, stored: Mapping[str, Any], used: float) -> dict[str, Any]:
    """The settings of a model that a workspace refers to.

    Args:
        path: The model file.
        stored: Its settings when last used in this workspace.
        used: When that was.
    """
    if said := recall(path):
        return said
    side = side_file(path)
    # By time, the only thing a workspace knows: it keeps no digest of the side file.
    newer = side.is_file() and side.stat().st_mtime > used
    if newer:
        return _without_named(stored, path)
    return dict(stored)


def content(path: Path) -> str:
    """SHA-256 of a model: its file and the files of weights that belong to it, or its folder."""
    digest = hashlib.sha256()
    try:
        for file in files_of(path) if path.is_dir() else (path, *_weights_of(path)):
            with open_regular(file) as opened:
                while chunk := opened.read(_CHUNK):
                    digest.update(chunk)
    except OSError as error:
        raise ModelError(f"{path} cannot be read ({error.strerror}); check the path.") from error
    return digest.hexdigest()


def _is_there(path: Path) -> bool:
    return path.is_file() or folder_of(path) is not None


def _weights_of(path: Path) -> Iterator[Path]:
    """The files with an ONNX model's large weights.

    Two networks of the same form differ only there.
    """
    if path.suffix.lower() == ".onnx":
        names = (
            f"{path.name}.data",
            f"{path.name}_data",
            f"{path.stem}.data",
            f"{path.stem}.weights",
        )
        yield from (path.with_name(name) for name in names if path.with_name(name).is_file())


def _side(path: Path) -> str:
    """A digest of the side file; empty without one."""
    if side_file(path).is_file():
        return hashlib.sha256(side_bytes(path)).hexdigest()
    return ""


def _without_named(values: Mapping[str, Any], path: Path) -> dict[str, Any]:
    named = read_side_file(path)
    return {name: value for name, value in values.items() if name not in named}
