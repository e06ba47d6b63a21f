"""Operations that move, select, join and repeat values, or ask for shapes."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from robgui.core.loading.onnx_ops.values import (
    Attributes,
    Operation,
    UntranslatedError,
    attribute_or_input,
    ints,
    on_one_device,
)

#: ONNX's numbers for dtypes.
_TYPES = {
    1: torch.float32,
    2: torch.uint8,
    3: torch.int8,
    5: torch.int16,
    6: torch.int32,
    7: torch.int64,
    9: torch.bool,
    10: torch.float16,
    11: torch.float64,
}


def _reshape(a: Attributes, x: Tensor, shape: Tensor | None = None) -> Tensor:
    # An attribute up to opset 4.
    if shape is None:
        sizes = ints(a["shape"])
    else:
        sizes = ints(shape)
    # A size of 0 means "as in the input", unless opset 14 says otherwise.
    if not a.get("allowzero", 0):
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return x.reshape(tuple(sizes))


def _flatten(a: Attributes, x: Tensor) -> Tensor:
    axis = int(a.get("axis", 1))
    if axis < 0:
        axis += x.ndim
    if axis == 1:
        return x.flatten(1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


def _squeeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    # Attributes up to opset 12, as in Unsqueeze below.
    chosen = attribute_or_input(a, "axes", axes)
    if chosen:
        return x.squeeze(tuple(chosen))
    return x.squeeze()


def _unsqueeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    chosen = attribute_or_input(a, "axes", axes)
    rank = x.ndim + len(chosen)
    # Axes count in the result; in ascending order none moves one inserted before.
    for axis in sorted(each % rank for each in chosen):
        x = x.unsqueeze(axis)
    return x


def _slice(
    a: Attributes,
    x: Tensor,
    starts: Any = None,
    ends: Any = None,
    axes: Any = None,
    steps: Any = None,
) -> Tensor:
    # All four were attributes up to opset 9.
    first, last = (
        attribute_or_input(a, "starts", starts),
        attribute_or_input(a, "ends", ends),
    )
    where = attribute_or_input(a, "axes", axes) or list(range(len(first)))
    by = ints(steps) or [1] * len(first)
    for begin, end, axis, step in zip(first, last, where, by, strict=True):
        if step < 0:
            # Torch has no negative steps. Exporters write the lowest integer for "down to the
            # first".
            chosen = list(range(x.shape[axis]))[slice(begin, end if end > -(2**31) else None, step)]
            x = x.index_select(axis, torch.tensor(chosen, dtype=torch.int64, device=x.device))
        else:
            # INT64_MAX stands for "to the end".
            x = x[(slice(None),) * (axis % x.ndim) + (slice(begin, min(end, 2**31), step),)]
    return x


def _gather(a: Attributes, x: Tensor, index: Tensor) -> Tensor:
    axis = int(a.get("axis", 0)) % x.ndim
    index = torch.where(index < 0, index + x.shape[axis], index).to(x.device)
    # torch.gather is another operation; this is NumPy's ``take``.
    return x.index_select(axis, index.flatten()).reshape(
        (*x.shape[:axis], *index.shape, *x.shape[axis + 1 :])
    )


def _split(a: Attributes, x: Tensor, parts: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = int(a.get("axis", 0))
    # An attribute up to opset 12; the number of parts alone can be given from 18 on.
    sizes = attribute_or_input(a, "split", parts)
    if not sizes:
        count: int = a.get("num_outputs") or a["outputs"]
        # Equal parts; what does not divide makes the last one smaller.
        sizes = [math.ceil(x.shape[axis] / count)] * (count - 1)
        sizes.append(x.shape[axis] - sum(sizes))
    return torch.split(x, sizes, axis)


def _expand(a: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    return x.expand(torch.broadcast_shapes(x.shape, ints(shape)))  # type: ignore[no-untyped-call]


def _shape(a: Attributes, x: Tensor) -> Tensor:
    return torch.tensor(
        list(x.shape)[a.get("start", 0) : a.get("end", None)], dtype=torch.int64, device="cpu"
    )


def _constant_of_shape(a: Attributes, shape: Tensor) -> Tensor:
    value = a.get("value")
    if isinstance(value, Tensor):
        fill = value.flatten()[0]
    else:
        fill = torch.zeros((), device="cpu")
    return fill.expand(ints(shape)).clone()


def _cast(a: Attributes, x: Tensor) -> Tensor:
    if a["to"] not in _TYPES:
        raise UntranslatedError(f"Cast to type {a['to']}")
    return x.to(_TYPES[a["to"]])


SHAPES: dict[str, Operation] = {
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": lambda a, x: x.permute(ints(a.get("perm")) or list(reversed(range(x.ndim)))),
    "Concat": lambda a, *values: torch.cat(on_one_device(*values), int(a["axis"])),
    "Slice": _slice,
    "Gather": _gather,
    "Split": _split,
    "Expand": _expand,
    "Tile": lambda a, x, repeats: x.repeat(ints(repeats)),
    "Shape": _shape,
    "Size": lambda a, x: torch.tensor(x.numel(), dtype=torch.int64, device="cpu"),
    "ConstantOfShape": _constant_of_shape,
    "Cast": _cast,
    "CastLike": lambda a, x, like: x.to(like.dtype),
    "Dropout": lambda a, x, *_: x,
}
