"""Toasts go by themselves, wait for whoever reads them, and follow the theme."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QPointF, QRect, Qt
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QApplication, QPushButton, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets import toast as toasts_module
from robgui.gui.widgets.toast import Toast, Toasts

PLACE = QRect(300, 2, 290, 50)


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
    toasts = Toasts(host, lambda: PLACE)
    toasts.show(level, "Something happened.")
    assert toasts.sentences == ["Something happened."]
    qtbot.waitUntil(lambda: not toasts.sentences)


def test_a_toast_waits_while_the_mouse_is_over_it(host):
    toasts = Toasts(host, lambda: PLACE)
    toasts.show("error", "Something is wrong.")
    toast = host.findChild(Toast)
    QApplication.sendEvent(toast, QEnterEvent(QPointF(5, 5), QPointF(5, 5), QPointF(5, 5)))
    assert not toast.timer.isActive()
    QApplication.sendEvent(toast, QEvent(QEvent.Type.Leave))
    assert toast.timer.isActive()


def test_a_toast_waits_while_the_window_is_minimised(host, qtbot, monkeypatch):
    monkeypatch.setitem(toasts_module.SECONDS, "error", 0.05)
    host.showMinimized()
    toasts = Toasts(host, lambda: PLACE)
    toasts.show("error", "Something is wrong.")
    qtbot.wait(200)
    assert toasts.sentences == ["Something is wrong."], "nobody has seen it"
    host.showNormal()
    host.activateWindow()
    qtbot.waitUntil(lambda: not toasts.sentences)


def test_a_toast_waits_while_another_program_is_used(host, qtbot, monkeypatch):
    monkeypatch.setitem(toasts_module.SECONDS, "error", 0.05)
    state = Qt.ApplicationState.ApplicationInactive
    monkeypatch.setattr(toasts_module.QGuiApplication, "applicationState", lambda: state)
    toasts = Toasts(host, lambda: PLACE)
    toasts.show("error", "Something is wrong.")
    qtbot.wait(200)
    assert toasts.sentences == ["Something is wrong."]
    state = Qt.ApplicationState.ApplicationActive
    QApplication.instance().applicationStateChanged.emit(state)
    qtbot.waitUntil(lambda: not toasts.sentences)


def test_the_close_button_of_an_open_toast_follows_the_theme(host):
    Toasts(host, lambda: PLACE).show("error", "Something is wrong.")
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
    toasts = Toasts(host, lambda: PLACE)
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
    toasts = Toasts(host, lambda: PLACE)
    toasts.show("error", "The run failed.")
    toasts.show("info", "Something else.")
    toasts.withdraw("The run failed.")
    toasts.withdraw("Never said.")
    assert toasts.sentences == ["Something else."]


@pytest.mark.parametrize("sentence", ["Saved.", "A long sentence that goes on. " * 12])
def test_a_toast_stays_in_its_place_whatever_it_says(host, sentence):
    toasts = Toasts(host, lambda: PLACE)
    toasts.show("info", sentence, details="more", action=("Show", print))
    toast = toasts.current
    assert PLACE.contains(toast.geometry()) and toast.geometry().right() == PLACE.right()
    shown = toast.text.text()
    assert shown == sentence or (shown.endswith("…") and sentence in toast.text.toolTip())


def test_the_gravest_is_on_screen_and_the_others_wait_for_their_turn(host, qtbot):
    toasts = Toasts(host, lambda: PLACE)
    for level, sentence in (("error", "It failed."), ("info", "Saved."), ("info", "Loaded.")):
        toasts.show(level, sentence)
    assert toasts.current.sentence == "It failed."
    waiting = [toast for toast in host.findChildren(Toast) if toast is not toasts.current]
    assert len(waiting) == 2 and not any(one.isVisible() or one.timer.isActive() for one in waiting)
    qtbot.mouseClick(toasts.current.closed, Qt.MouseButton.LeftButton)
    assert toasts.current.sentence == "Loaded." and toasts.current.timer.isActive()
