"""Class names from a file: one per line, a JSON list, or a JSON object from class number to
name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.regular import beside, is_file, read_regular

#: A file of class names is never larger.
_LARGEST = 10_000_000
_FORMS = "it must have one class name per line, or be a JSON list of names"


def read_names(path: Path) -> tuple[str, ...]:
    """The class names in ``path``, in the order of the outputs.

    ModelError says what is wrong with the file.
    """
    try:
        text = read_regular(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no UTF-8 text"
        raise ModelError(f"{path}: the class names cannot be read ({reason}); {_FORMS}.") from error
    names = (
        _from_json(path, text)
        if path.suffix.casefold() == ".json"
        else [line.strip() for line in text.splitlines()]
    )
    found = tuple(name for name in names if name)
    if not found:
        raise ModelError(f"{path} holds no class names; {_FORMS}.")
    return found


def with_names_read(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Settings that a person gives: ``labels`` may be the name of a file, in ``folder`` or
    anywhere else.
    """
    labels = values.get("labels")
    if not isinstance(labels, str):
        return dict(values)
    near = folder / labels
    return {**values, "labels": read_names(near if is_file(near) else Path(labels))}


def with_names_beside(values: Mapping[str, object], side_file: Path) -> dict[str, object]:
    """Settings that a side file gives: ``labels`` may be the name of a file beside it, and of no
    other.
    """
    labels = values.get("labels")
    if not isinstance(labels, str):
        return dict(values)
    try:
        path = beside(side_file.parent, labels)
    except OSError as error:
        raise ModelError(
            f"{side_file}: labels names {labels[:200]!r}, and {error.strerror}; put the class names"
            " there."
        ) from error
    return {**values, "labels": read_names(path)}


def _from_json(path: Path, text: str) -> list[str]:
    try:
        document = json.loads(text)
        if isinstance(
            document, dict
        ):  # {"0": "tench", …}, or {"0": ["n01440764", "tench"], …} as Keras writes it for ImageNet
            document = [document[str(number)] for number in range(len(document))]
    except (ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"{path}: the class names cannot be read ({error}); {_FORMS}.") from error
    names = (
        [entry[-1] if isinstance(entry, list) and entry else entry for entry in document]
        if isinstance(document, list)
        else []
    )
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{path} holds something else than class names; {_FORMS}.")
    return [str(name).strip() for name in names]
