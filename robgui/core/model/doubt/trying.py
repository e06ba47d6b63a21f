"""Tries the usual ways of feeding a model, then another order of its class names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.errors import DataError, RobguiError
from robgui.core.model.doubt.class_order import ClassOrder, other_order, untold
from robgui.core.model.doubt.low_accuracy import clearly_better
from robgui.core.model.preprocessing import Answer, Tried, ways

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.matching import Model
    from robgui.core.model.classifier import Classifier
    from robgui.core.model.settings import ModelSettings

#: Most labelled inputs that tell the order of the class names, and most of one class.
_ASKED, _OF_A_CLASS = 1_000, 50
#: With this share right, no class name need be doubted.
_SURELY = 0.95
#: Name of the way with other class names.
REORDERED = "class names re-ordered"
#: What to do when the data carry numbers, which the names of a model cannot re-order.
IN_THE_DATA = "The data number their classes; say in the settings of the data which class is which."


class Trials:
    """The ways of feeding a model one by one; the order of its class names comes last.

    Attributes:
        remark: What is to be said of the class names; known when all ways have come.
        found: Whether the class names seem to be in another order.
    """

    def __init__(self, model: Model, dataset: Dataset, answer: Answer) -> None:
        self._model, self._dataset, self._answer = model, dataset, answer
        self.remark = ""
        self.found = False

    def __iter__(self) -> Iterator[Tried]:
        """The ways; one that continues comes again, with more inputs.

        Raises:
            DataError: The data have no labels that the model knows.
        """
        newest: dict[str, Tried] = {}
        if self._model.kind == "image":
            for tried in ways(self._model, self._dataset, self._answer):
                newest[tried.name] = tried
                yield tried
        if any(tried.accuracy >= _SURELY for tried in newest.values()):
            return
        # First as it is: names in the wrong order make wrong ways of feeding look better.
        yield from self._reordered(REORDERED, {}, present=not newest)
        if not newest or self.found:
            return
        better = clearly_better(list(newest.values()))
        if better is not None:
            yield from self._reordered(f"{better.name}, {REORDERED}", better.settings)

    def _reordered(
        self, name: str, fields: dict[str, Any], *, present: bool = False
    ) -> Iterator[Tried]:
        """Another order of the class names of the model when it is fed like this.

        Args:
            name: What to call that way.
            fields: The settings that differ from the present ones.
            present: Whether the way with the present names is to come before it.
        """
        from robgui.core.dataset import match

        fed = self._model.with_settings(self._model.settings.change(**fields))
        model = match(fed, self._dataset, lambda _: None)
        truths, guesses = _asked(model, self._dataset, self._answer)
        if present:
            yield Tried("as it is", {}, int((truths == guesses).sum()), len(truths))
        order = other_order(model.labels, truths, guesses)
        self.found = order is not None
        if order is None:
            self.remark = untold(truths, model.classes)
        elif applies(model, self._dataset, order):
            self.remark = order.sentence
            values = {**fields, "labels": order.labels}
            yield Tried(name, values, order.right, order.counted)
        else:
            self.remark = f"{order.sentence} {IN_THE_DATA}"


@dataclass(frozen=True, slots=True)
class WaysTried:
    """Every plausible way of feeding a model.

    Attributes:
        ways: Best first; ties keep the current settings first, and a way dropped early counts fewer
            inputs.
        remark: What is to be said of the class names; empty if nothing.
    """

    ways: list[Tried]
    remark: str


def try_ways(classifier: Classifier, dataset: Dataset) -> WaysTried:
    """Tries every plausible way of feeding ``classifier``.

    Raises:
        DataError: The data have no labels that the model knows.
    """

    @cache  # Changing the settings calls the model too.
    def fed(settings: ModelSettings) -> Classifier | None:
        with suppress(RobguiError):
            return classifier.with_settings(settings)
        return None

    def answer(settings: ModelSettings, x: np.ndarray) -> np.ndarray | None:
        candidate = fed(settings)
        if candidate is None:
            return None
        return np.asarray(candidate.probs(x).argmax(1).cpu().numpy())

    trials = Trials(classifier, dataset, answer)
    newest = {tried.name: tried for tried in trials}
    best_first = sorted(newest.values(), key=lambda tried: tried.rank, reverse=True)
    return WaysTried(best_first, trials.remark)


def applies(model: Model, dataset: Dataset, order: ClassOrder) -> bool:
    """Whether the labels of the data follow the names when those are re-ordered."""
    from robgui.core.dataset import align

    now = align(model, dataset).labels
    named = model.with_settings(model.settings.change(labels=order.labels))
    then = align(named, dataset).labels
    if now is None or then is None:
        return False
    known = now >= 0
    return bool((np.asarray(order.places)[now[known]] == then[known]).all())


def _asked(model: Model, dataset: Dataset, answer: Answer) -> tuple[np.ndarray, np.ndarray]:
    """Classes and answers for labelled inputs, of each class up to a number."""
    from robgui.core.dataset import align, batches

    fitting = align(model, dataset)
    chosen = _even(fitting)
    if not len(chosen):
        raise DataError(
            f"{dataset.name} has no labels that {model.name} knows, so nothing tells what is right;"
            " give labels."
        )
    sample = fitting.subset(chosen)
    assert sample.labels is not None
    truths, guesses = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for places, x in batches(model, sample):
        found = answer(model.settings, x)
        if found is not None:
            truths.append(sample.labels[places])
            guesses.append(found)
    return np.concatenate(truths), np.concatenate(guesses)


def _even(dataset: Dataset) -> np.ndarray:
    """Labelled inputs, shuffled, with the rare classes as fully as the common ones."""
    if dataset.labels is None:
        return np.empty(0, np.int64)
    order = np.random.default_rng(0).permutation(len(dataset.labels))
    seen: dict[int, int] = {}
    chosen: list[int] = []
    for index in order:
        label = int(dataset.labels[index])
        seen[label] = seen.get(label, 0) + 1
        if label >= 0 and seen[label] <= _OF_A_CLASS:
            chosen.append(int(index))
        if len(chosen) == _ASKED:
            break
    return np.asarray(chosen, np.int64)
