"""Shows a view in a widget on the screen."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF, Qt

from robgui.gui.app.theme import theme
from robgui.gui.widgets.views import view_widget


@pytest.fixture
def shown(qtbot):
    """Makes a widget of a size with a view in it: ``shown(view, width, height)``."""
    theme.apply(False)

    def show(view, width=640, height=400, mini=False):
        widget = view_widget(view, mini=mini)
        qtbot.addWidget(widget)
        widget.resize(width, height)
        with qtbot.waitExposed(widget):
            widget.show()
        qtbot.wait(20)
        return widget

    yield show
    theme.apply(False)


@pytest.fixture
def hover():
    """What is read out at a place of a plot: ``hover(widget, plot, x, y)``."""

    def move(widget, plot, x, y):
        said = []
        widget.pointed.connect(said.append)
        box = plot.box
        plot.scene().sigMouseMoved.emit(box.mapViewToScene(QPointF(x, y)))
        return said[-1]

    return move


@pytest.fixture
def click(qtbot):
    """What is chosen by a click into a plot: ``click(widget, plot, x, y)``."""

    def press(widget, plot, x, y):
        box = plot.box
        place = plot.mapFromScene(box.mapViewToScene(QPointF(x, y)))
        with qtbot.waitSignal(widget.chosen) as chosen:
            qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=place)
        return chosen.args[0]

    return press
