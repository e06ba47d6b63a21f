"""Flow: widgets beside each other, on as many rows as they need."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QRect, QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

#: Pixels between two of them, and between two rows.
GAP = 8


class Flow(QWidget):
    """Begins a new row where one is full, so no word on a button is cut."""

    def __init__(self) -> None:
        super().__init__()
        # Placed by hand: none of Qt's layouts begins a new row where one is full.
        self._items: list[QWidget] = []
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    def show_items(self, items: list[QWidget]) -> None:
        """Shows these in place of those before, which are deleted."""
        for old in self._items:
            # deleteLater waits for the event loop; until then the old ones would lie under the new
            # ones.
            old.hide()
            old.deleteLater()
        self._items = items
        for item in items:
            item.setParent(self)
            # A child that joins a widget already on screen stays hidden until it is told otherwise.
            item.show()
        self._place()

    def sizeHint(self) -> QSize:
        wide = sum(item.sizeHint().width() + GAP for item in self._items)
        return QSize(max(0, wide - GAP), self.heightForWidth(max(1, self.width())))

    def minimumSizeHint(self) -> QSize:
        """Room for the widest, and for all rows in the width it has."""
        wide = max((item.sizeHint().width() for item in self._items), default=0)
        return QSize(wide, self.heightForWidth(max(wide, self.width())))

    def heightForWidth(self, width: int) -> int:
        return max((place.bottom() + 1 for place in self._places(width)), default=0)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def event(self, event: QEvent) -> bool:
        """Other words, or larger ones."""
        if event.type() is QEvent.Type.LayoutRequest:
            self._place()
        return super().event(event)

    def _place(self) -> None:
        for item, place in zip(self._items, self._places(self.width()), strict=True):
            item.setGeometry(place)
        # Another number of rows is another height, and a layout asks for it only when told to.
        self.updateGeometry()

    def _places(self, width: int) -> list[QRect]:
        """Where each of them stands in this width."""
        places: list[QRect] = []
        x = y = high = 0
        for item in self._items:
            size = item.sizeHint()
            if x and x + size.width() > width:
                x, y, high = 0, y + high + GAP, 0
            places.append(QRect(QPoint(x, y), size))
            x, high = x + size.width() + GAP, max(high, size.height())
        return places
