"""Which inputs are tested, and which class each must keep."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.margin import margins, uses_probabilities
from robgui.analyses.last_particle.params import MethodParams
from robgui.core.dataset import Dataset, batches, inputs
from robgui.core.devices import to_host
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier


@dataclass(frozen=True)
class Chosen:
    """Inputs that the model gets right.

    Attributes:
        places: ``(n,)`` their places in the dataset.
        x: ``(n, *shape)`` on the device.
        classes: ``(n,)`` right classes, on the device.
        start: ``(n,)`` margins without noise; at most 0.
        left_out: Inputs looked at that the model gets wrong.
    """

    places: np.ndarray
    x: Tensor
    classes: Tensor
    start: np.ndarray
    left_out: int = 0

    @cached_property
    def host(self) -> tuple[np.ndarray, np.ndarray]:
        """``x`` and ``classes`` on the host, read once."""
        x, classes = to_host(self.x, self.classes)
        return x, classes


def one_input(classifier: Classifier, dataset: Dataset, params: MethodParams) -> Chosen:
    """The only input of the dataset; raises one sentence if the model gets it wrong."""
    if len(dataset) != 1:
        raise DataError(
            f"The last particle tests one input, not {len(dataset):,}; choose one, or make a table"
            " of many."
        )
    x = classifier.tensor(inputs(classifier, dataset))
    chosen, predicted = _looked_at(classifier, dataset, np.zeros(1, dtype=np.int64), x, params)
    if chosen.start[0] > 0:
        label, other = (
            classifier.labels[int(number)] for number in (chosen.classes[0], predicted[0])
        )
        raise DataError(
            f"{dataset.key(0)} is “{label}”, but {classifier.name} says “{other}” without any"
            " noise; choose an input it gets right, or set truth to predicted."
        )
    return chosen


def first_right(
    classifier: Classifier, dataset: Dataset, params: MethodParams, most: int
) -> Chosen:
    """The first ``most`` inputs that the model gets right."""
    parts: list[Chosen] = []
    left_out = found = 0
    for places, items in batches(classifier, dataset):
        chosen, _ = _looked_at(
            classifier, dataset, np.asarray(places), classifier.tensor(items), params
        )
        right = np.flatnonzero(chosen.start <= 0)[: most - found]
        if found + len(right) < most:
            looked = len(places)
        else:
            # Inputs after the last one taken were not looked at: they count
            # neither as right nor as left out.
            looked = int(right[-1]) + 1
        left_out += looked - len(right)
        found += len(right)
        rows = torch.from_numpy(right).to(classifier.device)
        parts.append(
            Chosen(chosen.places[right], chosen.x[rows], chosen.classes[rows], chosen.start[right])
        )
        if found == most:
            break
    if not found:
        raise DataError(
            f"{classifier.name} gets none of the {len(dataset):,} inputs of {dataset.name} right;"
            " there is nothing to test."
        )
    joined = (
        np.concatenate([p.places for p in parts]),
        torch.cat([p.x for p in parts]),
        torch.cat([p.classes for p in parts]),
    )
    return Chosen(*joined, np.concatenate([p.start for p in parts]), left_out)


def _looked_at(
    classifier: Classifier, dataset: Dataset, places: np.ndarray, x: Tensor, params: MethodParams
) -> tuple[Chosen, np.ndarray]:
    """The inputs with their right classes and margins, and the model's answers."""
    scores = classifier.infer(x)
    (predicted,) = to_host(scores.argmax(1))
    if params.truth == "label" and dataset.labels is not None:
        known = dataset.labels[places]
    else:
        known = np.full(len(places), -1)
    # Without a label, or with one beyond the model's
    # classes, the model's own answer must stay.
    own = np.where((known >= 0) & (known < classifier.classes), known, predicted)
    classes = torch.from_numpy(own).to(classifier.device)
    if uses_probabilities(classifier, params.margin):
        compared = scores.softmax(1)
    else:
        compared = scores
    # At most 0 for a right answer; a tie counts as right, since failure begins above 0.
    start = margins(compared, classes[:, None]).double().cpu().numpy()
    return Chosen(places, x, classes, start), predicted
