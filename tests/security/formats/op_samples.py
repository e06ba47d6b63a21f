"""One valid call, or several, of every operation an exported graph may use: what the fuzzer
starts from.
"""

from __future__ import annotations

from typing import Any

import torch

Call = tuple[tuple[Any, ...], dict[str, Any]]


def f(*shape: int) -> torch.Tensor:
    return torch.rand(shape) + 0.1


def i(*shape: int, below: int = 3) -> torch.Tensor:
    return torch.randint(0, below, shape)


def b(*shape: int) -> torch.Tensor:
    return torch.rand(shape) > 0.5


def call(*args: Any, **kwargs: Any) -> Call:
    return args, kwargs


#: Overloads that take one tensor and nothing they need beside it.
_UNARY = """
abs absolute acos acosh alias asin asinh atan atanh ceil celu clone contiguous cos cosh detach elu
erf erfc exp exp2 expm1 floor frac gelu hardshrink hardsigmoid hardswish hardtanh isfinite isinf
isnan leaky_relu lift_fresh lift_fresh_copy log log10 log1p log2 log_sigmoid logical_not mish
nan_to_num neg ones_like positive reciprocal relu relu6 round rsqrt selu sigmoid sign silu sin sinh
softplus softshrink sqrt square tan tanh trunc zeros_like _to_copy sum mean amax amin argmax argmin
max min prod std var std_mean var_mean all any
"""
#: Overloads .Tensor that take two tensors, and .Scalar with a number in place of the second.
_BINARY = """
add sub mul div rsub eq ne lt le gt ge fmod remainder bitwise_and bitwise_or bitwise_xor true_divide
multiply subtract greater greater_equal less less_equal not_equal
"""
_IN_PLACE = """
relu_ sigmoid_ tanh_ silu_ hardswish_ hardsigmoid_ hardtanh_ leaky_relu_ elu_ celu_ selu_ gelu_
relu6_ mish_ exp_ sqrt_ neg_ abs_ clamp_ zero_
"""


def _norms() -> dict[str, list[Call]]:
    x, c = f(2, 6, 4, 4), f(6)
    return {
        "batch_norm.default": [
            call(x, c, c, c, c, False, 0.1, 1e-5, True),
            call(f(2, 6), None, None, c, c, False, 0.1, 1e-5, False),
        ],
        "native_batch_norm.default": [call(x, c, c, c, c, False, 0.1, 1e-5)],
        "_native_batch_norm_legit_no_training.default": [call(x, c, c, c, c, 0.1, 1e-5)],
        "_native_batch_norm_legit_functional.default": [call(x, c, c, c, c, False, 0.1, 1e-5)],
        "_native_batch_norm_legit.default": [call(x, c, c, c, c, False, 0.1, 1e-5)],
        "_native_batch_norm_legit.no_stats": [call(f(1, 6, 16), c, c, True, 0.1, 1e-5)],
        "layer_norm.default": [call(f(2, 5, 6), [6], c, c, 1e-5, True), call(f(2, 5, 6), [5, 6])],
        "native_layer_norm.default": [
            call(f(2, 5, 6), [6], c, c, 1e-5),
            call(f(2, 5, 6), [6], None, None, 1e-5),
        ],
        "rms_norm.default": [call(f(2, 5, 6), [6], c, 1e-5), call(f(2, 5, 6), [6])],
        "_fused_rms_norm.default": [call(f(2, 5, 6), [6], c, 1e-5)],
        "group_norm.default": [call(x, 3, c, c, 1e-5, True), call(x, 2)],
        "native_group_norm.default": [call(x, c, c, 2, 6, 16, 3, 1e-5)],
        "instance_norm.default": [
            call(x, c, c, None, None, True, 0.1, 1e-5, True),
            call(x, c, c, c, c, False, 0.1, 1e-5, True),
        ],
    }


