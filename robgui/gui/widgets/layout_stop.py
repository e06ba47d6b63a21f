"""LayoutStop: what changes within a page does not lay out the whole window anew."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget


class LayoutStop(QWidget):
    """Gives all its room to one widget, and asks for no other whatever happens within.

    Qt passes every change of a layout on to the layout above, up to the window, which then places
    its docks and toolbars again: as long as drawing the picture itself. A widget without a layout,
    as this one, is where that ends.
    """

    def __init__(self, content: QWidget) -> None:
        super().__init__()
        self._content = content
        content.setParent(self)
        self.setSizePolicy(content.sizePolicy())
        self.setMinimumSize(content.minimumSize())

    def sizeHint(self) -> QSize:
        """That of the content."""
        return self._content.sizeHint()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The content fills it."""
        super().resizeEvent(event)
        self._content.setGeometry(self.rect())
