"""What the model in use says about the inputs on show, computed on demand on its own thread."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QThread, Signal

from robgui.core.dataset.query.facts import UNKNOWN, UNREADABLE, Predicted
from robgui.core.errors import RobguiError
from robgui.gui.state.background import step_back

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.asking.models import Models
    from robgui.core.model.answers import Scores
    from robgui.core.model.card import ModelCard

#: Datasets up to this size are predicted whole, so the accuracy is simply there.
WHOLE = 5_000
#: Labelled inputs of larger ones, always the same, that are compared with an earlier accuracy.
SAMPLE = 500
#: Inputs in the first question, and in the largest; a question should take about this long, so
#: others need not wait.
_FIRST, CHUNK = 8, 128
#: A person who scrolls waits for the question under way, so it must be short.
_SECONDS = 0.1
#: One topic per pair of model and data: stopping the old one leaves the new one alone.
_TOPICS = (f"predictions {number}" for number in itertools.count())


class Predictions(QObject):
    """Class, confidence, margin and loss of each input, see Predicted.

    UNKNOWN and nan until computed, UNREADABLE for a bad file.

    ``labels`` are the dataset's, numbered like the model's classes, so the two can be compared;
    ``asked`` counts the inputs that models have answered.

    Signals:
        changed: Some became known.
        failed: A sentence; nothing more will come for this model and data.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, answers: Models, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._answers = answers
        self.asked = 0
        self._found = _nothing(0)
        self.labels: np.ndarray | None = None
        self.names: tuple[str, ...] = ()
        self._sample = np.empty(0, np.int64)
        self._worker: _Worker | None = None

    @property
    def classes(self) -> np.ndarray:
        """Predicted class of each input ``(n,)``."""
        return self._found.classes

    @property
    def confidence(self) -> np.ndarray:
        """Its probability ``(n,)``."""
        return self._found.confidence

    def told(self, names: tuple[str, ...]) -> Predicted | None:
        """All that the model has said so far; ``names`` are those of its classes."""
        if len(self.classes):
            return replace(self._found, names=names)
        return None

    def start(self, classifier: ModelCard, dataset: Dataset) -> None:
        """Forgets all and begins with this model and these inputs."""
        from robgui.core.dataset import align
        from robgui.core.dataset.matching import shown_names

        self.clear()
        self.labels = align(classifier, dataset).labels
        self.names = shown_names(classifier, dataset)
        self._found = _nothing(len(dataset), self.labels)
        self._worker = _Worker(self._answers, classifier, dataset, self._found, self)
        self._worker.known.connect(self.changed)
        self._worker.refused.connect(self.failed)
        self._sample = sampled(len(dataset), self.labels)
        if len(dataset) <= WHOLE:
            self._worker.want_all()
        else:
            self._worker.want_later(self._sample)
        self._worker.start()

    def clear(self) -> None:
        """Forgets everything; a model that is still answering is given a moment to end."""
        if self._worker is not None:
            # It may answer once more before it ends, about a pair that is no longer in use.
            self._worker.known.disconnect(self.changed)
            self._worker.refused.disconnect(self.failed)
            self._worker.end()
            # The thread waits for an answer that is no longer needed.
            self._answers.stop(self._worker.topic)
            self._worker.finished.connect(self._worker.deleteLater)
            # A thread that has ended already does not say so again.
            if self._worker.isFinished():
                self._worker.deleteLater()
            self._worker = None
        self._found = _nothing(0)
        self.labels = None
        self.names = ()
        self.changed.emit()

    def want(self, indices: Iterable[int]) -> None:
        """These are on screen: they come next."""
        if self._worker is not None:
            self._worker.want(indices)

    def want_all(self) -> None:
        """A filter needs every one."""
        if self._worker is not None:
            self._worker.want_all()

    @property
    def complete(self) -> bool:
        """Whether every input has been predicted or cannot be read."""
        return bool(len(self.classes)) and bool((self.classes != UNKNOWN).all())

    @property
    def measured(self) -> np.ndarray | None:
        """Inputs for comparing the model with its record: all, or a sample fixed by the data.

        None until all of these are known.
        """
        every = len(self.classes) <= WHOLE
        if every:
            chosen = np.arange(len(self.classes))
        else:
            chosen = self._sample
        known = len(chosen) and (self.classes[chosen] != UNKNOWN).all()
        if known:
            return chosen
        return None

    def accuracy(self, among: np.ndarray | None = None) -> tuple[float, int] | None:
        """Share right and how many were counted; None without labels or predictions."""
        if self.labels is None:
            return None
        counted = (self.classes >= 0) & (self.labels >= 0)
        if among is not None:
            counted &= np.isin(np.arange(len(counted)), among)
        total = int(counted.sum())
        if total:
            return (float((self.classes[counted] == self.labels[counted]).mean()), total)
        return None

    def shutdown(self) -> None:
        """Ends every thread, also those still in a last model call, and waits for them."""
        for worker in self.findChildren(_Worker):
            worker.end()
            worker.wait(10_000)


