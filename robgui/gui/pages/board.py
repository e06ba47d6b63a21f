"""Board: the scoreboard, with a hint and the runs that it lacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from robgui.core.text.words import count
from robgui.gui.app.theme import set_heading
from robgui.gui.pages.scoreboard import Scoreboard
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

HINT = (
    "Each row is one question; a cell that answers another one says what is other and is not"
    " tinted. Click a cell to compare its run, double-click to open it, or the"
    " form of what was not run; click a model to sort, its worst answers first."
)


class Board(QWidget):
    """What every analysis found for every model, and a button for what has not been asked.

    Attributes:
        verdict: What the table comes to.
        scoreboard: The table.
        run_missing: Asks every open model what the others were asked.
    """

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.scoreboard = Scoreboard(store)
        self.verdict = set_heading(Label(wordWrap=True), "section")
        self.scoreboard.verdict_changed.connect(self._tell)
        self.run_missing = QPushButton("Run missing")
        self.run_missing.setToolTip(
            "Runs each analysis with every open model that has not answered it, with the settings"
            " and inputs of the row."
        )
        self.run_missing.clicked.connect(self._run_missing)
        hint = Label(HINT, wordWrap=True)
        hint.setProperty("role", "quiet")
        below = QHBoxLayout()
        below.addWidget(hint, 1)
        below.addWidget(self.run_missing)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.verdict)
        layout.addWidget(self.scoreboard, 1)
        layout.addLayout(below)

    def _tell(self, words: str) -> None:
        self.verdict.setText(words)
        self.verdict.setVisible(bool(words))

    def _run_missing(self) -> None:
        """Those that do not fit are named, and hinder no other."""
        found = self.scoreboard.missing()
        for request in found.requests:
            self._store.submit(request)
        if found.requests:
            queued = f"{count(len(found.requests), 'run')} queued."
        else:
            queued = ""
        words = " ".join(part for part in (queued, found.words) if part)
        self._store.say("info", words or "Nothing is missing: every open model has been asked.")
