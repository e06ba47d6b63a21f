"""The arrow of a sorted column points down when the largest is on top."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QImage

from robgui.gui.app.theme import theme
from robgui.gui.widgets.sheets.sheet import Sheet


@pytest.mark.parametrize("dark", [False, True])
def test_the_arrow_points_down_for_falling_and_up_for_rising_order(qtbot, dark):
    theme.apply(dark)
    sheet = Sheet("numbers")
    qtbot.addWidget(sheet)
    sheet.show_columns({"": [3, 1, 2]})
    with qtbot.waitExposed(sheet):
        sheet.show()
    shapes = {}
    for order in Qt.SortOrder:
        sheet.sortByColumn(0, order)
        shapes[order] = arrow(sheet)
    theme.apply(False)
    falling, rising = shapes[Qt.SortOrder.DescendingOrder], shapes[Qt.SortOrder.AscendingOrder]
    assert falling[0] > falling[-1] and rising[0] < rising[-1]


def arrow(sheet: Sheet) -> np.ndarray:
    """How many pixels of each row of the header, from top to bottom, belong to the arrow."""
    header = sheet.horizontalHeader()
    picture = header.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8)
    wide, high = min(header.sectionSize(0), picture.width()), picture.height()
    rows = np.array(
        [[picture.pixelColor(x, y).lightness() for x in range(wide)] for y in range(high - 3)],
        np.int64,
    )
    marked = (np.abs(rows - rows[0, 0]) > 20).sum(1)
    return marked[marked > 0]
