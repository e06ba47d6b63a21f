"""An honest TensorFlow Lite file with an operation of every family, for pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tests.core.loading.test_tflite import code, softmax, tensor

SIDE, CLASSES = 8, 3


class _Graph:
    """Tensors, constants and operations, in the order in which they are added."""

    def __init__(self, schema: Any) -> None:
        self.schema = schema
        self.tensors: list[Any] = []
        self.buffers = [schema.BufferT()]
        self.codes: list[Any] = []
        self.operators: list[Any] = []

    def value(self, name: str, shape: tuple[int, ...]) -> int:
        self.tensors.append(tensor(self.schema, name, shape, self.schema.TensorType.FLOAT32, 0))
        return len(self.tensors) - 1

    def constant(self, name: str, values: Any, kind: type = np.float32) -> int:
        array = np.asarray(values, kind)
        buffer = self.schema.BufferT()
        buffer.data = np.frombuffer(array.tobytes(), np.uint8)
        self.buffers.append(buffer)
        types = self.schema.TensorType
        stored = types.FLOAT32 if kind is np.float32 else types.INT32
        self.tensors.append(tensor(self.schema, name, array.shape, stored, len(self.buffers) - 1))
        return len(self.tensors) - 1

    def step(
        self, name: str, inputs: list[int], shape: tuple[int, ...], options: Any = None
    ) -> int:
        output = self.value(f"{name}{len(self.tensors)}", shape)
        self.codes.append(code(self.schema, getattr(self.schema.BuiltinOperator, name)))
        made = self.schema.OperatorT()
        made.opcodeIndex, made.inputs, made.outputs = len(self.codes) - 1, inputs, [output]
        if options is not None:
            kind = type(options).__name__.removesuffix("T")
            made.builtinOptionsType = getattr(self.schema.BuiltinOptions, kind)
            made.builtinOptions = options
        self.operators.append(made)
        return output


def made_of_many(path: Path) -> Path:
    """Writes the file."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    graph, rng = _Graph(schema), np.random.default_rng(0)
    image = graph.value("image", (1, SIDE, SIDE, 3))
    flat = _row(graph, _convolved(graph, image, rng))
    weights = graph.constant("weights", rng.normal(size=(CLASSES, 8)))
    bias = graph.constant("bias", [0.1, 0.0, -0.1])
    scores = graph.step(
        "FULLY_CONNECTED", [flat, weights, bias], (1, CLASSES), schema.FullyConnectedOptionsT()
    )
    told = graph.step("SOFTMAX", [scores], (1, CLASSES), softmax(schema))
    model, main = schema.ModelT(), schema.SubGraphT()
    main.tensors, main.operators, main.inputs, main.outputs = (
        graph.tensors,
        graph.operators,
        [image],
        [told],
    )
    model.version, model.buffers, model.operatorCodes = 3, graph.buffers, graph.codes
    model.subgraphs = [main]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    path.write_bytes(bytes(builder.Output()))
    return path


def _convolved(graph: _Graph, image: int, rng: np.random.Generator) -> int:
    """Padding, convolutions, pooling, resizing."""
    schema = graph.schema
    around = graph.constant("around", [[0, 0], [1, 1], [1, 1], [0, 0]], np.int32)
    padded = graph.step("PAD", [image, around], (1, 10, 10, 3), schema.PadOptionsT())
    conv, pool, deep = schema.Conv2DOptionsT(), schema.Pool2DOptionsT(), None
    conv.strideH = conv.strideW = conv.dilationHFactor = conv.dilationWFactor = 1
    conv.padding = pool.padding = schema.Padding.VALID
    kernel = graph.constant("kernel", rng.normal(size=(4, 3, 3, 3)))
    bias = graph.constant("zero", np.zeros(4))
    y = graph.step("CONV_2D", [padded, kernel, bias], (1, 8, 8, 4), conv)
    pool.strideH = pool.strideW = pool.filterHeight = pool.filterWidth = 2
    y = graph.step("MAX_POOL_2D", [y], (1, 4, 4, 4), pool)
    deep = schema.DepthwiseConv2DOptionsT()
    deep.strideH = deep.strideW = deep.depthMultiplier = 1
    deep.dilationHFactor = deep.dilationWFactor = 1
    deep.padding = schema.Padding.SAME
    each = graph.constant("each", rng.normal(size=(1, 3, 3, 4)))
    y = graph.step("DEPTHWISE_CONV_2D", [y, each, bias], (1, 4, 4, 4), deep)
    size = graph.constant("size", [6, 6], np.int32)
    return graph.step("RESIZE_BILINEAR", [y, size], (1, 6, 6, 4), schema.ResizeBilinearOptionsT())


def _row(graph: _Graph, y: int) -> int:
    """Means, joined, tiled, gathered, cut."""
    schema = graph.schema
    mean = schema.ReducerOptionsT()
    axes = graph.constant("axes", [1, 2], np.int32)
    y = graph.step("MEAN", [y, axes], (1, 4), mean)
    join = schema.ConcatenationOptionsT()
    join.axis = 1
    y = graph.step("CONCATENATION", [y, y], (1, 8), join)
    times = graph.constant("times", [1, 2], np.int32)
    y = graph.step("TILE", [y, times], (1, 16))
    gather = schema.GatherOptionsT()
    gather.axis = 1
    which = graph.constant("which", list(range(12)), np.int32)
    y = graph.step("GATHER", [y, which], (1, 12), gather)
    cut = [graph.constant("begin", [0, 2], np.int32), graph.constant("long", [-1, 8], np.int32)]
    return graph.step("SLICE", [y, *cut], (1, 8), schema.SliceOptionsT())
