"""Step and Pace: what an engine yields, and when the next one is due."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Step(Generic[R]):
    """A complete picture on the way: ``done`` of ``total`` units of work and the result so far.

    ``cut`` marks the last one of a run that ended because its time was over. ``kept`` comes now and
    then with an analysis that can go on after a stop: the result of its first units, see Shards.
    """

    done: int
    total: int | None
    result: R
    note: str = ""
    cut: bool = False
    kept: Any = None

    def after(self, earlier: Step[R] | None) -> Step[R]:
        """This Step in place of an earlier one that nobody has seen: what that has kept stays."""
        if earlier is None or earlier.kept is None or self.kept is not None:
            return self
        return replace(self, kept=earlier.kept)


class Pace:
    """Says when the next Step is due, so that an engine neither floods nor starves its listener.

    Ask it after each batch: the first answer is yes, so that the first picture comes at once.

    Attributes:
        awaited: Somebody waits for what runs in this process to end, which it does at its next
            Step: that is due after the present batch.
    """

    awaited: ClassVar[bool] = False

    def __init__(self, seconds: float = 0.05) -> None:
        self._seconds = seconds
        self._next = 0.0

    def due(self) -> bool:
        """True at most once every ``seconds``, and while somebody waits for the end."""
        now = time.monotonic()
        if now < self._next and not Pace.awaited:
            return False
        self._next = now + self._seconds
        return True
