"""What must hold before a torch operation is called with arguments from a file.

Torch checks most arguments itself, but some kernels trust theirs and read or write out of bounds.
Each contract here states what such a kernel takes for granted. A call that breaks its contract is
not made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

#: Larger than any stride, padding, dilation, kernel or factor of a real network.
LARGEST_STEP = 2**14


class BrokenContractError(RuntimeError):
    """A call that would break an operation's contract."""


class TooLargeError(MemoryError):
    """A call whose result would not fit in memory; the caller may try a smaller batch."""


@dataclass(frozen=True, slots=True)
class OperationCall:
    """One call of an operation: arguments by their schema names, with defaults filled in."""

    operation: str
    given: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.given[name]

    def get(self, name: str) -> Any:
        """The argument called ``name``; None if the operation has none."""
        return self.given.get(name)

    def need(self, holds: bool, what: str) -> None:
        """Refuses the call unless ``holds``."""
        if not holds:
            raise BrokenContractError(f"its operation {self.operation} is refused: {what}")

    def tensor(self, name: str, *ranks: int) -> Tensor:
        """The tensor called ``name``, with one of the ``ranks`` if any are given."""
        value: Tensor = self.given[name]
        self.need(isinstance(value, Tensor), f"{name} is no tensor")
        self.need(not ranks or value.ndim in ranks, f"{name} has {value.ndim} axes")
        return value

    def sizes(self, name: str, low: int, high: int, lengths: Sequence[int] = ()) -> list[int]:
        """The integers ``name``, each from ``low`` to ``high``, as many as one of ``lengths``."""
        value = self.given[name]
        if isinstance(value, int):
            found = [value]
        else:
            found = list(value)
        self.need(not lengths or len(found) in lengths, f"{name} has {len(found)} numbers")
        self.need(
            # Not isinstance: to Python True is an int too.
            all(type(size) is int and low <= size <= high for size in found),
            f"{name} is out of range ({found})",
        )
        return found

    def finite(self, *names: str) -> None:
        """Refuses numbers that are not finite."""
        for name in names:
            value = self.given[name]
            self.need(
                value is None or (isinstance(value, int | float) and math.isfinite(value)),
                f"{name} is not finite",
            )

    def same_type(self, tensors: Iterable[Tensor | None]) -> None:
        """Refuses tensors that are not all floating-point of one type on one device.

        Autocast unifies the types itself.
        """
        found = [tensor for tensor in tensors if tensor is not None]
        first = found[0]
        # Asked for the tensor's own device: each has a switch of its own.
        mixed = torch.is_autocast_enabled(first.device.type)
        for tensor in found:
            same = tensor.device == first.device and (mixed or tensor.dtype == first.dtype)
            self.need(same and tensor.is_floating_point(), "its tensors are of different types")


@dataclass(frozen=True, slots=True)
class Contract:
    """What an operation takes for granted.

    Attributes:
        form: Checks shapes, types and plain arguments; called once for each combination of them.
        content: Checks numbers inside tensors; called before every call.
    """

    form: Callable[[OperationCall], None] | None = None
    content: Callable[[OperationCall], None] | None = None


def bind(
    function: torch._ops.OpOverload, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> OperationCall:
    """The call by schema names.

    A missing tensor is refused: torch itself would dereference it.
    """
    schema = function._schema
    given: dict[str, Any] = {}
    for place, argument in enumerate(schema.arguments):
        if place < len(args):
            given[argument.name] = args[place]
        elif argument.name in kwargs:
            given[argument.name] = kwargs[argument.name]
        elif argument.has_default_value():
            given[argument.name] = argument.default_value
    call = OperationCall(schema.name.removeprefix("aten::"), given)
    for argument in schema.arguments:
        call.need(argument.name in given, f"{argument.name} is missing")
        _check_tensors(call, argument.name, str(argument.type))
    return call


def _check_tensors(call: OperationCall, name: str, kind: str) -> None:
    value = call[name]
    if kind == "Tensor":
        # Torch turns a number into a tensor.
        call.need(isinstance(value, Tensor | int | float), f"{name} is no tensor")
    elif kind == "List[Tensor]":
        right = isinstance(value, list | tuple) and all(isinstance(each, Tensor) for each in value)
        call.need(right, f"{name} is no list of tensors")
