"""Dataclass of arrays <-> JSON + NPZ, never pickle.

A document is JSON with a few tagged objects for what JSON lacks:

    {"$type": "Region", "fields": {…}}    a dataclass or pydantic model, found by name in the
                                          field's annotation
    {"$array": "a3"}                      the array of that name in the NPZ
    {"$tuple": […]}                       a tuple
    {"$items": [[key, value], …]}         a dict whose keys are not plain strings
    {"$float": "nan"}                     nan, inf, -inf
"""

from __future__ import annotations

import dataclasses
import math
import types
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
from pydantic import BaseModel, ValidationError

from robgui.core.errors import WorkspaceError
from robgui.core.npz import Arrays, npz, unzip

T = TypeVar("T")


def stored_name(cls: type[Any]) -> str:
    """The name of a class in stored documents.

    A renamed class keeps its old name as ``STORED_AS``, which lets older and newer versions read
    each other's files.
    """
    return str(vars(cls).get("STORED_AS", cls.__name__))


def take_apart(value: Any) -> tuple[Any, Arrays]:
    """A value as a JSON-able document and its arrays by name; nothing is copied."""
    arrays: Arrays = {}
    return _pack(value, stored_name(type(value)), arrays), arrays


def put_together(hint: Any, document: Any, arrays: Arrays) -> Any:
    """The value that ``take_apart`` took apart.

    Raises WorkspaceError if it does not fit the annotation ``hint``.
    """
    name = getattr(hint, "__name__", str(hint))
    try:
        value = _unpack(document, hint, arrays, name)
    except RecursionError as error:
        raise WorkspaceError(
            f"The stored {name} is damaged: it holds parts within parts without end."
        ) from error
    if not _fits(value, hint):
        raise WorkspaceError(
            f"The stored value is a {type(value).__name__}, not a {name}; it was written by another"
            " version."
        )
    return value


def encode(value: Any) -> tuple[dict[str, Any], bytes]:
    """A dataclass (or dict) as a JSON-able document and the bytes of an NPZ with its arrays."""
    document, arrays = take_apart(value)
    if not isinstance(document, dict):
        raise WorkspaceError(
            f"A {type(value).__name__} cannot be stored; a result must be a dataclass of arrays and"
            " plain values."
        )
    return document, npz(arrays)


def decode(cls: type[T], document: Mapping[str, Any], blob: bytes) -> T:
    """The instance of ``cls`` that ``encode`` took apart; WorkspaceError on anything malformed.

    Fields that ``cls`` no longer has are left out; fields it has gained must have a default.
    """
    return put_together(cls, document, unzip(blob))  # type: ignore[no-any-return]


def readable(value: Any, largest: int = 1024) -> tuple[Any, Arrays]:
    """A value for people and other programs: strict JSON, with large arrays kept apart.

    An array of more than ``largest`` numbers becomes ``{"array": key, "shape": …, "dtype": …}``,
    where the key is the path of the field. Numbers that are not finite become null.
    """
    arrays: Arrays = {}
    return _plain(value, "", arrays, largest), arrays


def _pack(value: Any, where: str, arrays: Arrays) -> Any:
    # In this order: a StrEnum is a str too, and True an int.
    match value:
        case Enum():
            return _pack(value.value, where, arrays)
        case None | bool() | str():
            return value
        case np.ndarray():
            return _pack_array(value, where, arrays)
        case int() | float() | np.number() | np.bool():
            return _number(value)
        case BaseModel():
            return {
                "$type": stored_name(type(value)),
                "fields": _pack(value.model_dump(mode="json"), where, arrays),
            }
        case tuple():
            return {
                "$tuple": [_pack(item, f"{where}[{i}]", arrays) for i, item in enumerate(value)]
            }
        case list():
            return [_pack(item, f"{where}[{i}]", arrays) for i, item in enumerate(value)]
        case dict():
            return _pack_dict(value, where, arrays)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {
            f.name: _pack(getattr(value, f.name), f"{where}.{f.name}", arrays)
            for f in dataclasses.fields(value)
        }
        return {"$type": stored_name(type(value)), "fields": fields}
    raise WorkspaceError(
        f"{where} is a {type(value).__name__}, which cannot be stored; use arrays, numbers, text,"
        " tuples, dicts or dataclasses."
    )


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        plain = value.item()
    else:
        plain = value
    if isinstance(plain, complex):
        raise WorkspaceError("A complex number cannot be stored alone; put it into an array.")
    if isinstance(plain, float) and not math.isfinite(plain):
        return {"$float": repr(plain)}
    return plain


