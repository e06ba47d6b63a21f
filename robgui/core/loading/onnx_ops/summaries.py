"""Reductions over whole axes: sums and extremes, softmax, normalisation."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.core.loading.onnx_ops.values import (
    Attributes,
    Operation,
    UntranslatedError,
    attribute_or_input,
)


def _reduce(function: Callable[[Tensor, list[int], bool], Tensor]) -> Operation:
    def reduce(a: Attributes, x: Tensor, axes: Tensor | None = None) -> Tensor:
        # Axes are attributes up to opset 12 for ReduceSum and up to 17 for the others.
        chosen = attribute_or_input(a, "axes", axes)
        if not chosen and a.get("noop_with_empty_axes", 0):
            return x
        return function(x, chosen or list(range(x.ndim)), bool(a.get("keepdims", 1)))

    return reduce


def _softmax(function: Callable[..., Tensor]) -> Operation:
    def softmax(a: Attributes, x: Tensor) -> Tensor:
        if a["opset"] >= 13:
            return function(x, int(a.get("axis", -1)))
        # Before opset 13: over all axes from this one on, as if they were flattened.
        axis = int(a.get("axis", 1)) % x.ndim
        return function(x.reshape(math.prod(x.shape[:axis]), -1), 1).reshape(x.shape)

    return softmax


def _batch_norm(
    a: Attributes, x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, var: Tensor
) -> Tensor:
    if a.get("training_mode", 0):
        raise UntranslatedError("BatchNormalization in training mode")
    # 1e-5 is ONNX's default, and so are the numbers
    # below: exporters leave out what is usual.
    return F.batch_norm(x, mean, var, scale, bias, False, 0.0, float(a.get("epsilon", 1e-5)))


def _layer_norm(a: Attributes, x: Tensor, scale: Tensor, bias: Tensor | None = None) -> Tensor:
    axis = int(a.get("axis", -1)) % x.ndim
    return F.layer_norm(x, x.shape[axis:], scale, bias, float(a.get("epsilon", 1e-5)))


SUMMARIES: dict[str, Operation] = {
    "ReduceMean": _reduce(lambda x, axes, keep: x.mean(axes, keepdim=keep)),
    "ReduceSum": _reduce(lambda x, axes, keep: x.sum(axes, keepdim=keep)),
    "ReduceMax": _reduce(lambda x, axes, keep: x.amax(axes, keepdim=keep)),
    "ReduceMin": _reduce(lambda x, axes, keep: x.amin(axes, keepdim=keep)),
    "ReduceL2": _reduce(lambda x, axes, keep: torch.linalg.vector_norm(x, dim=axes, keepdim=keep)),
    "ReduceSumSquare": _reduce(lambda x, axes, keep: x.square().sum(axes, keepdim=keep)),
    "Softmax": _softmax(torch.softmax),
    "LogSoftmax": _softmax(torch.log_softmax),
    "BatchNormalization": _batch_norm,
    "LayerNormalization": _layer_norm,
    "InstanceNormalization": lambda a, x, scale, bias: F.instance_norm(
        x, weight=scale, bias=bias, eps=float(a.get("epsilon", 1e-5))
    ),
    "LRN": lambda a, x: F.local_response_norm(
        x,
        int(a["size"]),
        float(a.get("alpha", 1e-4)),
        float(a.get("beta", 0.75)),
        float(a.get("bias", 1.0)),
    ),
}
