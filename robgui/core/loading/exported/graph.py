"""Runs a ``torch.export`` graph node by node.

Layers can be watched, and no code is generated from the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading.exported.operations import (
    Operation,
    TensorOperation,
    bytes_in,
    find_operation,
    is_check,
)
from robgui.core.loading.raw import TRUST
from robgui.core.model.backend import Reduce, channels_back, channels_second

Json = dict[str, Any]

#: The numbers that torch.export writes for dtypes, memory formats and layouts.
DTYPES = {
    1: torch.uint8,
    2: torch.int8,
    3: torch.int16,
    4: torch.int32,
    5: torch.int64,
    6: torch.float16,
    7: torch.float32,
    8: torch.float64,
    12: torch.bool,
    13: torch.bfloat16,
}
_FORMATS = {
    1: torch.contiguous_format,
    2: torch.channels_last,
    3: torch.channels_last_3d,
    4: torch.preserve_format,
}
_LINEAR = frozenset({"linear", "addmm", "mm", "matmul"})
#: Those whose input is the second argument.
_BIAS_FIRST = frozenset({"addmm"})
_LAYERS = _LINEAR | {"convolution", "_convolution", "conv1d", "conv2d", "conv3d"}
#: Most bytes of results that a graph may hold at once. If a batch needs more, its caller halves it.
_ROOM = 2**30
_PLAIN = {"as_int", "as_bool", "as_string", "as_ints", "as_bools", "as_int_lists"}


class _Device:
    """Stands for the device the model is on at run time."""


_DEVICE = _Device()
#: Readers for arguments that need nothing from the graph; "Infinity" and "NaN" are written as
#: texts.
_CONVERT: dict[str, Callable[[Any], Any]] = {
    "as_none": lambda value: None,
    "as_float": float,
    "as_floats": lambda value: [float(each) for each in value],
    "as_scalar_type": lambda value: DTYPES[value],
    "as_memory_format": lambda value: _FORMATS[value],
    # Sparse layouts are not followed: their indices may point anywhere.
    "as_layout": lambda value: torch.strided,
    "as_device": lambda value: _DEVICE,
}
#: Layers that behave differently in training; an exported graph stores the mode as an argument.
_MODES = {"train", "training"}


@dataclass(frozen=True, slots=True)
class _Name:
    """Stands for a value known at run time."""

    name: str


@dataclass(frozen=True, slots=True)
class _Node:
    operation: Operation
    args: list[Any]
    kwargs: dict[str, Any]
    outputs: list[str]
    layer: str
    linear: bool
    dead: tuple[str, ...] = ()


class ExportedGraph(nn.Module):
    """The nodes of an exported graph with its weights."""

    def __init__(
        self,
        graph: Json,
        weights: Mapping[str, Tensor],
        owners: Mapping[str, str],
        user_input: str,
        user_output: str,
        learned: Collection[str] = (),
    ) -> None:
        """Compiles ``graph``.

        Args:
            graph: The JSON of the graph.
            weights: Tensor by name in the graph.
            owners: Name of the parameter by name in the graph, for example ``p_fc_weight`` ->
                ``fc.weight``.
            user_input: Name of the input.
            user_output: Name of the output.
            learned: Graph names of learned tensors; the others are counters, averages and
                constants.
        """
        super().__init__()
        self.training_mode = False
        self._before: Callable[[Tensor], Tensor] | None = None
        self._slots = {}
        # A file chooses its own names: under numbers they cannot clash with attributes of the
        # module.
        for index, (name, weight) in enumerate(weights.items()):
            if name in learned:
                self.register_parameter(f"w{index}", nn.Parameter(weight, requires_grad=False))
            else:
                self.register_buffer(f"w{index}", weight, persistent=False)
            self._slots[name] = f"w{index}"
        self._input, self._output = user_input, user_output
        self._owners = dict(owners)
        self._nodes = [node for node in map(self._compile, graph["nodes"]) if node is not None]
        self._forget_early()

    @property
    def layers(self) -> tuple[str, ...]:
        """Names of the convolution and linear layers, in order of execution."""
        return tuple(node.layer for node in self._nodes if node.layer)

    def before_layers(self, change: Callable[[Tensor], Tensor]) -> int:
        """From now on every layer gets ``change`` of its input; returns the number of layers."""
        self._before = change
        return len(self.layers)

    def forward(self, x: Tensor) -> Tensor:
        """Raw output for raw input."""
        return self.run(x, None)[0]

    def run(self, x: Tensor, reduce: Reduce | None) -> tuple[Tensor, dict[str, Tensor]]:
        """Raw output and, with ``reduce``, the reduced output of every layer."""
        values: dict[str, Any] = {name: getattr(self, slot) for name, slot in self._slots.items()}
        values[self._input] = x
        seen: dict[str, Tensor] = {}
        room = _ROOM
        for node in self._nodes:
            # Results are counted against a budget before they are made: a few bytes of a file can
            # ask for a tensor of any size.
            kwargs = {name: _fill(value, values, x.device) for name, value in node.kwargs.items()}
            args = _fill(node.args, values, x.device)
            if node.layer and self._before is not None:
                place = int(node.operation.name in _BIAS_FIRST)
                args[place] = self._before(args[place])
            result = node.operation(args, kwargs, room)
            room -= bytes_in(result)
            if reduce is not None and node.layer:
                if node.linear:
                    moved = channels_second(result)
                else:
                    moved = result
                seen[node.layer] = reduce(moved)
                # A linear layer was transposed for ``reduce`` and is transposed back: continuing
                # from the moved tensor keeps it on the path to the output, where its gradient is.
                if node.linear:
                    result = channels_back(moved)
                else:
                    result = moved
            if node.outputs:
                values.update(zip(node.outputs, _flat(result), strict=True))
            for name in node.dead:
                room += bytes_in(values.pop(name, None))
        return values[self._output], seen

    def _compile(self, node: Json) -> _Node | None:
        target = str(node["target"])
        if is_check(target):
            return None
        operation = find_operation(target)
        if operation is None:
            raise TrustError(f"its graph uses {target}, which is not known to be harmless; {TRUST}")
        args, kwargs = self._arguments(operation, node["inputs"])
        return _Node(
            operation,
            args,
            kwargs,
            _outputs(node),
            self._layer(operation, node),
            operation.name in _LINEAR,
        )

    def _arguments(
        self, operation: Operation, inputs: list[Json]
    ) -> tuple[list[Any], dict[str, Any]]:
        if not isinstance(operation, TensorOperation):
            return [self._value(given["arg"]) for given in inputs], {}
        named = {given["name"]: self._value(given["arg"]) for given in inputs}
        arguments = operation.function._schema.arguments
        # A norm without running averages uses those of the input in either mode.
        if operation.overload != "no_stats":
            # The mode is an argument of the node, out of reach of ``eval``: it is overwritten here.
            for mode in _MODES & named.keys():
                self.training_mode = self.training_mode or bool(named[mode])
                named[mode] = False
        # A node that makes a tensor would make it on the device of the export.
        if any(argument.name == "device" and argument.kwarg_only for argument in arguments):
            named.setdefault("device", _DEVICE)
        args: list[Any] = []
        for argument in arguments:
            if argument.kwarg_only or argument.name not in named:
                break
            args.append(named.pop(argument.name))
        return args, named

    def _value(self, argument: Json) -> Any:
        ((kind, value),) = argument.items()
        if kind in _PLAIN:
            return value
        if kind in _CONVERT:
            return _CONVERT[kind](value)
        match kind:
            case "as_tensor":
                return _Name(value["name"])
            case "as_tensors":
                return [_Name(each["name"]) for each in value]
            case "as_name":
                return _Name(value)
            case "as_sym_int" | "as_sym_float" | "as_sym_bool" | "as_optional_tensor":
                return self._value(value)
            case "as_sym_ints" | "as_sym_floats" | "as_sym_bools" | "as_optional_tensors":
                return [self._value(each) for each in value]
        raise ModelError(
            f"its graph holds an argument of an unknown kind ({kind}); export it again with torch"
            f" {torch.__version__}"
        )

    def _layer(self, operation: Operation, node: Json) -> str:
        """The name of the layer a node belongs to: its parameter's, even behind a transposition."""
        name = operation.name
        tensors = [
            given["arg"]["as_tensor"]["name"]
            for given in node["inputs"]
            if "as_tensor" in given["arg"]
        ]
        # The layer is the owner of the first argument that is a weight.
        owner = next(
            (
                self._owners[tensor]
                for tensor in tensors
                if self._owners.get(tensor, "").endswith("weight")
            ),
            "",
        )
        # Decomposed exports transpose the weight of a linear layer in a separate node: the name
        # passes through.
        if name in {"t", "permute", "transpose"} and owner:
            self._owners[_outputs(node)[0]] = owner
            return ""
        if owner and name in _LAYERS:
            return owner.removesuffix("weight").rstrip(".") or "layer"
        return ""

    def _forget_early(self) -> None:
        """Marks the node after which each value is dropped, to save memory in large batches."""
        last: dict[str, int] = {}
        for index, node in enumerate(self._nodes):
            # An unused result has its own node as last use, which frees it at once.
            for name in (*_names(node.args), *_names(list(node.kwargs.values())), *node.outputs):
                last[name] = index
        kept = {self._output, *self._slots}
        dead: dict[int, list[str]] = {}
        for name, index in last.items():
            if name not in kept:
                dead.setdefault(index, []).append(name)
        self._nodes = [
            replace(node, dead=tuple(dead.get(index, ()))) for index, node in enumerate(self._nodes)
        ]


def _outputs(node: Json) -> list[str]:
    """Names of a node's results; a list of tensors has one name for each."""
    names: list[str] = []
    for output in node["outputs"]:
        ((kind, value),) = output.items()
        match kind:
            case "as_tensor":
                names.append(str(value["name"]))
            case "as_tensors":
                names.extend(str(each["name"]) for each in value)
            case "as_none":
                names.append("")
            case _:
                names.append(str(value["as_name"]))
    return names


def _flat(result: Any) -> list[Any]:
    if isinstance(result, tuple | list):
        return [part for each in result for part in _flat(each)]
    return [result]


def _names(value: Any) -> list[str]:
    if isinstance(value, _Name):
        return [value.name]
    if isinstance(value, list):
        return [name for each in value for name in _names(each)]
    return []


def _fill(value: Any, values: Mapping[str, Any], device: torch.device) -> Any:
    if isinstance(value, _Name):
        return values[value.name]
    if isinstance(value, list):
        return [_fill(each, values, device) for each in value]
    if value is _DEVICE:
        return device
    return value
