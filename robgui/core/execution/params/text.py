"""Settings as text and back, typed alike in a form, an option and a suite file."""

from __future__ import annotations

import csv
import json
import types
from collections.abc import Mapping
from typing import Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from robgui.core.errors import ParamsError

#: Most inputs chosen by number, as many as the largest table has rows.
_MOST_INDICES = 20_000_000


def format_value(value: Any) -> str:
    """A value as a person would type it.

    Lists are joined by commas, lists of lists by semicolons, and named values look like ``a=1,
    b=2:3``; None is empty. Words that contain a comma are quoted.
    """
    if value is None:
        return ""
    # The short form has no escapes: words that
    # contain its own signs are written as JSON.
    if isinstance(value, dict) and any(
        isinstance(word, str) and set(word) & set('",;:={')
        for pair in value.items()
        for word in pair
    ):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return ", ".join(
            f"{name}={format_value(item).replace(', ', ':')}" for name, item in value.items()
        )
    if isinstance(value, tuple | list) and any(
        isinstance(item, str) and set(item) & set('",;') for item in value
    ):
        # Doubled quotes as in CSV, which `_read_list` reads them back as.
        return ", ".join('"' + str(item).replace('"', '""') + '"' for item in value)
    if isinstance(value, tuple | list):
        return ("; " if any(isinstance(item, tuple | list) for item in value) else ", ").join(
            format_value(item) for item in value
        )
    # Before ``str``: "True" is no word that a person would type here.
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, float):
        return _digits(value)
    return str(value)


def _digits(value: float) -> str:
    """Ten digits at most where they are the number, all where they are not."""
    short = f"{value:.10g}"
    if float(short) == value:
        return short
    # 1/255 typed with ten digits would be another request.
    return repr(float(value))


def parse_value(name: str, field: FieldInfo, text: str) -> Any:
    """The typed text as a value of the field's type; Params checks the bounds.

    List items are separated by commas or blanks; ``a:b:n`` means n equal steps from a to b.
    """
    return _read(name, field.annotation, text.strip())


def typed(fields: Mapping[str, FieldInfo], values: Mapping[str, Any]) -> dict[str, Any]:
    """Settings, some of which may be texts as a person types them; unknown names pass through."""
    return {
        name: parse_value(name, fields[name], value)
        if isinstance(value, str) and name in fields
        else value
        for name, value in values.items()
    }


def choices(field: FieldInfo) -> tuple[str, ...]:
    """The words a Literal field allows; empty for any other."""
    if get_origin(field.annotation) is Literal:
        return tuple(str(choice) for choice in get_args(field.annotation))
    return ()


def several_choices(field: FieldInfo) -> tuple[str, ...]:
    """The words of which a field takes some; empty for any other."""
    if get_origin(field.annotation) is not tuple:
        return ()
    kind = get_args(field.annotation)[0]
    if get_origin(kind) is Literal:
        return tuple(str(choice) for choice in get_args(kind))
    return ()


def indices(name: str, text: str) -> list[int]:
    """Parses ``3``, ``0,4,7`` or ``10:20`` (20 excluded) into a list of numbers."""
    chosen: list[int] = []
    for part in text.split(","):
        first, colon, last = part.partition(":")
        try:
            begin = int(first or 0)
            more = range(begin, int(last) if colon else begin + 1)
        except ValueError:
            raise ParamsError(
                f"{name} {shown(text)} is not understood; write 3 or 0,4,7 or 10:20."
            ) from None
        # Before the list is made: a slip of the finger must not fill the memory. Not len(), which
        # fails beyond 64 bits.
        if len(chosen) + more.stop - more.start > _MOST_INDICES:
            raise ParamsError(
                f"{name} {shown(text)} names more than {_MOST_INDICES:,} inputs; choose fewer."
            )
        chosen += more
    return chosen


