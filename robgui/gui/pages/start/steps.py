"""What to do in three steps, and the questions that the methods answer."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QPushButton, QVBoxLayout, QWidget

from robgui.core.execution.method import Method, methods
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import Label

STEPS = (
    ("Open a model and data", "Drop files on this window, or start with the demo."),
    ("Choose an input and press Run", "“Inspect everything” lets every method take a first look."),
    ("See where it breaks, and show it", "Findings, comparison, report and slides come from runs."),
)
#: Letters in a row of a question.
_LETTERS = 32


class ThreeSteps(QWidget):
    """Three numbered steps beside each other.

    Attributes:
        headings: What is to be bold.
    """

    def __init__(self) -> None:
        super().__init__()
        self.headings: list[Label] = []
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(24)
        for number, (heading, words) in enumerate(STEPS, start=1):
            mark = Label(str(number), alignment=Qt.AlignmentFlag.AlignCenter)
            mark.setProperty("role", "step")
            title, text = Label(heading, wordWrap=True), Label(words, wordWrap=True)
            self.headings += [mark, title]
            text.setProperty("role", "quiet")
            column = QVBoxLayout()
            column.setSpacing(2)
            column.addWidget(title)
            column.addWidget(text, 1, Qt.AlignmentFlag.AlignTop)
            row = QHBoxLayout()
            row.setSpacing(12)
            row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
            row.addLayout(column, 1)
            layout.addLayout(row, 1)


class Questions(QWidget):
    """A button for each method, with the question it answers, in rows of equal length.

    Attributes:
        cells: Each question, its button and its method.

    Signals:
        chosen: The place of a method in the rail, from 0.
    """

    chosen = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(8)
        self.cells = [self._cell(place, method) for place, method in enumerate(methods())]
        self._columns = 0
        theme.changed.connect(self._tint)
        self._tint()

    def arrange(self, width: int) -> None:
        """Lays the questions out for this width."""
        room = self.fontMetrics().averageCharWidth() * _LETTERS
        most = max(1, min(len(self.cells), width // max(1, room)))
        rows = -(-len(self.cells) // most)
        columns = -(-len(self.cells) // rows)
        if columns == self._columns:
            return
        for column in range(max(columns, self._columns)):
            # A grid layout never forgets a column: one that is left over would keep its share.
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        self._columns = columns
        for place, (cell, _, _) in enumerate(self.cells):
            self._grid.addWidget(cell, *divmod(place, columns), Qt.AlignmentFlag.AlignTop)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many in a row as can be read."""
        super().resizeEvent(event)
        self.arrange(self.width())

    def _cell(self, place: int, method: Method) -> tuple[QWidget, QPushButton, Method]:
        button = QPushButton(method.title)
        button.setProperty("role", "link")
        button.setAccessibleDescription(method.question)
        button.clicked.connect(lambda: self.chosen.emit(place))
        words = Label(method.question, wordWrap=True)
        words.setProperty("role", "quiet")
        cell = QWidget()
        layout = QVBoxLayout(cell)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addWidget(words)
        return cell, button, method

    def _tint(self) -> None:
        for _, button, method in self.cells:
            button.setIcon(icon(method.icon_path, theme.colours.accent))
