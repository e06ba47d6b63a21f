"""Trial: a model tried on data, to see how it behaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

#: As many as the window shows beside a model that was just opened.
_ANSWERS = 8
#: Most inputs that accuracy is counted on: a trial must stay quick.
COUNTED = 2048


@dataclass(frozen=True, slots=True)
class TrialAnswer:
    """What a model says of one input; ``truth`` is empty if the label is unknown."""

    input: str
    predicted: str
    probability: float
    truth: str


@dataclass(frozen=True, slots=True)
class Trial:
    """A model tried on data: its answers to the first inputs, and its accuracy on labelled ones.

    Attributes:
        left_out: What could not be read of the data, in words; empty when all could.
    """

    data: str
    inputs: int
    answers: list[TrialAnswer]
    right: int
    counted: int
    labelled: int
    left_out: str = ""


def try_on(classifier: Classifier, dataset: Dataset) -> Trial:
    """Asks the model about the first inputs, and about the first labelled ones."""
    # Late, as in all of this package: the data import the settings of models.
    from robgui.core.dataset import align, match

    classifier = match(classifier, dataset)
    fitting = align(classifier, dataset)
    right, counted, labelled = _accuracy(classifier, fitting)
    answers = _answers(classifier, fitting)
    return Trial(fitting.name, len(fitting), answers, right, counted, labelled, fitting.left_out())


def _answers(classifier: Classifier, dataset: Dataset) -> list[TrialAnswer]:
    """Answers to the first readable inputs."""
    from robgui.core.dataset import batches

    found: list[TrialAnswer] = []
    for indices, x in batches(classifier, dataset, _ANSWERS):
        for index, row in zip(indices, classifier.probs(x).cpu().numpy(), strict=True):
            best = int(row.argmax())
            truth = _truth(classifier, dataset, index)
            found.append(
                TrialAnswer(dataset.key(index), classifier.labels[best], float(row[best]), truth)
            )
        if len(found) >= _ANSWERS:
            break
    return found[:_ANSWERS]


def _truth(classifier: Classifier, dataset: Dataset, index: int) -> str:
    if dataset.labels is None:
        number = -1
    else:
        number = int(dataset.labels[index])
    if number < 0:
        return ""
    if number < len(dataset.names):
        return dataset.names[number]
    return classifier.labels[number]


def _accuracy(classifier: Classifier, dataset: Dataset) -> tuple[int, int, int]:
    """How many are right, of how many, of how many with a label."""
    from robgui.core.dataset import batches

    if dataset.labels is None:
        return 0, 0, 0
    known = np.flatnonzero(dataset.labels >= 0)
    sample = dataset.subset(known[:COUNTED])
    right = counted = 0
    for indices, x in batches(classifier, sample):
        assert sample.labels is not None
        right += int((classifier.probs(x).argmax(1).cpu().numpy() == sample.labels[indices]).sum())
        counted += len(indices)
    return right, counted, len(known)
