"""The result of the pipeline audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from robgui.core.intervals import clopper_pearson

#: Ways that remove information: they show what a model relies on, but a changed answer is no sign
#: of a fragile model, so they decide no status.
REVERSED, GREY = "blue, green, red", "grey"


@dataclass(frozen=True, slots=True)
class ChangedAnswer:
    """A picture whose answer changes.

    Attributes:
        place: Its number among the inputs of the run.
        name: What it is called.
        way: Number of the preparation that changes its answer.
        before: ``(h, w, 3)`` uint8 as the model's settings prepare it.
        after: The same prepared in the other way.
        input: What the model gets of ``after``, in [0, 1].
    """

    STORED_AS: ClassVar[str] = "Example"

    place: int
    name: str
    way: int
    before: np.ndarray
    after: np.ndarray
    input: np.ndarray


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """Answers to n pictures prepared in w ways, the model's own way first.

    Attributes:
        ways: What the ways are called.
        predicted: ``(w, n)`` class numbers.
        confidence: ``(w, n)`` probability of the predicted class.
        truth: ``(n,)`` true classes, -1 where unknown.
        places: ``(n,)`` numbers among the inputs of the run.
        labels: Class names.
        dataset: What the data are called.
        total: How many pictures will be prepared.
        resized: Whether the pictures have another size than the model takes; sizes and
            interpolations are tried only then.
        examples: Pictures whose answer changes, the surest first.
        model_calls: Inputs the model has seen.
        available: How many pictures there are to choose from; 0 in older results, which took the
            first ones.
    """

    ways: tuple[str, ...]
    predicted: np.ndarray
    confidence: np.ndarray
    truth: np.ndarray
    places: np.ndarray
    labels: tuple[str, ...]
    dataset: str
    total: int
    resized: bool
    examples: tuple[ChangedAnswer, ...]
    model_calls: int
    available: int = 0

    @property
    def done(self) -> int:
        """How many pictures were prepared so far."""
        return int(self.predicted.shape[1])

    @property
    def complete(self) -> bool:
        """Whether every picture was prepared."""
        return self.done >= self.total

    @property
    def changes(self) -> np.ndarray:
        """``(w,)`` answers that differ from those under the model's own settings."""
        return np.asarray((self.predicted != self.predicted[0]).sum(1))

    @property
    def judged(self) -> np.ndarray:
        """``(w,)`` which ways decide the status: those that keep the colours of the picture."""
        # By name, which a stored result also has.
        return np.array([name not in (REVERSED, GREY) for name in self.ways])

    @property
    def known(self) -> np.ndarray:
        """``(n,)`` which pictures have a true class."""
        return self.truth >= 0

    @property
    def right(self) -> np.ndarray:
        """``(w,)`` right answers among the pictures with a true class."""
        return np.asarray((self.predicted == self.truth)[:, self.known].sum(1))

    def change_bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """95 % interval of the share of changed answers, ``(w,)`` each."""
        return clopper_pearson(self.changes, np.full(len(self.ways), self.done))


def apart(result: PipelineResult) -> np.ndarray:
    """``(w, w)`` share of the pictures on which two ways give different answers."""
    found = result.predicted
    if not result.done:
        return np.full((len(found), len(found)), np.nan)
    return np.asarray([[(one != other).mean() for other in found] for one in found])