def _recurrent() -> dict[str, list[Call]]:
    def params(
        gates: int, layers: int = 1, ways: int = 1, inputs: int = 4, hidden: int = 5
    ) -> list[torch.Tensor]:
        made: list[torch.Tensor] = []
        for layer in range(layers):
            size = inputs if layer == 0 else hidden * ways
            for _ in range(ways):
                made += [
                    f(gates * hidden, size),
                    f(gates * hidden, hidden),
                    f(gates * hidden),
                    f(gates * hidden),
                ]
        return made

    x, h, h4 = f(2, 3, 4), f(1, 2, 5), f(4, 2, 5)
    found = {
        "lstm.input": [
            call(x, [h, h], params(4), True, 1, 0.0, False, False, True),
            call(x, [h4, h4], params(4, 2, 2), True, 2, 0.0, False, True, True),
        ],
        "gru.input": [
            call(x, h, params(3), True, 1, 0.0, False, False, True),
            call(x, h4, params(3, 2, 2), True, 2, 0.0, False, True, True),
        ],
        "lstm_cell.default": [call(f(2, 4), [f(2, 5), f(2, 5)], *params(4))],
        "gru_cell.default": [call(f(2, 4), f(2, 5), *params(3))],
    }
    for name in ("rnn_tanh", "rnn_relu"):
        found[f"{name}.input"] = [call(x, h, params(1), True, 1, 0.0, False, False, True)]
        found[f"{name}_cell.default"] = [call(f(2, 4), f(2, 5), *params(1))]
    return found


