"""What is left of several runs, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from robgui.core.execution.budget.clock import seconds_left

#: Seconds that a run takes besides its calls: a quick one is mostly this.
STARTING = 0.5
#: Seconds of what was expected that weigh as much as what was seen: the first quick run alone does
#: not decide how long the others take.
_TRUSTED = 2.0


@dataclass(frozen=True, slots=True)
class Stretch:
    """One of the runs.

    Attributes:
        expected: Seconds that it probably takes, as known beforehand; above 0.
        spent: Seconds that it has taken.
        share: How much of it is done.
        ended: Whether it has ended, done or not.
        telling: Whether its seconds say how long others take.
    """

    expected: float
    spent: float
    share: float
    ended: bool
    telling: bool = True


def share_of(runs: Sequence[Stretch]) -> float:
    """How much of all runs is done, each weighing as much as it probably takes; 0 for none."""
    whole = sum(run.expected for run in runs)
    if not whole:
        return 0.0
    return sum(run.expected * _done(run) for run in runs) / whole


def rest_of(runs: Sequence[Stretch]) -> float:
    """Seconds that the runs probably still take.

    What has not begun takes as long as expected, by the pace of what was seen so far; what runs
    is judged by its own pace once there is enough of it.
    """
    seen = [run for run in runs if run.telling and run.spent]
    expected = sum(run.expected * _done(run) for run in seen)
    pace = (_TRUSTED + sum(run.spent for run in seen)) / (_TRUSTED + expected)
    left = 0.0
    for run in runs:
        if run.ended:
            continue
        own = seconds_left(run.share, run.spent)
        if own is None:
            own = max(0.0, run.expected * pace - run.spent)
        left += own
    return left


def _done(run: Stretch) -> float:
    if run.ended:
        return 1.0
    return run.share
