"""An analysis whose Steps are rare though its batches are short; a worker imports it because the
test names it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from robgui.core.execution.analysis import analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import register
from robgui.core.execution.step import Pace, Step
from robgui.core.verdict import Status, Verdict

#: Seconds between two Steps: longer than a person waits, and than a process is given to stop.
EVERY = 30.0


@dataclass(frozen=True)
class Batches:
    """How many there were."""

    count: int


@register
@analysis(
    title="Rare Steps",
    question="Is a stop heard between two Steps?",
    verdict=lambda result, params: Verdict(Status.UNKNOWN, "It counts."),
    views=lambda result, params: (),
    inputs="none",
)
def rare_steps(classifier: object, dataset: object, params: Params) -> Iterator[Step[Batches]]:
    """Works in batches of a few milliseconds."""
    pace = Pace(EVERY)
    for batch in range(1, 100_000):
        time.sleep(0.005)
        if pace.due():
            yield Step(batch, None, Batches(batch))
