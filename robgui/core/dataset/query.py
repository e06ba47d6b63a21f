"""The small language of Dataset.select.

A query is one or more conditions joined by ``and``; an empty one fits everything.

    label=shirt   label!=3   label~shi      the class, by name or number; ~ means "contains"
    name~img_00   name=a.png                the item's name (Dataset.key)
    index<100     index>=20                 the item's place, counted from 0

A value with ``and`` inside stands in quotes: ``label="black and white"``. Case does not matter.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.errors import DataError

if TYPE_CHECKING:
    from robgui.core.dataset.dataset import Dataset

_CONDITION = re.compile(
    r"""\s*(?P<field>[^\s=!<>~]+)\s*(?P<sign>!=|<=|>=|=|<|>|~)\s*
        (?:"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<bare>.*?))\s*(?:\s(?P<more>and)\s|$)""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
_COMPARE: dict[str, Callable[[np.ndarray, int], np.ndarray]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def select(dataset: Dataset, text: str) -> list[int]:
    """Indices of the items that fit ``text``; DataError in one sentence when it is no query."""
    fits = np.ones(len(dataset), dtype=bool)
    for field, sign, value in conditions(text):
        fits &= _FIELDS[field](dataset, sign, value)
    return [int(index) for index in np.flatnonzero(fits)]


def conditions(text: str) -> list[tuple[str, str, str]]:
    """The conditions of a query: field, sign, value."""
    found: list[tuple[str, str, str]] = []
    place, more = 0, bool(text.strip())
    while more:
        part = _CONDITION.match(text, place)
        if part is None:
            rest = text[place:].strip()[:80] or "nothing"
            raise DataError(
                f"the selection is not understood at {rest!r}; write for example: label=shirt and"
                " index<100."
            )
        field = part["field"].casefold()
        if field not in _FIELDS:
            raise DataError(
                f"the selection asks for {part['field'][:80]!r}; it can ask for label, name or"
                " index."
            )
        value = next(part[name] for name in ("double", "single", "bare") if part[name] is not None)
        if not value and part["bare"] is not None:
            raise DataError(
                f"the selection gives no value after {field}{part['sign']}; write for example:"
                " label=shirt."
            )
        found.append((field, part["sign"], value))
        place, more = part.end(), part["more"] is not None
    return found


def _index(dataset: Dataset, sign: str, value: str) -> np.ndarray:
    if sign == "~":
        raise DataError("the selection cannot use ~ with index; use =, !=, <, <=, > or >=.")
    return _COMPARE[sign](np.arange(len(dataset)), _whole(value, "index"))


def _name(dataset: Dataset, sign: str, value: str) -> np.ndarray:
    wanted = value.casefold()
    names = dataset.keys()
    keys = (key.casefold() for key in names)
    if sign == "~":
        return np.fromiter((wanted in key for key in keys), bool, len(dataset))
    if sign not in ("=", "!="):
        raise DataError(f"the selection cannot use {sign} with name; use =, != or ~.")
    return np.fromiter(((key == wanted) == (sign == "=") for key in keys), bool, len(dataset))


def _label(dataset: Dataset, sign: str, value: str) -> np.ndarray:
    if dataset.labels is None:
        raise DataError(f"the selection asks for a label, but {dataset.name} has no labels.")
    lower = [name.casefold() for name in dataset.names]
    wanted = value.casefold()
    if sign == "~":
        return np.isin(
            dataset.labels, [number for number, name in enumerate(lower) if wanted in name]
        )
    if wanted in lower:
        if sign not in ("=", "!="):
            raise DataError(
                f"the selection cannot use {sign} with the class name {value!r}; use =, != or ~."
            )
        return _COMPARE[sign](dataset.labels, lower.index(wanted))
    if not re.fullmatch(r"[+-]?\d{1,9}", value):
        known = (
            f"the classes are: {', '.join(dataset.names[:20])}"
            if dataset.names
            else "give the number of the class"
        )
        raise DataError(
            f"the selection asks for the class {value!r}, which does not exist; {known}."
        )
    return _COMPARE[sign](dataset.labels, int(value))


def _whole(value: str, field: str) -> int:
    if not re.fullmatch(r"[+-]?\d{1,15}", value):
        raise DataError(
            f"the selection compares {field} with {value[:80]!r}, which is not a whole number."
        )
    return int(value)


_FIELDS: dict[str, Callable[[Dataset, str, str], np.ndarray]] = {
    "label": _label,
    "name": _name,
    "index": _index,
}
