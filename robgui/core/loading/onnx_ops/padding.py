"""Padding, as ONNX specifies it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.core.loading.onnx_ops.values import Attributes, Operation, attribute_or_input, ints


def spatial_pads(
    a: Attributes,
    sizes: Sequence[int],
    kernel: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
) -> list[int]:
    """Padding at the beginning of every axis, then at the end, with ``auto_pad`` worked out."""
    mode = a.get("auto_pad", "NOTSET")
    if mode == "NOTSET":
        return ints(a.get("pads")) or [0] * (2 * len(kernel))
    if mode == "VALID":
        return [0] * (2 * len(kernel))
    begins, ends = [], []
    for size, k, s, d in zip(sizes, kernel, strides, dilations, strict=True):
        # SAME: ceil(size / stride) windows, and whatever the last one lacks is padded.
        total = max(0, (math.ceil(size / s) - 1) * s + (k - 1) * d + 1 - size)
        begin, end = total - total // 2, total // 2
        if mode == "SAME_UPPER":
            begin, end = end, begin
        begins.append(begin)
        ends.append(end)
    return begins + ends


def pad(x: Tensor, pads: Sequence[int], value: float = 0.0, mode: str = "constant") -> Tensor:
    """Pads the last axes; ``pads`` in ONNX order (all beginnings, then all ends)."""
    half = len(pads) // 2
    # Torch lists the last axis first, and both its ends together.
    torch_order = [
        each for axis in reversed(range(half)) for each in (pads[axis], pads[axis + half])
    ]
    if not any(torch_order):
        return x
    if mode == "constant":
        return F.pad(x, torch_order, value=value)
    # In these modes torch pads spatial axes only, so leading ones that stay as they are must not be
    # named.
    while len(torch_order) > 2 and torch_order[-2:] == [0, 0]:
        torch_order = torch_order[:-2]
    return F.pad(
        x, torch_order, mode={"reflect": "reflect", "edge": "replicate", "wrap": "circular"}[mode]
    )


def _pad(
    a: Attributes,
    x: Tensor,
    pads: Tensor | None = None,
    value: Tensor | None = None,
    axes: Tensor | None = None,
) -> Tensor:
    # Amounts and value are attributes up to opset 10; chosen axes exist from 18 on.
    amounts = attribute_or_input(a, "pads", pads)
    if axes is not None:
        half, full = len(amounts) // 2, [0] * (2 * x.ndim)
        for position, axis in enumerate(ints(axes)):
            full[axis % x.ndim], full[axis % x.ndim + x.ndim] = (
                amounts[position],
                amounts[position + half],
            )
        amounts = full
    if value is None:
        fill = float(a.get("value", 0.0))
    else:
        fill = float(value.flatten()[0].item())
    return pad(x, amounts, fill, a.get("mode", "constant"))


PADDING: dict[str, Operation] = {"Pad": _pad}
