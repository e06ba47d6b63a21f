"""Piecewise linear operations: ReLUs, clamps and maxima."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.bounds.network import Affine, Operation, Relu, WindowMaximum
from robgui.bounds.translation.call import (
    Call,
    Ref,
    Translator,
    as_computed,
    per_axis,
    single_ref,
    zero,
)


def _relu(call: Call) -> list[Operation]:
    if call.name == "leaky_relu":
        # 0.01 is the default of ATen; a graph does not repeat it.
        slope = float(call.argument(1, "negative_slope", 0.01))
    else:
        slope = 0.0
    if not 0 <= slope < 1:
        raise call.unsupported("has a slope outside 0 to 1")
    return [Relu((single_ref(call).place,), call.shape, as_computed(slope, call))]


def _clamp(call: Call) -> list[Operation]:
    """Clamps as ReLUs: max(x, a) = a + relu(x - a), and min(x, b) = x - relu(x - b).

    The model only compares, so none of this rounds.
    """
    source, shape = single_ref(call).place, call.shape
    low, high = _limits(call)
    operations: list[Operation] = []
    here = call.place
    if low is not None:
        # max(x, low) = ReLU(x − low) + low.
        operations += [
            _shift(call, source, -low),
            Relu((here,), shape),
            _shift(call, here + 1, low),
        ]
        source, here = here + 2, here + 3
    if high is not None:
        # min(x, high) = x − ReLU(x − high).
        operations += [_shift(call, source, -high), Relu((here,), shape)]
        places = (source, here + 1)
        operations.append(Affine(places, shape, lambda x, over: x - over, zero(call, shape)))
    return operations


def _shift(call: Call, place: int, by: float) -> Affine:
    offset = zero(call, call.shape) + by
    return Affine((place,), call.shape, lambda x: x + by, offset, pull=lambda rows: rows)


def _limits(call: Call) -> tuple[float | None, float | None]:
    given: tuple[Any, Any]
    if call.name == "clamp_min":
        given = (call.args[1], None)
    elif call.name == "clamp_max":
        given = (None, call.args[1])
    elif call.name == "relu6":
        given = (0.0, 6.0)
    elif call.name == "hardtanh":
        given = (call.argument(1, "min_val", -1.0), call.argument(2, "max_val", 1.0))
    else:
        given = (call.argument(1, "min"), call.argument(2, "max"))
    if any(isinstance(each, Tensor | Ref) for each in given):
        raise call.unsupported("has limits that are not plain numbers")
    low, high = (None if each is None else as_computed(each, call) for each in given)
    return low, high


def _max_pool(call: Call) -> list[Operation]:
    ref = single_ref(call)
    axes = len(ref.shape) - 2
    kernel = per_axis(call.args[1], axes)
    stride = per_axis(call.argument(2, "stride") or kernel, axes)
    rest = ((3, "padding", 0), (4, "dilation", 1))
    padding, dilation = (per_axis(call.argument(p, name, d), axes) for p, name, d in rest)
    # ``unfold`` below takes neighbours only.
    if any(each != 1 for each in dilation):
        raise call.unsupported("has dilated windows")
    # Padding is never the largest: its cells get the number that stands for "none".
    table = F.pad(
        _numbers(call, ref),
        [each for size in reversed(padding) for each in (size, size)],
        value=math.prod(ref.shape[1:]),
    )
    for axis, (size, step) in enumerate(zip(kernel, stride, strict=True), 1):
        # Each unfold appends an axis of the window's length: (*result, *kernel) in the end.
        table = table.unfold(axis, size, step)
    # unfold leaves out windows that do not fit; ceil_mode would keep them.
    if table.shape[: axes + 1] != call.shape:
        raise call.unsupported("has windows that reach over the edge (ceil_mode)")
    return _largest(call, ref, table)


def _amax(call: Call) -> list[Operation]:
    ref = single_ref(call)
    given = call.argument(1, "dim", ())
    return _largest_along(
        call, ref, [dim % len(ref.shape) for dim in ([given] if isinstance(given, int) else given)]
    )


def _adaptive_max_pool(call: Call) -> list[Operation]:
    ref = single_ref(call)
    if isinstance(call.args[1], Sequence):
        sizes = call.args[1]
    else:
        sizes = [call.args[1]]
    if any(size != 1 for size in sizes):
        raise call.unsupported("has windows of different sizes")
    return _largest_along(call, ref, list(range(2, len(ref.shape))))


def _largest_along(call: Call, ref: Ref, dims: list[int]) -> list[Operation]:
    if not dims or 0 in dims:
        raise call.unsupported("works along the batch")
    kept = [axis for axis in range(1, len(ref.shape)) if axis not in dims]
    return _largest(call, ref, _numbers(call, ref).permute([axis - 1 for axis in (*kept, *dims)]))


def _largest(call: Call, ref: Ref, windows: Tensor) -> list[Operation]:
    return [WindowMaximum((ref.place,), call.shape, windows.reshape(math.prod(call.shape), -1))]


def _numbers(call: Call, ref: Ref) -> Tensor:
    """The places of the numbers of one row, in its shape."""
    return torch.arange(math.prod(ref.shape[1:]), device=call.device).reshape(ref.shape[1:])


BENDING: dict[str, Translator] = {
    **dict.fromkeys(("relu", "leaky_relu"), _relu),
    **dict.fromkeys(("clamp", "clamp_min", "clamp_max", "hardtanh", "relu6"), _clamp),
    **dict.fromkeys(
        ("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d"), _max_pool
    ),
    "amax": _amax,
    "adaptive_max_pool2d": _adaptive_max_pool,
}
