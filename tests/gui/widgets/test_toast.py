"""Toasts go by themselves, wait for whoever reads them, and follow the theme."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets import toast as toasts_module
from robgui.gui.widgets.toast import Toast, Toasts


@pytest.fixture
def host(qtbot):
    theme.apply(False)
    widget = QWidget()
    qtbot.addWidget(widget)
    widget.resize(600, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    yield widget
    theme.apply(False)


@pytest.mark.parametrize("level", ["info", "warning", "error"])
def test_every_toast_goes_by_itself(host, qtbot, monkeypatch, level):
    assert 0 < toasts_module.SECONDS[level] <= 15
    monkeypatch.setitem(toasts_module.SECONDS, level, 0.05)
    toasts = Toasts(host)
    toasts.show(level, "Something happened.")
    assert toasts.sentences == ["Something happened."]
    qtbot.waitUntil(lambda: not toasts.sentences, timeout=5_000)


def test_a_toast_waits_while_the_mouse_is_over_it(host):
    toasts = Toasts(host)
    toasts.show("error", "Something is wrong.")
    toast = host.findChild(Toast)
    QApplication.sendEvent(toast, QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5)))
    assert not toast.timer.isActive()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Leave))
    assert toast.timer.isActive()


def test_the_close_button_of_an_open_toast_follows_the_theme(host):
    Toasts(host).show("error", "Something is wrong.")
    button = host.findChild(Toast).closed

    def darkest() -> int:
        image = button.icon().pixmap(24).toImage()
        colours = [
            image.pixelColor(x, y) for x in range(image.width()) for y in range(image.height())
        ]
        return min(colour.lightness() for colour in colours if colour.alpha() == 255)

    light = darkest()
    theme.apply(True)
    assert darkest() > light + 100


def test_a_toast_with_a_button_does_what_it_says_and_goes(host, qtbot):
    done = []
    toasts = Toasts(host)
    toasts.show(
        "info", "Now looking at twins.", action=("Back to fashion.npz", lambda: done.append(1))
    )
    toast = host.findChild(Toast)
    button = next(
        button
        for button in toast.findChildren(QPushButton)
        if button.text() == "Back to fashion.npz"
    )
    assert button.isVisible() and toast.timer.interval() > 1000 * toasts_module.SECONDS["info"]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert done == [1] and not toasts.sentences


def test_a_toast_can_be_withdrawn(host):
    toasts = Toasts(host)
    toasts.show("error", "The run failed.")
    toasts.show("info", "Something else.")
    toasts.withdraw("The run failed.")
    toasts.withdraw("Never said.")
    assert toasts.sentences == ["Something else."]


def test_a_toast_never_covers_what_was_just_clicked(host, qtbot, monkeypatch):
    toasts = Toasts(host)
    clicked = host.mapToGlobal(QPoint(500, 80))
    monkeypatch.setattr(toasts_module.QCursor, "pos", staticmethod(lambda: clicked))
    toasts.show("info", "Saved.")
    (toast,) = toasts._shown
    assert not toast.geometry().contains(QPoint(500, 80))
    assert host.rect().contains(toast.geometry())
