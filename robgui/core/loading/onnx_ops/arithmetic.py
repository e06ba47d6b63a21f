"""Elementwise operations with one, two or more operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.core.loading.onnx_ops.values import Attributes, Operation, on_one_device


def _unary(function: Callable[[Tensor], Tensor]) -> Operation:
    return lambda a, x: function(x)


def _binary(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    return lambda a, x, y: function(*on_one_device(x, y))


def _many(function: Callable[[Tensor, Tensor], Tensor]) -> Operation:
    def fold(a: Attributes, *values: Tensor) -> Tensor:
        first, *rest = on_one_device(*values)
        for value in rest:
            first = function(first, value)
        return first

    return fold


def _divide(a: Attributes, x: Tensor, y: Tensor) -> Tensor:
    x, y = on_one_device(x, y)
    if x.is_floating_point():
        return x / y
    # ONNX divides integers towards zero, as C does.
    return torch.div(x, y, rounding_mode="trunc")


def _prelu(a: Attributes, x: Tensor, slope: Tensor) -> Tensor:
    # Not F.prelu, which takes one slope per channel; ONNX broadcasts a slope of any shape.
    return torch.where(x >= 0, x, x * slope)


def _clip(
    a: Attributes, x: Tensor, low: Tensor | None = None, high: Tensor | None = None
) -> Tensor:
    # Limits are attributes up to opset 10 and inputs from 11 on.
    if low is None:
        lowest = a.get("min")
    else:
        lowest = low.to(x.device)
    if high is None:
        highest = a.get("max")
    else:
        highest = high.to(x.device)
    if lowest is None and highest is None:
        return x
    return torch.clamp(x, lowest, highest)


_PLAIN: dict[str, Any] = {
    **{
        name: getattr(torch, name.lower())
        for name in ("Relu", "Sigmoid", "Tanh", "Exp", "Log", "Sqrt", "Neg", "Abs", "Erf", "Selu")
    },
    **{
        name: getattr(torch, name.lower())
        for name in ("Floor", "Ceil", "Round", "Sign", "Reciprocal", "Sin", "Cos")
    },
    **{name: getattr(F, name.lower()) for name in ("Softplus", "Softsign", "HardSwish", "Mish")},
    "Not": torch.logical_not,
    "Identity": lambda x: x,
}
_PAIRS: dict[str, Any] = {
    "Sub": torch.sub,
    "Pow": torch.pow,
    # With the divisor's sign, ONNX's default. fmod = 1 means the dividend's: such
    # a graph differs from onnxruntime's answers, and its translation is not used.
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
_FOLDS: dict[str, Any] = {
    "Add": torch.add,
    "Sum": torch.add,
    "Mul": torch.mul,
    "Max": torch.maximum,
    "Min": torch.minimum,
}

ARITHMETIC: dict[str, Operation] = {
    **{name: _unary(function) for name, function in _PLAIN.items()},
    **{name: _binary(function) for name, function in _PAIRS.items()},
    **{name: _many(function) for name, function in _FOLDS.items()},
    "Div": _divide,
    "Where": lambda a, condition, x, y: torch.where(*on_one_device(condition, x, y)),
    "LeakyRelu": lambda a, x: F.leaky_relu(x, float(a.get("alpha", 0.01))),
    "Elu": lambda a, x: F.elu(x, float(a.get("alpha", 1.0))),
    "Celu": lambda a, x: F.celu(x, float(a.get("alpha", 1.0))),
    # ONNX's slope is 0.2 by default; torch's own hard sigmoid has 1/6.
    "HardSigmoid": lambda a, x: torch.clamp(
        x * float(a.get("alpha", 0.2)) + float(a.get("beta", 0.5)), 0, 1
    ),
    "Gelu": lambda a, x: F.gelu(x, approximate=a.get("approximate", "none")),
    "PRelu": _prelu,
    "Clip": _clip,
}
