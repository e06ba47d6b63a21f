"""Affine operations without a translation of their own: they are run again as the model does."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from torch import Tensor

from robgui.bounds.network import Operation
from robgui.bounds.translation.call import Call, Ref, Translator, affine, constant, single_ref

#: Arguments about the model's own precision and memory, which differ from those of the bounds.
_OF_THE_MODEL = ("dtype", "device", "layout", "memory_format", "pin_memory")


def replay(call: Call, *, mixes: bool = False, roundings: int = 0) -> list[Operation]:
    """Runs the operation itself, with constants that fit any number of rows."""
    template = _mapped(
        call.args, lambda each: constant(each, call) if isinstance(each, Tensor) else each
    )
    # The bounds compute in double precision, maybe on the host, whatever the model does.
    kwargs = {name: each for name, each in call.kwargs.items() if name not in _OF_THE_MODEL}

    def apply(*values: Tensor) -> Tensor:
        given = iter(values)
        args = [
            _joined(each, given, len(values[0])) if isinstance(each, list) else _filled(each, given)
            for each in template
        ]
        result = call.function(*args, **kwargs)
        if isinstance(result, tuple | list):
            first: Tensor = result[0]
        else:
            first = result
        return first

    return affine(call, call.refs, apply, mixes=mixes, roundings=roundings)


def along(name: str, *, adds: bool = False) -> Translator:
    """Translates operations along the axes given by their second argument, called ``name``.

    The batch must not be among them. ``adds`` is for operations that sum along the axes.
    """

    def check(call: Call) -> list[Operation]:
        ref = single_ref(call)
        given = call.argument(1, name, 0)
        if isinstance(given, int):
            dims = [given]
        else:
            dims = list(given or ())
        # No axis named means all of them, the batch included.
        if not dims or any(dim % len(ref.shape) == 0 for dim in dims):
            raise call.unsupported("works along the batch")
        if adds:
            added = math.prod(ref.shape) // math.prod(call.result)
        else:
            added = 0
        return replay(call, mixes=adds, roundings=added + 4 * adds)

    return check


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """Nested lists of the same structure with every leaf changed."""
    if isinstance(value, tuple | list):
        return [_mapped(part, change) for part in value]
    return change(value)


def _filled(template: Any, values: Iterator[Tensor]) -> Any:
    if isinstance(template, Ref):
        return next(values)
    return template


def _joined(template: list[Any], values: Iterator[Tensor], rows: int) -> list[Any]:
    """A list argument; tensors to be joined with others are repeated for every row."""
    return [
        each.expand(rows, *each.shape[1:]) if isinstance(each, Tensor) else _filled(each, values)
        for each in template
    ]
