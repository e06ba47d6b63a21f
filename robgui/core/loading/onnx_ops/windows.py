"""Pooling and resizing of images."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  (torch's own customary name)
from torch import Tensor

from robgui.core.loading.onnx_ops.padding import pad, spatial_pads
from robgui.core.loading.onnx_ops.values import Attributes, Operation, UntranslatedError, ints


def _window(a: Attributes, x: Tensor) -> tuple[list[int], list[int], list[int], list[int]]:
    """Sizes, strides, dilations and padding of the windows to pool over."""
    kernel = ints(a["kernel_shape"])
    dims = len(kernel)
    if dims not in (1, 2, 3):
        raise UntranslatedError(f"pooling over {dims} axes")
    strides, dilations = (
        ints(a.get("strides")) or [1] * dims,
        ints(a.get("dilations")) or [1] * dims,
    )
    return kernel, strides, dilations, spatial_pads(a, x.shape[2:], kernel, strides, dilations)


def _max_pool(a: Attributes, x: Tensor) -> Tensor:
    kernel, strides, dilations, pads = _window(a, x)
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[len(kernel) - 1]
    # Padded before: torch pads both ends alike and at most by half a window. -inf never wins.
    return pool(pad(x, pads, -math.inf), kernel, strides, 0, dilations, bool(a.get("ceil_mode", 0)))


def _average_pool(a: Attributes, x: Tensor) -> Tensor:
    kernel, strides, dilations, pads = _window(a, x)
    if any(each != 1 for each in dilations):
        raise UntranslatedError("AveragePool with dilation")
    dims, ceil, padding_counts = (
        len(kernel),
        bool(a.get("ceil_mode", 0)),
        bool(a.get("count_include_pad", 0)),
    )
    average: Any = (F.avg_pool1d, F.avg_pool2d, F.avg_pool3d)[dims - 1]
    # Torch pads by itself only with equal ends of at most half a window.
    if pads[:dims] == pads[dims:] and all(2 * p <= k for p, k in zip(pads, kernel, strict=False)):
        symmetric: Tensor = average(x, kernel, strides, pads[:dims], ceil, padding_counts)
        return symmetric
    mean: Tensor = average(pad(x, pads), kernel, strides, 0, ceil)
    if padding_counts:
        return mean
    # The share of each window that is not padding.
    share: Tensor = average(pad(torch.ones_like(x), pads), kernel, strides, 0, ceil)
    return mean / share


def _global(function: Callable[..., Tensor]) -> Operation:
    return lambda a, x: function(x, tuple(range(2, x.ndim)), keepdim=True)


def _resize(
    a: Attributes,
    x: Tensor,
    roi: Any = None,
    scales: Tensor | None = None,
    sizes: Tensor | None = None,
) -> Tensor:
    if sizes is not None and sizes.numel():
        target = ints(sizes)[2:]
    elif scales is not None and scales.numel():
        target = [
            math.floor(size * scale)
            for size, scale in zip(x.shape[2:], scales.flatten().tolist()[2:], strict=True)
        ]
    else:
        raise UntranslatedError("Resize without a target")
    # pytorch_half_pixel differs from half_pixel only where one pixel is left.
    mode, place = a.get("mode", "nearest"), a.get("coordinate_transformation_mode", "half_pixel")
    if mode == "nearest":
        # Torch's "nearest" cuts coordinates, which ONNX calls asymmetric.
        exact = place in ("half_pixel", "pytorch_half_pixel")
        return F.interpolate(x, target, mode="nearest-exact" if exact else "nearest")
    if mode == "linear" and place in ("half_pixel", "pytorch_half_pixel", "align_corners"):
        kind = {3: "linear", 4: "bilinear", 5: "trilinear"}[x.ndim]
        return F.interpolate(x, target, mode=kind, align_corners=place == "align_corners")
    raise UntranslatedError(f"Resize {mode} with {place}")


def _upsample(a: Attributes, x: Tensor, scales: Tensor | None = None) -> Tensor:
    if scales is not None:
        factors = scales
    else:
        factors = torch.tensor(a["scales"], device="cpu")
    return _resize(
        # Older than the modes of Resize, it always did what one of them is now called.
        {"mode": a.get("mode", "nearest"), "coordinate_transformation_mode": "asymmetric"},
        x,
        None,
        factors,
    )


def _depth_to_space(a: Attributes, x: Tensor) -> Tensor:
    if a.get("mode", "DCR") != "CRD":
        raise UntranslatedError("DepthToSpace in DCR order")
    # What ONNX calls CRD order.
    return F.pixel_shuffle(x, int(a["blocksize"]))


WINDOWS: dict[str, Operation] = {
    "MaxPool": _max_pool,
    "AveragePool": _average_pool,
    "GlobalAveragePool": _global(torch.mean),
    "GlobalMaxPool": _global(torch.amax),
    "Resize": _resize,
    "Upsample": _upsample,
    "DepthToSpace": _depth_to_space,
}
