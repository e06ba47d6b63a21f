"""Recorder: keeps the operations that a model applies to its input, for ``recording``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from robgui.bounds.network import Network, Operation, Shape, UnsupportedError
from robgui.bounds.translation import (
    CONSTANTS,
    SHAPE_ONLY,
    SQUASHES,
    TRANSLATORS,
    Call,
    Ref,
    leaves,
    translate,
)
from robgui.core.devices import hardware_of, to_host
from robgui.core.model.randomness import HOST
from robgui.core.model.watching import Watching

#: Devices without double precision: bounds for their models are computed on the host.
_WITHOUT_DOUBLE = frozenset({"mps"})
_READS = "it reads values of the input outside torch, where it cannot be followed"
#: Not decomposed: no part of them has bounds, and an error about the whole is easier to read.
_WHOLE = frozenset(
    {
        "gru",
        "lstm",
        "rnn_relu",
        "rnn_tanh",
        "multi_head_attention_forward",
        "scaled_dot_product_attention",
        "layer_norm",
    }
)


@dataclass(frozen=True, slots=True)
class _Value:
    """What is known about a tensor: its place in the list, or why it cannot be followed."""

    place: int
    tensor: Tensor
    reason: str = ""
    squashed: str = ""


@dataclass(frozen=True, slots=True)
class _Event:
    """An operation on tracked values.

    Attributes:
        name: Without library and trailing underscore.
        function: What is called.
        given: Its arguments as they are.
        args: The same with a Ref for each tracked tensor.
        kwargs: Arguments by name, with Refs.
        known: What is known about these tensors.
    """

    name: str
    function: Any
    given: Any
    args: Any
    kwargs: Any
    known: list[_Value]


def _equal(pairs: list[tuple[Tensor, Tensor]]) -> bool:
    """Whether both tensors of every pair are equal; a device is asked once for all of them."""
    there = [pair for pair in pairs if hardware_of(pair[0].device).waits]
    if any(a.shape != b.shape or a.dtype != b.dtype for a, b in there):
        return False
    asked = to_host(*((a == b).all() for a, b in there))
    here = (pair for pair in pairs if not hardware_of(pair[0].device).waits)
    return all(bool(each) for each in asked) and all(torch.equal(a, b) for a, b in here)


class Recorder(Watching):
    """Keeps the operations that a model applies to ``x`` and to values computed from it."""

    def __init__(self, x: Tensor) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._rows = len(x)
        if x.device.type in _WITHOUT_DOUBLE:
            self._device = HOST
        else:
            self._device = x.device
        self._values: dict[int, _Value] = {id(x): _Value(0, x)}
        # Tensors are told apart by id, which Python reuses once a tensor is gone: keep them all.
        self._kept: list[Any] = [x]
        self._operations: list[Operation] = []
        self._shapes: list[Shape] = [tuple(x.shape[1:])]
        # What two inputs must agree in: names, constant tensors and
        # plain numbers of every operation.
        self._log: list[tuple[str, list[Tensor], list[Any]]] = []
        self._writing = False
        self._failure = ""
        self._output: _Value | None = None

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        # ``relu_`` is ``relu`` in place: one translator serves both.
        name = func._schema.name.removeprefix("aten::").removesuffix("_") or func._schema.name
        known = [
            value
            for each in leaves((args, kwargs))
            if isinstance(each, Tensor) and (value := self._values.get(id(each)))
        ]
        if not known:
            return func(*args, **kwargs)
        if (
            name not in TRANSLATORS
            and name not in SQUASHES
            and name not in _WHOLE
            and not func._schema.is_mutable
        ):
            # A dispatch mode is off inside its own handler; entering it again records the parts.
            with self:
                parts = func.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        constants, numbers = self._constants((args, kwargs))
        event = _Event(name, func, args, self._refs(args), self._refs(kwargs), known)
        result = func(*args, **kwargs)
        # Nothing of the input's values gets into these.
        if name in SHAPE_ONLY or name in CONSTANTS:
            return result
        self._log.append((name, constants, numbers))
        self._writing = True
        try:
            with torch.inference_mode(False), torch.no_grad():
                self._follow(event, result)
        finally:
            self._writing = False
        return result

    def read(self, tensor: Tensor) -> None:
        """Notes that the model reads values of a tensor outside torch."""
        if not self._writing and id(tensor) in self._values:
            self._failure = self._failure or _READS

    def alias(self, tensor: Tensor, other: Tensor) -> None:
        """Notes another name for a tensor that no torch operation shows."""
        value = self._values.get(id(tensor))
        if value is not None:
            self._keep(other, value)

    def finish(self, scores: Tensor) -> None:
        """Notes which tensor is the answer."""
        self._output = self._values.get(id(scores))
        if scores.ndim != 2:
            self._failure = self._failure or "its answer is not a table of scores"

    def same(self, other: Recorder) -> bool:
        """True if another input took the same path through the same constants."""
        if len(self._log) != len(other._log):
            return False
        both = list(zip(self._log, other._log, strict=True))
        return all(
            ours[0] == theirs[0] and ours[2] == theirs[2] and len(ours[1]) == len(theirs[1])
            for ours, theirs in both
        ) and _equal(
            [pair for ours, theirs in both for pair in zip(ours[1], theirs[1], strict=True)]
        )

    def network(self) -> Network:
        """The recorded network; UnsupportedError if something could not be followed."""
        if self._failure:
            raise UnsupportedError(self._failure)
        if self._output is None:
            raise UnsupportedError("it computes outside torch, where it cannot be followed")
        if self._output.reason:
            raise UnsupportedError(self._output.reason)
        return Network(
            tuple(self._operations),
            tuple(self._shapes),
            self._output.place,
            self._output.squashed,
            self._device,
        )

    def _follow(self, event: _Event, result: Any) -> None:
        results = [each for each in leaves(result) if isinstance(each, Tensor)]
        mutable = event.function._schema.is_mutable
        # A plain number came out: the model may branch on it, which no record shows.
        if not results or len(leaves(result)) != len(results):
            self._failure = self._failure or "it decides by the values of the input what to compute"
            return
        if mutable and not self._mutates_known(event):
            self._failure = self._failure or f"its operation {event.name!r} writes into a constant"
            return
        value = self._translated(event, results[0])
        if mutable:
            self._spoil(event.given[0])
        self._keep(results[0], value)
        for rest in results[1:]:
            self._keep(rest, _Value(0, rest, f"its operation {event.name!r} gives several results"))

    def _translated(self, event: _Event, result: Tensor) -> _Value:
        name, known = event.name, event.known
        reason = next((value.reason for value in known if value.reason), "")
        # What could not be followed spoils all that is computed from it, with the first reason.
        if reason:
            return _Value(0, result, reason)
        squashed = next((value.squashed for value in known if value.squashed), "")
        if squashed:  # After that only its dtype may change.
            same = name in ("to", "_to_copy") and result.is_floating_point()
            return _Value(
                known[0].place,
                result,
                "" if same else f"it computes with the result of a {squashed}",
                squashed,
            )
        try:
            if name in SQUASHES:
                return _Value(known[0].place, result, squashed=_squash(event, result))
            operations = translate(self._call(event, result))
        except UnsupportedError as error:
            return _Value(0, result, str(error))
        self._operations.extend(operations)
        self._shapes.extend(operation.shape for operation in operations)
        return _Value(len(self._shapes) - 1, result)

    def _call(self, event: _Event, result: Tensor) -> Call:
        if not result.is_floating_point() or result.dtype in (torch.float16, torch.bfloat16):
            raise UnsupportedError(
                f"its operation {event.name!r} computes in"
                f" {str(result.dtype).removeprefix('torch.')}"
            )
        return Call(
            name=event.name,
            function=_out_of_place(event),
            args=event.args,
            kwargs=event.kwargs,
            place=len(self._shapes),
            result=tuple(result.shape),
            rows=self._rows,
            precision=result.dtype,
            device=self._device,
        )

    def _mutates_known(self, event: _Event) -> bool:
        """True if an in-place operation changes only its first argument, and that is tracked."""
        arguments = event.function._schema.arguments
        changed = [
            index
            for index, argument in enumerate(arguments)
            if argument.alias_info and argument.alias_info.is_write
        ]
        return changed == [0] and id(event.given[0]) in self._values

    def _spoil(self, changed: Tensor) -> None:
        """Marks other views of memory changed in place: they no longer hold what was recorded."""
        # Views of one memory share its storage, whatever their offset and strides.
        memory = changed.untyped_storage().data_ptr()
        for key, value in self._values.items():
            if key != id(changed) and value.tensor.untyped_storage().data_ptr() == memory:
                self._values[key] = _Value(
                    0, value.tensor, "it changes a tensor in place that it uses elsewhere too"
                )

    def _constants(self, given: Any) -> tuple[list[Tensor], list[Any]]:
        """The untracked arguments of an operation: tensors, and plain values."""
        rest = [each for each in leaves(given) if id(each) not in self._values]
        # Clones, since the model may write into a constant after this call.
        tensors = [each.detach().clone() for each in rest if isinstance(each, Tensor)]
        return tensors, [each for each in rest if not isinstance(each, Tensor)]

    def _keep(self, tensor: Tensor, value: _Value) -> None:
        self._values[id(tensor)] = value
        self._kept.append(tensor)

    def _refs(self, value: Any) -> Any:
        """Arguments with a Ref for each tracked tensor."""
        if isinstance(value, tuple | list):
            return type(value)(self._refs(each) for each in value)
        if isinstance(value, dict):
            return {name: self._refs(each) for name, each in value.items()}
        if isinstance(value, Tensor):
            found = self._values.get(id(value))
        else:
            found = None
        if found is None:
            return value
        return Ref(found.place, tuple(value.shape), value.dtype)


def _squash(event: _Event, result: Tensor) -> str:
    """``softmax`` over the scores or ``sigmoid`` of each; neither changes their order."""
    if len(event.args) > 1:
        dim = event.args[1]
    else:
        dim = event.kwargs.get("dim", 1)
    if result.ndim != 2 or dim not in (1, -1):
        raise UnsupportedError(f"its operation {event.name!r} is not the last")
    return SQUASHES[event.name]


def _out_of_place(event: _Event) -> Any:
    """The twin of an in-place operation that leaves its input as it is."""
    schema = event.function._schema
    if not schema.is_mutable:
        return event.function
    twin = getattr(getattr(torch.ops.aten, event.name, None), event.function._overloadname, None)
    if twin is None:
        raise UnsupportedError(f"its operation {event.name!r} works in place only")
    return twin
