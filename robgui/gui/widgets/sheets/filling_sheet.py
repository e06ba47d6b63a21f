"""A sheet whose columns share the whole width where there is more than they need."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent

from robgui.gui.widgets.sheets.sheet import Sheet


class FillingSheet(Sheet):
    """A sheet that leaves no part of its width empty."""

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns follow the width."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._fit(new=True)

    def _fit(self, new: bool) -> None:
        """Room that is left goes to words that are cut, then to all columns."""
        super()._fit(new)
        places = range(self._model.columnCount())
        left = self.viewport().width() - sum(self.columnWidth(place) for place in places)
        for place in places:
            # With the 4 pixels that a Sheet adds to every column.
            more = min(left, self.sizeHintForColumn(place) + 4 - self.columnWidth(place))
            if more > 0:
                self.setColumnWidth(place, self.columnWidth(place) + more)
                left -= more
        if left > 0 and places:
            for place in places:
                self.setColumnWidth(place, self.columnWidth(place) + left // len(places))
