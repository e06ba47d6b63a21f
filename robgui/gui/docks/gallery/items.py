"""The inputs that the gallery shows, in its order, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QStandardItemModel

from robgui.core.dataset.query.facts import UNREADABLE
from robgui.core.text.words import count, percent
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

AnyIndex = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class InputEntry:
    """What is known of one input, in words.

    Attributes:
        title: Label, or file name without labels.
        guess: Predicted class; empty while unknown.
        awaited: A model that can answer is open; without one no prediction comes.
        right: None without a label or a prediction.
        second: It is the second chosen input.
        tags: What it is tagged with.
        findings: How many failures runs have found on it.
        label: Number of its class; -1 without one.
    """

    index: int
    key: str
    title: str
    guess: str = ""
    confidence: float = float("nan")
    right: bool | None = None
    unreadable: bool = False
    awaited: bool = True
    second: bool = False
    tags: tuple[str, ...] = ()
    findings: int = 0
    label: int = -1

    @property
    def sentence(self) -> str:
        """The same for a screen reader and the tool tip."""
        said = self._words
        if self.tags:
            said += f"; tagged {', '.join(self.tags)}"
        if self.findings:
            said += f"; {count(self.findings, 'finding')}"
        if self.second:
            said += " (second input)"
        return said

    @property
    def without_guess(self) -> str:
        """What is written in place of a prediction."""
        if self.unreadable:
            return "unreadable"
        return "…" if self.awaited else ""

    @property
    def _words(self) -> str:
        if self.unreadable:
            return f"{self.key}: cannot be read"
        if not self.guess:
            return f"{self.key}: {self.title}, not predicted{' yet' if self.awaited else ''}"
        mark = {True: "right", False: "wrong", None: "no label"}[self.right]
        return (
            f"{self.key}: {self.title}, predicted {self.guess} with {percent(self.confidence)},"
            f" {mark}"
        )


class GalleryModel(QStandardItemModel):
    """The inputs that pass the filter; asks the store for everything and keeps only their numbers.

    The empty rows are Qt's own: a list view asks every row when it lays itself out, which would
    take half a second for 100,000 rows in Python and takes ten milliseconds this way.
    """

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(0, 1, parent)
        self._store = store
        self.rows = np.empty(0, np.int64)
        self._places = np.empty(0, np.int64)

    def show(self, rows: np.ndarray) -> bool:
        """Shows these inputs in this order; False when they are shown already."""
        if np.array_equal(rows, self.rows):
            return False
        self.rows = rows
        # The inverse of ``rows``: finding a row must not search a million of them.
        self._places = np.full(int(rows.max()) + 1 if len(rows) else 0, -1, np.int64)
        self._places[rows] = np.arange(len(rows))
        # Only the count is Qt's: nothing is reset, rows are added or taken away at the end.
        self.setRowCount(len(rows))
        return True

    def row_of(self, index: int | None) -> int:
        """Where input ``index`` stands; -1 when it is not shown."""
        if index is None or not 0 <= index < len(self._places):
            return -1
        return int(self._places[index])

    def entry(self, row: int) -> InputEntry:
        """All that is painted of one row; no file is read."""
        store = self._store
        index = int(self.rows[row])
        dataset, model, predictions = (
            store.library.dataset,
            store.library.model,
            store.library.predictions,
        )
        assert dataset is not None
        label, key = _class_at(dataset.labels, index), dataset.key(index)
        if model is not None:
            outputs = model.settings.labels
        else:
            outputs = ()
        if label >= 0:
            title = class_name(label, predictions.names, dataset.names, outputs)
        else:
            title = key
        marks: dict[str, Any] = {
            "second": index == store.selection.second,
            "tags": tuple(store.marking.tags_of(index)),
            "findings": len(store.marking.findings.get(index, ())),
            "label": label,
            "awaited": model is not None and not store.library.mismatch,
        }
        # Other data are on show already, and their predictions have not begun.
        if index >= len(predictions.classes):
            return InputEntry(index, key, title, **marks)
        guess = int(predictions.classes[index])
        if guess < 0:
            return InputEntry(index, key, title, unreadable=guess == UNREADABLE, **marks)
        # In the model's own numbering, in which the prediction is.
        wanted = _class_at(predictions.labels, index)
        right = None
        if wanted >= 0:
            right = guess == wanted
        words = class_name(guess, outputs, dataset.names)
        confidence = float(predictions.confidence[index])
        return InputEntry(index, key, title, words, confidence, right, **marks)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        # While rows are taken away Qt may still ask about the last ones.
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        if role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            sentence = self.entry(index.row()).sentence
            if role == Qt.ItemDataRole.ToolTipRole:
                return tip(sentence)
            return sentence
        return None


def _class_at(labels: np.ndarray | None, index: int) -> int:
    """The number of an input's class; -1 without one."""
    if labels is None:
        return -1
    return int(labels[index])


def class_name(index: int, *names: tuple[str, ...]) -> str:
    """The name of a class from the first list that knows it, else its number."""
    for known in names:
        if 0 <= index < len(known):
            return known[index]
    return str(index)
