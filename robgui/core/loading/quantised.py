"""Weights, and what layers take, rounded to a few bits, as small devices compute.

Every weight matrix or kernel W has one step s = max |W| / (2^(b-1) - 1), and a weight w becomes
s · round(w / s), halves to the even neighbour: symmetric rounding per tensor, which onnxruntime
does by default. Biases and averages stay as they are.

What a layer takes is rounded, where that is asked for, as ONNX's DynamicQuantizeLinear does, for
every input of a batch by itself: with l = min(0, min x) and h = max(0, max x) the step is
s = (h - l) / (2^b - 1), the zero z = round(-l / s), and x becomes s · (clip(round(x / s) + z) - z).
Gradients pass as if nothing had been rounded.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.errors import ModelError
from robgui.core.loading.exported.graph import ExportedGraph
from robgui.core.model.classifier import Classifier

#: Vectors (biases) stay whole.
_LEAST_AXES = 2
_LAYERS = (nn.Linear, nn.Conv1d, nn.Conv2d, nn.Conv3d)


def round_weights(model: Classifier, bits: int) -> int:
    """Rounds the weights of a model in place; returns how many numbers.

    Raises:
        ModelError: It has no weights that can be got at.
    """
    module = getattr(model.backend, "module", None)
    if module is None:
        weights = []
    else:
        weights = [one for one in module.parameters() if _is_weight(one)]
    if not weights:
        raise ModelError(
            f"{model.name} has no weights that can be rounded here; quantise it with the tool that"
            " made it, and name both files."
        )
    for weight in weights:
        weight.data = rounded(weight.data, bits)  # A file's own memory may be read-only.
    return sum(weight.numel() for weight in weights)


def round_inputs(model: Classifier, bits: int) -> int:
    """Rounds the inputs of every layer of such a model from now on; returns how many layers.

    Raises:
        ModelError: It has layers that cannot be got at.
    """
    module = getattr(model.backend, "module", None)
    if module is None:
        many = 0
    else:
        many = _change_inputs(module, bits)
    if not many:
        raise ModelError(
            f"{model.name} has layers whose inputs cannot be rounded here, or none; round its"
            " weights alone, or export it as .pt2 or ONNX."
        )
    return many


def rounded(weight: Tensor, bits: int) -> Tensor:
    """The nearest numbers that ``bits`` bits hold, as floats."""
    # Symmetric: of int8 only -127 to 127 are used, so 0 stays exactly 0.
    most = 2 ** (bits - 1) - 1
    # In double precision, or w / s could round to the other side of a half.
    step = weight.abs().max().double() / most
    if not torch.isfinite(step) or step == 0:
        return weight.clone()
    nearest: Tensor = torch.round(weight.double() / step) * step
    return nearest.to(weight.dtype)


def rounded_inputs(x: Tensor, bits: int) -> Tensor:
    """A layer's inputs, each input of the batch rounded in steps of its own range."""
    most = 2**bits - 1
    rows = x.detach().flatten(1)
    low, high = rows.amin(1).clamp(max=0), rows.amax(1).clamp(min=0)
    # An input of zeros has no range; any step above 0 leaves it as it is.
    step = ((high - low) / most).clamp(min=torch.finfo(x.dtype).tiny)
    zero = torch.round(-low / step)
    step, zero = (one.reshape(-1, *[1] * (x.ndim - 1)) for one in (step, zero))
    nearest = (torch.clamp(torch.round(x.detach() / step) + zero, 0, most) - zero) * step
    return x + (nearest - x.detach())  # Straight-through: the gradient passes unrounded.


def _change_inputs(module: nn.Module, bits: int) -> int:
    if isinstance(module, ExportedGraph):
        return module.before_layers(lambda x: rounded_inputs(x, bits))
    layers = [layer for layer in module.modules() if isinstance(layer, _LAYERS)]
    if any(isinstance(layer, nn.MultiheadAttention) for layer in module.modules()):
        return 0  # It takes the weights of its layers without calling them.

    def change(layer: nn.Module, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (rounded_inputs(given[0], bits), *given[1:])

    for layer in layers:
        layer.register_forward_pre_hook(change)
    return len(layers)


def _is_weight(parameter: Tensor) -> bool:
    return parameter.is_floating_point() and parameter.ndim >= _LEAST_AXES and parameter.numel() > 0