class _Worker(QThread):
    known = Signal()
    refused = Signal(str)

    def __init__(
        self,
        answers: Models,
        classifier: ModelCard,
        dataset: Dataset,
        found: Predicted,
        parent: Predictions,
    ) -> None:
        super().__init__(parent)
        self._answers, self._owner = answers, parent
        self._classifier, self._dataset = classifier, dataset
        self._found, self._classes = found, found.classes
        self._portion = _FIRST
        self.topic = next(_TOPICS)
        self._next_ones = np.empty(0, np.int64)
        self._later = np.empty(0, np.int64)
        self._all = False
        self._condition = threading.Condition()
        self._ending = False

    def want(self, indices: Iterable[int]) -> None:
        with self._condition:
            # In place of the last ones: what was scrolled past is not on screen any more.
            self._next_ones = np.fromiter(indices, np.int64)
            self._condition.notify()

    def want_later(self, indices: np.ndarray) -> None:
        """These too, when nothing on screen waits."""
        with self._condition:
            self._later = indices
            self._condition.notify()

    def want_all(self) -> None:
        with self._condition:
            self._all = True
            self._condition.notify()

    def end(self) -> None:
        with self._condition:
            self._ending = True
            self._condition.notify()

    def run(self) -> None:
        # It reads and scales inputs while somebody works with the window.
        step_back()
        try:
            while (chunk := self._next()) is not None:
                self._predict(chunk)
                self.known.emit()
        except RobguiError as error:
            # Stopped on purpose: an error is then only how the question ended.
            if not self._ending:
                self.refused.emit(str(error))

    def _next(self) -> list[int] | None:
        """The next few unknown inputs, those on screen first; waits for some; None at the end."""
        with self._condition:
            while not self._ending:
                # On screen first, then the sample for the accuracy, then the rest.
                wanted = self._next_ones[self._classes[self._next_ones] == UNKNOWN]
                if not len(wanted):
                    wanted = self._later = self._later[self._classes[self._later] == UNKNOWN]
                if not len(wanted) and self._all:
                    wanted = np.flatnonzero(self._classes == UNKNOWN)
                    # Once all are known, no later wish looks through them again.
                    self._all = bool(len(wanted))
                if len(wanted):
                    return [int(i) for i in wanted[: self._portion]]
                self._condition.wait()
        return None

    def _predict(self, chunk: list[int]) -> None:
        from robgui.core.dataset import batches

        numbers, unread = np.asarray(chunk), np.ones(len(chunk), bool)
        for places, x in batches(self._classifier, self._dataset.subset(chunk), len(chunk)):
            self._note(numbers[places], self._ask(x))
            unread[places] = False
        # What the reader skipped is marked, or it would be asked for again and again.
        self._classes[numbers[unread]] = UNREADABLE

    def _note(self, numbers: np.ndarray, probabilities: np.ndarray) -> None:
        """Keeps what is said about these inputs, the class last: who sees it may read the rest."""
        found, rows = self._found, np.arange(len(numbers))
        best = np.sort(probabilities, 1)[:, -2:]
        found.confidence[numbers] = best[:, -1]
        found.margin[numbers] = best[:, -1] - (best[:, 0] if best.shape[1] > 1 else 0)
        if found.labels is not None:
            labels = found.labels[numbers]
            # Clipped only to have an index: an input without a label becomes nan below.
            of_label = probabilities[rows, np.clip(labels, 0, probabilities.shape[1] - 1)]
            # A probability that float32 rounds to 0 would be an infinite loss.
            loss = -np.log(np.maximum(of_label, np.finfo(np.float32).tiny))
            found.loss[numbers] = np.where(labels >= 0, loss, np.nan)
        self._classes[numbers] = probabilities.argmax(1)

    def _ask(self, x: np.ndarray) -> np.ndarray:
        """The probabilities of inputs.

        The next question is larger or smaller, as this one was quick or slow.
        """
        began = time.monotonic()
        scores: Scores = self._answers.ask(
            "scores", model=self._classifier, topic=self.topic, urgent=False, x=x
        )
        seconds = time.monotonic() - began
        if seconds < _SECONDS:
            self._portion = min(CHUNK, 2 * self._portion)
        # Between the two it stays as it is, or it would go up and down for ever.
        if seconds > 2 * _SECONDS:
            self._portion = max(1, self._portion // 2)
        self._owner.asked += len(x)
        return scores.probabilities


def sampled(count: int, labels: np.ndarray | None) -> np.ndarray:
    """Which inputs of a large dataset are asked about unasked: some with a label, in order."""
    if labels is None:
        known = np.empty(0, np.int64)
    else:
        known = np.flatnonzero(labels >= 0)
    if count <= WHOLE or len(known) <= SAMPLE:
        return known
    # A fixed seed: the same inputs every time, or two accuracies could not be compared.
    return np.sort(np.random.default_rng(0).choice(known, SAMPLE, replace=False))


def _nothing(count: int, labels: np.ndarray | None = None) -> Predicted:
    """Nothing said of any input yet."""
    confidence, margin, loss = np.full((3, count), np.nan, np.float32)
    return Predicted(np.full(count, UNKNOWN, np.int64), confidence, margin, loss, labels)
