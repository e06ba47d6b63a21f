"""AnswerRow: what one analysis says of an input, or its question, to ask with one click."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QFrame, QHBoxLayout, QPushButton, QVBoxLayout

from robgui.core.verdict import Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import icon, theme
from robgui.gui.pages.findings.known import Answer
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, tip, unbroken


class AnswerRow(QFrame):
    """One line: status, title and number, with a button.

    Attributes:
        button: Opens the run, or asks.
        answer: What is known, or what could be asked.

    Signals:
        opened: The run to be drawn.
        asked: The analysis to run.
    """

    opened = Signal(object)
    asked = Signal(str)

    def __init__(self, answer: Answer, said: Verdict | None) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self.answer, self._said = answer, said
        known = answer.analysis
        if said is None:
            sign = ""
        else:
            sign = f"{said.status.sign} "
        self.title = Label(f"{sign}{known.title}", wordWrap=True)
        if said is None:
            number = None
            words = known.question
        else:
            number = said.number
            words = said.sentence
        if number is not None:
            words = f"{number.name}: {number.words}"
        self.words = Label(unbroken(words), wordWrap=True)
        self.words.setProperty("role", "quiet")
        self.button = QPushButton("Run" if answer.run is None else "Open")
        self.button.setProperty("tight", True)
        # A screen reader reads out the button alone: every row would be just "Run".
        self.button.setAccessibleName(f"{self.button.text()} {known.title}")
        self.button.clicked.connect(self._press)
        self.setToolTip(tip(known.question if said is None else said.text))
        column = QVBoxLayout()
        column.setSpacing(0)
        column.addWidget(self.title)
        column.addWidget(self.words)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.addLayout(column, 1)
        row.addWidget(self.button)
        theme.changed.connect(self._tint)
        self._tint()

    def _press(self) -> None:
        if self.answer.run is None:
            self.asked.emit(self.answer.analysis.name)
        else:
            self.opened.emit(self.answer.run)

    def _tint(self) -> None:
        self.button.setIcon(icon("run" if self.answer.run is None else "forward"))
        if self._said is not None:
            palette = self.title.palette()
            palette.setColor(QPalette.ColorRole.WindowText, colour(status_ink(self._said.status)))
            self.title.setPalette(palette)