def _windows() -> dict[str, list[Call]]:
    x1, x2, x3 = f(2, 3, 8), f(2, 3, 8, 8), f(2, 3, 4, 4, 4)
    w1, w2, w3 = f(4, 3, 3), f(4, 3, 3, 3), f(4, 3, 2, 2, 2)
    found = {
        "conv1d.default": [call(x1, w1, f(4), [1], [1], [1], 1)],
        "conv2d.default": [
            call(x2, w2, f(4), [1, 1], [0, 0], [1, 1], 1),
            call(f(2, 4, 8, 8), f(4, 1, 3, 3), None, [2], [1], [1], 4),
        ],
        "conv3d.default": [call(x3, w3, f(4), [1, 1, 1], [0, 0, 0], [1, 1, 1], 1)],
        "conv1d.padding": [call(x1, w1, f(4), [1], "same", [1], 1)],
        "conv2d.padding": [call(x2, w2, f(4), [1, 1], "valid", [1, 1], 1)],
        "conv3d.padding": [call(x3, w3, f(4), [1, 1, 1], "same", [1, 1, 1], 1)],
        "convolution.default": [
            call(x2, w2, f(4), [1, 1], [0, 0], [1, 1], False, [0, 0], 1),
            call(x2, f(3, 4, 3, 3), f(4), [2, 2], [1, 1], [1, 1], True, [1, 1], 1),
            call(x1, w1, None, [1], [0], [1], False, [0], 1),
        ],
        "conv_transpose1d.default": [call(x1, f(3, 4, 3), f(4), [2], [1], [1], 1, [1])],
        "conv_transpose2d.input": [
            call(x2, f(3, 4, 3, 3), f(4), [2, 2], [1, 1], [1, 1], 1, [1, 1])
        ],
        "conv_transpose3d.input": [
            call(x3, f(3, 4, 2, 2, 2), f(4), [2, 2, 2], [0, 0, 0], [1, 1, 1], 1, [1, 1, 1])
        ],
    }
    for n, x in ((1, x1), (2, x2), (3, x3)):
        ones = [1] * n
        twos, none = [2] * n, [0] * n
        found[f"max_pool{n}d.default"] = [
            call(x, twos, twos, none, ones, False),
            call(x, [2], [], [1], [1], True),
        ]
        found[f"avg_pool{n}d.default"] = [call(x, twos, twos, none, True, False), call(x, twos)]
        found[f"adaptive_avg_pool{n}d.default"] = [call(x, twos)]
        found[f"adaptive_max_pool{n}d.default"] = [call(x, twos)]
        found[f"upsample_nearest{n}d.default"] = [
            call(x, [side * 7 // 4 for side in x.shape[2:]], *[1.75] * n)
        ]
        found[f"upsample_nearest{n}d.vec"] = [call(x, None, [2.0] * n), call(x, [5] * n, None)]
        found[f"replication_pad{n}d.default"] = [call(x, [1, 2] * n)]
        found[f"reflection_pad{n}d.default"] = [call(x, [1, 1] * n)]
    found["max_pool2d_with_indices.default"] = [
        call(x2, [2, 2], [2, 2], [0, 0], [1, 1], False),
        call(x2, [3, 3], [2, 2], [1, 1]),
    ]
    found["max_pool3d_with_indices.default"] = [call(x3, [2, 2, 2], [2, 2, 2])]
    found["_adaptive_avg_pool2d.default"] = [call(x2, [3, 3])]
    found["_adaptive_avg_pool3d.default"] = [call(x3, [3, 3, 3])]
    for name, x, n in (
        ("linear1d", x1, 1),
        ("bilinear2d", x2, 2),
        ("bicubic2d", x2, 2),
        ("trilinear3d", x3, 3),
    ):
        found[f"upsample_{name}.default"] = [
            call(x, [side * 7 // 4 for side in x.shape[2:]], False, *[1.75] * n)
        ]
        found[f"upsample_{name}.vec"] = [
            call(x, None, True, [2.0] * n),
            call(x, [5] * n, False, None),
        ]
    found["pad.default"] = [
        call(x2, [1, 1, 1, 1], "constant", 0.0),
        call(x2, [1, 1, 1, 1], "reflect"),
        call(x1, [1, 2], "replicate"),
    ]
    found["constant_pad_nd.default"] = [call(x2, [1, 2, 0, 1], 0.5), call(x2, [-1, -2])]
    found["pixel_shuffle.default"] = [call(f(2, 8, 3, 3), 2)]
    found["pixel_unshuffle.default"] = [call(f(2, 2, 4, 4), 2)]
    found["channel_shuffle.default"] = [call(f(2, 6, 4, 4), 3)]
    found["im2col.default"] = [call(x2, [3, 3], [1, 1], [1, 1], [2, 2])]
    found["grid_sampler.default"] = [call(x2, torch.rand(2, 5, 5, 2) * 2 - 1, 0, 0, False)]
    found["grid_sampler_2d.default"] = [
        call(x2, torch.rand(2, 5, 5, 2) * 2 - 1, 0, 0, False),
        call(x2, torch.rand(2, 5, 5, 2) * 4, 2, 1, True),
    ]
    found["unfold.default"] = [call(x1, 2, 3, 2)]
    return found


def _shapes() -> dict[str, list[Call]]:
    x = f(2, 3, 4)
    return {
        "view.default": [call(x, [2, 12]), call(x, [-1, 4])],
        "_unsafe_view.default": [call(x, [2, 12])],
        "reshape.default": [call(x, [2, 12]), call(x.transpose(1, 2), [-1])],
        "view_as.default": [call(x, f(6, 4))],
        "permute.default": [call(x, [2, 0, 1])],
        "transpose.int": [call(x, 1, 2)],
        "swapaxes.default": [call(x, 1, 2)],
        "t.default": [call(f(3, 4))],
        "expand.default": [call(f(2, 1, 4), [2, 3, -1])],
        "expand_as.default": [call(f(2, 1, 4), x)],
        "broadcast_to.default": [call(f(2, 1, 4), [5, 2, 3, 4])],
        "squeeze.default": [call(f(2, 1, 4))],
        "squeeze.dim": [call(f(2, 1, 4), 1)],
        "squeeze.dims": [call(f(2, 1, 1), [1, 2])],
        "unsqueeze.default": [call(x, 1)],
        "flatten.using_ints": [call(x, 1, -1)],
        "unflatten.int": [call(x, 2, [2, 2])],
        "slice.Tensor": [call(x, 1, 0, 2, 1), call(x, 2, 1, 9223372036854775807)],
        "slice_copy.Tensor": [call(x, 1, 0, 2, 1)],
        "slice_scatter.default": [call(x, f(2, 2, 4), 1, 0, 2, 1)],
        "select.int": [call(x, 1, 2), call(x, 2, -1)],
        "select_scatter.default": [call(x, f(2, 4), 1, 2)],
        "narrow.default": [call(x, 1, 0, 2)],
        "split.Tensor": [call(x, 2, 1)],
        "split.sizes": [call(x, [1, 2], 1)],
        "split_with_sizes.default": [call(x, [1, 2], 1)],
        "chunk.default": [call(x, 2, 1)],
        "tensor_split.sections": [call(x, 2, 1)],
        "tensor_split.indices": [call(x, [1, 2], 1)],
        "cat.default": [call([x, x], 1)],
        "concat.default": [call([x, x], 1)],
        "stack.default": [call([x, x], 1)],
        "unbind.int": [call(x, 1)],
        "movedim.int": [call(x, 1, 2)],
        "movedim.intlist": [call(x, [0, 1], [1, 2])],
        "roll.default": [call(x, [1, -1], [1, 2]), call(x, [1])],
        "flip.default": [call(x, [1, 2])],
        "rot90.default": [call(x, 1, [1, 2])],
        "repeat.default": [call(x, [2, 1, 1])],
        "tile.default": [call(x, [2, 1, 1])],
        "repeat_interleave.self_int": [call(x, 2, 1)],
        "tril.default": [call(f(4, 4), 0)],
        "triu.default": [call(f(4, 4), 1)],
        "diagonal.default": [call(f(4, 4), 0, 0, 1)],
        "diag.default": [call(f(4), 0), call(f(4, 4), 1)],
        "meshgrid.indexing": [call([f(3), f(4)], indexing="ij")],
        "meshgrid.default": [call([f(3), f(4)])],
        "type_as.default": [call(x, x.double())],
        "to.dtype": [call(x, torch.float64)],
        "to.dtype_layout": [
            call(x, dtype=torch.float32, layout=torch.strided, device=torch.device("cpu"))
        ],
        "to.device": [call(x, torch.device("cpu"), torch.float32)],
        "to.other": [call(x, x.double())],
        "sym_size.int": [call(x, 1)],
        "sym_numel.default": [call(x)],
        "sym_stride.int": [call(x, 1)],
        "sum_to_size.default": [call(x, [2, 1, 4])],
        "copy.default": [call(x, x)],
        "copy_.default": [call(x.clone(), x)],
        "fill.Scalar": [call(x, 1.0)],
        "fill_.Scalar": [call(x.clone(), 1.0)],
    }


def _indexing() -> dict[str, list[Call]]:
    x, grid = f(4, 5), i(2, 3)
    return {
        "index.Tensor": [call(x, [i(6)]), call(x, [None, i(6)]), call(x, [i(3, 1), i(1, 4)])],
        "index_select.default": [call(x, 0, i(6)), call(x, 1, i(2))],
        "gather.default": [call(x, 1, grid), call(x, 0, grid)],
        "scatter.src": [call(x, 1, grid, f(2, 3))],
        "scatter.value": [call(x, 1, grid, 1.0)],
        "scatter_add.default": [call(x, 1, grid, f(2, 3))],
        "scatter_reduce.two": [call(x, 1, grid, f(2, 3), "sum")],
        "index_put.default": [call(x, [i(3)], f(3, 5)), call(x, [i(3), i(3)], f(3), True)],
        "index_put_.default": [call(x.clone(), [i(3)], f(3, 5))],
        "index_add.default": [call(x, 0, i(3), f(3, 5))],
        "embedding.default": [call(f(7, 4), i(2, 3)), call(f(7, 4), i(2), 0)],
        "one_hot.default": [call(i(4), 3)],
        "masked_fill.Scalar": [call(x, b(4, 5), 0.0)],
        "masked_fill.Tensor": [call(x, b(4, 5), torch.tensor(1.0))],
        "masked_fill_.Scalar": [call(x.clone(), b(4, 5), 0.0)],
        "masked_scatter.default": [call(x, b(4, 5), f(20))],
        "where.self": [call(b(4, 5), x, x)],
        "where.ScalarOther": [call(b(4, 5), x, 1.0)],
        "where.ScalarSelf": [call(b(4, 5), 1.0, x)],
        "where.Scalar": [call(b(4, 5), 1.0, 2.0)],
        "topk.default": [call(x, 2, 1, True, True)],
        "sort.default": [call(x, 1, True)],
        "sort.stable": [call(x, stable=True, dim=0)],
    }


def _creation() -> dict[str, list[Call]]:
    x = f(2, 3)
    return {
        "arange.default": [call(5, dtype=torch.int64), call(5.5)],
        "arange.start": [call(1, 5)],
        "arange.start_step": [call(0, 10, 2), call(0.0, 1.0, 0.1)],
        "full.default": [call([2, 3], 1.0), call([], 3)],
        "full_like.default": [call(x, 2.0)],
        "zeros.default": [call([2, 3])],
        "ones.default": [call([2, 3], dtype=torch.bool)],
        "eye.default": [call(4)],
        "eye.m": [call(4, 5)],
        "linspace.default": [call(0.0, 1.0, 5)],
        "scalar_tensor.default": [call(2.0)],
        "rand.default": [call([2, 3])],
        "randn.default": [call([2, 3])],
        "rand_like.default": [call(x)],
        "randn_like.default": [call(x)],
        "new_zeros.default": [call(x, [2, 3])],
        "new_ones.default": [call(x, [2, 3])],
        "new_full.default": [call(x, [2, 3], 1.0)],
    }


def _products() -> dict[str, list[Call]]:
    q = f(2, 2, 4, 8)
    return {
        "mm.default": [call(f(3, 4), f(4, 5))],
        "bmm.default": [call(f(2, 3, 4), f(2, 4, 5))],
        "addmm.default": [call(f(5), f(3, 4), f(4, 5))],
        "addbmm.default": [call(f(3, 5), f(2, 3, 4), f(2, 4, 5))],
        "baddbmm.default": [call(f(2, 3, 5), f(2, 3, 4), f(2, 4, 5))],
        "addmv.default": [call(f(3), f(3, 4), f(4))],
        "addr.default": [call(f(3, 4), f(3), f(4))],
        "mv.default": [call(f(3, 4), f(4))],
        "dot.default": [call(f(4), f(4))],
        "outer.default": [call(f(4), f(3))],
        "matmul.default": [call(f(2, 3, 4), f(4, 5)), call(f(4), f(4))],
        "linear.default": [call(f(2, 3, 4), f(5, 4), f(5)), call(f(2, 4), f(5, 4))],
        "bilinear.default": [call(f(2, 3), f(2, 4), f(5, 3, 4), f(5))],
        "einsum.default": [
            call("bij,bjk->bik", [f(2, 3, 4), f(2, 4, 5)]),
            call("ii->i", [f(3, 3)]),
        ],
        "cross.default": [call(f(2, 3), f(2, 3), 1)],
        "cosine_similarity.default": [call(f(2, 3), f(2, 3), 1, 1e-8)],
        "cdist.default": [call(f(2, 3, 4), f(2, 5, 4), 2.0)],
        "scaled_dot_product_attention.default": [
            call(q, q, q),
            call(q, f(2, 2, 6, 8), f(2, 2, 6, 8), b(2, 2, 4, 6), 0.0, False, scale=0.5),
            call(q, q, q, None, 0.0, True),
        ],
        "_scaled_dot_product_flash_attention_for_cpu.default": [
            call(q, q, q, 0.0, False),
            call(q, f(2, 2, 6, 8), f(2, 2, 6, 8), attn_mask=f(2, 1, 4, 6), scale=0.3),
        ],
    }


def _reductions() -> dict[str, list[Call]]:
    x = f(2, 3, 4)
    found = {
        "sum.dim_IntList": [call(x, [1, 2], True)],
        "mean.dim": [call(x, [1, 2], False)],
        "amax.default": [call(x, [1, 2])],
        "amin.default": [call(x, [1], True)],
        "argmax.default": [call(x, 1, True)],
        "argmin.default": [call(x, 1)],
        "max.dim": [call(x, 1)],
        "min.dim": [call(x, 1, True)],
        "max.other": [call(x, x)],
        "min.other": [call(x, x)],
        "prod.dim_int": [call(x, 1)],
        "std.dim": [call(x, [1], True, False)],
        "var.dim": [call(x, [1], True, False)],
        "logsumexp.default": [call(x, [1])],
        "norm.Scalar": [call(x, 2)],
        "norm.ScalarOpt_dim": [call(x, 2, [1], True)],
        "linalg_vector_norm.default": [call(x, 2, [1], True)],
        "linalg_norm.default": [call(x, None, [1], True)],
        "all.dim": [call(x, 1)],
        "any.dim": [call(x, 1)],
        "all.dims": [call(x, [1])],
        "any.dims": [call(x, [1])],
        "cumsum.default": [call(x, 1)],
        "cumprod.default": [call(x, 1)],
        "softmax.int": [call(x, -1)],
        "log_softmax.int": [call(x, 1)],
        "_softmax.default": [call(x, 1, False)],
        "_log_softmax.default": [call(x, 1, False)],
        "glu.default": [call(x, 2)],
        "logaddexp.default": [call(x, x)],
    }
    for name in ("std", "var", "std_mean", "var_mean"):
        found[f"{name}.correction"] = [call(x, [1, 2], correction=1, keepdim=True)]
    return found


def _pointwise() -> dict[str, list[Call]]:
    x = f(2, 3)
    found: dict[str, list[Call]] = {f"{name}.default": [call(f(2, 3))] for name in _UNARY.split()}
    for name in _BINARY.split():
        two = (i(2, 3) + 1, i(2, 3) + 1) if "bitwise" in name else (x, f(2, 1))
        found[f"{name}.Tensor"] = [call(*two)]
        found[f"{name}.Scalar"] = [call(two[0], 2)]
    found |= {
        f"{name}.default": [call(f(2, 3), *([0.1] if name == "clamp_" else []))]
        for name in _IN_PLACE.split()
    }
    for name in ("add_", "sub_", "mul_", "div_"):
        found[f"{name}.Tensor"] = [call(f(2, 3), f(2, 3))]
        found[f"{name}.Scalar"] = [call(f(2, 3), 2.0)]
    for name in ("atan2", "maximum", "minimum", "logical_and", "logical_or", "logical_xor"):
        found[f"{name}.default"] = [call(x, x)]
    return found | {
        "div.Tensor_mode": [
            call(x, x, rounding_mode="floor"),
            call(i(2, 3), i(2, 3) + 1, rounding_mode="trunc"),
        ],
        "div.Scalar_mode": [call(i(2, 3), 2, rounding_mode="floor")],
        "floor_divide.default": [call(i(2, 3), i(2, 3) + 1)],
        "floor_divide.Scalar": [call(i(2, 3), 2)],
        "remainder.Scalar_Tensor": [call(7, i(2, 3) + 1)],
        "pow.Tensor_Scalar": [call(x, 2)],
        "pow.Tensor_Tensor": [call(x, x)],
        "pow.Scalar": [call(2, x)],
        "bitwise_not.default": [call(i(2, 3))],
        "clamp.default": [call(x, 0.0, 1.0), call(x, None, 6)],
        "clamp.Tensor": [call(x, f(2, 3), None)],
        "clamp_min.default": [call(x, 0.0)],
        "clamp_max.default": [call(x, 1.0)],
        "clamp_min.Tensor": [call(x, f(2, 1))],
        "clamp_max.Tensor": [call(x, f(2, 1))],
        "fill.Tensor": [call(x, torch.tensor(1.0))],
        "fill_.Tensor": [call(f(2, 3), torch.tensor(1.0))],
        "masked_fill_.Tensor": [call(f(2, 3), b(2, 3), torch.tensor(1.0))],
        "round.decimals": [call(x, decimals=2)],
        "lerp.Scalar": [call(x, x, 0.5)],
        "lerp.Tensor": [call(x, x, x)],
        "addcmul.default": [call(x, x, x, value=2)],
        "addcdiv.default": [call(x, x, x, value=2)],
        "prelu.default": [call(f(2, 3, 4), f(3)), call(f(2, 3), f(1))],
        "_prelu_kernel.default": [call(f(2, 3), f(1, 3))],
        "dropout.default": [call(x, 0.5, False)],
        "feature_dropout.default": [call(f(2, 3, 4), 0.5, False)],
        "alpha_dropout.default": [call(x, 0.5, False)],
        "native_dropout.default": [call(x, 0.5, False)],
        "dropout_.default": [call(f(2, 3), 0.5, False)],
        "mse_loss.default": [call(x, x)],
    }


def samples() -> dict[str, list[Call]]:
    """Operation and overload -> calls that succeed."""
    torch.manual_seed(0)
    found: dict[str, list[Call]] = {}
    for part in (
        _pointwise,
        _reductions,
        _norms,
        _recurrent,
        _windows,
        _shapes,
        _indexing,
        _creation,
        _products,
    ):
        for name, calls in part().items():
            found.setdefault(name, []).extend(calls)
    return found
