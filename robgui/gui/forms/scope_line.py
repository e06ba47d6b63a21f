"""ScopeLine: beside Run, on which of the inputs it will run while a filter is set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from robgui.gui.state.input_filter import JUDGED, runs_on
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Letters of the filter that stand on the folded strip; the tool tip has all of them.
LETTERS = 34


class ScopeLine(QWidget):
    """Says on what an analysis of many inputs will run; nothing where that is all of them.

    Args:
        store: Knows the filter.
        short: On one line, as the folded strip has room for no more.

    Attributes:
        words: On how many of how many inputs, and the filter.
        clear: Takes the filter off.
    """

    def __init__(self, store: Store, *, short: bool = False) -> None:
        super().__init__()
        self._store, self._short = store, short
        self.words = Label(wordWrap=not short)
        self.words.setProperty("role", "warning")
        self.words.setAccessibleName("Inputs that are run")
        self.clear = QToolButton(text="Run on all", autoRaise=True)
        self.clear.setToolTip("Clear the filter of the inputs")
        self.clear.clicked.connect(lambda: store.set_scope(None))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.words, 1)
        row.addWidget(self.clear)
        self.hide()

    def tell(self, analysis: str) -> None:
        """What a run of ``analysis`` would look at now."""
        store = self._store
        known, dataset = store.analyses.get(analysis), store.library.dataset
        said = ""
        if known is not None and known.inputs == "many" and dataset is not None:
            said = runs_on(store.scope, len(dataset), store.filter)
        whole = f"{said}. {JUDGED}" if said and store.filter.judged else said
        if self._short:
            room = LETTERS * self.fontMetrics().averageCharWidth()
            self.words.setText(beginning(said, self.fontMetrics(), room))
            set_tip(self.words, whole)
        else:
            self.words.setText(whole)
        self.setVisible(bool(said))
