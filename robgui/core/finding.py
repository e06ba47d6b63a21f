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
        detail: JSON values that say where and how. Known to all: ``class`` and ``other_class`` (or
            ``seen_as``), which class is taken for which; ``place``, the number of the input among
            those of the run, or ``inputs``, several of them, the first ``wrong`` of which get the
            wrong answer as they are; ``network``, the model by name where there are several;
            ``third_class``, the class that the two stand differently to.
        picture: ``(h, w, 3)`` uint8, what to show.
        input: float32 in [0, 1], the failing input itself.
    """

    kind: str
    title: str
    severity: float
    detail: dict[str, Any] = field(default_factory=dict)
    picture: np.ndarray | None = None
    input: np.ndarray | None = None

    @property
    def confusion(self) -> tuple[str, str] | None:
        """Which class is taken for which; None for what is no failure or names no class.

        Where there is a third class, the two are treated differently, not confused.
        """
        if self.detail.get("third_class"):
            return None
        taken = self.detail.get("class")
        given = self.detail.get("other_class") or self.detail.get("seen_as")
        if taken and given and taken != given:
            return (str(taken), str(given))
        return None

    @property
    def places(self) -> tuple[int, ...]:
        """Numbers of the failing inputs among those the run looked at; empty where it is none."""
        if "place" in self.detail:
            return _numbers([self.detail["place"]])
        wrong = self.detail.get("wrong")
        return _numbers(self.detail.get("inputs"))[: wrong if isinstance(wrong, int) else 0]

    @property
    def wrong(self) -> bool:
        """Whether the input as it is gets the wrong answer, not only after a change."""
        return bool(self.detail.get("wrong"))

    @property
    def network(self) -> str:
        """Of an analysis of several models, the name of the one that fails; else empty."""
        return str(self.detail.get("network") or "")


def _numbers(values: Any) -> tuple[int, ...]:
    """Whole numbers of a stored list; what is none is left out."""
    if isinstance(values, list | tuple):
        listed = values
    else:
        listed = ()
    return tuple(int(value) for value in listed if isinstance(value, int) and value >= 0)


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