def _pack_array(array: np.ndarray, where: str, arrays: Arrays) -> dict[str, str]:
    if array.dtype.hasobject:
        raise WorkspaceError(
            f"{where} is an array of Python objects, which cannot be stored; use numbers or text."
        )
    key = f"a{len(arrays)}"
    arrays[key] = array
    return {"$array": key}


def _pack_dict(value: dict[Any, Any], where: str, arrays: Arrays) -> dict[str, Any]:
    # A plain object stays readable JSON; keys that look like tags or are not texts need the tagged
    # form.
    if all(type(key) is str and not key.startswith("$") for key in value):
        return {key: _pack(item, f"{where}.{key}", arrays) for key, item in value.items()}
    return {
        "$items": [
            [_pack(key, f"{where} key", arrays), _pack(item, f"{where}.{key}", arrays)]
            for key, item in value.items()
        ]
    }


def _unpack(value: Any, hint: Any, arrays: Arrays, where: str) -> Any:
    match value:
        case list():
            # Lists carry the hint of their field: classes are found by name among all that it
            # mentions.
            return [_unpack(item, hint, arrays, where) for item in value]
        case {"$array": str(key)} if key in arrays:
            return arrays[key]
        case {"$float": "nan" | "inf" | "-inf" as text}:
            return float(text)
        case {"$tuple": list(items)}:
            return tuple(_unpack(item, hint, arrays, where) for item in items)
        case {"$items": list(items)} if all(
            isinstance(pair, list) and len(pair) == 2 for pair in items
        ):
            return _unpack_items(items, hint, arrays, where)
        case {"$type": str(name), "fields": dict(fields)}:
            return _unpack_object(name, fields, hint, arrays, where)
        case dict():
            # A tag that we do not know is damage, not data.
            if any(key.startswith("$") for key in value):
                raise WorkspaceError(
                    f"{where}: the stored document is damaged (no such entry: {str(value)[:80]})."
                )
            return {key: _unpack(item, hint, arrays, where) for key, item in value.items()}
    return value


def _unpack_items(items: list[list[Any]], hint: Any, arrays: Arrays, where: str) -> dict[Any, Any]:
    try:
        return {
            _unpack(key, hint, arrays, where): _unpack(item, hint, arrays, where)
            for key, item in items
        }
    except TypeError as error:
        raise WorkspaceError(f"{where}: the stored document is damaged ({error}).") from error


def _unpack_object(name: str, fields: dict[str, Any], hint: Any, arrays: Arrays, where: str) -> Any:
    # Only classes that the field's annotation mentions can be created: a file cannot choose others.
    known = {stored_name(cls): cls for cls in _classes(hint)}
    if name not in known:
        raise WorkspaceError(
            f"{where}: a stored {name} was found where {', '.join(known) or 'plain values'} may be;"
            " it was written by another version."
        )
    cls = known[name]
    # Pydantic validates its own fields.
    if issubclass(cls, BaseModel):
        try:
            return cls.model_validate(_unpack(fields, Any, arrays, where))
        except ValidationError as error:
            raise WorkspaceError(
                f"{where}: the stored {name} is malformed ({error.errors()[0]['msg']})."
            ) from error
    return _unpack_dataclass(cls, fields, arrays, where)


