"""Operations that add up numbers with constant weights: sums, means, matrix products and convolutions."""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.bounds.network import Operation
from robgui.bounds.translation.call import Call, Ref, Translator, affine, constant, only, weights
from robgui.bounds.translation.replay import along, replay


def _sum(call: Call) -> list[Operation]:
    """Sums and differences, also of two branches."""
    if any(len(ref.shape) != len(call.result) for ref in call.refs):
        raise call.refuse("adds values of different rank")
    return replay(call)


def _product(call: Call) -> list[Operation]:
    """A product of which one factor is constant, or a value divided by a constant."""
    ref = only(call)
    if call.name == "div" and (call.args[0] is not ref or call.kwargs.get("rounding_mode")):
        raise call.refuse("divides by what depends on the input")
    return _sum(call)


def _addcmul(call: Call) -> list[Operation]:
    if sum(isinstance(each, Ref) for each in call.args[1:3]) > 1:
        raise call.refuse("multiplies two values that depend on the input")
    return _sum(call)


def _average(call: Call) -> list[Operation]:
    """Means of windows: more of the input never gives less of the result."""
    only(call)
    return replay(call, mixes=True)


def _batch_norm(call: Call) -> list[Operation]:
    only(call)
    if call.name != "_native_batch_norm_legit_no_training" and call.args[5]:
        raise call.refuse("uses the statistics of the batch")
    return replay(call)


def _linear(call: Call) -> list[Operation]:
    bias = call.argument(2, "bias")
    return _matrix(call, 0, None if bias is None else weights(bias, call))


def _matmul(call: Call) -> list[Operation]:
    return _matrix(call, 0, None)


def _addmm(call: Call) -> list[Operation]:
    if isinstance(call.args[0], Ref):
        raise call.refuse("adds what depends on the input to a product")
    return _matrix(call, 1, constant(call.args[0], call).reshape(-1) * call.kwargs.get("beta", 1))


def _matrix(call: Call, place: int, bias: Tensor | None) -> list[Operation]:
    """A product of the argument at ``place`` with the constant matrix after it."""
    ref = only(call)
    if call.args[place] is not ref or call.args[place + 1].ndim != 2:
        raise call.refuse("multiplies by what depends on the input")
    weight = weights(call.args[place + 1], call)
    if call.name != "linear":
        weight = weight.T.contiguous() * call.kwargs.get("alpha", 1)
    bias = None if bias is None else bias.expand(len(weight))
    return affine(
        call,
        (ref,),
        lambda x: F.linear(x, weight, bias),
        pull=lambda rows: rows @ weight,
        spread=lambda radius: F.linear(radius, weight.abs()),
        mixes=True,
    )


def _convolution(call: Call) -> list[Operation]:
    ref = only(call)
    if call.args[0] is not ref:
        raise call.refuse("has a kernel that depends on the input")
    weight = weights(call.args[1], call)
    bias = None if call.args[2] is None else weights(call.args[2], call)
    rest = tuple(call.args[3:9])
    inner = ref.shape[1:]

    def run(x: Tensor, kernel: Tensor, add: Tensor | None) -> Tensor:
        found: Tensor = torch.ops.aten.convolution(x, kernel, add, *rest)
        return found

    def pull(rows: Tensor) -> Tensor:
        like = rows.new_zeros(1).expand(len(rows), *inner)
        found: Tensor = torch.ops.aten.convolution_backward(rows, like, weight, None, *rest, (True, False, False))[0]
        return found

    return affine(
        call, (ref,), lambda x: run(x, weight, bias), pull=pull, spread=lambda radius: run(radius, weight.abs(), None), mixes=True
    )


_AVERAGES = ("avg_pool1d", "avg_pool2d", "avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d")

WEIGHING: dict[str, Translator] = {
    **dict.fromkeys(("add", "sub", "rsub", "neg"), _sum),
    **dict.fromkeys(("mul", "div"), _product),
    **dict.fromkeys(("mean", "sum"), along("dim", mixes=True)),
    **dict.fromkeys(_AVERAGES, _average),
    **dict.fromkeys(("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm),
    **dict.fromkeys(("mm", "matmul"), _matmul),
    "linear": _linear,
    "addmm": _addmm,
    "addcmul": _addcmul,
    "convolution": _convolution,
}