def _read(name: str, annotation: Any, text: str) -> Any:
    origin = get_origin(annotation)
    if origin in (Union, types.UnionType):
        return _read_optional(name, annotation, text)
    if origin is dict:
        return _read_named(name, get_args(annotation)[1], text)
    if origin is tuple:
        return _read_list(name, get_args(annotation)[0], text)
    if annotation is bool:
        return _read_bool(name, text)
    if annotation in (int, float):
        return _read_number(name, annotation, text)
    return text


def _read_optional(name: str, annotation: Any, text: str) -> Any:
    if not text or text.lower() == "none":
        return None
    inner = next(option for option in get_args(annotation) if option is not type(None))
    return _read(name, inner, text)


def _read_list(name: str, item: Any, text: str) -> tuple[Any, ...]:
    # As in NumPy's linspace: both ends belong to it.
    if item in (int, float) and text.count(":") == 2 and "," not in text:
        ends, _, count = text.rpartition(":")
        first, last = (_read_number(name, float, part) for part in ends.split(":"))
        # Bounded: a slip of the finger must not fill the memory.
        steps = max(2, min(100_000, int(_read_number(name, int, count))))
        return tuple(
            item(_as_written(first + (last - first) * i / (steps - 1))) for i in range(steps)
        )
    if item is str and '"' in text:
        return tuple(
            part.strip() for part in next(csv.reader([text], skipinitialspace=True)) if part.strip()
        )
    if item in (int, float) and "," not in text:
        return tuple(_read_number(name, item, part) for part in text.split(" ") if part)
    if get_origin(item) is tuple:
        between = ";"
    else:
        between = ","
    return tuple(_read(name, item, part.strip()) for part in text.split(between) if part.strip())


def _as_written(number: float) -> float:
    """The number with ten digits, which ``format_value`` shows: 0.3 and not 0.30000000000000004."""
    return float(f"{number:.10g}")


def _read_named(name: str, item: Any, text: str) -> dict[str, Any]:
    """Parses ``a=1, b=2:3`` into a dict; list parts are separated by colons."""
    if text.startswith("{"):
        return _read_object(name, text)
    values: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not key or not (value or item is str):
            raise ParamsError(
                f"{name} = {shown(text)} is not understood; write name=value, name=value."
            )
        values[key] = _read(
            name, item, value.replace(":", ",") if get_origin(item) is tuple else value
        )
    return values


def _read_object(name: str, text: str) -> dict[str, Any]:
    """Names and values as JSON, for words that contain commas."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ParamsError(f"{name} = {shown(text)} is no JSON ({error!s:.100}).") from error
    if isinstance(found, dict):
        return found
    return {}


def _read_bool(name: str, text: str) -> bool:
    words = {
        "yes": True,
        "true": True,
        "on": True,
        "1": True,
        "no": False,
        "false": False,
        "off": False,
        "0": False,
    }
    try:
        return words[text.lower()]
    except KeyError:
        raise ParamsError(f"{name} = {shown(text)} is neither yes nor no.") from None


def _read_number(name: str, kind: type[int] | type[float], text: str) -> int | float:
    # U+202F, the narrow no-break space, groups digits in SI style and in French.
    plain = text.replace("_", "").replace("\u202f", "").replace(" ", "")
    try:
        return kind(plain)
    except ValueError:
        if kind is int:
            return _whole(name, plain, text)
        raise ParamsError(f"{name} = {shown(text)} is not a number.") from None


def _whole(name: str, plain: str, text: str) -> int:
    """Accepts 1e4 for a whole number."""
    try:
        value = float(plain)
    except ValueError:
        raise ParamsError(f"{name} = {shown(text)} is not a whole number.") from None
    if not value.is_integer():
        raise ParamsError(f"{name} = {shown(text)} is not a whole number.")
    return int(value)


def shown(text: str) -> str:
    """What was typed, in quotes; shortened if it is long."""
    return repr(text if len(text) <= 60 else f"{text[:60]}…")
