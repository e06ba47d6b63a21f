"""Selection: what the user points at, shared by every view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user points at.

    Attributes:
        input: Index into the present dataset.
        second: A second input, for a comparison or as the other corner of a box.
        run: A run of the history.
        finding: A finding of the workspace.
        radius: Where the cursor stands in a radius sweep.
        pair: Two classes, by number.
        point: A place on a semantic map, one value per axis.
        pixel: Column and row of a pixel, such as a keypoint.
    """

    input: int | None = None
    second: int | None = None
    run: str | None = None
    finding: int | None = None
    radius: float | None = None
    pair: tuple[int, int] | None = None
    point: tuple[float, ...] | None = None
    pixel: tuple[int, int] | None = None

    @property
    def inputs(self) -> tuple[int, ...]:
        """The chosen inputs: none, one or two."""
        return tuple(i for i in (self.input, self.second) if i is not None)

    def replace(self, **changes: Any) -> Selection:
        """A copy with ``changes``."""
        return replace(self, **changes)
