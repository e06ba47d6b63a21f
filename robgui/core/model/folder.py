"""Models that are folders: config.json beside weights, as Hugging Face and timm keep them.

Only plain documents are read here; nothing in a folder is ever imported or run.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from robgui.core.errors import ModelError
from robgui.core.regular import beside, read_regular

DESCRIPTION = "config.json"
#: Largest description; one with the names of a hundred thousand classes is smaller.
_LARGEST = 20_000_000
#: Weights in one file, and the indexes of weights in several, the safest first.
_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_LISTS = tuple(f"{name}.index.json" for name in _WEIGHTS)
#: The other files of such a model.
_PREPROCESSING = "preprocessor_config.json"


def folder_of(path: Path) -> Path | None:
    """The model folder that ``path`` means: itself, or the one it is the description or weights of.

    None if there is no such model.
    """
    if path.is_dir():
        folder = path
    else:
        folder = path.parent
    if path != folder and path.name not in (DESCRIPTION, *_WEIGHTS, *_LISTS):
        return None
    if not any((folder / name).is_file() for name in (*_WEIGHTS, *_LISTS)):
        return None
    try:
        described = document(folder, DESCRIPTION)
    except ModelError:  # A folder whose config.json is something else's.
        return None
    if is_timm(described) or "model_type" in described:
        return folder
    return None


def is_timm(described: dict[str, Any]) -> bool:
    """Whether a description names a timm network."""
    return isinstance(described.get("architecture"), str)


def document(folder: Path, name: str) -> dict[str, Any]:
    """A JSON object in a folder; ModelError says in one sentence what is wrong with it.

    A missing one is empty, except for the description.
    """
    path = folder / name
    if name != DESCRIPTION and not path.exists():
        return {}
    try:
        found = json.loads(read_regular(path, _LARGEST))
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path} is damaged: it is no JSON document.") from error
    if not isinstance(found, dict):
        raise ModelError(f"{path} is damaged: it must be a JSON object.")
    return found


def weights_in(folder: Path) -> list[Path]:
    """The files of weights of a model folder, safetensors rather than pickles."""
    for name in _WEIGHTS:
        if (folder / name).is_file():
            return [folder / name]
        if (folder / f"{name}.index.json").is_file():
            return _listed(folder, f"{name}.index.json")
    raise ModelError(f"{folder} holds no weights; it needs {' or '.join(_WEIGHTS)}.")


def files_of(folder: Path) -> list[Path]:
    """Every file of a model folder, in a fixed order."""
    plain = [folder / name for name in (DESCRIPTION, _PREPROCESSING)]
    return [*(path for path in plain if path.is_file()), *weights_in(folder)]


def preprocessing(folder: Path) -> dict[str, Any]:
    """How the folder says pictures become inputs; empty if it does not."""
    return document(folder, _PREPROCESSING)


def _listed(folder: Path, name: str) -> list[Path]:
    """The files that a weight index names; they must lie beside it."""
    places = document(folder, name).get("weight_map")
    if isinstance(places, dict):
        names = set(places.values())
    else:
        names = set()
    found = []
    # Sorted: the digest of the model must not follow the order of a set.
    for each in sorted(map(str, names)):
        try:
            found.append(beside(folder, each))
        except OSError as error:
            raise ModelError(
                f"{folder / name} names weights outside its folder ({each[:200]!r}) and is refused."
            ) from error
    if not found:
        raise ModelError(f"{folder / name} is damaged: it names no files of weights.")
    return found
