"""Contracts of the layers: convolutions, pools, norms, padding, enlarging and attention."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import torch

from robgui.core.loading.exported.contract import LARGEST_STEP, Contract, OperationCall
from robgui.core.loading.exported.recurrent import cell, recurrent

_MODES = ("constant", "reflect", "replicate", "circular")


def _axes(call: OperationCall) -> int:
    """The number of spatial axes in an operation's name: 2 for ``conv2d``."""
    found = re.search(r"([123])d", call.operation)
    assert found is not None
    return int(found[1])


def convolution(call: OperationCall) -> None:
    """Weights and bias fit the input; steps are positive and small."""
    weight = call.tensor("weight", 3, 4, 5)
    n = weight.ndim - 2
    if call.operation != "convolution":
        call.need(n == _axes(call), f"weight has {weight.ndim} axes")
    x = call.tensor("input", n + 1, n + 2)
    bias = call["bias"]
    call.same_type((x, weight, bias))
    transposed = "transpose" in call.operation or bool(call.get("transposed"))
    (groups,) = call.sizes("groups", 1, LARGEST_STEP)
    call.sizes("stride", 1, LARGEST_STEP, (1, n))
    call.sizes("dilation", 1, LARGEST_STEP, (1, n))
    if isinstance(call["padding"], str):
        call.need(call["padding"] in ("same", "valid"), "padding is an unknown word")
    else:
        call.sizes("padding", 0, LARGEST_STEP, (1, n))
    if call.get("output_padding") is not None:
        call.sizes("output_padding", 0, LARGEST_STEP, (1, n))
    call.need(min(weight.shape) > 0 and min(x.shape[-n - 1 :]) > 0, "a tensor is empty")
    if transposed:
        inputs, outputs = (weight.shape[0], weight.shape[1] * groups)
    else:
        inputs, outputs = (weight.shape[1] * groups, weight.shape[0])
    call.need(
        x.shape[-n - 1] == inputs and weight.shape[0] % groups == 0,
        "weight and input have different channels",
    )
    call.need(
        bias is None or tuple(bias.shape) == (outputs,), "bias and weight have different channels"
    )


def pool(call: OperationCall) -> None:
    """The window is positive, lies inside the padded input, and padding is at most half of it."""
    n = _axes(call)
    x = call.tensor("self", n + 1, n + 2)
    call.need(min(x.shape[-n - 1 :]) > 0, "the input is empty")
    # One number stands for every axis. Repeated, each list is long enough, and zip below stops in
    # time.
    kernel = call.sizes("kernel_size", 1, LARGEST_STEP, (1, n)) * n
    strides = call.sizes("stride", 1, LARGEST_STEP, (0, 1, n)) * n or kernel
    borders = call.sizes("padding", 0, LARGEST_STEP, (1, n)) * n
    if call.get("dilation") is None:
        dilation = [1] * n
    else:
        dilation = call.sizes("dilation", 1, LARGEST_STEP, (1, n)) * n
    for side, window, border, step, stride in zip(
        x.shape[-n:], kernel, borders, dilation, strides, strict=False
    ):
        call.need(2 * border <= window, "padding is more than half of the window")
        if call["ceil_mode"]:
            # Rounding up adds a window that may reach beyond the border.
            over = stride - 1
        else:
            over = 0
        call.need(
            step * (window - 1) < side + 2 * border + over, "the window is larger than the input"
        )
    if call.get("divisor_override") is not None:
        call.sizes("divisor_override", 1, 2**31)


def adaptive_pool(call: OperationCall) -> None:
    """The output has a positive, bounded size."""
    n = _axes(call)
    x = call.tensor("self", n + 1, n + 2)
    call.need(min(x.shape[-n - 1 :]) > 0, "the input is empty")
    call.sizes("output_size", 1, LARGEST_STEP, (1, n))


