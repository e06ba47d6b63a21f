"""ONNX operations in torch, following the operators' specification.

Each operation takes the node's attributes and its inputs, and returns one tensor or a tuple.
Integers that describe shapes stay on the CPU, where reading them never waits for another device.
"""

from __future__ import annotations

from robgui.core.loading.onnx_ops.arithmetic import ARITHMETIC
from robgui.core.loading.onnx_ops.padding import PADDING, pad, spatial_pads
from robgui.core.loading.onnx_ops.shapes import SHAPES
from robgui.core.loading.onnx_ops.summaries import SUMMARIES
from robgui.core.loading.onnx_ops.values import Attributes, Operation, UntranslatedError, ints
from robgui.core.loading.onnx_ops.windows import WINDOWS

__all__ = [
    "OPERATIONS",
    "Attributes",
    "Operation",
    "UntranslatedError",
    "ints",
    "pad",
    "spatial_pads",
]

OPERATIONS: dict[str, Operation] = {**ARITHMETIC, **SUMMARIES, **WINDOWS, **SHAPES, **PADDING}
