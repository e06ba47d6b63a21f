"""What every translated operation needs: its attributes, integers, values on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

Attributes = dict[str, Any]
#: Takes a node's attributes and its inputs, and returns one tensor or a tuple.
Operation = Callable[..., Any]


class UntranslatedError(Exception):
    """An operation, or a variant of one, that has no translation here."""


def ints(value: Tensor | Sequence[int] | None) -> list[int]:
    """Whole numbers given as an input or as an attribute."""
    if value is None:
        return []
    if isinstance(value, Tensor):
        value = value.flatten().tolist()
    return [int(each) for each in value]


def attribute_or_input(a: Attributes, name: str, given: Tensor | None) -> list[int]:
    """Whole numbers that are an attribute of older opsets and an input of newer ones."""
    if given is None:
        return ints(a.get(name))
    return ints(given)


def on_one_device(*values: Tensor) -> tuple[Tensor, ...]:
    """Brings values to one device: shape numbers live on the CPU, data elsewhere."""
    device = next(
        (value.device for value in values if value.device.type != "cpu"), values[0].device
    )
    return tuple(value.to(device) for value in values)
