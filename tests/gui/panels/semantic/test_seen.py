"""The best classes below a picture."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor

from robgui.core.view import class_inks
from robgui.gui.app.theme import theme
from robgui.gui.panels.semantic.seen import Shares


@pytest.mark.parametrize("dark", [False, True])
def test_a_bar_has_the_colour_that_its_class_has_in_the_map(qtbot, dark):
    theme.apply(dark)
    shares = Shares()
    qtbot.addWidget(shares)
    labels = ("red", "green", "none")
    shares.show_shares(class_inks(("green", "red"), labels), (0.6, 0.4), (True, False))
    shares.resize(300, shares.sizeHint().height())
    picture = shares.grab().toImage()
    line = shares.height() // 2
    # Right of the names, inside the bars.
    green, red = (QColor(picture.pixel(110, line * row + line // 2)) for row in range(2))
    theme.apply(False)
    assert green.green() > max(green.red(), green.blue())
    assert red.red() > max(red.green(), red.blue())
