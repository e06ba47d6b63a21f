"""Finding: a failure worth showing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Finding:
    """One failure found by an analysis, with everything needed to show and replay it.

    Attributes:
        kind: What sort of failure, one word or two: ``crossing``, ``trap``, ``confusion``.
        title: One line for a list.
        severity: From 0 to 1; larger is worse.
        detail: JSON values that say where and how. Every reader knows: ``class`` and
            ``other_class`` (or ``seen_as``), the class mistaken and the class it is mistaken for;
            ``place``, the number of the input in the run, or ``inputs``, several of them, where the
            first ``wrong`` are misclassified even unchanged; ``network``, the name of the model if
            there are several; ``third_class``, the class that the two relate to differently;
            ``input_name``, the name of the failing input in the data, such as its file.
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
        """The class mistaken and what it is mistaken for; None if no failure or no class is named.

        With a third class the two are treated differently, not confused, which gives None too, as
        do classes that look alike and are never taken for each other.
        """
        if self.detail.get("third_class") or self.detail.get("true_confusion") == 0:
            return None
        taken = self.detail.get("class")
        given = self.detail.get("other_class") or self.detail.get("seen_as")
        if taken and given and taken != given:
            return (str(taken), str(given))
        return None

    @property
    def places(self) -> tuple[int, ...]:
        """Numbers of the failing inputs in the run; empty if no input fails."""
        if "place" in self.detail:
            return _numbers([self.detail["place"]])
        wrong = self.detail.get("wrong")
        return _numbers(self.detail.get("inputs"))[: wrong if isinstance(wrong, int) else 0]

    @property
    def wrong(self) -> bool:
        """Whether the unchanged input already gets the wrong answer."""
        return bool(self.detail.get("wrong"))

    @property
    def input_name(self) -> str:
        """The name of the failing input in the data; empty where none or several fail."""
        return str(self.detail.get("input_name") or "")

    @property
    def network(self) -> str:
        """The name of the failing model in an analysis of several models; else empty."""
        return str(self.detail.get("network") or "")


def _numbers(values: Any) -> tuple[int, ...]:
    """The whole numbers in a stored list; anything else is left out."""
    if isinstance(values, list | tuple):
        listed = values
    else:
        listed = ()
    return tuple(int(value) for value in listed if isinstance(value, int) and value >= 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFinding(Finding):
    """A Finding as the workspace keeps it, with its number, its run and the user's notes.

    Lists of findings omit ``picture`` and ``input``; ``Workspace.finding(id)`` has both.
    """

    id: int
    run_id: str
    note: str = ""
    starred: bool = False
    has_picture: bool = False
