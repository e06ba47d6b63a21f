"""Stage: one big picture above its tabs, or as the first of the tabs where there is no room for both."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import QSplitter, QWidget

from robgui.gui.widgets.thumbs import Views

#: A panel with fewer lines of text than this is too low for a picture and tabs below each other.
LOW_LINES = 38


class Stage(QSplitter):
    """A picture with tabs below.

    Args:
        picture: The big picture.
        name: What to call it when it is a tab.
        views: The tabs.
        below: The widget that holds them.
        share: How the height is parted between picture and tabs.
    """

    def __init__(self, picture: QWidget, name: str, views: Views, below: QWidget, share: tuple[int, int] = (3, 2)) -> None:
        super().__init__(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._picture, self._name, self._views, self._share = picture, name, views, share
        for place, widget in enumerate((picture, below)):
            self.addWidget(widget)
            self.setStretchFactor(place, share[place])
        self._part()

    @property
    def folded(self) -> bool:
        """Whether the picture is a tab."""
        return self._views.stack.indexOf(self._picture) == 0

    def fold(self, height: int) -> bool:
        """Makes the picture a tab in a low panel and takes it out again in a tall one; says whether anything has changed."""
        low = height < LOW_LINES * self.fontMetrics().height()
        if low is self.folded:
            return False
        bar, stack = self._views.bar, self._views.stack
        with QSignalBlocker(bar):
            if low:
                stack.insertWidget(0, self._picture)
                bar.insertTab(0, self._name)
                bar.setCurrentIndex(0)
            else:
                bar.removeTab(0)
                self.insertWidget(0, self._picture)
                self._picture.show()
                self._part()
        stack.setCurrentIndex(bar.currentIndex())
        return True

    def _part(self) -> None:
        """Parts the room by the shares, whatever the two would like."""
        self.setSizes([1000 * part for part in self._share])
