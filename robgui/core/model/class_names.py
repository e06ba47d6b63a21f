"""Class names from a file: one per line, a JSON list, or a JSON object from class number to name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from robgui.core.errors import ModelError

#: A file of class names is never larger.
_LARGEST = 10_000_000
_FORMS = "it must have one class name per line, or be a JSON list of names"


def read_names(path: Path) -> tuple[str, ...]:
    """The class names in ``path``, in the order of the outputs; ModelError says what is wrong with the file."""
    try:
        if path.stat().st_size > _LARGEST:
            raise ModelError(f"{path} is too large for a list of class names; {_FORMS}.")
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ModelError(f"{path}: the class names cannot be read ({reason}); {_FORMS}.") from error
    names = _from_json(path, text) if path.suffix.casefold() == ".json" else [line.strip() for line in text.splitlines()]
    found = tuple(name for name in names if name)
    if not found:
        raise ModelError(f"{path} holds no class names; {_FORMS}.")
    return found


def with_names_read(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Model settings whose ``labels`` may be the name of a file, beside the model or here, with the names that stand in it."""
    labels = values.get("labels")
    if not isinstance(labels, str):
        return dict(values)
    beside = folder / labels
    return {**values, "labels": read_names(beside if beside.is_file() else Path(labels))}


def _from_json(path: Path, text: str) -> list[str]:
    try:
        document = json.loads(text)
        if isinstance(document, dict):  # {"0": "tench", …}, or {"0": ["n01440764", "tench"], …} as Keras writes it for ImageNet
            document = [document[str(number)] for number in range(len(document))]
    except (ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"{path}: the class names cannot be read ({error}); {_FORMS}.") from error
    names = [entry[-1] if isinstance(entry, list) and entry else entry for entry in document] if isinstance(document, list) else []
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{path} holds something else than class names; {_FORMS}.")
    return [str(name).strip() for name in names]
