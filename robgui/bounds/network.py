"""A network as a list of operations that linear bounds understand: affine, ReLU and maximum.

Every value is ``(rows, *shape)``. Operations never look across rows, so one list serves any number
of inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import torch
from torch import Tensor

R = TypeVar("R")
Shape = tuple[int, ...]
Map = Callable[..., Tensor]
#: Lower and upper corners of n boxes of inputs, each ``(n, *shape)``.
Box = tuple[Tensor, Tensor]
#: Work that can be stopped after every step, and its result.
Steps: TypeAlias = Generator[None, None, R]


class UnsupportedError(Exception):
    """Something without formal bounds; the message completes "… because"."""


@dataclass(frozen=True, slots=True)
class Affine:
    """offset + Σ W_i x_i.

    Attributes:
        inputs: Places of its inputs in the list.
        shape: Shape of one row of its result.
        apply: The map itself.
        offset: Its value at zero ``(1, *shape)``.
        pull: Rows of coefficients on the result ``(r, *shape)`` -> on the only input; None to let
            autograd find it.
        spread: |W| times a radius, for the only input; None if each number of the result depends
            on the inputs monotonically.
        mixes: Whether one number of the result depends on several of the input.
        roundings: How often the model rounds on the way to one number; 0 if numbers only move.
        constants: Sizes of the terms that add up to the offset ``(1, *shape)``; None for the
            offset's own.
    """

    inputs: tuple[int, ...]
    shape: Shape
    apply: Map
    offset: Tensor
    pull: Map | None = None
    spread: Map | None = None
    mixes: bool = False
    roundings: int = 0
    constants: Tensor | None = None


@dataclass(frozen=True, slots=True)
class Relu:
    """ReLU, or leaky ReLU: max(x, slope·x), number by number, with 0 <= slope < 1."""

    inputs: tuple[int, ...]
    shape: Shape
    slope: float = 0.0


@dataclass(frozen=True, slots=True)
class WindowMaximum:
    """For each number of the result, the maximum of a few numbers of the input.

    Attributes:
        inputs: Place of its input.
        shape: Shape of one row of its result.
        table: ``(numbers of the result, k)``: indices into the flattened input; its length stands
            for "none", which pads short windows.
    """

    inputs: tuple[int, ...]
    shape: Shape
    table: Tensor


Operation = Affine | Relu | WindowMaximum


@dataclass(frozen=True, slots=True)
class Network:
    """Operations in order; place 0 is the input.

    Attributes:
        operations: The operation behind place i + 1.
        shapes: Shape of one row at every place.
        output: Place of the scores ``(rows, scores)``.
        squashed: The final operation, if it keeps the order of the scores: ``softmax``,
            ``log_softmax``, ``sigmoid`` or empty.
        device: Where its constants are, in double precision.
    """

    operations: tuple[Operation, ...]
    shapes: tuple[Shape, ...]
    output: int
    squashed: str
    device: torch.device

    def __call__(self, x: Tensor) -> Tensor:
        """Scores ``(n, scores)`` of inputs, as the list computes them."""
        # Exact enough to stand for real arithmetic: what single precision adds is bounded apart.
        values = [doubled(x, self.device)]
        for operation in self.operations:
            values.append(evaluate(operation, *(values[place] for place in operation.inputs)))
        return values[self.output]


def doubled(x: Tensor, device: torch.device) -> Tensor:
    """In double precision on ``device``; moved first, since not every device has doubles."""
    return x.to(device).to(torch.float64)


def alone(values: list[Tensor], chosen: int) -> list[Tensor]:
    """The values with all but one replaced by zeros."""
    return [value if i == chosen else torch.zeros_like(value) for i, value in enumerate(values)]


def evaluate(operation: Operation, *values: Tensor) -> Tensor:
    """The result ``(rows, *shape)`` of one operation."""
    if isinstance(operation, Affine):
        return operation.apply(*values)
    if isinstance(operation, Relu):
        # With a slope below 1 the maximum is the leaky ReLU on both sides of 0.
        return torch.maximum(values[0], operation.slope * values[0])
    return windows(operation, values[0]).amax(2).reshape(len(values[0]), *operation.shape)


def windows(operation: WindowMaximum, values: Tensor) -> Tensor:
    """The numbers ``(rows, numbers of the result, k)`` to take the maximum of; -inf for "none"."""
    # One more column, which the table's "none" points to.
    nothing = values.new_full((len(values), 1), -torch.inf)
    return torch.cat([values.flatten(1), nothing], 1)[:, operation.table]
