"""How much work one input is for a model, to make a batch take about as long for any model."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from robgui.core.devices import hardware_of
from robgui.core.model.watching import Watching

#: Most numbers in a batch of inputs: 13 MB.
#: As in 4,096 grey pictures of 28 × 28 pixels.
_VALUES_PER_BATCH = 3_211_264
_SMALLEST, _LARGEST = 4, 4096
#: Assumed for a model whose work cannot be counted.
_UNKNOWN = 512


#: Layers that walk through a sequence.
_RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu"})


class Counter(Watching):
    """Adds up multiplications and additions of convolutions and matrix products.

    ``total`` has the sum, ``recurrent`` says whether a recurrent layer was among them.
    """

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.total = 0
        self.recurrent = False

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.overloadpacket.__name__ in _RECURRENT:
            # One operation to torch; breaking it down would import sympy and take a second.
            self.recurrent = True
            self.total += _recurrent(args)
            return func(*args, **(kwargs or {}))
        with self:  # Made of other operations, and those count.
            parts = func.decompose(*args, **(kwargs or {}))
        if parts is not NotImplemented:
            return parts
        result = func(*args, **(kwargs or {}))
        if isinstance(result, Tensor):
            # A multiplication and an addition for each product.
            self.total += 2 * result.numel() * _depth(func.overloadpacket.__name__, args)
        return result


def batch_size(shape: tuple[int, ...], operations: float, device: torch.device) -> int:
    """How many inputs to give a model at once: a power of two, fixed for a model and device."""
    if operations:
        wanted = hardware_of(device).operations / operations
    else:
        wanted = _UNKNOWN
    fitting = max(1, _VALUES_PER_BATCH // max(1, torch.Size(shape).numel()))
    most = max(1, min(int(max(wanted, _SMALLEST)), fitting, _LARGEST))
    return int(2 ** (most.bit_length() - 1))


def _recurrent(args: Any) -> int:
    """Each matrix of a recurrent layer is applied to every step of every sequence."""
    first, *others = args
    weights = next(one for one in others if isinstance(one, list | tuple) and one[0].ndim < 3)
    steps = first.shape[:-1].numel()
    return int(2 * steps * sum(weight.numel() for weight in weights if weight.ndim == 2))


def _depth(name: str, args: Any) -> int:
    """Products summed for each number of the result."""
    match name:
        case "convolution" | "_convolution" | "mkldnn_convolution" | "conv2d" | "conv1d":
            # Weights are ``(out, in / groups, height, width)``: one filter's numbers.
            return int(args[1][0].numel())
        case "mm" | "bmm":
            return int(args[0].shape[-1])
        case "addmm" | "baddbmm":
            return int(args[1].shape[-1])
        case "linear":
            return int(args[1].shape[-1])
    return 0
