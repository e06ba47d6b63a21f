"""One pass over the inputs, during which the results sharpen.

The counts are stored from time to time, so a stopped run can be continued. Memory holds the counts
and one number per input, whatever the number of inputs, and the inputs stay on disk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Protocol, TypeVar

from robgui.analyses.deepinspect.counting.neurons import GrowingPace, read
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.analyses.deepinspect.params import InspectParams
from robgui.core.dataset import Dataset
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

R = TypeVar("R")
#: Seconds between two times at which the counts are kept, and most bytes kept per second.
KEEP_SECONDS, KEEP_BYTES = 2.0, 4e6


class Sharpening(Protocol[R]):
    """What is known while the inputs pass."""

    tally: InspectionSums

    def derive(self) -> Generator[None, None, None]:
        """Makes the matrices from the counts so far, in portions."""
        ...

    def step(self) -> Step[R]:
        """The picture now."""
        ...


class KeepingPace:
    """Says when to keep the counts again: the larger they are, the more rarely."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def due(self, size: int) -> bool:
        """Whether to keep counts of this size in bytes now."""
        now = time.monotonic()
        if now - self._last < max(KEEP_SECONDS, size / KEEP_BYTES):
            return False
        self._last = now
        return True


def sharpened(
    known: Sharpening[R],
    classifier: Classifier,
    dataset: Dataset,
    params: InspectParams,
    keep: Callable[[], Step[R]] | None = None,
) -> Iterator[Step[R]]:
    """Counts every input not counted yet; recomputes the matrices as batches arrive and at the end.

    ``keep`` gives the picture with the counts themselves; None if nothing is kept.
    """
    pace, growing, keeping = Pace(), GrowingPace(), KeepingPace()
    for reading in read(
        classifier,
        dataset,
        batch=params.batch,
        last_layer=params.last_layer,
        # Above 0 when the counts of an interrupted run have been absorbed.
        first=known.tally.upto,
    ):
        known.tally.add(reading)
        if keep is not None and keeping.due(known.tally.size):
            yield keep()
        # Matrices cost more than a batch where there are many classes, so not after each.
        if growing.due():
            for _ in known.derive():
                if pace.due():
                    yield known.step()
            growing.made()
        if pace.due():
            yield known.step()
    for _ in known.derive():
        if pace.due():
            yield known.step()
