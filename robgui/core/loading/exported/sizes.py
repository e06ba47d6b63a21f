"""Upper bounds on the result sizes of the most common operations.

Torch can tell the size for every operation, by computing with tensors that have no memory. But the
first such call imports sympy and torch's compiler, which costs a worker a second and 70 MB. The
bounds here import nothing. They may exceed the true size, never fall below it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from torch import Tensor

from robgui.core.loading.exported.contract import OperationCall

#: Bytes of a whole number in a result; a sum of small ones is wider than its terms.
_WHOLE_WIDTH = 8

#: Elementwise operations; shapes are broadcast.
_ELEMENTWISE = """
abs abs_ add add_ celu celu_ clamp clamp_ clamp_max clamp_min clone cos div div_ dropout dropout_
elu elu_ eq erf exp exp_ floor ge gelu gelu_ gt hardsigmoid hardsigmoid_ hardswish hardswish_
hardtanh hardtanh_ le leaky_relu leaky_relu_ log lt maximum minimum mish mish_ mul mul_ ne neg neg_
pow reciprocal relu relu6 relu6_ relu_ round rsqrt rsub selu selu_ sigmoid sigmoid_ sign silu silu_
sin softplus sqrt sqrt_ square sub sub_ tan tanh tanh_ where
"""
#: The result has at most as many numbers as the first tensor.
_NOT_LARGER = """
_log_softmax _softmax _unsafe_view alias amax amin batch_norm contiguous detach flatten group_norm
layer_norm log_softmax mean permute reshape rms_norm select slice softmax squeeze sum t transpose
unflatten unsqueeze view
"""


def bound(call: OperationCall) -> int | None:
    """Most bytes that the result can take; None if only torch can tell."""
    rule = _RULES.get(call.operation.partition(".")[0])
    if rule is None or call.get("dtype") is not None or call.get("out") is not None:
        return None
    tensors = list(_tensors(call))
    if tensors:
        numbers = rule(call, tensors)
    else:
        numbers = None
    if numbers is None:
        return None
    return numbers * max(map(_width, tensors))


def _width(tensor: Tensor) -> int:
    if tensor.is_floating_point():
        return tensor.element_size()
    return _WHOLE_WIDTH


def _tensors(call: OperationCall) -> list[Tensor]:
    found: list[Tensor] = []
    for value in call.given.values():
        if isinstance(value, list | tuple):
            each = value
        else:
            each = (value,)
        found += [tensor for tensor in each if isinstance(tensor, Tensor)]
    return found


def _broadcast(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    sizes = [1] * max(tensor.ndim for tensor in tensors)
    for tensor in tensors:
        for place, size in enumerate(reversed(tensor.shape)):
            if 1 not in (size, sizes[place]) and size != sizes[place]:
                return None  # Torch says what is wrong.
            if size != 1:
                sizes[place] = size
    return prod(sizes)


def _of_first(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    # A factor beside it cannot enlarge it: torch refuses shapes that do not fit.
    return tensors[0].numel()


def _of_all(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    # Joining copies every tensor once and nothing else.
    return sum(tensor.numel() for tensor in tensors)


def _product(first: str, second: str) -> Callable[[OperationCall, Sequence[Tensor]], int | None]:
    """Rows of one matrix times columns of another."""

    def numbers(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
        rows, columns = call.tensor(first), call.tensor(second)
        if rows.ndim < 2 or columns.ndim < 2 or rows.shape[-1] != columns.shape[-2]:
            return None
        return prod(rows.shape[:-1]) * columns.shape[-1]

    return numbers


def _linear(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    x, weight = call.tensor("input"), call.tensor("weight")
    if not x.ndim or weight.ndim != 2 or x.shape[-1] != weight.shape[1]:
        return None
    return prod(x.shape[:-1]) * weight.shape[0]


def _convolution(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    x, weight = call.tensor("input"), call.tensor("weight")
    places = weight.ndim - 2
    if places < 1 or x.ndim not in (places + 1, places + 2) or call.get("transposed"):
        return None
    padding = _each(call["padding"], places)
    stride = _each(call["stride"], places)
    if padding is None or stride is None or min(stride) < 1:
        return None
    made = weight.shape[0] * prod(x.shape[: x.ndim - places - 1])
    for size, beside, step in zip(x.shape[-places:], padding, stride, strict=True):
        # With the smallest kernel, whatever its dilation.
        made *= (size + 2 * beside - 1) // step + 1
    return made


def _pool(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    x, places = tensors[0], _places(call)
    padding = _each(call["padding"], places)
    stride = _each(call["stride"] or call["kernel_size"], places)
    if padding is None or stride is None or min(stride) < 1 or x.ndim < places:
        return None
    made = prod(x.shape[:-places])
    for size, beside, step in zip(x.shape[-places:], padding, stride, strict=True):
        made *= (size + 2 * beside - 1) // step + 2  # One more if it rounds up.
    return made


def _adaptive_pool(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    x, places = tensors[0], _places(call)
    asked = _each(call["output_size"], places)
    if asked is None or x.ndim < places or min(asked) < 0:
        return None
    return prod(x.shape[:-places]) * prod(asked)


def _expanded(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    x, asked = tensors[0], list(call["size"])
    if len(asked) < x.ndim or any(type(size) is not int for size in asked):
        return None
    kept = [1] * (len(asked) - x.ndim) + list(x.shape)
    return prod(max(size, was) for size, was in zip(asked, kept, strict=True))


def _embedded(call: OperationCall, tensors: Sequence[Tensor]) -> int | None:
    weight, indices = call.tensor("weight"), call.tensor("indices")
    if weight.ndim:
        return indices.numel() * weight.shape[-1]
    return None


def _places(call: OperationCall) -> int:
    """Number of axes the window moves along, from the name: 2 for ``max_pool2d``."""
    return int(call.operation.partition(".")[0][-2])


def _each(value: Any, places: int) -> list[int] | None:
    """One whole number for each axis; None for words like "same"."""
    given = [value] if isinstance(value, int) else value
    if isinstance(given, str) or any(type(size) is not int for size in given):
        return None
    if len(given) == 1:
        return list(given) * places
    return list(given) if len(given) == places else None


_RULES: dict[str, Callable[[OperationCall, Sequence[Tensor]], int | None]] = {
    **dict.fromkeys(_ELEMENTWISE.split(), _broadcast),
    **dict.fromkeys(_NOT_LARGER.split(), _of_first),
    **dict.fromkeys(("cat", "concat", "stack"), _of_all),
    **dict.fromkeys(("conv1d", "conv2d", "conv3d", "convolution"), _convolution),
    **dict.fromkeys(("max_pool1d", "max_pool2d", "avg_pool1d", "avg_pool2d"), _pool),
    **dict.fromkeys(("adaptive_avg_pool1d", "adaptive_avg_pool2d"), _adaptive_pool),
    "mm": _product("self", "mat2"),
    "bmm": _product("self", "mat2"),
    "addmm": _product("mat1", "mat2"),
    "linear": _linear,
    "expand": _expanded,
    "embedding": _embedded,
}
