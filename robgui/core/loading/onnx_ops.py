"""ONNX operations in torch; what stands here follows the operators' specification.

Each function takes the node's attributes and its inputs, and returns one tensor or a tuple. Whole numbers that
describe shapes are kept on the CPU, so that reading them never waits for another device.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

Attributes = dict[str, Any]
Operation = Callable[..., Any]


class UntranslatedError(Exception):
    """An operation, or a variant of one, that has no translation here."""


def ints(value: Tensor | Sequence[int] | None) -> list[int]:
    """Whole numbers given as an input or as an attribute."""
    if value is None:
        return []
    return [int(each) for each in (value.flatten().tolist() if isinstance(value, Tensor) else value)]


def spatial_pads(a: Attributes, sizes: Sequence[int], kernel: Sequence[int], strides: Sequence[int], dilations: Sequence[int]) -> list[int]:
    """Padding at the beginning of every axis, then at the end, with ``auto_pad`` worked out."""
    mode = a.get("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return ints(a.get("pads")) or [0] * (2 * len(kernel))
    if mode == "VALID":
        return [0] * (2 * len(kernel))
    begins, ends = [], []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        total = max(0, (math.ceil(size / s) - 1) * s + (k - 1) * d + 1 - size)
        small, large = total // 2, total - total // 2
        begins.append(small if mode == "SAME_UPPER" else large)
        ends.append(large if mode == "SAME_UPPER" else small)
    return begins + ends


def pad(x: Tensor, pads: Sequence[int], value: float = 0.0, mode: str = "constant") -> Tensor:
    """Pads the last axes; ``pads`` in ONNX order (all beginnings, then all ends)."""
    half = len(pads) // 2
    torch_order = [each for axis in reversed(range(half)) for each in (pads[axis], pads[axis + half])]
    if not any(torch_order):
        return x
    if mode == "constant":
        return F.pad(x, torch_order, value=value)
    while len(torch_order) > 2 and torch_order[-2:] == [0, 0]:
        torch_order = torch_order[:-2]
    return F.pad(x, torch_order, mode={"reflect": "reflect", "edge": "replicate", "wrap": "circular"}[mode])


def together(*values: Tensor) -> tuple[Tensor, ...]:
    """Brings values to one device: shape numbers live on the CPU, data elsewhere."""
    device = next((value.device for value in values if value.device.type != "cpu"), values[0].device)
    return tuple(value.to(device) for value in values)


def _pool(a: Attributes, x: Tensor, largest: bool) -> Tensor:
    kernel = ints(a["kernel_shape"])
    dims = len(kernel)
    if dims not in (1, 2, 3):
        raise UntranslatedError(f"pooling over {dims} axes")
    strides, dilations = ints(a.get("strides")) or [1] * dims, ints(a.get("dilations")) or [1] * dims
    pads = spatial_pads(a, x.shape[2:], kernel, strides, dilations)
    ceil = bool(a.get("ceil_mode", 0))
    if largest:
        pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[dims - 1]
        return pool(pad(x, pads, -math.inf), kernel, strides, 0, dilations, ceil)
    average: Any = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]
    if any(each != 1 for each in dilations):
        raise UntranslatedError("AveragePool with dilation")
    if pads[:dims] == pads[dims:] and all(2 * p <= k for p, k in zip(pads, kernel, strict=False)):
        symmetric: Tensor = average(x, kernel, strides, pads[:dims], ceil, bool(a.get("count_include_pad", 0)))
        return symmetric
    mean: Tensor = average(pad(x, pads), kernel, strides, 0, ceil)
    if a.get("count_include_pad", 0):
        return mean
    share: Tensor = average(pad(torch.ones_like(x), pads), kernel, strides, 0, ceil)
    return mean / share


def _max_pool(a: Attributes, x: Tensor) -> Tensor:
    return _pool(a, x, largest=True)


def _average_pool(a: Attributes, x: Tensor) -> Tensor:
    return _pool(a, x, largest=False)


def _reshape(a: Attributes, x: Tensor, shape: Tensor | None = None) -> Tensor:
    sizes = ints(a["shape"] if shape is None else shape)
    if not a.get("allowzero", 0):
        sizes = [x.shape[axis] if size == 0 else size for axis, size in enumerate(sizes)]
    return x.reshape(tuple(sizes))


def _flatten(a: Attributes, x: Tensor) -> Tensor:
    axis = int(a.get("axis", 1))
    axis = axis + x.ndim if axis < 0 else axis
    return x.flatten(1) if axis == 1 else x.reshape(math.prod(x.shape[:axis]), -1)


def _squeeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    chosen = ints(a.get("axes") if axes is None else axes)
    return x.squeeze(tuple(chosen)) if chosen else x.squeeze()


def _unsqueeze(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
    chosen = ints(a.get("axes") if axes is None else axes)
    rank = x.ndim + len(chosen)
    for axis in sorted(each % rank for each in chosen):
        x = x.unsqueeze(axis)
    return x


def _slice(a: Attributes, x: Tensor, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None) -> Tensor:
    first, last = ints(a.get("starts") if starts is None else starts), ints(a.get("ends") if ends is None else ends)
    where = ints(a.get("axes") if axes is None else axes) or list(range(len(first)))
    by = ints(steps) or [1] * len(first)
    for begin, end, axis, step in zip(first, last, where, by, strict=True):
        if step < 0:
            chosen = list(range(x.shape[axis]))[slice(begin, end if end > -(2**31) else None, step)]
            x = x.index_select(axis, torch.tensor(chosen, dtype=torch.int64, device=x.device))
        else:
            x = x[(slice(None),) * (axis % x.ndim) + (slice(begin, min(end, 2**31), step),)]
    return x


def _gather(a: Attributes, x: Tensor, index: Tensor) -> Tensor:
    axis = int(a.get("axis", 0)) % x.ndim
    index = torch.where(index < 0, index + x.shape[axis], index).to(x.device)
    return x.index_select(axis, index.flatten()).reshape((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _shape(a: Attributes, x: Tensor) -> Tensor:
    return torch.tensor(list(x.shape)[a.get("start", 0) : a.get("end", None)], dtype=torch.int64, device="cpu")


def _constant_of_shape(a: Attributes, shape: Tensor) -> Tensor:
    value = a.get("value")
    fill = value.flatten()[0] if isinstance(value, Tensor) else torch.zeros((), device="cpu")
    return fill.expand(ints(shape)).clone()


def _cast(a: Attributes, x: Tensor) -> Tensor:
    types = {
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
    if a["to"] not in types:
        raise UntranslatedError(f"Cast to type {a['to']}")
    return x.to(types[a["to"]])


def _split(a: Attributes, x: Tensor, parts: Tensor | None = None) -> tuple[Tensor, ...]:
    axis = int(a.get("axis", 0))
    sizes = ints(a.get("split") if parts is None else parts)
    if not sizes:
        count: int = a.get("num_outputs") or a["outputs"]
        sizes = [math.ceil(x.shape[axis] / count)] * (count - 1)
        sizes.append(x.shape[axis] - sum(sizes))
    return torch.split(x, sizes, axis)


def _pad(a: Attributes, x: Tensor, pads: Tensor | None = None, value: Tensor | None = None, axes: Tensor | None = None) -> Tensor:
    amounts = ints(a.get("pads") if pads is None else pads)
    if axes is not None:
        half, full = len(amounts) // 2, [0] * (2 * x.ndim)
        for position, axis in enumerate(ints(axes)):
            full[axis % x.ndim], full[axis % x.ndim + x.ndim] = amounts[position], amounts[position + half]
        amounts = full
    fill = float(a.get("value", 0.0)) if value is None else float(value.flatten()[0].item())
    return pad(x, amounts, fill, a.get("mode", "constant"))


def _resize(a: Attributes, x: Tensor, roi: Any = None, scales: Tensor | None = None, sizes: Tensor | None = None) -> Tensor:
    if sizes is not None and sizes.numel():
        target = ints(sizes)[2:]
    elif scales is not None and scales.numel():
        target = [math.floor(size * scale) for size, scale in zip(x.shape[2:], scales.flatten().tolist()[2:], strict=True)]
    else:
        raise UntranslatedError("Resize without a target")
    mode, place = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    if mode == "nearest":
        exact = place in ("half_pixel", "pytorch_half_pixel")
        return F.interpolate(x, target, mode="nearest-exact" if exact else "nearest")
    if mode == "linear" and place in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        kind = {3: "linear", 4: "bilinear", 5: "trilinear"}[x.ndim]
        return F.interpolate(x, target, mode=kind, align_corners=place == "align_corners")
    raise UntranslatedError(f"Resize {mode} with {place}")


def _upsample(a: Attributes, x: Tensor, scales: Tensor | None = None) -> Tensor:
    factors = scales if scales is not None else torch.tensor(a["scales"], device="cpu")
    return _resize({"mode": a.get("mode", "nearest"), "coordinate_transformation_mode": "asymmetric"}, x, None, factors)


def _reduce(function: Callable[[Tensor, list[int], bool], Tensor]) -> Operation:
    def reduce(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
        chosen = ints(a.get("axes") if axes is None else axes)
        if not chosen and a.get("noop_with_empty_axes", 0):
            return x
        return function(x, chosen or list(range(x.ndim)), bool(a.get("keepdims", 1)))

    return reduce


def _softmax(function: Callable[..., Tensor]) -> Operation:
    def softmax(a: Attributes, x: Tensor) -> Tensor:
        if a["opset"] >= 13:
            return function(x, int(a.get("axis", -1)))
        axis = int(a.get("axis", 1)) % x.ndim
        return function(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)

    return softmax


def _clip(a: Attributes, x: Tensor, low: Tensor | None = None, high: Tensor | None = None) -> Tensor:
    lowest = a.get("min") if low is None else low.to(x.device)
    highest = a.get("max") if high is None else high.to(x.device)
    return x if lowest is None and highest is None else torch.clamp(x, lowest, highest)


def _batch_norm(a: Attributes, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    if a.get("training_mode", 0):
        raise UntranslatedError("BatchNormalization in training mode")
    return F.batch_norm(x, mean, var, scale, bias, False, 0.0, float(a.get("epsilon", 1e-5)))


def _layer_norm(a: Attributes, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Tensor:
    axis = int(a.get("axis", -1)) % x.ndim
    return F.layer_norm(x, x.shape[axis:], scale, bias, float(a.get("epsilon", 1e-5)))


def _divide(a: Attributes, x: Tensor, y: Tensor) -> Tensor:
    x, y = together(x, y)
    return x / y if x.is_floating_point() else torch.div(x, y, rounding_mode="trunc")


def _prelu(a: Attributes, x: Tensor, slope: Tensor) -> Tensor:
    return torch.where(x >= 0, x, x * slope)


def _unary(function: Callable[[Tensor], Tensor]) -> Operation:
    return lambda a, x: function(x)


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    return lambda a, x, y: function(*together(x, y))


def _many(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    def fold(a: Attributes, *values: Tensor) -> Tensor:
        first, *rest = together(*values)
        for value in rest:
            first = function(first, value)
        return first

    return fold


def _expand(a: Attributes, x: Tensor, shape: Tensor) -> Tensor:
    return x.expand(torch.broadcast_shapes(x.shape, ints(shape)))  # type: ignore[no-untyped-call]


def _global(function: Callable[..., Tensor]) -> Operation:
    return lambda a, x: function(x, tuple(range(2, x.ndim)), keepdim=True)


def _depth_to_space(a: Attributes, x: Tensor) -> Tensor:
    if a.get("mode", "DCR") != "CRD":
        raise UntranslatedError("DepthToSpace in DCR order")
    return F.pixel_shuffle(x, int(a["blocksize"]))


_PLAIN: dict[str, Any] = {
    **{name: getattr(torch, name.lower()) for name in ("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Erf", "Selu")},
    **{name: getattr(torch, name.lower()) for name in ("Floor", "Ceil", "Round", "Sign", "Reciprocal", "Sin", "Cos")},
    **{name: getattr(F, name.lower()) for name in ("Softplus", "Softsign", "HardSwish", "Mish")},
    "Not": torch.logical_not,
    "Identity": lambda x: x,
}
_PAIRS: dict[str, Any] = {
    "Sub": torch.sub,
    "Pow": torch.pow,
    "Mod": torch.remainder,
    "MatMul": torch.matmul,
    "Equal": torch.eq,
    "Greater": torch.gt,
    "Less": torch.lt,
    "GreaterOrEqual": torch.ge,
    "LessOrEqual": torch.le,
    "And": torch.logical_and,
    "Or": torch.logical_or,
    "Xor": torch.logical_xor,
}
_FOLDS: dict[str, Any] = {"Add": torch.add, "Sum": torch.add, "Mul": torch.mul, "Max": torch.maximum, "Min": torch.minimum}

OPERATIONS: dict[str, Operation] = {
    **{name: _unary(function) for name, function in _PLAIN.items()},
    **{name: _binary(function) for name, function in _PAIRS.items()},
    **{name: _many(function) for name, function in _FOLDS.items()},
    "Div": _divide,
    "Dropout": lambda a, x, *_: x,
    "LeakyRelu": lambda a, x: F.leaky_relu(x, float(a.get("alpha", 0.01))),
    "Elu": lambda a, x: F.elu(x, float(a.get("alpha", 1.0))),
    "Celu": lambda a, x: F.celu(x, float(a.get("alpha", 1.0))),
    "HardSigmoid": lambda a, x: torch.clamp(x * float(a.get("alpha", 0.2)) + float(a.get("beta", 0.5)), 0, 1),
    "Gelu": lambda a, x: F.gelu(x, approximate=a.get("approximate", "none")),
    "PRelu": _prelu,
    "Clip": _clip,
    "Softmax": _softmax(torch.softmax),
    "LogSoftmax": _softmax(torch.log_softmax),
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global(torch.mean),
    "GlobalMaxPool": _global(torch.amax),
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "InstanceNormalization": lambda a, x, scale, bias: F.instance_norm(x, weight=scale, bias=bias, eps=float(a.get("epsilon", 1e-5))),
    "LRN": lambda a, x: F.local_response_norm(
        x, int(a["size"]), float(a.get("alpha", 1e-4)), float(a.get("beta", 0.75)), float(a.get("bias", 1.0))
    ),
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Squeeze": _squeeze,
    "Unsqueeze": _unsqueeze,
    "Transpose": lambda a, x: x.permute(ints(a.get("perm")) or list(reversed(range(x.ndim)))),
    "Concat": lambda a, *values: torch.cat(together(*values), int(a["axis"])),
    "Slice": _slice,
    "Gather": _gather,
    "Shape": _shape,
    "Size": lambda a, x: torch.tensor(x.numel(), dtype=torch.int64, device="cpu"),
    "ConstantOfShape": _constant_of_shape,
    "Cast": _cast,
    "CastLike": lambda a, x, like: x.to(like.dtype),
    "Expand": _expand,
    "Tile": lambda a, x, repeats: x.repeat(ints(repeats)),
    "Where": lambda a, condition, x, y: torch.where(*together(condition, x, y)),
    "Split": _split,
    "Pad": _pad,
    "Resize": _resize,
    "Upsample": _upsample,
    "ReduceMean": _reduce(lambda x, axes, keep: x.mean(axes, keepdim=keep)),
    "ReduceSum": _reduce(lambda x, axes, keep: x.sum(axes, keepdim=keep)),
    "ReduceMax": _reduce(lambda x, axes, keep: x.amax(axes, keepdim=keep)),
    "ReduceMin": _reduce(lambda x, axes, keep: x.amin(axes, keepdim=keep)),
    "ReduceL2": _reduce(lambda x, axes, keep: torch.linalg.vector_norm(x, dim=axes, keepdim=keep)),
    "ReduceSumSquare": _reduce(lambda x, axes, keep: x.square().sum(axes, keepdim=keep)),
    "DepthToSpace": _depth_to_space,
}
