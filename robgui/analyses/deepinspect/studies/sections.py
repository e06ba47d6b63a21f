"""Which sections of a neuron's usual range the members of a class reach."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor

from robgui.core.errors import ParamsError

#: Bytes that the marks may take: a byte each up to this, beyond it a bit.
LARGEST = 1_000_000_000
_BITS = 8


class SectionMarks(Protocol):
    """Marks of m classes, N neurons and s sections."""

    def add(self, classes: Tensor, section: Tensor, inside: Tensor) -> None:
        """Marks sections ``(k, N)`` of members of ``classes (k,)`` where ``inside (k, N)``."""
        ...

    def shares(self) -> Tensor:
        """``(m,)`` marked shares, double precision."""
        ...


class ByteMarks:
    """A byte a mark: quick."""

    def __init__(self, classes: int, neurons: int, sections: int, device: torch.device) -> None:
        self._neurons, self._sections = neurons, sections
        # One more cell than there are, for what is to be marked nowhere.
        self._cells = torch.zeros(classes * neurons * sections + 1, dtype=torch.bool, device=device)
        self._marks = self._cells[:-1].view(classes, neurons * sections)

    def add(self, classes: Tensor, section: Tensor, inside: Tensor) -> None:
        """See ``SectionMarks``."""
        neuron = torch.arange(self._neurons, device=section.device)
        cell = (classes[:, None] * self._neurons + neuron) * self._sections + section
        self._cells[torch.where(inside, cell, len(self._cells) - 1)] = True

    def shares(self) -> Tensor:
        """See ``SectionMarks``."""
        return self._marks.double().mean(1)


class BitMarks:
    """A bit per mark, for many classes: members of one class are added one after the other."""

    def __init__(self, classes: int, neurons: int, sections: int, device: torch.device) -> None:
        self._neurons, self._sections = neurons, sections
        self._bytes = -(-sections // _BITS)
        self._cells = torch.zeros(classes * neurons * self._bytes, dtype=torch.uint8, device=device)
        self._reached = torch.zeros(classes, dtype=torch.int64, device=device)

    def add(self, classes: Tensor, section: Tensor, inside: Tensor) -> None:
        """See ``SectionMarks``."""
        neuron = torch.arange(self._neurons, device=section.device)
        cell = (classes[:, None] * self._neurons + neuron) * self._bytes
        cell = cell + section.div(_BITS, rounding_mode="floor")
        # Outside the range 0 is shifted, which sets no bit.
        bit = (inside.long() << section.remainder(_BITS)).to(torch.uint8)
        # Setting a bit reads and writes a byte; two members of one class
        # at once would lose one of them.
        for rows in _without_repetition(classes):
            where, new = cell[rows].flatten(), bit[rows].flatten()
            held = self._cells[where]
            self._cells[where] = held | new
            fresh = ((new & ~held) != 0).view(len(rows), -1)
            # Counted when set: counting bits at the end would unpack all of them.
            self._reached[classes[rows]] += fresh.sum(1)

    def shares(self) -> Tensor:
        """See ``SectionMarks``."""
        return self._reached.double() / (self._neurons * self._sections)


def section_marks(
    classes: int, neurons: int, sections: int, device: torch.device
) -> ByteMarks | BitMarks:
    """Marks that fit into the memory.

    Raises:
        ParamsError: Not even a bit each does.
    """
    # A byte each while it fits: bits must be set one member of a class after the other.
    if classes * neurons * sections <= LARGEST:
        return ByteMarks(classes, neurons, sections, device)
    most = _BITS * (LARGEST // (classes * neurons))
    if sections <= most:
        return BitMarks(classes, neurons, sections, device)
    advice = "choose a model with fewer classes or neurons"
    if most:
        advice = f"choose at most {most:,} sections"
    raise ParamsError(
        f"{classes:,} classes, {neurons:,} neurons and {sections:,} sections need too much"
        f" memory; {advice}."
    )


def _without_repetition(classes: Tensor) -> list[Tensor]:
    """Rows in groups in which no class occurs twice."""
    ordered, order = classes.sort(stable=True)
    # Where the run of each class begins, so the number counts within a class.
    first = torch.searchsorted(ordered, ordered)
    number = torch.arange(len(order), device=classes.device) - first
    return [order[number == each] for each in range(int(number.max()) + 1 if len(order) else 0)]
