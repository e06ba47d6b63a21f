"""What the window knows about data held in the worker; imports no picture library."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.core.execution.request import Reference


@dataclass(frozen=True, slots=True)
class HeldData:
    """What the window must know about data that a worker holds.

    Attributes:
        content: What their source says of its content.
        skipped: ``(path, reason)`` of what could not be read.
        low: Lowest value of each column.
        high: Highest value of each column.
    """

    reference: Reference
    inputs: int
    kind: str
    shape: tuple[int, ...] | None
    labels: np.ndarray | None
    matrix: np.ndarray | None
    names: tuple[str, ...]
    features: tuple[str, ...]
    notes: tuple[str, ...]
    parts: tuple[str, ...]
    content: str
    skipped: list[tuple[str, str]]
    low: np.ndarray
    high: np.ndarray
