"""Every control of every page is reached with the keyboard, and the one that has it is seen."""

from __future__ import annotations

import warnings

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QScrollBar,
    QTabBar,
    QToolBar,
)

#: The fixture runs every analysis in a window first.
pytestmark = pytest.mark.look

CONTROLS = (
    QAbstractButton,
    QComboBox,
    QLineEdit,
    QAbstractSpinBox,
    QAbstractItemView,
    QAbstractSlider,
    QTabBar,
)


def test_every_control_is_reached_with_tab_and_shows_that_it_has_the_keyboard(shown):
    window = shown.window
    window.resize(1920, 1080)
    with warnings.catch_warnings():  # the offscreen platform activates nothing by itself
        warnings.simplefilter("ignore", DeprecationWarning)
        QApplication.setActiveWindow(window)
    missed, unseen, kinds = set(), set(), set()
    for page, place in shown.pages():
        for control in controls(place):
            name = f"{page}: {named(control)}"
            if not control.focusPolicy() & Qt.FocusPolicy.TabFocus:
                missed.add(name)
                continue
            kind = (type(control).__name__, control.property("role"))
            if kind not in kinds:
                kinds.add(kind)
                unseen |= set() if focus_shows(control) else {name}
    assert len(kinds) > 8
    assert not missed and not unseen, (sorted(missed), sorted(unseen))


def controls(window):
    """What can be operated on the page, the parts of a control excluded."""
    for kind in CONTROLS:
        for control in window.findChildren(kind):
            parent = control.parent()
            part = isinstance(parent, QComboBox | QAbstractSpinBox | QLineEdit | QTabBar)
            part = part or isinstance(control, QScrollBar)
            part = part or control.objectName().startswith("qt_")  # those of a dock's title
            part = part or only_looked_at(control)
            grouped = isinstance(control, QAbstractButton) and (
                control.group() is not None or control.autoExclusive()
            )
            part = part or grouped  # one of them is reached, the arrow keys go to the others
            part = part or isinstance(parent, QToolBar)  # the menu and the keys have the same
            shown = control.isVisible() and not control.visibleRegion().isEmpty()
            if shown and control.isEnabled() and not part:
                yield control


def only_looked_at(control):
    """Whether it stands in a small picture that takes no mouse either."""
    while control is not None:
        if control.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents):
            return True
        control = control.parentWidget()
    return False


def named(control):
    words = control.text() if isinstance(control, QAbstractButton) else ""
    name = control.accessibleName() or words or control.objectName()
    return name or f"{type(control).__name__} in {type(control.parent()).__name__}"


def focus_shows(control):
    """Whether it looks another way with the keyboard than without."""
    control.clearFocus()
    QTest.qWait(1)
    before = control.grab().toImage()
    control.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.qWait(1)
    after = control.grab().toImage()
    control.clearFocus()
    return before != after