def enlarge(call: OperationCall) -> None:
    """Size and scale of the output are positive, bounded and consistent."""
    n = _axes(call)
    x = call.tensor("input" if "input" in call.given else "self", n + 2)
    call.need(min(x.shape[1:]) > 0, "the input is empty")
    if call["output_size"] is None:
        sizes = None
    else:
        sizes = call.sizes("output_size", 1, LARGEST_STEP, (n,))
    scales = call.get("scale_factors") or [
        call.get(name)
        for name in ("scales", "scales_d", "scales_h", "scales_w")
        if name in call.given
    ]
    call.need(
        (sizes is not None or bool(scales)) and len(scales) in (0, n),
        "it names no size of the output",
    )
    for place, scale in enumerate(scales):
        if scale is None:
            continue
        call.need(
            isinstance(scale, int | float) and 2**-14 <= scale <= LARGEST_STEP,
            "a scale is out of range",
        )
        # Exporters round the size up or down, so it may be off by one.
        told = x.shape[2 + place] * scale
        call.need(
            told >= 1 and (sizes is None or abs(sizes[place] - told) <= 1),
            "size and scale tell different things",
        )


def padding(call: OperationCall) -> None:
    """Borders are small, come in pairs, and mirror no more than is there."""
    if "pad" in call.given:
        name = "pad"
    else:
        name = "padding"
    x = call.tensor("self")
    borders = call.sizes(name, -LARGEST_STEP, LARGEST_STEP)
    mode = call.get("mode") or call.operation.partition("_")[0].replace(
        "reflection", "reflect"
    ).replace("replication", "replicate")
    call.need(
        mode in _MODES and len(borders) % 2 == 0 and len(borders) <= 2 * x.ndim,
        "the borders do not fit the input",
    )
    # Pairs run from the last axis to the first.
    for place in range(len(borders) // 2):
        side, before, after = x.shape[-1 - place], borders[2 * place], borders[2 * place + 1]
        call.need(
            side + before + after > 0 and side + min(before, 0) + min(after, 0) > 0,
            "nothing is left of the input",
        )
        call.need(mode == "constant" or min(before, after) >= 0, "a border is negative")
        call.need(
            mode not in ("reflect", "circular") or max(before, after) <= side - (mode == "reflect"),
            "a border is too wide",
        )


def batch_norm(call: OperationCall) -> None:
    """Every statistic has one number for each channel."""
    x = call.tensor("input", 2, 3, 4, 5)
    stored = [call.get(name) for name in ("weight", "bias", "running_mean", "running_var")]
    call.same_type((x, *stored))
    call.need(
        all(each is None or tuple(each.shape) == (x.shape[1],) for each in stored),
        "a statistic has not one number per channel",
    )
    averages = stored[2] is not None and stored[3] is not None
    from_input = (
        "running_mean" not in call.given
        or bool(call.get("use_input_stats"))
        or bool(call.get("training"))
    )
    call.need(averages or from_input, "the averages are missing")
    call.need(x.numel() > 0, "the input is empty")
    call.finite("eps", "momentum")


def layer_norm(call: OperationCall) -> None:
    """The normalised axes are the last of the input, and the weights have their shape."""
    x = call.tensor("input")
    shape = call.sizes("normalized_shape", 1, 2**31)
    stored = [call[name] for name in ("weight", "bias") if name in call.given]
    call.same_type((x, *stored))
    call.need(
        0 < len(shape) <= x.ndim and list(x.shape[-len(shape) :]) == shape,
        "normalized_shape is not that of the input",
    )
    call.need(
        all(each is None or list(each.shape) == shape for each in stored),
        "the weights have another shape",
    )
    call.finite("eps")


def group_norm(call: OperationCall) -> None:
    """The channels fall into groups, and the weights have one number for each channel."""
    x = call.tensor("input", 2, 3, 4, 5)
    (groups,) = call.sizes("group" if "group" in call.given else "num_groups", 1, LARGEST_STEP)
    stored = [call[name] for name in ("weight", "bias")]
    call.same_type((x, *stored))
    call.need(
        x.numel() > 0 and x.shape[1] % groups == 0, "the channels do not fall into the groups"
    )
    call.need(
        all(each is None or tuple(each.shape) == (x.shape[1],) for each in stored),
        "the weights do not fit the channels",
    )
    if "HxW" in call.given:
        sizes = (call["N"], call["C"], call["HxW"])
        call.need(
            sizes == (x.shape[0], x.shape[1], math.prod(x.shape[2:])),
            "the sizes are not those of the input",
        )
    call.finite("eps")


def attention(call: OperationCall) -> None:
    """Query, key, value and mask fit each other."""
    query, key, value = (call.tensor(name, 3, 4) for name in ("query", "key", "value"))
    call.same_type((query, key, value))
    call.need(
        query.ndim == key.ndim == value.ndim
        and query.shape[:-2] == key.shape[:-2] == value.shape[:-2],
        "its batches differ",
    )
    call.need(
        query.shape[-1] == key.shape[-1] and key.shape[-2] == value.shape[-2],
        "query, key and value do not fit",
    )
    call.need(min(*query.shape, *key.shape, *value.shape) > 0, "a tensor is empty")
    call.need(not call["dropout_p"] and not call.get("enable_gqa"), "it drops out or shares heads")
    call.finite("scale")
    mask = call["attn_mask"]
    # The kernel itself, without the function that would choose it and check for it.
    if call.operation != "scaled_dot_product_attention":
        call.need(
            query.ndim == 4 and query.shape[-1] == value.shape[-1],
            "query and value have different sizes",
        )
    if mask is None:
        return
    wanted = (*query.shape[:-1], key.shape[-2])
    call.need(
        mask.dtype in (torch.bool, query.dtype) and 2 <= mask.ndim <= query.ndim,
        "the mask is of another kind",
    )
    # From the last axis on, as broadcasting compares them.
    fits = all(
        side in (1, whole)
        for side, whole in zip(reversed(mask.shape), reversed(wanted), strict=False)
    )
    call.need(fits and not call["is_causal"], "the mask does not fit")


def _named(form: Callable[[OperationCall], None], names: str) -> dict[str, Contract]:
    return {name: Contract(form) for name in names.split()}


CONTRACTS: dict[str, Contract] = {
    **_named(
        convolution,
        "conv1d conv2d conv3d convolution conv_transpose1d conv_transpose2d conv_transpose3d",
    ),
    **_named(
        pool,
        "max_pool1d max_pool2d max_pool3d max_pool2d_with_indices max_pool3d_with_indices"
        " avg_pool1d avg_pool2d avg_pool3d",
    ),
    **_named(
        adaptive_pool,
        "adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d"
        " _adaptive_avg_pool3d",
    ),
    **_named(adaptive_pool, "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d"),
    **_named(
        enlarge,
        "upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_linear1d"
        " upsample_bilinear2d",
    ),
    **_named(enlarge, "upsample_bicubic2d upsample_trilinear3d"),
    **_named(padding, "pad constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d"),
    **_named(padding, "replication_pad1d replication_pad2d replication_pad3d"),
    **_named(
        batch_norm,
        "batch_norm native_batch_norm instance_norm _native_batch_norm_legit_no_training",
    ),
    **_named(batch_norm, "_native_batch_norm_legit_functional _native_batch_norm_legit"),
    **_named(layer_norm, "layer_norm native_layer_norm rms_norm _fused_rms_norm"),
    **_named(group_norm, "group_norm native_group_norm"),
    **_named(recurrent, "lstm gru rnn_tanh rnn_relu"),
    **_named(cell, "lstm_cell gru_cell rnn_tanh_cell rnn_relu_cell"),
    **_named(attention, "scaled_dot_product_attention _scaled_dot_product_flash_attention_for_cpu"),
}
