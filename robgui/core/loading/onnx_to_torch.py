"""An ONNX graph as a torch module whose convolutions and matrix products are real layers.

Gradients flow through it and hooks see its layers. It is offered only after its answers proved
equal to onnxruntime's (see onnx_files), so a misread operation cannot go unnoticed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.loading.onnx_ops import (
    OPERATIONS,
    Attributes,
    Operation,
    UntranslatedError,
    ints,
    pad,
    spatial_pads,
)

_CONVS: dict[int, Any] = {3: nn.Conv1d, 4: nn.Conv2d, 5: nn.Conv3d}


@dataclass(frozen=True, slots=True)
class _Step:
    name: str
    operation: Operation
    attributes: Attributes
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    dead: tuple[str, ...]


class OnnxModule(nn.Module):
    """Runs the nodes of an ONNX graph in order."""

    def __init__(self, model: Any, input_name: str, output_name: str) -> None:
        """Translates ``model``; UntranslatedError names an operation that it cannot translate."""
        super().__init__()
        self._input, self._output = input_name, output_name
        # Both names mean ONNX's own operators.
        self._opset = next(
            (each.version for each in model.opset_import if each.domain in ("", "ai.onnx")), 1
        )
        self._fixed: dict[str, Tensor] = {}
        self._slots: dict[str, str] = {}
        self._constants = {each.name: _tensor(each) for each in model.graph.initializer}
        nodes = [
            node
            for node in _leading_to(output_name, model.graph.node)
            if not self._keep_constant(node)
        ]
        # Before translation: a MatMul must know its bias to become one Linear layer.
        self._biases = self._find_biases(nodes)
        last = {
            name: index for index, node in enumerate(nodes) for name in (*node.input, *node.output)
        }
        # ``last`` says after which node a value may be freed; it counts outputs too, for results
        # nobody uses.
        self._steps = [self._translate(index, node, last) for index, node in enumerate(nodes)]
        self._store_constants({name for step in self._steps for name in step.inputs})

    def forward(self, x: Tensor) -> Tensor:
        """Raw output for raw input."""
        values: dict[str, Any] = {name: getattr(self, slot) for name, slot in self._slots.items()}
        values.update(self._fixed)
        values[self._input] = x
        for step in self._steps:
            result = step.operation(
                step.attributes, *(values[name] if name else None for name in step.inputs)
            )
            values.update(
                zip(step.outputs, result if isinstance(result, tuple) else (result,), strict=False)
            )
            for name in step.dead:
                del values[name]
        answer: Tensor = values[self._output]
        return answer

    def _keep_constant(self, node: Any) -> bool:
        if node.op_type != "Constant":
            return False
        attributes = _attributes(node)
        (value,) = attributes.values()
        if isinstance(value, Tensor):
            self._constants[node.output[0]] = value
        else:
            # On the host whatever torch's default device
            # is: shapes and axes are read from it.
            self._constants[node.output[0]] = torch.tensor(value, device="cpu")
        return True

    def _translate(self, index: int, node: Any, last: dict[str, int]) -> _Step:
        if node.domain not in ("", "ai.onnx"):
            raise UntranslatedError(f"{node.domain}.{node.op_type}")
        attributes: Attributes = {
            "opset": self._opset,
            "outputs": len(node.output),
            **_attributes(node),
        }
        inputs = list(node.input)
        operation, inputs = self._operation(index, node, attributes, inputs)
        outputs = tuple(node.output)
        dead = tuple(
            name
            for name in dict.fromkeys((*node.input, *outputs))
            if name
            and last[name] == index
            and name != self._output
            and name not in self._constants
            and name != self._input
        )
        return _Step(
            node.name or f"{node.op_type}_{index}",
            operation,
            attributes,
            tuple(inputs),
            outputs,
            dead,
        )

    def _operation(
        self, index: int, node: Any, a: Attributes, inputs: list[str]
    ) -> tuple[Operation, list[str]]:
        kind = node.op_type
        label = _label(node, index)
        if kind == "Conv" and all(name in self._constants for name in inputs[1:] if name):
            return self._convolution(label, a, inputs), inputs[:1]
        if (
            kind == "Gemm"
            and inputs[1] in self._constants
            and (len(inputs) < 3 or inputs[2] in self._constants)
        ):
            layer = self._gemm(label, a, inputs)
            if layer is not None:
                return layer, inputs[:1]
        if (
            kind == "MatMul"
            and inputs[1] in self._constants
            and self._constants[inputs[1]].ndim == 2
        ):
            # A MatMul with a constant right side is a Linear layer with the transposed weight.
            bias = self._constants.get(self._biases.get(node.output[0], ""))
            return self._linear(label, self._constants[inputs[1]].T, bias), inputs[:1]
        if kind == "Add" and (
            product := next((name for name in inputs if name in self._biases), "")
        ):
            # This Add is already inside its Linear layer.
            return OPERATIONS["Identity"], [product]
        if kind == "Gemm":
            return _gemm, inputs
        if kind not in OPERATIONS:
            raise UntranslatedError(kind)
        return OPERATIONS[kind], inputs

    def _find_biases(self, nodes: list[Any]) -> dict[str, str]:
        """Matrix product -> the constant row added to it by its only user.

        Together they are one layer.
        """
        uses = Counter(name for node in nodes for name in node.input)
        widths = {
            node.output[0]: self._constants[node.input[1]].shape[-1]
            for node in nodes
            if node.op_type == "MatMul"
            and node.input[1] in self._constants
            and self._constants[node.input[1]].ndim == 2
        }
        found: dict[str, str] = {}
        for node in nodes:
            if node.op_type != "Add":
                continue
            # Addition commutes: the constant may stand on either side.
            for product, bias in (tuple(node.input), tuple(reversed(node.input))):
                fits = bias in self._constants and tuple(self._constants[bias].shape) == (
                    widths.get(product),
                )
                # A product that is also used elsewhere must not get the bias.
                if fits and uses[product] == 1 and product != self._output:
                    found[product] = bias
        return found

    def _convolution(self, label: str, a: Attributes, inputs: list[str]) -> Operation:
        weight = self._constants[inputs[1]]
        if len(inputs) > 2 and inputs[2]:
            bias = self._constants[inputs[2]]
        else:
            bias = None
        if weight.ndim not in _CONVS:
            raise UntranslatedError(f"Conv over {weight.ndim - 2} axes")
        kernel = list(weight.shape[2:])
        strides, dilations = (
            ints(a.get("strides")) or [1] * len(kernel),
            ints(a.get("dilations")) or [1] * len(kernel),
        )
        groups = int(a.get("group", 1))
        layer = _CONVS[weight.ndim](
            weight.shape[1] * groups,
            weight.shape[0],
            kernel,
            strides,
            0,
            dilations,
            groups,
            bias is not None,
            # Built without memory: the weights come from the file, and initialising them first
            # would be waste.
            device="meta",
        )
        self._adopt(label, layer, weight, bias)
        declared = ints(a.get("pads")) or [0] * (2 * len(kernel))
        if (
            a.get("auto_pad", "NOTSET") == "NOTSET"
            and declared[: len(kernel)] == declared[len(kernel) :]
        ):
            layer.padding = tuple(declared[: len(kernel)])
            # What nn.Conv2d derives from its padding in the constructor, which came too early here.
            layer._reversed_padding_repeated_twice = [
                each for each in reversed(layer.padding) for _ in range(2)
            ]
            return lambda a, x: layer(x)
        # Asymmetric or automatic padding cannot be expressed in the layer: it is applied before.
        return lambda a, x: layer(pad(x, spatial_pads(a, x.shape[2:], kernel, strides, dilations)))

    def _gemm(self, label: str, a: Attributes, inputs: list[str]) -> Operation | None:
        # A layer takes its input as it is.
        if a.get("transA", 0):
            return None
        weight = self._constants[inputs[1]] * float(a.get("alpha", 1.0))
        if not a.get("transB", 0):
            weight = weight.T
        bias = None
        if len(inputs) > 2:
            bias = self._constants[inputs[2]] * float(a.get("beta", 1.0))
            if bias.ndim > 1 and bias.shape[0] != 1:
                # A bias that differs by row is not a layer's.
                return None
            bias = bias.flatten().expand(len(weight))
        return self._linear(label, weight, bias)

    def _linear(self, label: str, weight: Tensor, bias: Tensor | None) -> Operation:
        layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, device="meta")
        self._adopt(label, layer, weight, bias)
        return lambda a, x: layer(x)

    def _adopt(self, label: str, layer: Any, weight: Tensor, bias: Tensor | None) -> None:
        layer.weight = nn.Parameter(weight.float().contiguous().clone(), requires_grad=False)
        if bias is not None:
            layer.bias = nn.Parameter(bias.float().contiguous().clone(), requires_grad=False)
        # Exporters repeat node names; hooks need distinct ones.
        while label in self._modules:
            label += "_"
        self.add_module(label, layer)

    def _store_constants(self, used: set[str]) -> None:
        for index, (name, value) in enumerate(self._constants.items()):
            if name not in used:
                continue
            # Fractions follow the module to its device; whole numbers describe shapes and stay on
            # the host.
            if value.is_floating_point():
                self.register_buffer(f"constant_{index}", value.clone(), persistent=False)
                self._slots[name] = f"constant_{index}"
            else:
                self._fixed[name] = value


def _leading_to(output: str, nodes: Iterable[Any]) -> list[Any]:
    """The nodes that ``output`` depends on, in order.

    A class number beside the scores needs no translation.
    """
    wanted, found = {output}, []
    for node in reversed(list(nodes)):
        # ONNX lists nodes in topological order, so one pass backwards finds everything.
        if wanted & set(node.output):
            found.append(node)
            wanted |= {name for name in node.input if name} | {
                name for body in _bodies(node) for name in _taken(body)
            }
    return found[::-1]


def _bodies(node: Any) -> list[Any]:
    return [attribute.g for attribute in node.attribute if attribute.HasField("g")]


def _taken(graph: Any) -> set[str]:
    """Every name that the nodes of a body use, including names of the enclosing graph."""
    return {
        name
        for node in graph.node
        for name in (*node.input, *(n for body in _bodies(node) for n in _taken(body)))
    }


def _gemm(a: Attributes, x: Tensor, y: Tensor, z: Tensor | None = None) -> Tensor:
    product = float(a.get("alpha", 1.0)) * (
        (x.T if a.get("transA", 0) else x) @ (y.T if a.get("transB", 0) else y)
    )
    if z is None:
        return product
    return product + float(a.get("beta", 1.0)) * z


def _label(node: Any, index: int) -> str:
    name = (node.name or f"{node.op_type}_{index}").strip("/").replace("/", "_").replace(".", "_")
    return name or f"{node.op_type}_{index}"


def _tensor(proto: Any) -> Tensor:
    from onnx import numpy_helper

    return torch.from_numpy(np.array(numpy_helper.to_array(proto)))


def _attributes(node: Any) -> Attributes:
    from onnx import TensorProto, helper

    found: Attributes = {}
    for attribute in node.attribute:
        value = helper.get_attribute_value(attribute)
        if isinstance(value, bytes):
            value = value.decode("utf-8", errors="replace")
        if isinstance(value, TensorProto):
            found[attribute.name] = _tensor(value)
        else:
            found[attribute.name] = value
    return found
