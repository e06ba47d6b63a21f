"""No attribute takes the name of a method of Qt: Qt's own callers would find a value there.

In a virtual method that Qt calls, such a mistake ends the process, not the call.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import textwrap
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtWidgets import QGraphicsItem

import robgui.gui
from robgui.gui.widgets.views import view_widget
from tests.gui import sample_views as samples


def classes() -> Iterator[type]:
    for found in pkgutil.walk_packages(robgui.gui.__path__, "robgui.gui."):
        module = importlib.import_module(found.name)
        for each in vars(module).values():
            if inspect.isclass(each) and each.__module__ == found.name:
                yield each


def assigned(each: type) -> set[str]:
    """Attributes that its methods set on ``self``."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(each)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    }


def shadowed(each: type) -> set[str]:
    bases = [base for base in each.__mro__ if not base.__module__.startswith(("robgui", "tests"))]
    return {
        name for name in assigned(each) if any(callable(vars(base).get(name)) for base in bases)
    }


class _Shadow(QObject):
    def __init__(self) -> None:
        super().__init__()
        self.parent = None


def test_the_check_sees_a_shadowed_method():
    assert shadowed(_Shadow) == {"parent"}


def test_no_attribute_takes_the_name_of_a_method_of_qt(qapp):
    ours = [each for each in classes() if issubclass(each, QObject | QGraphicsItem)]
    assert len(ours) > 100
    assert {each.__qualname__: names for each in ours if (names := shadowed(each))} == {}


@pytest.mark.parametrize("name", ["curves", "bars", "boxes", "matrix"])
def test_a_click_anywhere_on_a_plot_leaves_the_window_alive(qtbot, name):
    widget = view_widget(samples.ALL[name])
    qtbot.addWidget(widget)
    widget.resize(600, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    ground = widget.axes.viewport()
    for x in range(2, ground.width(), 83):
        for y in (1, 4, 9, *range(20, ground.height(), 61)):
            qtbot.mouseClick(ground, Qt.MouseButton.LeftButton, pos=QPoint(x, y))
    assert widget.isVisible()
