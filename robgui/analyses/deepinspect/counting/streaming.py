"""One pass over the inputs during which what is made of the counts sharpens."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol, TypeVar

from robgui.analyses.deepinspect.counting.neurons import GrowingPace, read
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.analyses.deepinspect.params import InspectParams
from robgui.core.dataset import Dataset
from robgui.core.execution.analysis import Pace, Step
from robgui.core.model.classifier import Classifier

R = TypeVar("R")


class Sharpening(Protocol[R]):
    """What is known while the inputs pass."""

    tally: InspectionSums

    def derive(self) -> Generator[None, None, None]:
        """Makes the matrices from the counts so far, in portions."""
        ...

    def step(self) -> Step[R]:
        """The picture now."""
        ...


def sharpened(
    known: Sharpening[R], classifier: Classifier, dataset: Dataset, params: InspectParams
) -> Iterator[Step[R]]:
    """Counts every input; the matrices are made anew as batches arrive, and of all counts at the
    end.
    """
    pace, growing = Pace(), GrowingPace()
    for reading in read(classifier, dataset, batch=params.batch, last_layer=params.last_layer):
        known.tally.add(reading)
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
