"""Finding: a failure worth showing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure an analysis has found, with all that is needed to show and to replay it.

    Attributes:
        kind: What sort of failure, one word or two: ``crossing``, ``trap``, ``confusion``.
        title: One line for a list.
        severity: From 0 to 1; larger is worse.
        detail: JSON values that say where and how (class names, radius, index of the input, …).
        picture: ``(h, w, 3)`` uint8, what to show.
        input: float32 in [0, 1], the failing input itself.
    """

    kind: str
    title: str
    severity: float
    detail: dict[str, Any] = field(default_factory=dict)
    picture: np.ndarray | None = None
    input: np.ndarray | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFinding(Finding):
    """A Finding as the workspace keeps it: with its number, its run and what the user noted.

    Lists of findings come without ``picture`` and ``input``; ``Workspace.finding(id)`` gives both.
    """

    id: int
    run_id: str
    note: str = ""
    starred: bool = False
    has_picture: bool = False