def _unpack_dataclass(cls: type[Any], fields: dict[str, Any], arrays: Arrays, where: str) -> Any:
    hints = get_type_hints(cls)
    values: dict[str, Any] = {}
    for field in dataclasses.fields(cls):
        place = f"{where}.{field.name}"
        if field.name in fields:
            values[field.name] = value = _convert(
                _unpack(fields[field.name], hints[field.name], arrays, place), hints[field.name]
            )
            if not _fits(value, hints[field.name]):
                raise WorkspaceError(
                    f"{place}: the stored value is a {type(value).__name__}, which does not fit; it"
                    " was written by another version."
                )
        # A field that was added later has a default, which is what older files mean.
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise WorkspaceError(
                f"{place} is missing in the stored result; it was written by another version."
            )
    try:
        return cls(**values)
    except (TypeError, ValueError) as error:
        raise WorkspaceError(
            f"{where}: the stored {cls.__name__} is malformed ({error})."
        ) from error


def _convert(value: Any, hint: Any) -> Any:
    """Restores what JSON loses: an Enum member, and a float with a whole value."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return next((member for member in hint if member.value == value), value)
    if hint is float and type(value) is int:
        return float(value)
    return value


def _classes(hint: Any) -> Iterator[type[Any]]:
    if (
        isinstance(hint, type)
        and get_origin(hint) is None
        and (dataclasses.is_dataclass(hint) or issubclass(hint, BaseModel))
    ):
        yield hint
    for part in get_args(hint):
        yield from _classes(part)


def _fits(value: Any, hint: Any) -> bool:
    """Whether ``value`` may stand in a field annotated ``hint``; true where we cannot judge."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return any(_fits(value, part) for part in args)
    if origin is Literal:
        return any(type(value) is type(choice) and value == choice for choice in args)
    if hint is Any:
        return True
    if hint is None or hint is type(None):
        return value is None
    if hint is float:
        # JSON does not tell 1 from 1.0; a bool is an int to Python, but not here.
        return type(value) in (int, float)
    if hint is int:
        return type(value) is int
    cls = origin or hint
    if isinstance(cls, type):
        return isinstance(value, cls) and _fits_within(value, cls, args)
    return True


def _fits_within(value: Any, cls: type[Any], args: tuple[Any, ...]) -> bool:
    """Whether the contents of a tuple, list or dict fit the annotation of its parts."""
    if issubclass(cls, tuple) and args:
        hints = [args[0]] * len(value) if args[-1] is Ellipsis else args
        return len(hints) == len(value) and all(
            _fits(item, hint) for item, hint in zip(value, hints, strict=True)
        )
    if issubclass(cls, list | dict) and args:
        rows = value.items() if isinstance(value, dict) else ((item,) for item in value)
        return all(_fits(item, hint) for row in rows for item, hint in zip(row, args, strict=True))
    return True


def _plain(value: Any, where: str, arrays: Arrays, largest: int) -> Any:
    def inner(name: Any, item: Any) -> Any:
        return _plain(item, f"{where}.{name}" if where else str(name), arrays, largest)

    match value:
        case Enum():
            return value.value
        case None | bool() | str() | int():
            return value
        case float():
            return value if math.isfinite(value) else None
        case np.generic():
            return (
                inner("", value.item())
                if not isinstance(value, np.complexfloating)
                else [float(value.real), float(value.imag)]
            )
        case np.ndarray():
            return _plain_array(value, where or "array", arrays, largest)
        case BaseModel():
            return _plain(value.model_dump(mode="json"), where, arrays, largest)
        case tuple() | list():
            return [inner(i, item) for i, item in enumerate(value)]
        case dict():
            return {str(key): inner(key, item) for key, item in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: inner(f.name, getattr(value, f.name)) for f in dataclasses.fields(value)}
    return str(value)


def _plain_array(array: np.ndarray, where: str, arrays: Arrays, largest: int) -> Any:
    if array.size > largest or array.dtype.kind not in "biufUS":
        arrays[where] = array
        return {"array": where, "shape": list(array.shape), "dtype": str(array.dtype)}
    return _plain(array.tolist(), where, {}, largest)
