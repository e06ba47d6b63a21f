"""Selection: what the user points at, shared by every view."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Selection:
    """What the user points at.

    Attributes:
        input: Index into the present dataset.
        run: A run of the history.
        finding: A finding of the workspace.
        radius: Where the cursor stands in a radius sweep.
    """

    input: int | None = None
    run: str | None = None
    finding: int | None = None
    radius: float | None = None

    def but(self, **changes: Any) -> Selection:
        """A copy with ``changes``."""
        return replace(self, **changes)
