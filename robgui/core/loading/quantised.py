"""Weights rounded to a few bits, as small devices hold them.

Every weight matrix or kernel W has one step s = max |W| / (2^(b-1) - 1), and a weight w becomes
s · round(w / s), halves to the even neighbour: symmetric rounding per tensor, which onnxruntime
does by default. Biases, averages and what flows between the layers stay as they are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier

#: Vectors, as biases are, stay whole.
_LEAST_AXES = 2


def round_weights(model: Classifier, bits: int) -> int:
    """Rounds the weights of a model that nobody else uses; how many numbers were rounded.

    Raises:
        ModelError: It has no weights that can be got at.
    """
    module = getattr(model.backend, "module", None)
    weights = [] if module is None else [one for one in module.parameters() if _is_weight(one)]
    if not weights:
        raise ModelError(
            f"{model.name} has no weights that can be rounded here; quantise it with the tool that"
            " made it, and name both files."
        )
    for weight in weights:
        weight.data = rounded(weight.data, bits)  # a file's own memory may be read-only
    return sum(weight.numel() for weight in weights)


def rounded(weight: Tensor, bits: int) -> Tensor:
    """The nearest numbers that ``bits`` bits hold, as floats."""
    most = 2 ** (bits - 1) - 1
    step = weight.abs().max().double() / most
    if not torch.isfinite(step) or step == 0:
        return weight.clone()
    nearest: Tensor = torch.round(weight.double() / step) * step
    return nearest.to(weight.dtype)


def _is_weight(parameter: Tensor) -> bool:
    return parameter.is_floating_point() and parameter.ndim >= _LEAST_AXES and parameter.numel() > 0
