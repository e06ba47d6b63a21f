"""The list in which the thumbnails stand, and how it reads the keyboard."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QListView

#: Keys of the gallery and what they ask for.
KEYS = {Qt.Key.Key_Slash: "search", Qt.Key.Key_T: "tag", Qt.Key.Key_Insert: "second"}


class InputsView(QListView):
    """A grid in which Ctrl+click points at a second item instead of moving the first.

    Signals:
        seconded: The row that was clicked with Ctrl held, or chosen as the second with Insert.
        asked: A key of KEYS was pressed: what it asks for.
    """

    seconded = Signal(int)
    asked = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Inputs as thumbnails")
        # List mode that wraps looks like icon mode, but lays out 100,000 items without an object
        # for each.
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setMouseTracking(True)

    def visible_rows(self, total: int) -> range:
        """Rows on screen of ``total``, with one line to spare above and below."""
        grid = self.gridSize()
        if not total or grid.isEmpty():
            return range(0)
        columns = max(1, self.viewport().width() // grid.width())
        top = self.verticalScrollBar().value()
        first = max(0, top // grid.height() - 1) * columns
        last = ((top + self.viewport().height()) // grid.height() + 2) * columns
        return range(first, min(total, last))

    def cell_in(self, width: int, least: QSize) -> QSize:
        """As many columns of ``least`` as fit into ``width``, sharing it.

        The bar's place stays free, because the bar comes and goes.
        """
        bar = self.verticalScrollBar().sizeHint().width()
        room = width - bar - 2 * self.frameWidth() - 2
        columns = max(1, room // least.width())
        return QSize(max(least.width(), room // columns), least.height())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keeps the chosen item visible when there is less room."""
        chosen, before = self.currentIndex(), QRect(QPoint(), event.oldSize())
        seen = chosen.isValid() and before.intersects(self.visualRect(chosen))
        super().resizeEvent(event)
        if seen:
            self.scrollTo(chosen)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        held = event.modifiers() & Qt.KeyboardModifier.ControlModifier
        if held and event.button() is Qt.MouseButton.LeftButton:
            if index.isValid():
                self.seconded.emit(index.row())
            event.accept()
            return
        super().mousePressEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the gallery; all others move the selection."""
        # On some keyboards / is typed with Shift, and on the number pad with a modifier of its own.
        bare = event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
            Qt.KeyboardModifier.ShiftModifier,
        )
        if bare:
            wanted = KEYS.get(Qt.Key(event.key()))
        else:
            wanted = None
        if wanted is None:
            super().keyPressEvent(event)
        elif wanted == "second":
            if self.currentIndex().isValid():
                self.seconded.emit(self.currentIndex().row())
        else:
            self.asked.emit(wanted)

    def keyboardSearch(self, search: str) -> None:
        """Letters choose nothing by themselves: the line above searches."""
