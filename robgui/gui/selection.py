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
    """

    input: int | None = None
    second: int | None = None
    run: str | None = None
    finding: int | None = None
    radius: float | None = None

    @property
    def inputs(self) -> tuple[int, ...]:
        """The chosen inputs: none, one or two."""
        return tuple(i for i in (self.input, self.second) if i is not None)

    def but(self, **changes: Any) -> Selection:
        """A copy with ``changes``."""
        return replace(self, **changes)
