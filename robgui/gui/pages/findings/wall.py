"""Wall: findings as large pairs, as many beside each other as fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QListView

from robgui.gui.app.theme import theme
from robgui.gui.docks.thumbnails import Thumbnails
from robgui.gui.pages.findings.painting import picture
from robgui.gui.pages.findings.wall_items import WallDelegate, WallModel

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Milliseconds that scrolling and resizing are waited for before pictures are asked for.
_SETTLE_MS = 30


class Wall(QListView):
    """Asks for the pictures that are on screen, and for no others.

    Attributes:
        thumbnails: The pictures, by finding.
        delegate: Paints an entry.
    """

    def __init__(self, store: Store, model: WallModel) -> None:
        super().__init__(
            viewMode=QListView.ViewMode.IconMode,
            resizeMode=QListView.ResizeMode.Adjust,
            movement=QListView.Movement.Static,
            uniformItemSizes=True,
            mouseTracking=True,
        )
        self._store, self._model = store, model
        self.thumbnails = Thumbnails(store.pictures, parent=self)
        self.delegate = WallDelegate(self.thumbnails, self)
        self.setAccessibleName("Findings")
        self.setModel(model)
        self.setItemDelegate(self.delegate)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setProperty("role", "wall")
        self._looking = QTimer(self, singleShot=True, interval=_SETTLE_MS)
        self._looking.timeout.connect(self._look)
        self.verticalScrollBar().valueChanged.connect(lambda _: self.look_soon())
        self.thumbnails.arrived.connect(lambda _: self.viewport().update())
        theme.changed.connect(self.draw_again)

    def draw_again(self) -> None:
        """Reads every picture anew, on the ground of the present look."""
        workspace, ground = self._store.history.workspace, theme.ground
        self.thumbnails.reset(
            None if workspace is None else lambda key: picture(workspace, ground, key)
        )
        self.look_soon()

    def look_soon(self) -> None:
        """Others may be on screen now."""
        if not self._looking.isActive():
            self._looking.start()

    def mark(self, finding: int | None) -> None:
        """Chooses an entry and brings it on screen; None chooses none."""
        row = self._model.row_of(finding)
        if row >= 0:
            self.setCurrentIndex(self._model.index(row))
            self.scrollTo(self._model.index(row))
        else:
            self.setCurrentIndex(QModelIndex())
            self.clearSelection()

    def _look(self) -> None:
        """Shares the width among the columns and asks for the pictures on screen."""
        if not self.isVisible() or not self._model.rows:
            return
        room = self._room()
        columns = max(1, room // self.delegate.narrowest())
        # Qt lays the cards out in a later turn; only then is it known which are on screen.
        if self.delegate.width != room // columns:
            self.delegate.width = room // columns
            self.scheduleDelayedItemsLayout()
            self.look_soon()
            return
        seen = self.viewport().rect()
        shown = [
            finding.id
            for row, finding in enumerate(self._model.rows)
            if finding.has_picture and self.visualRect(self._model.index(row)).intersects(seen)
        ]
        self.thumbnails.want(shown)

    def _room(self) -> int:
        """Width for cards, whether or not there is a scroll bar.

        A bar that comes makes the cards smaller, with which it may go, and so on for ever.
        """
        bar = self.verticalScrollBar().sizeHint().width()
        return self.width() - 2 * self.frameWidth() - bar - 2

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.look_soon()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.look_soon()
