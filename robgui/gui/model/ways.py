"""Ways: the usual ways of feeding a model, tried on labelled inputs; a click takes one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from robgui.core.model.doubt.trying import Trials
from robgui.core.model.preprocessing import Tried
from robgui.core.text.words import count, percent
from robgui.gui.model.model_accuracy import answer_by
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.sheets.sheet import Cells, Sheet

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard
    from robgui.gui.state.store import Store

_TOPICS = (f"ways {number}" for number in itertools.count())
_KEY = "ways of feeding"
_HINT = "Click a row to take its settings; the pictures of the other window follow."


def _right(tried: Tried) -> str:
    return f"{percent(tried.accuracy)} of {tried.counted:,}"


class Ways(QDialog):
    """A table of the ways, filled while they are tried.

    The model answers where it lives, one way after the other: each row appears as soon as it is
    known.

    Attributes:
        tried: The ways so far, in the order in which they were tried first.

    Signals:
        taken: The settings of the way that was clicked.
    """

    taken = Signal(object)

    def __init__(
        self, store: Store, model: ModelCard, dataset: Dataset, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._store = store
        self._topic = next(_TOPICS)
        self.tried: list[Tried] = []
        ask = partial(store.answers.ask, topic=self._topic)
        self._trials = Trials(model, dataset, answer_by(ask, model))
        self._ways = iter(self._trials)
        self.setWindowTitle(f"Preprocessing tried for {model.name}")
        self._make()
        self.finished.connect(self._end)
        self._next()

    def _make(self) -> None:
        self.said = Label("Trying …", wordWrap=True)
        self.said.setAccessibleName("How far the trial is")
        self.table = Sheet("Usual preprocessing, with how often the model is right", "Trying …")
        self.table.pointed.connect(lambda row: self.taken.emit(self.tried[row].settings))
        hint = Label(_HINT, wordWrap=True)
        hint.setProperty("role", "quiet")
        self.close_button = QPushButton("Close")
        self.close_button.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(hint, 1)
        buttons.addWidget(self.close_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.addWidget(self.said)
        layout.addWidget(self.table, 1)
        layout.addLayout(buttons)
        self.resize(self.fontMetrics().averageCharWidth() * 64, self.fontMetrics().height() * 26)

    def _next(self) -> None:
        """One way at a time: the user's changes need not wait for all of them."""
        # The next one is asked for when this one is told: two threads never enter the generator.
        waiting: Iterator[Tried] = self._ways
        self._store.pictures.run(
            lambda: next(waiting, None), self._take, failed=self._failed, key=_KEY
        )

    def _take(self, tried: Tried | None) -> None:
        if tried is None:
            self._conclude()
            return
        places = [place for place, each in enumerate(self.tried) if each.name == tried.name]
        self.tried = [each for each in self.tried if each.name != tried.name]
        # A way that comes again keeps its place, by which the table counts.
        self.tried.insert(places[0] if places else len(self.tried), tried)
        self.said.setText(f"Trying on {count(tried.counted, 'input')} …")
        self.table.show_cells(
            [
                Cells("Way", [each.name for each in self.tried]),
                Cells("Right", self.tried, _right, rank=lambda each: each.rank, whole=True),
            ]
        )
        # Again after each way: a later one may be better than all before.
        self.table.sortByColumn(1, Qt.SortOrder.DescendingOrder)
        self._next()

    def _conclude(self) -> None:
        if not self.tried:
            self.said.setText(
                self._trials.remark or "The model could not be fed in any of the usual ways."
            )
            return
        best = max(self.tried, key=lambda each: each.rank)
        # Two standard deviations of a share: anything closer may be chance.
        near = best.accuracy - 2 * math.sqrt(best.accuracy * (1 - best.accuracy) / best.counted)
        last = [each for each in self.tried if each.counted == best.counted]
        equal = sum(each.accuracy >= near for each in last) - 1
        if equal:
            others = f"; {count(equal, 'other way')} too close to tell apart"
        else:
            others = ""
        self.said.setText(
            f"“{best.name}” is right on {percent(best.accuracy)} of"
            f" {count(best.counted, 'labelled input')}{others}. {self._trials.remark}".rstrip()
        )

    def _failed(self, sentence: str, details: str) -> None:
        self.said.setText(sentence)
        if details:
            self._store.say("error", sentence, details)

    def _end(self) -> None:
        self._store.pictures.drop(_KEY)
        self._store.answers.stop(self._topic)
