"""The operations an exported graph may use: those of torch that only compute.

Torch's own reader resolves any dotted name below ``torch`` and evaluates shape expressions as Python. This one
knows the core operations (torch marks them), the composite ones below, and arithmetic on sizes; nothing that
touches files, processes or raw memory.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from typing import Any

import torch

#: Operations that torch does not mark as core but that exported classifiers use before decomposition.
_COMPOSITE = frozenset(
    """
    _native_batch_norm_legit_functional _scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention
    _unsafe_view _weight_norm _weight_norm_interface absolute adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d
    adaptive_max_pool2d addbmm addcdiv addcmul addmv addr all alpha_dropout baddbmm batch_norm broadcast_to celu channel_shuffle
    chunk clamp_max clamp_min concat conj_physical constant_pad_nd contiguous conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d cross cosine_similarity cumprod detach diag dot dropout einsum empty_like erfc exp2
    expand_as eye feature_dropout flatten floor_divide frac glu greater group_norm gru gru_cell hardshrink hardsigmoid
    hardswish im2col index_add instance_norm isfinite layer_norm lerp less lift_fresh lift_fresh_copy linalg_norm
    linalg_vector_norm linear linspace log_sigmoid log_softmax logaddexp logsumexp lstm lstm_cell masked_fill matmul
    max_pool1d max_pool2d max_pool3d mish movedim mse_loss multi_head_attention_forward multiply mv movedim narrow native_batch_norm
    new_empty new_full new_ones new_zeros norm not_equal one_hot ones ones_like outer pad pixel_shuffle pixel_unshuffle prelu
    relu6 repeat_interleave replication_pad1d reshape rms_norm rnn_relu rnn_relu_cell rnn_tanh rnn_tanh_cell roll rot90 rrelu
    rsub scaled_dot_product_attention selu silu slice_copy softmax softplus softshrink softsign split square stack std
    std_mean subtract sum_to_size swapaxes t tanhshrink tensor_split tile to transpose tril triu true_divide type_as
    unbind unflatten unfold upsample_bicubic2d upsample_linear1d upsample_nearest1d upsample_nearest3d upsample_trilinear3d
    var_mean view_as zeros zeros_like
    """.split()  # noqa: SIM905  (120 quoted words would be harder to read)
)
_REFUSED = frozenset({"resize_", "empty_strided"})
#: Checks of a promise made at export; the promise is about sizes and types that are tested when the model is loaded.
_CHECKS = re.compile(r"torch\.ops\.aten\.(_assert\w*|sym_constrain_range\w*)\.\w+")
_ATEN = re.compile(r"torch\.ops\.aten\.([a-z_][a-z0-9_]*)\.(\w+)")
_ARITHMETIC = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "neg", "pos", "getitem"),
    *("eq", "ne", "lt", "le", "gt", "ge", "and_", "or_", "not_"),
)
_SIZES: dict[str, Callable[..., Any]] = {
    **{f"_operator.{name}": getattr(operator, name) for name in _ARITHMETIC},
    **{f"math.{name}": getattr(math, name) for name in ("ceil", "floor", "trunc", "sqrt")},
    **{f"torch.sym_{name}": getattr(torch, f"sym_{name}") for name in ("int", "float", "max", "min", "not", "ite", "sum")},
}


def is_check(target: str) -> bool:
    """True for operations that only assert something."""
    return bool(_CHECKS.fullmatch(target))


def find_operation(target: str) -> Callable[..., Any] | None:
    """The function behind a target's name; None when it is not one of the known, harmless ones."""
    if target in _SIZES:
        return _SIZES[target]
    match = _ATEN.fullmatch(target)
    if match is None or match[1] in _REFUSED:
        return None
    base = match[1].removesuffix("_")
    packet = getattr(torch.ops.aten, base, None)
    if packet is None or not (base in _COMPOSITE or _is_core(packet)):
        return None
    operation = getattr(getattr(torch.ops.aten, match[1], None), match[2], None)
    return operation if isinstance(operation, torch._ops.OpOverload) else None


def _is_core(packet: Any) -> bool:
    return any(torch.Tag.core in getattr(packet, name).tags for name in packet.overloads())
