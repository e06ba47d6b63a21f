"""Operations that add up numbers with constant weights: sums, means, products, convolutions."""

from __future__ import annotations

import math
from dataclasses import replace

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.bounds.network import Affine, Operation
from robgui.bounds.translation.call import (
    Call,
    Ref,
    Translator,
    affine,
    as_float64,
    constant,
    per_axis,
    single_ref,
    zero,
)
from robgui.bounds.translation.replay import along, replay

#: Roundings in a sum, product or quotient of two numbers that may be converted or scaled first.
_FEW_ROUNDINGS = 6
#: Roundings in a normalisation (a root, two quotients or products, two sums), with slack.
_NORM_ROUNDINGS = 16


def _sum(call: Call) -> list[Operation]:
    """Sums and differences, including those of two branches."""
    # Broadcasting would line up the batch of one with another axis of the other.
    if any(len(ref.shape) != len(call.result) for ref in call.refs):
        raise call.unsupported("adds values of different rank")
    return replay(call, roundings=_FEW_ROUNDINGS)


def _product(call: Call) -> list[Operation]:
    """A product with a constant factor, or a value divided by a constant."""
    ref = single_ref(call)
    if call.name == "div" and (call.args[0] is not ref or call.kwargs.get("rounding_mode")):
        raise call.unsupported("divides by what depends on the input")
    return _sum(call)


def _addcmul(call: Call) -> list[Operation]:
    # A product of two values that both depend on the input is not affine.
    if sum(isinstance(each, Ref) for each in call.args[1:3]) > 1:
        raise call.unsupported("multiplies two values that depend on the input")
    return _sum(call)


def _average(call: Call) -> list[Operation]:
    """Means of windows, which are monotone: they need no ``spread``."""
    ref = single_ref(call)
    axes = int(call.name.removesuffix("d")[-1])
    sizes = per_axis(call.args[1], axes)
    if "adaptive" in call.name:  # Window sizes differ; the largest is longer at both ends.
        inner = ref.shape[-axes:]
        sizes = [whole // parts + 2 for whole, parts in zip(inner, sizes, strict=True)]
    return replay(call, mixes=True, roundings=math.prod(sizes) + 4)


def _batch_norm(call: Call) -> list[Operation]:
    """The offset is shift - mean · factor; both terms may far exceed it, so their sizes count."""
    ref = single_ref(call)
    # The sixth argument is ``training``, except for the variant that has none.
    if call.name != "_native_batch_norm_legit_no_training" and call.args[5]:
        # A network in training mode would answer differently beside other inputs.
        raise call.unsupported("uses the statistics of the batch")
    (found,) = replay(call, roundings=_NORM_ROUNDINGS)
    assert isinstance(found, Affine)
    shift = zero(call, call.shape)
    if call.args[2] is not None:
        shift = shift + as_float64(call.args[2], call).reshape(1, -1, *(1 for _ in ref.shape[2:]))
    # offset = shift − mean · scale. The two may cancel, but their rounding errors do not, so the
    # error is counted from their sizes.
    return [replace(found, constants=(found.offset - shift).abs() + shift.abs())]


def _linear(call: Call) -> list[Operation]:
    bias = call.argument(2, "bias")
    return _matrix(call, 0, None if bias is None else as_float64(bias, call))


def _matmul(call: Call) -> list[Operation]:
    return _matrix(call, 0, None)


def _addmm(call: Call) -> list[Operation]:
    if isinstance(call.args[0], Ref):
        raise call.unsupported("adds what depends on the input to a product")
    return _matrix(call, 1, constant(call.args[0], call).reshape(-1) * call.kwargs.get("beta", 1))


def _matrix(call: Call, place: int, bias: Tensor | None) -> list[Operation]:
    """A product of the argument at ``place`` with the constant matrix after it."""
    ref = single_ref(call)
    if call.args[place] is not ref or call.args[place + 1].ndim != 2:
        raise call.unsupported("multiplies by what depends on the input")
    weight = as_float64(call.args[place + 1], call)
    if call.name != "linear":
        # ``linear`` stores its matrix transposed, ``mm`` and ``addmm`` do not.
        weight = weight.T.contiguous() * call.kwargs.get("alpha", 1)
    if bias is not None:
        bias = bias.expand(len(weight))
    return affine(
        call,
        (ref,),
        lambda x: F.linear(x, weight, bias),
        pull=lambda rows: rows @ weight,
        spread=lambda radius: F.linear(radius, weight.abs()),
        mixes=True,
        # One rounding per product and sum, four more for bias, scaling and conversion.
        roundings=weight.shape[1] + 4,
    )


def _convolution(call: Call) -> list[Operation]:
    ref = single_ref(call)
    if call.args[0] is not ref:
        raise call.unsupported("has a kernel that depends on the input")
    weight = as_float64(call.args[1], call)
    if call.args[2] is None:
        bias = None
    else:
        bias = as_float64(call.args[2], call)
    # Stride, padding, dilation, transposed, output padding and groups.
    rest = tuple(call.args[3:9])
    inner = ref.shape[1:]

    def run(x: Tensor, kernel: Tensor, add: Tensor | None) -> Tensor:
        found: Tensor = torch.ops.aten.convolution(x, kernel, add, *rest)
        return found

    # Pulling coefficients back through an affine map is its transpose, which for a convolution is
    # the gradient by its input. The kernel reads only the shape of that input: one zero, stretched.
    def pull(rows: Tensor) -> Tensor:
        like = rows.new_zeros(1).expand(len(rows), *inner)
        found: Tensor = torch.ops.aten.convolution_backward(
            rows, like, weight, None, *rest, (True, False, False)
        )[0]
        return found

    transposed, groups = call.args[6], call.args[8]
    if transposed:
        # A transposed convolution has its input channels first.
        channels = weight.shape[0] // groups
    else:
        channels = weight.shape[1]
    return affine(
        call,
        (ref,),
        lambda x: run(x, weight, bias),
        pull=pull,
        spread=lambda radius: run(radius, weight.abs(), None),
        mixes=True,
        roundings=channels * math.prod(weight.shape[2:]) + 4,
    )


_AVERAGES = (
    *("avg_pool1d", "avg_pool2d", "avg_pool3d"),
    *("adaptive_avg_pool1d", "adaptive_avg_pool2d", "_adaptive_avg_pool2d"),
)

WEIGHING: dict[str, Translator] = {
    **dict.fromkeys(("add", "sub", "rsub", "neg"), _sum),
    **dict.fromkeys(("mul", "div"), _product),
    **dict.fromkeys(("mean", "sum"), along("dim", adds=True)),
    **dict.fromkeys(_AVERAGES, _average),
    **dict.fromkeys(
        ("batch_norm", "native_batch_norm", "_native_batch_norm_legit_no_training"), _batch_norm
    ),
    **dict.fromkeys(("mm", "matmul"), _matmul),
    "linear": _linear,
    "addmm": _addmm,
    "addcmul": _addcmul,
    "convolution": _convolution,
}
