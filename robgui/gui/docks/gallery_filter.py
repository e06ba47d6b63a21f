"""Which inputs the gallery shows: by class, misclassified only, by a line of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSignalBlocker, QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QLineEdit, QSizePolicy, QVBoxLayout, QWidget

from robgui.gui.docks.gallery_items import class_name
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

_TYPING_MS = 150
_TEXT = "gallery text"
ALL = -1


class GalleryFilter(QWidget):
    """The fields above the gallery.

    Signals:
        changed: Other inputs pass now.
    """

    changed = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._matching: np.ndarray | None = None
        self._make()
        self._lay_out()
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._read_text)
        self.classes.currentIndexChanged.connect(lambda _: self.changed.emit())
        self.wrong.toggled.connect(lambda _: self.changed.emit())
        self.text.textChanged.connect(lambda _: self._typing.start())
        self.text.returnPressed.connect(self._read_text)
        store.library.models_changed.connect(self.take_names)

    def rows(self) -> np.ndarray:
        """The inputs that pass, in order; whole arrays at once."""
        dataset = self._store.library.dataset
        if dataset is None:
            return np.empty(0, np.int64)
        keep = np.ones(len(dataset), bool)
        if dataset.labels is not None:
            if (label := self.classes.currentData()) not in (ALL, None):
                keep &= dataset.labels == label
            if self.wrong.isChecked():
                self._store.library.predictions.want_all()
                keep &= self._misclassified(len(dataset))
        if self._matching is not None:
            among = np.zeros(len(dataset), bool)
            among[self._matching] = True
            keep &= among
        return np.flatnonzero(keep)

    def words(self) -> str:
        """The filter as a headline names it; empty while everything passes."""
        label = self.classes.currentData()
        parts = [
            f"label={self.classes.currentText()}" if label not in (ALL, None) else "",
            "misclassified" if self.wrong.isChecked() else "",
            self.text.text().strip() if self._matching is not None else "",
        ]
        return ", ".join(part for part in parts if part)

    def reset(self) -> None:
        """Lets everything pass, without a word: other data are on show."""
        self._store.pictures.drop(_TEXT)
        with QSignalBlocker(self.wrong), QSignalBlocker(self.classes), QSignalBlocker(self.text):
            self.wrong.setChecked(False)
            self.classes.setCurrentIndex(0)
            self.text.clear()
        self._typing.stop()
        self._matching = None
        self.problem.hide()
        self.take_names()

    def take_names(self) -> None:
        """Fills the list of classes; the chosen one stays."""
        dataset, model = self._store.library.dataset, self._store.library.model
        labels = None if dataset is None else dataset.labels
        known = [] if labels is None else [int(c) for c in np.unique(labels) if c >= 0]
        chosen = self.classes.currentData()
        names = (
            dataset.names if dataset is not None else (),
            model.settings.labels if model is not None else (),
        )
        with QSignalBlocker(self.classes):
            self.classes.clear()
            self.classes.addItem("All classes", ALL)
            for c in known:
                self.classes.addItem(class_name(c, *names), c)
            self.classes.setCurrentIndex(max(0, self.classes.findData(chosen)))
        why = "" if known or dataset is None else "These inputs carry no labels."
        self.classes.setEnabled(bool(known))
        self.classes.setToolTip(why)
        self.wrong.setEnabled(bool(known))
        self.wrong.setToolTip(why or "Inputs whose predicted class is not their label.")

    def _make(self) -> None:
        self.classes = QComboBox()
        self.classes.setAccessibleName("Show only this class")
        self.classes.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.classes.setMinimumContentsLength(8)
        self.wrong = QCheckBox("Misclassified only")
        self.wrong.setAccessibleName("Show misclassified inputs only")
        self.text = QLineEdit(clearButtonEnabled=True)
        self.text.setPlaceholderText("Filter, as label=shirt and index<100")
        self.text.setAccessibleName("Filter text")
        self.text.setToolTip(
            "Shows only what fits: label=shirt · label!=3 · name~part · index<100, joined by “and”"
        )
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.setAccessibleName("Problem with the filter")
        self.problem.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.problem.hide()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.classes)
        layout.addWidget(self.wrong)
        layout.addWidget(self.text)
        layout.addWidget(self.problem)

    def _read_text(self) -> None:
        """Asks the dataset which inputs the text means, away from the GUI thread."""
        self._typing.stop()
        dataset, text = self._store.library.dataset, self.text.text().strip()
        if dataset is None or not text:
            self._store.pictures.drop(_TEXT)
            self._matched(None)
            return
        self._store.pictures.run(
            lambda: np.asarray(dataset.select(text), np.int64),
            self._matched,
            failed=self._mistyped,
            key=_TEXT,
        )

    def _matched(self, indices: np.ndarray | None) -> None:
        self.problem.hide()
        self._matching = indices
        self.changed.emit()

    def _mistyped(self, sentence: str, details: str) -> None:
        self.problem.setText(sentence)
        self.problem.show()
        if details:
            self._store.say("error", sentence, details)

    def _misclassified(self, count: int) -> np.ndarray:
        guesses, labels = (
            self._store.library.predictions.classes,
            self._store.library.predictions.labels,
        )
        if labels is None or len(guesses) != count:
            return np.zeros(count, bool)
        return (guesses >= 0) & (labels >= 0) & (guesses != labels)
