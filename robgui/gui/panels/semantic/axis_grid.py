"""AxisGrid: one row for each parameter of a scene, in as many columns as fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QGridLayout, QWidget

from robgui.gui.panels.semantic.slider import AxisRow

if TYPE_CHECKING:
    from robgui.analyses.semantic import SceneAxis

#: Sliders in more columns than this are hard to read in order.
_MOST_COLUMNS = 3


class AxisGrid(QWidget):
    """Sliders and ticks.

    Attributes:
        rows: By the name of the parameter.

    Signals:
        moved: ``(name, value)`` of a slider.
        ticked: ``(name, on)``: whether a parameter is to vary.
    """

    moved = Signal(str, float)
    ticked = Signal(str, bool)

    def __init__(self) -> None:
        super().__init__()
        self.rows: dict[str, AxisRow] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 8, 0)
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(6)

    def set_axes(self, axes: Sequence[SceneAxis]) -> None:
        """Makes the rows of another scene."""
        for row in self.rows.values():
            self._grid.removeWidget(row)
            row.deleteLater()
        self.rows = {axis.name: AxisRow(axis) for axis in axes}
        for name, row in self.rows.items():
            row.moved.connect(lambda value, name=name: self.moved.emit(name, value))
            row.ticked.connect(lambda on, name=name: self.ticked.emit(name, on))

    def place(self, room: int) -> None:
        """Arranges the rows within a width."""
        if not self.rows:
            return
        several = range(_MOST_COLUMNS, 1, -1)
        columns = next((count for count in several if self._width_in(count) <= room), 1)
        rows = -(-len(self.rows) // columns)
        for place, row in enumerate(self.rows.values()):
            self._grid.addWidget(row, place % rows, place // rows)
            row.show()  # what is hidden has no width
        # A grid layout never forgets a column: an empty one would keep its share of the width.
        for column in range(_MOST_COLUMNS):
            self._grid.setColumnStretch(column, 1 if column < columns else 0)
        for place in range(len(self.rows) + 1):
            self._grid.setRowStretch(place, 1 if place == rows else 0)

    def _width_in(self, columns: int) -> int:
        """Width when they stand in ``columns`` columns."""
        widths = [row.minimumSizeHint().width() for row in self.rows.values()]
        rows = -(-len(widths) // columns)
        widest = [max(widths[first : first + rows]) for first in range(0, len(widths), rows)]
        margins = self._grid.contentsMargins()
        beside = margins.left() + margins.right()
        return sum(widest) + (len(widest) - 1) * self._grid.horizontalSpacing() + beside
