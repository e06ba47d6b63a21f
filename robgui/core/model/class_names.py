"""Reads class names from a file.

It may hold one name per line, a JSON list, a JSON object from class number to name, or a table with
a column of class numbers.
"""

from __future__ import annotations

import ast
import csv
import json
from collections.abc import Mapping
from pathlib import Path

from robgui.core.errors import ModelError
from robgui.core.regular import beside, is_file, read_regular

#: Largest file of class names.
_LARGEST = 10_000_000
#: Longest text inside a model file that is parsed for names, in characters.
_LARGEST_TEXT = 1_000_000
_FORMS = (
    "it must have one class name per line, be a JSON list of names, or a table of class numbers and"
    " names"
)


def read_names(path: Path) -> tuple[str, ...]:
    """The class names in ``path``, in output order.

    ModelError says what is wrong with the file.
    """
    try:
        # "-sig": Notepad's mark would be part of the first name.
        text = read_regular(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        if isinstance(error, OSError):
            reason = error.strerror
        else:
            reason = "it is no UTF-8 text"
        raise ModelError(f"{path}: the class names cannot be read ({reason}); {_FORMS}.") from error
    kind = path.suffix.casefold()
    if kind == ".json":
        names = _from_json(path, text)
    else:
        names = _from_lines(text, kind)
    found = tuple(name for name in names if name)
    if not found:
        raise ModelError(f"{path} holds no class names; {_FORMS}.")
    return found


def names_in(text: str) -> tuple[str, ...]:
    """Class names in a text inside a file: JSON, a Python value, or words between commas.

    Empty if it is none of these.
    """
    if not text or len(text) > _LARGEST_TEXT:
        return ()
    found: object = text
    # Ultralytics writes names into ONNX metadata as the text of a Python dictionary.
    # ``literal_eval`` reads values only and calls nothing.
    for read in (json.loads, ast.literal_eval):
        try:
            found = read(text)
            break
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    if isinstance(found, dict):
        plain = {str(number): name for number, name in found.items()}
        found = [plain.get(str(number)) for number in range(len(plain))]
    elif isinstance(found, str) and "," in found:
        found = [name.strip() for name in found.split(",")]
    if not isinstance(found, list | tuple) or len(found) < 2:
        return ()
    names = tuple(name.strip() for name in found if isinstance(name, str) and name.strip())
    if len(names) == len(found):
        return names
    return ()


def with_names_read(values: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Settings from a person: ``labels`` may name a file, in ``folder`` or anywhere else."""
    labels = values.get("labels")
    if not isinstance(labels, str):
        return dict(values)
    near = folder / labels
    return {**values, "labels": read_names(near if is_file(near) else Path(labels))}


def with_names_beside(values: Mapping[str, object], side_file: Path) -> dict[str, object]:
    """Settings from a side file: ``labels`` may name a file beside it, and no other."""
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


def _from_lines(text: str, kind: str) -> list[str]:
    """One name per line; in a table, the names in the order of its class numbers."""
    lines = [line for line in text.splitlines() if line.strip()]
    if kind in (".csv", ".tsv") and lines:
        sign = next((each for each in ("\t", ";", ",") if each in lines[0]), ",")
        rows = _rows(lines, sign)
        for begin in (1, 0):  # With a heading, and without.
            if names := _by_number(rows[:begin], rows[begin:]):
                return names
    return [line.strip() for line in lines]


def _rows(lines: list[str], sign: str) -> list[list[str]]:
    """The cells of a table; empty if it is not one."""
    try:
        return [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sign)]
    except csv.Error:
        return []


def _by_number(head: list[list[str]], rows: list[list[str]]) -> list[str]:
    """The names in a table that numbers its classes from 0; else empty."""
    width = min(map(len, rows), default=0)
    for place in range(width):
        numbers = [row[place] for row in rows]
        # Nine digits are no class number, and ``int`` refuses very long ones.
        if not all(number.isdecimal() and len(number) < 9 for number in numbers):
            continue
        # Each number once and from 0 on; anything else may be a count or an id.
        if sorted(map(int, numbers)) != list(range(len(rows))):
            continue
        titles = [*(head[0] if head else ()), *[""] * width]
        others = [other for other in range(width) if other != place]
        others.sort(key=lambda other: "name" not in titles[other].casefold())
        if others:
            ordered = sorted(rows, key=lambda row: int(row[place]))
            return [row[others[0]] for row in ordered]
    return []


def _from_json(path: Path, text: str) -> list[str]:
    try:
        document = json.loads(text)
        # {"0": "tench", …}, or {"0": ["n01440764", "tench"], …} as Keras writes it for ImageNet
        if isinstance(document, dict):
            document = [document[str(number)] for number in range(len(document))]
    except (ValueError, KeyError, RecursionError) as error:
        raise ModelError(f"{path}: the class names cannot be read ({error}); {_FORMS}.") from error
    if isinstance(document, list):
        entries = document
    else:
        entries = []
    # Of an id and a name, the name is the last.
    names = [entry[-1] if isinstance(entry, list) and entry else entry for entry in entries]
    if not all(isinstance(name, str) for name in names):
        raise ModelError(f"{path} holds something else than class names; {_FORMS}.")
    return [str(name).strip() for name in names]
