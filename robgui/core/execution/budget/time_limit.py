"""Time limits: how long an engine may compute, without pauses."""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator
from dataclasses import replace
from typing import Any, TypeVar

from robgui.core.execution.budget.clock import Clock
from robgui.core.execution.step import Step

R = TypeVar("R")
#: Share of its time that an engine plans with; the rest is for finishing what it has begun.
PLANNED = 0.95
#: Seconds that Quick, Normal and Thorough stand for.
BUDGETS: dict[str, float] = {"Quick": 10.0, "Normal": 60.0, "Thorough": 600.0}


class Deadline:
    """The computing time an engine may plan with.

    Args:
        seconds: The limit; 0 for none.
    """

    def __init__(self, seconds: float = 0.0) -> None:
        if seconds:
            self._limit = PLANNED * seconds
        else:
            self._limit = math.inf
        self._clock = Clock()
        self._clock.start()

    @property
    def seconds(self) -> float:
        """Computing time so far."""
        return self._clock.seconds

    @property
    def left(self) -> float:
        """Seconds that may still be used; infinite without a limit."""
        return max(0.0, self._limit - self.seconds)

    @property
    def over(self) -> bool:
        """Whether it is time to end."""
        return self.left <= 0

    def beyond(self, share: float) -> bool:
        """Whether this share of the time is used up; never without a limit."""
        return self.seconds >= share * self._limit

    def until(self, share: float, stage: Iterator[None]) -> Iterator[None]:
        """Runs a stage of an engine until this share of the time is used up.

        The stage can be continued later.
        """
        while not self.beyond(share):
            try:
                next(stage)
            except StopIteration:
                return
            yield

    @property
    def limited(self) -> bool:
        """Whether there is a limit at all."""
        return math.isfinite(self._limit)

    def counted(self, steps: Iterator[Step[R]]) -> Iterator[Step[R]]:
        """The same Steps; the clock stops between requests."""
        # Between two Steps the engine is suspended: the time its listener takes is not its own.
        for step in steps:
            self._clock.stop()
            yield step
            self._clock.start()


def within(engine: Iterator[Step[Any]], seconds: float) -> Generator[Step[Any], None, None]:
    """The Steps of an engine until its time is up; the last is then marked as cut.

    Every Step is complete, so the last one before the limit is a result. Pauses do not count.

    Args:
        engine: The Steps.
        seconds: The limit; 0 for none.
    """
    clock = Clock()
    clock.start()
    try:
        for step in engine:
            clock.stop()
            # After the Step, not before: the last one is complete and carries the mark.
            if seconds and clock.seconds >= seconds:
                yield replace(step, cut=True)
                return
            yield step
            clock.start()
    finally:
        # An engine may be any iterator; only generators can be closed.
        close = getattr(engine, "close", None)
        if close is not None:
            close()
