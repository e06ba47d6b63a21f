"""Which inputs the gallery shows and in which order: by class, by what is wrong, by a query."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QSizePolicy,
    QWidget,
)

from robgui.core.dataset.query import Expression, InputFacts, QueryMatch, evaluate, needs, parse
from robgui.core.dataset.query.completing import Vocabulary
from robgui.core.dataset.query.expression import OF_MODEL, AllOf, Keyword
from robgui.core.dataset.query.ordering import OF_MODEL as ORDERS_OF_MODEL
from robgui.core.dataset.query.ordering import arranged
from robgui.core.errors import DataError
from robgui.core.text.words import count
from robgui.core.workspace.marks import SavedSet
from robgui.gui.docks.gallery.items import class_name
from robgui.gui.docks.gallery.order_box import OrderBox
from robgui.gui.docks.gallery.query_line import QueryLine
from robgui.gui.docks.gallery.sets import SetsButton
from robgui.gui.state.input_filter import InputFilter
from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Rest after a key before searching: a fast typist's word is searched once.
_TYPING_MS = 150
#: One key for all searches: a newer one replaces what is under way.
_ASKED = "gallery search"
#: Stands for every class in the list; no label is negative.
ALL = -1
#: Fewer inputs are searched at once, unless their names must be read.
_MANY = 50_000
#: What is about the tags and findings of an input.
_OF_MARKS = frozenset({"tag", "tagged", "finding", "found", "text"})


@dataclass(frozen=True)
class SearchAnswer:
    """The answer to a search.

    Attributes:
        rows: The inputs that pass, in order.
        open: How many may pass: the model has not answered for them yet.
    """

    rows: np.ndarray
    open: int = 0


class SearchBar(QWidget):
    """The fields above the gallery.

    Attributes:
        shown: What passes now.

    Signals:
        changed: Other inputs pass now, or in another order.
    """

    changed = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self._query: Expression = AllOf()
        self.shown = SearchAnswer(np.empty(0, np.int64))
        self._make()
        self._lay_out()
        self._typing = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._typing.timeout.connect(self._read_text)
        self.classes.currentIndexChanged.connect(lambda _: self._read_text())
        self.wrong.toggled.connect(lambda _: self._read_text())
        self.order.changed.connect(self._read_text)
        self.sets.taken.connect(self.take)
        self.text.textChanged.connect(lambda _: self._typing.start())
        self.text.returnPressed.connect(self._read_text)
        store.library.models_changed.connect(self._take_model)
        store.scope_changed.connect(self._follow_scope)
        store.marking.changed.connect(self._marked)

    @property
    def waits(self) -> bool:
        """Whether what is shown, or its order, changes as the model answers."""
        told = bool(needs(self._query) & {"text", "unreadable"})
        return told or self._judges() or self.order.by in ORDERS_OF_MODEL

    def described(self) -> InputFilter:
        """What passes, as a run is told it."""
        return InputFilter(self._words(), self.shown.open, self._judges())

    def _judges(self) -> bool:
        """Whether the answers of the model decide what passes."""
        return self.wrong.isChecked() or bool(needs(self._query) & set(OF_MODEL))

    def _words(self) -> str:
        """The filter as a headline names it; empty while everything passes."""
        label = self.classes.currentData()
        if self.shown.open:
            later = f"{count(self.shown.open, 'input')} not known yet"
        else:
            later = ""
        parts = [
            f"label={self.classes.currentText()}" if label not in (ALL, None) else "",
            "misclassified" if self.wrong.isChecked() else "",
            self.text.text().strip() if self._query != AllOf() else "",
            later,
        ]
        return ", ".join(part for part in parts if part)

    def search(self, query: str) -> None:
        """Searches for something else in place of all that is searched now."""
        self.take(SavedSet(query, self.order.by, self.order.turned))

    def take(self, saved: SavedSet) -> None:
        """Shows a saved set."""
        self._clear()
        # textChanged would start the clock of the typist and search once more.
        with QSignalBlocker(self.text):
            self.text.setText(saved.query)
        self.order.set(saved.order, saved.turned)
        self._read_text()

    def reset(self) -> None:
        """Lets everything pass, silently: other data are on show."""
        self._clear()
        self.order.set("index", False)
        self.take_names()
        dataset = self._store.library.dataset
        self.shown = SearchAnswer(np.arange(0 if dataset is None else len(dataset)))
        self._note()

    def ask(self) -> None:
        """Finds what passes; away from the GUI thread where that takes long."""
        facts = self._store.marking.facts()
        self._note()
        if facts is None:
            self._store.pictures.drop(_ASKED)
            self._answered(SearchAnswer(np.empty(0, np.int64)))
            return
        if self.waits:
            # A filter on predictions is right only once every input has one.
            self._store.library.predictions.want_all()
        library = self._store.library
        asked = library.model is not None and not library.mismatch
        # Its answers have not begun: all inputs are open, and "none passes" would be a claim.
        if self._judges() and asked and facts.predicted is None:
            self._answered(SearchAnswer(np.empty(0, np.int64), facts.count))
            return
        find = self._finding(facts)
        # Names of a large folder are read from disk on first use.
        slow = "name" in needs(self._query) or self.order.by == "name" or facts.count > _MANY
        if slow:
            self._store.pictures.run(find, self._answered, failed=self._mistyped, key=_ASKED)
            return
        self._store.pictures.drop(_ASKED)
        try:
            self._answered(find())
        except DataError as error:
            self._mistyped(str(error), "")

    def _finding(self, facts: InputFacts) -> Callable[[], SearchAnswer]:
        query, label = self._query, self.classes.currentData()
        wrong, by, turned = self.wrong.isChecked(), self.order.by, self.order.turned

        def find() -> SearchAnswer:
            truth = evaluate(query, facts)
            if facts.labels is not None and label not in (ALL, None):
                truth &= QueryMatch(facts.labels == label, np.zeros(facts.count, bool))
            if facts.labels is not None and wrong:
                truth &= _wrong(facts)
            rows = arranged(np.flatnonzero(truth.yes), facts, by, turned=turned)
            return SearchAnswer(rows, int(truth.unknown.sum()))

        return find

    def _answered(self, shown: SearchAnswer) -> None:
        self.problem.hide()
        self.shown = shown
        self.changed.emit()

    def _mistyped(self, sentence: str, details: str) -> None:
        self.problem.setText(sentence)
        self.problem.show()
        if details:
            self._store.say("error", sentence, details)

    def _read_text(self) -> None:
        self._typing.stop()
        try:
            self._query = parse(self.text.text())
        except DataError as error:
            self._store.pictures.drop(_ASKED)
            self._mistyped(str(error), "")
            return
        self.ask()

    def _note(self) -> None:
        """What would be saved as a set now."""
        parts = [self.text.text().strip(), "wrong" if self.wrong.isChecked() else ""]
        query = " ".join(part for part in parts if part)
        self.sets.now = SavedSet(query, self.order.by, self.order.turned)

    def _marked(self) -> None:
        if needs(self._query) & _OF_MARKS or self.order.by == "findings":
            self.ask()

    def _clear(self) -> None:
        self._store.pictures.drop(_ASKED)
        # Each of the three would start a search of its own.
        with QSignalBlocker(self.wrong), QSignalBlocker(self.classes), QSignalBlocker(self.text):
            self.wrong.setChecked(False)
            self.classes.setCurrentIndex(0)
            self.text.clear()
        self._typing.stop()
        self._query = AllOf()
        self.problem.hide()

    def _take_model(self) -> None:
        """What the last model answered chooses nothing for this one, not even for a moment."""
        self.take_names()
        if self._judges():
            self.ask()

    def _follow_scope(self) -> None:
        """Lets everything pass again when a run is to look at all inputs."""
        dataset = self._store.library.dataset
        if self._store.scope is None and len(self.shown.rows) != len(dataset or ()):
            self.reset()
            self.changed.emit()

    def take_names(self) -> None:
        """Fills the list of classes; the chosen one stays."""
        dataset, model = self._store.library.dataset, self._store.library.model
        if dataset is None:
            labels = None
        else:
            labels = dataset.labels
        if labels is None:
            known = []
        else:
            known = [int(c) for c in np.unique(labels) if c >= 0]
        chosen = self.classes.currentData()
        mapped: tuple[str, ...] = ()
        if dataset is not None and model is not None and known:
            from robgui.core.dataset.matching import shown_names

            mapped = shown_names(model, dataset)
        names = (
            mapped,
            dataset.names if dataset is not None else (),
            model.settings.labels if model is not None else (),
        )
        # Filling a box chooses on the way, and nobody has chosen anything.
        with QSignalBlocker(self.classes):
            self.classes.clear()
            self.classes.addItem("All classes", ALL)
            for c in known:
                self.classes.addItem(class_name(c, *names), c)
            self.classes.setCurrentIndex(max(0, self.classes.findData(chosen)))
        if known or dataset is None:
            why = ""
        else:
            why = "These inputs carry no labels."
        self.classes.setEnabled(bool(known))
        self.classes.setToolTip(why)
        self.wrong.setEnabled(bool(known))
        self.wrong.setToolTip(why or "Inputs whose predicted class is not their label.")

    def vocabulary(self) -> Vocabulary:
        """What can be named in a query now."""
        library, marking = self._store.library, self._store.marking
        if library.dataset is not None:
            names = library.dataset.names
        else:
            names = ()
        if library.model is not None:
            outputs = library.model.settings.labels
        else:
            outputs = ()
        kinds = {kind for found in marking.findings.values() for kind, _ in found}
        shown = library.predictions.names
        classes = tuple(dict.fromkeys((*outputs, *shown, *names)))
        return Vocabulary(classes, tuple(marking.tags), tuple(sorted(kinds)))

    def _make(self) -> None:
        self.classes = ElidedBox()
        self.classes.setAccessibleName("Show only this class")
        self.classes.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.classes.setMinimumContentsLength(8)
        self.wrong = QCheckBox("Misclassified only")
        self.wrong.setAccessibleName("Show misclassified inputs only")
        self.text = QueryLine(self.vocabulary)
        self.order = OrderBox()
        self.sets = SetsButton(self._store.marking)
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.setAccessibleName("Problem with the search")
        # It repeats what was typed: one long word must not widen the dock.
        self.problem.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.problem.hide()

    def _lay_out(self) -> None:
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setColumnStretch(0, 1)
        for row, widget in enumerate((self.text, self.problem, self.classes, self.wrong)):
            grid.addWidget(widget, row, 0, 1, 2)
        grid.addWidget(self.order, 4, 0)
        grid.addWidget(self.sets, 4, 1, Qt.AlignmentFlag.AlignRight)


def _wrong(facts: InputFacts) -> QueryMatch:
    """What is misclassified; unknown without a model."""
    if facts.predicted is None:
        # Unknown, not "none": the headline counts what is still open.
        return QueryMatch(np.zeros(facts.count, bool), np.ones(facts.count, bool))
    return evaluate(Keyword("wrong"), facts)
