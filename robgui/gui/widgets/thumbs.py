"""Inputs as small pictures with words beside them, and a switch between several views of one result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QColor, QIcon, QPainter, QPaintEvent, QPixmap, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QListWidget, QListWidgetItem, QStackedWidget, QTabBar, QVBoxLayout, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import tip
from robgui.gui.widgets.plots import to_qimage

#: More pictures than this tell nobody more.
MOST = 200


@dataclass(frozen=True)
class Thumb:
    """One input: its place among the inputs of the run, its lines of words, and the same as a sentence."""

    place: int
    lines: tuple[str, ...]
    sentence: str


class Thumbs(QListWidget):
    """A list of inputs, each a picture with a few lines beside it.

    Args:
        name: For a screen reader.
        lines: Lines of words per input.
        width: Characters per line.
        grid: Several columns instead of one.
        empty: What to do, while there is nothing to show.

    Signals:
        pointed: The place of the input that was clicked, or chosen with the keyboard.
    """

    pointed = Signal(int)

    def __init__(self, name: str, *, lines: int, width: int, grid: bool = False, empty: str = "") -> None:
        super().__init__()
        self._empty = empty
        self._shown: tuple[object, ...] = ()
        metrics = self.fontMetrics()
        side = max(5 * metrics.height() // 2, lines * metrics.lineSpacing())
        cell = self._cell = QSize(side + width * metrics.averageCharWidth() + 24, side + 12)
        self._grid = grid
        self.setAccessibleName(name)
        self.setIconSize(QSize(side, side))
        self.setGridSize(cell)
        self.setUniformItemSizes(True)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QListWidget.ScrollMode.ScrollPerPixel)
        if grid:
            self.setFlow(QListView.Flow.LeftToRight)
            self.setWrapping(True)
            self.setResizeMode(QListView.ResizeMode.Adjust)
            self.setMinimumWidth(cell.width() + 24)
        else:
            self.setFixedWidth(cell.width() + self.verticalScrollBar().sizeHint().width() + 4)
        self.itemClicked.connect(self._point)
        self.itemActivated.connect(self._point)

    def show_inputs(self, thumbs: Sequence[Thumb], pictures: Sequence[np.ndarray], marker: object = None) -> None:
        """Shows these inputs; ``pictures`` are uint8 ``(h, w, 3)``, one each.

        Nothing is touched while ``marker`` and the words are the same, so that a live picture does not flicker.
        """
        wanted = (marker, tuple(thumbs[:MOST]))
        if wanted == self._shown:
            return
        self._shown = wanted
        self.clear()
        for thumb, picture in zip(thumbs[:MOST], pictures, strict=False):
            item = QListWidgetItem(QIcon(self._pixmap(picture)), "\n".join(thumb.lines))
            item.setSizeHint(self._size())
            item.setToolTip(tip(thumb.sentence))
            item.setData(Qt.ItemDataRole.AccessibleTextRole, thumb.sentence)
            item.setData(Qt.ItemDataRole.UserRole, thumb.place)
            self.addItem(item)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many columns as fit share the width."""
        super().resizeEvent(event)
        if self._grid:
            room = self.viewport().width() - 2
            self.setGridSize(QSize(max(self._cell.width(), room // max(1, room // self._cell.width())), self._cell.height()))
            for row in range(self.count()):
                self.item(row).setSizeHint(self._size())

    def sizeHint(self) -> QSize:
        """Two and a half rows: a picture above needs the room more."""
        return QSize(super().sizeHint().width(), self._cell.height() * 5 // 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The pictures, or what to do."""
        super().paintEvent(event)
        if not self.count():
            say_empty(self, self._empty)

    def _size(self) -> QSize:
        """Of one item: less than its cell, so that words end before the next picture."""
        return self.gridSize() - QSize(6, 4)

    def _pixmap(self, picture: np.ndarray) -> QPixmap:
        """The picture as large as it is shown, its pixels square and sharp."""
        pixmap, side = QPixmap.fromImage(to_qimage(picture)), self.iconSize()
        smooth = pixmap.width() > side.width()
        mode = Qt.TransformationMode.SmoothTransformation if smooth else Qt.TransformationMode.FastTransformation
        return pixmap.scaled(side, Qt.AspectRatioMode.KeepAspectRatio, mode)

    def _point(self, item: QListWidgetItem) -> None:
        self.pointed.emit(item.data(Qt.ItemDataRole.UserRole))


def say_empty(view: QAbstractItemView, words: str) -> None:
    """Paints words in the middle of a view that has nothing to show; called while it is painted."""
    painter = QPainter(view.viewport())
    painter.setPen(QColor(theme.colours.quiet))
    flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
    painter.drawText(view.viewport().rect().adjusted(16, 16, -16, -16), flags, words)
    painter.end()


class Views(QWidget):
    """Several views of one result, one at a time, with a tab for each."""

    def __init__(self, views: dict[str, QWidget]) -> None:
        super().__init__()
        self.bar = QTabBar(drawBase=False, expanding=False)
        self.stack = QStackedWidget()
        for name, widget in views.items():
            self.bar.addTab(name)
            self.stack.addWidget(widget)
        self.bar.currentChanged.connect(self.stack.setCurrentIndex)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.bar)
        layout.addWidget(self.stack, 1)
