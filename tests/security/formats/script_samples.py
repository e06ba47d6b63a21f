"""One valid call, or several, of every operation of tensors that TorchScript may use beyond those
of exports: what its fuzzer starts from.
"""

from __future__ import annotations

import torch

from robgui.core.loading.script.operations import TENSORS
from tests.security.formats.op_samples import Call, b, call, f, i, samples

#: Overloads that take one tensor and change it.
_IN_PLACE = """
hardtanh_ floor_ round_ ceil_ sign_ square_ rsqrt_ reciprocal_ log_ log2_ expm1_ squeeze_
"""
#: Overloads that take one tensor and nothing they need beside it.
_UNARY = """
numpy_T.default mT.default softplus.default empty_like.default size.default dim.default
numel.default is_floating_point.default is_complex.default stride.default argsort.default
as_tensor.default bernoulli_.float uniform_.default normal_.default
"""
#: Questions to a tensor of one number.
_SINGLE = """
item.default Int.Tensor Float.Tensor Bool.Tensor IntImplicit.default FloatImplicit.default
ScalarImplicit.default is_nonzero.default tensor.default
"""


def _layers() -> dict[str, list[Call]]:
    x2, w2, one = f(2, 3, 8, 8), f(4, 3, 3, 3), [1, 1]
    size, src = 8, f(2, 5, 8)
    weights = (f(3 * size, size), f(3 * size), f(size, size), f(size))
    rest = (f(size), f(size), f(size), f(size), f(16, size), f(16), f(size, 16), f(size))
    plain = (x2, w2, f(4), one, [0, 0], one, False, [0, 0], 1)
    turned = (x2, f(3, 4, 3, 3), f(4), [2, 2], one, one, True, one, 1)
    found = {
        "_convolution.default": [
            call(*plain, False, False, True, True),
            call(*turned, False, False, True, True),
        ],
        "_convolution.deprecated": [call(*plain, False, False, True)],
        "_native_multi_head_attention.default": [
            call(src, src, src, size, 2, *weights, None, False, True, None),
            call(src, src, src, size, 2, *weights, b(2, 5), True, True, 1),
        ],
        "_transformer_encoder_layer_fwd.default": [
            call(src, size, 2, *weights, False, False, 1e-5, *rest, None, None),
            call(src, size, 2, *weights, True, True, 1e-5, *rest, b(5, 5), 0),
        ],
        "_nested_tensor_from_mask.default": [call(src, b(2, 5), True)],
        "_nested_tensor_from_mask_left_aligned.default": [call(src, b(2, 5))],
        "to_padded_tensor.default": [call(src, 0.0, None)],
        "threshold.default": [call(src, 0.1, 20)],
        "threshold_.default": [call(src.clone(), 0.1, 20)],
    }
    for name in ("bicubic2d_aa", "bilinear2d_aa", "lanczos2d_aa"):
        found[f"_upsample_{name}.vec"] = [
            call(x2, [5, 5], False, None),
            call(x2, None, True, [2.0, 2.0]),
        ]
    for n, x in ((1, f(2, 3, 8)), (2, x2), (3, f(2, 3, 4, 4, 4))):
        found[f"_upsample_nearest_exact{n}d.vec"] = [
            call(x, [5] * n, None),
            call(x, None, [2.0] * n),
        ]
    return found


def _sequences() -> dict[str, list[Call]]:
    """Sequences of different lengths, one after the other in one tensor."""
    lengths = torch.tensor([2, 2, 1])
    params = {
        gates: [f(gates * 5, 4), f(gates * 5, 5), f(gates * 5), f(gates * 5)] for gates in (1, 3, 4)
    }
    state = f(1, 2, 5)
    end = (True, 1, 0.0, False, False)
    return {
        "lstm.data": [call(f(5, 4), lengths, [state, state], params[4], *end)],
        "gru.data": [call(f(5, 4), lengths, state, params[3], *end)],
        "rnn_tanh.data": [call(f(5, 4), lengths, state, params[1], *end)],
        "rnn_relu.data": [call(f(5, 4), lengths, state, params[1], *end)],
    }


def _others() -> dict[str, list[Call]]:
    x = f(4, 5)
    found = {f"{name}.default": [call(f(2, 1, 3))] for name in _IN_PLACE.split()}
    found |= {name: [call(f(4, 5))] for name in _UNARY.split()}
    found |= {name: [call(torch.tensor(2.0))] for name in _SINGLE.split()}
    found["tensor.default"] = [call([1.0, 2.0], dtype=None, device=None)]
    found["IntImplicit.default"] = [call(torch.tensor(2))]
    for kind, value in (("float", 2.0), ("int", 2), ("bool", True)):
        found[f"tensor.{kind}"] = [call(value)]
        found[f"as_tensor.{kind}"] = [call(value)]
    for sign in ("and", "or", "xor"):
        found[f"__{sign}__.Tensor"] = [call(i(2, 3), i(2, 3))]
        found[f"__{sign}__.Scalar"] = [call(i(2, 3), 2)]
    return found | {
        "as_tensor.list": [call([1.0, 2.0])],
        "unsafe_chunk.default": [call(x, 2, 1)],
        "unsafe_split.Tensor": [call(x, 2, 1)],
        "split.default": [call(x, [1, 4], 1)],
        "pow_.Scalar": [call(f(2, 3), 2)],
        "pow_.Tensor": [call(f(2, 3), f(2, 3))],
        "clamp_min_.default": [call(f(2, 3), 0.2)],
        "clamp_max_.default": [call(f(2, 3), 0.2)],
        "logical_not_.default": [call(b(2, 3))],
        "squeeze_.dim": [call(f(2, 1), 1)],
        "unsqueeze_.default": [call(f(2, 3), 1)],
        "bernoulli.default": [call(torch.rand(2, 3))],
        "bernoulli.p": [call(torch.rand(2, 3), 0.5)],
        "empty.memory_format": [call([2, 3])],
        "new_empty.default": [call(x, [2, 3])],
        "index.Tensor_hacked_twin": [call(x, [i(6)]), call(x, [i(3, 1), i(1, 4)])],
        "index_put.hacked_twin": [call(x, [i(3)], f(3, 5)), call(x, [i(3), i(3)], f(3), True)],
        "index_put_.hacked_twin": [call(x.clone(), [i(3)], f(3, 5))],
        "size.int": [call(x, 1)],
        "stride.int": [call(x, 1)],
        "to.prim_Device": [call(x, torch.device("cpu"), None)],
        "to.prim_dtype": [call(x, 7)],
        "to.prim_other": [call(x)],
        "copy_.Tensor": [call(x.clone(), x)],
        "copy_.int": [call(x.clone(), 2)],
        "copy_.float": [call(x.clone(), 2.0)],
        "equal.default": [call(x, x)],
        "allclose.default": [call(x, x)],
        "cumsum_.default": [call(x.clone(), 1)],
    }


def script_samples() -> dict[str, list[Call]]:
    """Operation and overload -> calls that succeed."""
    found = {name: calls for name, calls in samples().items() if name in TENSORS}
    for part in (_layers, _sequences, _others):
        found |= {name: calls for name, calls in part().items() if name in TENSORS}
    return found
