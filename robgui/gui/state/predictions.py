"""What the model in use says about the inputs on show, computed on a thread of its own and on
demand.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QThread, Signal

from robgui.core.errors import RobguiError
from robgui.gui.state.background import step_back

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier

#: Datasets up to this size are predicted whole at once, so that the accuracy is simply there.
WHOLE = 5_000
CHUNK = 128
UNKNOWN, UNREADABLE = -1, -2


class Predictions(QObject):
    """Class and confidence of each input.

    UNKNOWN and nan until computed, UNREADABLE for a bad file.

    ``labels`` are the dataset's, numbered like the model's classes, so that the two can be
    compared.

    Signals:
        changed: Some became known.
        failed: A sentence; nothing more will come for this model and data.
    """

    changed = Signal()
    failed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.classes = np.empty(0, np.int64)
        self.confidence = np.empty(0, np.float32)
        self.labels: np.ndarray | None = None
        self._worker: _Worker | None = None

    def start(self, classifier: Classifier, dataset: Dataset) -> None:
        """Forgets all and begins with this model and these inputs."""
        from robgui.core.dataset import align

        self.clear()
        self.classes = np.full(len(dataset), UNKNOWN, np.int64)
        self.confidence = np.full(len(dataset), np.nan, np.float32)
        self.labels = align(classifier, dataset).labels
        self._worker = _Worker(classifier, dataset, self.classes, self.confidence, self)
        self._worker.known.connect(self.changed)
        self._worker.refused.connect(self.failed)
        if len(dataset) <= WHOLE:
            self._worker.want_all()
        self._worker.start()

    def clear(self) -> None:
        """Forgets everything; a thread that is still in a model call ends after it."""
        if self._worker is not None:
            self._worker.known.disconnect(self.changed)
            self._worker.refused.disconnect(self.failed)
            self._worker.end()
            self._worker.finished.connect(self._worker.deleteLater)
            if self._worker.isFinished():
                self._worker.deleteLater()
            self._worker = None
        self.classes = np.empty(0, np.int64)
        self.confidence = np.empty(0, np.float32)
        self.labels = None
        self.changed.emit()

    def want(self, indices: Iterable[int]) -> None:
        """These are on screen: they come next."""
        if self._worker is not None:
            self._worker.want(indices)

    def want_all(self) -> None:
        """A filter needs every one."""
        if self._worker is not None:
            self._worker.want_all()

    def accuracy(self) -> tuple[float, int] | None:
        """Share right and how many were counted; None without labels or predictions."""
        if self.labels is None:
            return None
        counted = (self.classes >= 0) & (self.labels >= 0)
        total = int(counted.sum())
        return (
            (float((self.classes[counted] == self.labels[counted]).mean()), total)
            if total
            else None
        )

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
        classifier: Classifier,
        dataset: Dataset,
        classes: np.ndarray,
        confidence: np.ndarray,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._classifier, self._dataset = classifier, dataset
        self._classes, self._confidence = classes, confidence
        self._next_ones = np.empty(0, np.int64)
        self._all = False
        self._condition = threading.Condition()
        self._ending = False

    def want(self, indices: Iterable[int]) -> None:
        with self._condition:
            self._next_ones = np.fromiter(indices, np.int64)
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
        step_back()
        try:
            while (chunk := self._next()) is not None:
                self._predict(chunk)
                self.known.emit()
        except RobguiError as error:
            self.refused.emit(str(error))

    def _next(self) -> list[int] | None:
        """The next few unknown inputs, those on screen first; waits for some; None at the end."""
        with self._condition:
            while not self._ending:
                wanted = self._next_ones[self._classes[self._next_ones] == UNKNOWN]
                if not len(wanted) and self._all:
                    wanted = np.flatnonzero(self._classes == UNKNOWN)
                    self._all = bool(len(wanted))
                if len(wanted):
                    return [int(i) for i in wanted[:CHUNK]]
                self._condition.wait()
        return None

    def _predict(self, chunk: list[int]) -> None:
        from robgui.core.dataset import batches

        numbers, unread = np.asarray(chunk), np.ones(len(chunk), bool)
        for places, x in batches(self._classifier, self._dataset.subset(chunk), len(chunk)):
            probabilities = self._classifier.probs(x).cpu().numpy()
            self._confidence[numbers[places]] = probabilities.max(1)
            self._classes[numbers[places]] = probabilities.argmax(1)
            unread[places] = False
        self._classes[numbers[unread]] = UNREADABLE
