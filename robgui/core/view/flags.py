"""Flags: the names of vertical lines, above the data and beside the upper ends of their lines."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robgui.core.view.parts import Mark


@dataclass(frozen=True, slots=True)
class Flag:
    """The name of a mark beside the upper end of its line.

    Attributes:
        mark: What it names.
        words: The name as it is written, shortened where there is little room.
        at: Where the line stands, in the units of the drawing.
        left: Where the words begin.
        right: Where they end.
        row: The row that they stand in; 0 is next to the data.
    """

    mark: Mark
    words: str
    at: float
    left: float
    right: float
    row: int = 0

    def crosses(self, other: Flag, gap: float) -> bool:
        """Whether the words touch, or the line of one runs through the words of the other."""
        if self.row == other.row:
            return self.left < other.right + gap and other.left < self.right + gap
        # The line of the higher flag runs down to the data, past the words of the lower one.
        low, high = sorted((self, other), key=lambda flag: flag.row)
        return low.left - gap / 2 < high.at < low.right + gap / 2


def fly(flags: Sequence[Flag], gap: float) -> list[Flag]:
    """The flags in rows in which none crosses another; those that point left come last.

    Args:
        flags: All in row 0.
        gap: What two of them keep between each other, in the units of the drawing.
    """
    placed: list[Flag] = []
    for flag in sorted(flags, key=lambda flag: (flag.left < flag.at, -flag.at)):
        rows = (replace(flag, row=row) for row in range(len(flags)))
        free = (one for one in rows if not any(one.crosses(other, gap) for other in placed))
        placed.append(next(free, replace(flag, row=len(placed))))
    return placed
