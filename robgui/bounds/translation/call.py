"""One call of an operation of torch, and what every translation of one needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from robgui.bounds.network import Affine, Map, Operation, Shape, UnsupportedError
from robgui.core.model.randomness import HOST


@dataclass(frozen=True, slots=True)
class Ref:
    """Stands for a value that depends on the input: place of its operation, shape and dtype."""

    place: int
    shape: Shape
    precision: torch.dtype


@dataclass(frozen=True, slots=True)
class Call:
    """One call of an operation of torch.

    Attributes:
        name: Without library and trailing underscore.
        function: What is called.
        args: Its arguments; a Ref where a value depends on the input.
        kwargs: The same by name.
        place: Index that its first operation will have in the list of operations.
        result: Shape of the (first) result, batch included.
        rows: Batch size with which the model was traced.
        precision: The dtype in which the model computes the result.
        device: Where constants are made, in double precision.
    """

    name: str
    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    place: int
    result: Shape
    rows: int
    precision: torch.dtype
    device: torch.device

    @property
    def refs(self) -> tuple[Ref, ...]:
        """The arguments that depend on the input, in order."""
        return tuple(each for each in leaves((self.args, self.kwargs)) if isinstance(each, Ref))

    @property
    def shape(self) -> Shape:
        """Shape of one row of the result."""
        return self.result[1:]

    def argument(self, position: int, name: str, default: Any = None) -> Any:
        """An argument by its position or name."""
        if position < len(self.args):
            return self.args[position]
        return self.kwargs.get(name, default)

    def unsupported(self, why: str) -> UnsupportedError:
        """The error that says why the operation has no translation; the caller raises it."""
        return UnsupportedError(f"its operation {self.name!r} {why}")


#: Gets a Call and returns operations, or raises UnsupportedError.
Translator = Callable[[Call], list[Operation]]


def single_ref(call: Call) -> Ref:
    """The one argument that depends on the input."""
    if len(call.refs) != 1:
        raise call.unsupported("combines several values that depend on the input")
    return call.refs[0]


def affine(call: Call, inputs: tuple[Ref, ...], apply: Map, **more: Any) -> list[Operation]:
    """An affine map of values that depend on the input; its offset is its value at zero."""
    zeros = [zero(call, ref.shape[1:]) for ref in inputs]
    return [Affine(tuple(ref.place for ref in inputs), call.shape, apply, apply(*zeros), **more)]


def zero(call: Call, shape: Shape) -> Tensor:
    """One row of zeros, in the precision of the bounds."""
    return torch.zeros((1, *shape), dtype=torch.float64, device=call.device)


def as_computed(value: float, call: Call) -> float:
    """A plain number, rounded as the model rounds it before use."""
    return float(torch.tensor(value, dtype=call.precision, device=HOST))


def per_axis(value: Any, axes: int) -> list[int]:
    """Expands one size for all axes to one for each."""
    if isinstance(value, int):
        sizes = [value]
    else:
        sizes = list(value)
    return [int(each) for each in (sizes * axes if len(sizes) == 1 else sizes)]


def as_float64(value: Tensor, call: Call) -> Tensor:
    """A constant of a model, in the precision of the bounds."""
    if not value.is_floating_point():
        return value.detach().to(call.device, copy=True)
    return value.detach().to(call.device).to(torch.float64, copy=True)


def constant(value: Tensor, call: Call) -> Tensor:
    """A constant that serves any number of rows.

    With a batch axis of its own, all its rows must be equal.
    """
    found = as_float64(value, call)
    if value.ndim < len(call.result) or value.shape[0] == 1:
        return found
    # Equal rows are a constant that was expanded to the batch; others depend on the place.
    if bool((found[1:] != found[:1]).any()):
        raise call.unsupported("treats the inputs of a batch differently")
    return found[:1]


def leaves(value: Any) -> list[Any]:
    """Everything in nested lists, tuples and dictionaries, in order."""
    if isinstance(value, dict):
        return leaves(tuple(value.values()))
    if isinstance(value, tuple | list):
        return [each for part in value for each in leaves(part)]
    return [value]
