"""Turns: a row of pictures above their details; in a low window one of them at a time, large."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QVBoxLayout, QWidget

from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.tab_rows import TabRows

#: Lower than this many lines of text, the pictures and the details take turns: side by side they
#: would be too small to see a pixel that has changed.
LOW = 64
DETAILS = "The search in detail"


class Turns(QWidget):
    """Arranges pictures and details by the room there is.

    Args:
        titles: Of the pictures, from left to right.
        shares: How the width is shared among them.
        details: What stands below.
        corner: Stands in the upper right corner.

    Attributes:
        switch: In a low window, what is on show: the last picture is the first to be.
    """

    def __init__(
        self, titles: Sequence[str], shares: Sequence[int], details: QWidget, corner: QWidget
    ) -> None:
        super().__init__()
        self._low = False
        self._cells = [_Cell(title) for title in titles]
        self._details = details
        self._row = QWidget()
        across = QHBoxLayout(self._row)
        across.setContentsMargins(0, 0, 0, 0)
        for cell, share in zip(self._cells, shares, strict=True):
            across.addWidget(cell, share)
        self.switch = TabRows()
        self.switch.set_most_rows(1)  # It is there in a low window alone, where a row is a loss.
        for title in (*reversed(titles), DETAILS):
            self.switch.addTab(title)
        self.switch.currentChanged.connect(lambda _: self._take_turns())
        split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        split.addWidget(self._row)
        split.addWidget(details)
        split.setStretchFactor(0, 3)
        split.setStretchFactor(1, 2)
        split.setSizes([600, 400])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        head = QHBoxLayout()
        head.addWidget(self.switch, 1)
        head.addWidget(corner, 0, Qt.AlignmentFlag.AlignRight)
        layout.addLayout(head)
        layout.addWidget(split, 1)
        self._take_turns()

    def put(self, place: int, picture: QWidget) -> None:
        """Puts a picture into its place; called once for each."""
        self._cells[place].box.addWidget(picture, 1)

    def name(self, place: int, title: str) -> None:
        """What a picture is called now."""
        self._cells[place].heading.setText(title)
        self.switch.setTabText(len(self._cells) - 1 - place, title)

    def minimumSizeHint(self) -> QSize:
        """Small: whatever does not fit takes turns."""
        line = self.fontMetrics().height()
        return QSize(line * 14, line * 10)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window every picture has the whole room in its turn."""
        super().resizeEvent(event)
        low = self.height() < LOW * self.fontMetrics().height()
        if low != self._low:
            self._low = low
            self._take_turns()

    def _take_turns(self) -> None:
        """What is on show: everything, or what the switch says."""
        turn, pictures = self.switch.currentIndex(), len(self._cells)
        self.switch.setVisible(self._low)
        for place, cell in enumerate(self._cells):
            cell.setVisible(not self._low or turn == pictures - 1 - place)
            cell.heading.setVisible(not self._low)
        self._row.setVisible(not self._low or turn < pictures)
        self._details.setVisible(not self._low or turn == pictures)


class _Cell(QWidget):
    """A picture under its title."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.heading = set_heading(Label(title, textFormat=Qt.TextFormat.PlainText), "section")
        self.box = QVBoxLayout(self)
        self.box.setContentsMargins(0, 0, 0, 0)
        self.box.addWidget(self.heading)
