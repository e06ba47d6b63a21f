"""Contracts of indexing, integer division, tensor factories and sampling."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from robgui.core.loading.exported.contract import LARGEST_STEP, Contract, OperationCall

_WHOLE = (torch.int64, torch.int32)


def _axis(call: OperationCall, x: Tensor) -> int:
    (dim,) = call.sizes("dim", -max(1, x.ndim), max(0, x.ndim - 1))
    # Torch lets a tensor without axes pass for one with a single axis.
    return dim % max(1, x.ndim)


def _inside(call: OperationCall, index: Tensor, low: int, high: int) -> None:
    """Requires low <= index < high."""
    if index.numel():
        lowest, highest = torch.aminmax(index)
        call.need(int(lowest) >= low and int(highest) < high, "an index points outside the tensor")


def check_axis_index(call: OperationCall) -> None:
    """The axis exists; index and source have a valid dtype, rank and size."""
    x, index = call.tensor("self"), call.tensor("index")
    axis = _axis(call, x)
    call.need(index.dtype in _WHOLE, "the index must be an integer tensor")
    flat = call.operation in ("index_select", "index_add")
    call.need(
        index.ndim <= 1 if flat else max(1, index.ndim) == max(1, x.ndim),
        "the index has the wrong number of axes",
    )
    if "src" in call.given:
        source = call.get("src")
    else:
        source = call.get("source")
    if source is not None:
        call.need(
            source.dtype == x.dtype and max(1, source.ndim) == max(1, x.ndim),
            "the source does not fit",
        )
    if flat:
        return
    sides = zip(index.shape, x.shape, strict=False)
    call.need(
        all(few <= many for place, (few, many) in enumerate(sides) if place != axis),
        "the index is larger than the tensor",
    )
    if source is not None:
        call.need(
            all(few <= many for few, many in zip(index.shape, source.shape, strict=False)),
            "the index is larger than the source",
        )


def check_axis_index_values(call: OperationCall) -> None:
    """Every index lies inside the axis."""
    x = call.tensor("self")
    _inside(call, call.tensor("index"), 0, x.shape[_axis(call, x)] if x.ndim else 1)


def embedding(call: OperationCall) -> None:
    """The table has rows and the index is an integer tensor."""
    call.tensor("weight", 2)
    call.need(call.tensor("indices").dtype in _WHOLE, "the index must be an integer tensor")


def embedding_content(call: OperationCall) -> None:
    """Every index is a valid row number."""
    _inside(call, call.tensor("indices"), 0, call.tensor("weight").shape[0])


def check_advanced_index(call: OperationCall) -> None:
    """At most one index per axis.

    A boolean mask is refused: the size of its result depends on the data.
    """
    x = call.tensor("self")
    indices = list(call["indices"])
    call.need(
        0 < len(indices) <= x.ndim and any(each is not None for each in indices),
        "it has no index, or more indices than axes",
    )
    call.need(
        all(
            each is None or (isinstance(each, Tensor) and each.dtype in _WHOLE) for each in indices
        ),
        "every index must be an integer tensor",
    )
    values = call.get("values")
    call.need(values is None or values.dtype == x.dtype, "the values have another dtype")


def check_advanced_index_values(call: OperationCall) -> None:
    """Every index lies inside its axis."""
    x = call.tensor("self")
    for side, index in zip(x.shape, call["indices"], strict=False):
        if index is not None:
            # Unlike gather and index_select, this kind counts negative numbers from the end.
            _inside(call, index, -side, side)


def one_hot(call: OperationCall) -> None:
    """The index is int64 and the number of classes is given."""
    call.need(call.tensor("self").dtype == torch.int64, "the index must be an integer tensor")
    call.sizes("num_classes", 1, 2**20)


def one_hot_content(call: OperationCall) -> None:
    """Every index is a valid class number."""
    _inside(call, call.tensor("self"), 0, call["num_classes"])


def masked_scatter(call: OperationCall) -> None:
    """The source has at least as many elements as the input, so no mask runs past its end."""
    x, mask, source = call.tensor("self"), call.tensor("mask"), call.tensor("source")
    call.need(
        mask.dtype == torch.bool and mask.shape == x.shape and source.dtype == x.dtype,
        "mask and source do not fit",
    )
    call.need(source.numel() >= x.numel(), "the source has too few numbers")


def check_divisor(call: OperationCall) -> None:
    """An integer divisor is positive: n / 0 and -2^63 / -1 end the process (SIGFPE)."""
    left, right = call["self"], call["other"]
    if call.operation.startswith("div") and call.get("rounding_mode") is None:
        return  # Gives fractions.
    if not all(_is_whole(value) for value in (left, right)):
        return
    if isinstance(right, Tensor):
        call.need(
            right.numel() == 0 or int(right.min()) > 0,
            "it divides by a number that is not positive",
        )
    else:
        call.need(right > 0, "it divides by a number that is not positive")


def _is_whole(value: Tensor | float) -> bool:
    if isinstance(value, Tensor):
        return not value.is_floating_point()
    return not isinstance(value, float)


def creation(call: OperationCall) -> None:
    """Sizes are integers and not negative; bounds and steps are finite."""
    for name in ("size", "n", "m", "steps"):
        if name in call.given:
            call.sizes(name, 0, 2**31)
    for name in ("start", "end", "step"):
        if name in call.given:
            call.finite(name)
    # Pinned pages cannot be swapped out, and asking for them starts CUDA.
    call.need(not call.get("pin_memory"), "it asks for pinned memory")
    if "step" in call.given or call.operation == "arange":
        if "step" in call.given:
            step = call.get("step")
        else:
            step = 1
        span = call["end"] - (call.get("start") or 0)
        call.need(
            step != 0 and math.isfinite(span / step) and 0 <= span / step < 2**31,
            "its range is too long or has no end",
        )


def windows(call: OperationCall) -> None:
    """Windows cut out of an image, or out of one axis, lie inside it."""
    if call.operation == "unfold":
        x = call.tensor("self")
        (axis,) = call.sizes("dimension", -max(1, x.ndim), max(0, x.ndim - 1))
        call.sizes("size", 1, max(1, x.shape[axis] if x.ndim else 1))
        call.sizes("step", 1, 2**31)
        return
    x = call.tensor("self", 3, 4)
    call.need(min(x.shape[-3:]) > 0, "the input is empty")
    for name, low in (("kernel_size", 1), ("dilation", 1), ("padding", 0), ("stride", 1)):
        call.sizes(name, low, LARGEST_STEP, (2,))


def check_factor(call: OperationCall) -> None:
    """Scale factors, groups and repeats lie between 1 and LARGEST_STEP."""
    for name in ("upscale_factor", "downscale_factor", "groups", "repeats"):
        if name in call.given:
            call.sizes(name, 1, LARGEST_STEP)


def grid(call: OperationCall) -> None:
    """Input and grid fit, and the modes are known."""
    x, places = call.tensor("input", 4), call.tensor("grid", 4)
    call.same_type((x, places))
    call.need(
        x.shape[0] == places.shape[0] and places.shape[3] == 2 and min(x.shape) > 0,
        "input and grid do not fit",
    )
    call.sizes("interpolation_mode", 0, 2)
    call.sizes("padding_mode", 0, 2)


def _named(
    names: str,
    check_arguments: Callable[[OperationCall], None] | None,
    check_values: Callable[[OperationCall], None] | None = None,
) -> dict[str, Contract]:
    """One contract for several operations; only ``check_values`` reads the tensors' contents."""
    return {name: Contract(check_arguments, check_values) for name in names.split()}


CONTRACTS: dict[str, Contract] = {
    **_named(
        "index_select gather scatter scatter_add scatter_reduce index_add",
        check_axis_index,
        check_axis_index_values,
    ),
    **_named("embedding", embedding, embedding_content),
    **_named("index index_put index_put_", check_advanced_index, check_advanced_index_values),
    **_named("one_hot", one_hot, one_hot_content),
    **_named("masked_scatter", masked_scatter),
    **_named("div div_ floor_divide fmod remainder", None, check_divisor),
    **_named(
        "arange full zeros ones eye linspace new_zeros new_ones new_full rand randn", creation
    ),
    **_named("im2col unfold", windows),
    **_named("pixel_shuffle pixel_unshuffle channel_shuffle repeat_interleave", check_factor),
    **_named("grid_sampler grid_sampler_2d", grid),
}
