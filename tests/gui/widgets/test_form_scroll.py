"""The wheel scrolls a form and changes nothing in it."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtWidgets import QApplication, QComboBox, QSlider, QSpinBox, QVBoxLayout, QWidget

from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.form_scroll import FormScroll


def turn_wheel(widget):
    """One notch downwards over the middle of a widget; whether it takes it."""
    place = QPointF(widget.rect().center())
    event = QWheelEvent(
        place,
        widget.mapToGlobal(place),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    event.accept()
    QApplication.sendEvent(widget, event)
    return event.isAccepted()


def field(kind):
    made = kind()
    if isinstance(made, QComboBox):
        made.addItems(["logits", "probabilities", "scores"])
        return made, made.currentIndex
    made.setRange(0, 9)
    made.setValue(5)
    return made, made.value


@pytest.mark.parametrize("kind", [QComboBox, QSpinBox, QSlider])
def test_the_wheel_scrolls_the_form_and_leaves_its_fields_as_they_are(qtbot, kind):
    form = QWidget()
    column = QVBoxLayout(form)
    scroll = FormScroll(form)
    made, value = field(kind)  # a field that comes later
    made.setMinimumHeight(40)
    column.addWidget(made)
    column.addSpacing(600)
    qtbot.addWidget(scroll)
    scroll.resize(200, 200)
    with qtbot.waitExposed(scroll):
        scroll.show()
    before = value()
    made.setFocus()
    assert not turn_wheel(made), "it is left to the form"
    assert value() == before
    assert turn_wheel(scroll.viewport()) and scroll.verticalScrollBar().value() > 0


def test_the_wheel_chooses_no_other_model(qtbot):
    box = ElidedBox()
    qtbot.addWidget(box)
    box.addItems(["one", "two"])
    box.show()
    assert not turn_wheel(box)
    assert box.currentText() == "one"
