"""Sizes: of a window at first, of what is hidden and keeps its room, of pixels on fine screens."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication, QWidget

#: A window leaves this share of the one behind it to be seen.
_SHARE = 0.96


def resize_within(window: QWidget, letters: int, lines: int) -> None:
    """Makes a window ``letters`` wide and ``lines`` high, as far as there is room."""
    metrics = window.fontMetrics()
    wanted = QSize(metrics.averageCharWidth() * letters, metrics.height() * lines)
    window.resize(within(window, wanted))


def within(window: QWidget, wanted: QSize) -> QSize:
    """A size that fits into the window behind, or the screen if there is none."""
    parent = window.parentWidget()
    if parent is None:
        behind = None
    else:
        behind = parent.window()
    if behind is None:
        room = window.screen().availableSize()
    else:
        room = behind.size()
    return wanted.boundedTo(room * _SHARE)


def keep_room(widget: QWidget) -> None:
    """Lets a widget keep its place while hidden: nothing jumps when it appears."""
    policy = widget.sizePolicy()
    policy.setRetainSizeWhenHidden(True)
    widget.setSizePolicy(policy)


def sharpness() -> float:
    """Pixels of the finest screen across one of Qt's, which pictures need to look sharp there."""
    app = QApplication.instance()
    if isinstance(app, QApplication):
        return app.devicePixelRatio()
    return 1.0
