"""Pictures from inside a region and from just outside of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QVBoxLayout, QWidget

from robgui.gui.panels.semantic.seen import Picture
from robgui.gui.panels.semantic.stage import Line

if TYPE_CHECKING:
    from robgui.analyses.semantic import RegionsResult

#: Pictures from inside, and as many from outside.
EACH = 3
WAITING = "follows when the growing is over"


class InOut(QWidget):
    """Three pictures from inside and three from outside: in one row where it is wide, else in two."""

    def __init__(self) -> None:
        super().__init__()
        self.cells = [_Cell() for _ in range(2 * EACH)]
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._columns = 0
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._arrange(2 * EACH)

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        return QSize(line * 24, line * 9)

    def show_region(self, result: RegionsResult, region: int) -> None:
        """Shows the pictures of a region; words in their place until there are any."""
        known = result.inside_scores.shape[1] > 0
        for side, cells in (("inside", self.cells[:EACH]), ("outside", self.cells[EACH:])):
            if not known:
                for cell in cells:
                    cell.picture.show_picture(None, side)
                    cell.words.set_words(WAITING)
                continue
            pictures, scores, tops = (getattr(result, f"{side}_{part}")[region] for part in ("pictures", "scores", "top1"))
            for place, cell in enumerate(cells):
                if place >= len(scores) or tops[place] < 0:
                    cell.picture.show_picture(None)
                    cell.words.set_words(f"{side}: none")
                    continue
                cell.picture.show_picture(pictures[place], side)
                cell.words.set_words(f"{'in' if side == 'inside' else 'out'} {float(scores[place]):.2f} {result.labels[tops[place]]}")

    def resizeEvent(self, event: QResizeEvent) -> None:
        """One row or two."""
        super().resizeEvent(event)
        self._arrange(2 * EACH if event.size().width() > 3 * event.size().height() else EACH)

    def _arrange(self, columns: int) -> None:
        if columns == self._columns:
            return
        self._columns = columns
        for place, cell in enumerate(self.cells):
            self._grid.addWidget(cell, place // columns, place % columns)
        for column in range(2 * EACH):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)


class _Cell(QWidget):
    def __init__(self) -> None:
        super().__init__()
        self.picture, self.words = Picture("Rendered picture"), Line(Qt.AlignmentFlag.AlignHCenter)
        self.picture.setMinimumSize(24, 24)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(self.picture, 1)
        layout.addWidget(self.words)
