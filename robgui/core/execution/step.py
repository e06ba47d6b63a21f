"""Step and Pace: what an engine yields, and when the next one is due."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Step(Generic[R]):
    """A complete result on the way: ``done`` of ``total`` units of work and the result so far.

    ``cut`` marks the last Step of a run that ran out of time. ``kept`` comes now and then from an
    analysis that can continue after a stop: the result of its first units, see Shards.
    """

    done: int
    total: int | None
    result: R
    note: str = ""
    cut: bool = False
    kept: Any = None

    def after(self, earlier: Step[R] | None) -> Step[R]:
        """This Step in place of an earlier, unseen one, whose ``kept`` it preserves."""
        if earlier is None or earlier.kept is None or self.kept is not None:
            return self
        return replace(self, kept=earlier.kept)


class Pace:
    """Says when the next Step is due: an engine must neither flood nor starve its listener.

    Ask it after each batch. The first answer is yes, which brings the first picture at once.

    Attributes:
        awaited: Somebody waits for the run to end, which it can only do at a Step: the next one is
            due after the current batch.
    """

    # On the class: engines make a Pace of their own, and the listening thread knows
    # none of them. A worker computes one task at a time, so one flag is enough.
    awaited: ClassVar[bool] = False

    # 20 a second: the window draws 30, and an engine should compute rather than report.
    def __init__(self, seconds: float = 0.05) -> None:
        self._seconds = seconds
        self._next = 0.0

    def due(self) -> bool:
        """True at most once every ``seconds``, and whenever somebody waits for the end."""
        now = time.monotonic()
        if now < self._next and not Pace.awaited:
            return False
        self._next = now + self._seconds
        return True
