"""Toasts: one sentence over the window, with details for whoever wants them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QCursor, QEnterEvent
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import icon, pixmap, theme
from robgui.gui.widgets.plain import Label

#: How long a toast stays; whatever it said is in the log afterwards.
SECONDS: dict[str, float] = {"info": 4, "warning": 8, "error": 15}
ACTION_SECONDS = 12.0
MOST = 3
#: So many pixels below the pointer a toast begins, where it would cover what was clicked.
AWAY = 32
#: The words on a button, and what it does.
Action = tuple[str, Callable[[], None]]


class Toasts(QObject):
    """Stacks toasts in the upper right corner of ``host``, away from the buttons.

    Each goes by itself.
    """

    def __init__(self, host: QWidget) -> None:
        super().__init__(host)
        self._host = host
        self._shown: list[Toast] = []
        host.installEventFilter(self)

    def show(
        self, level: str, sentence: str, details: str = "", action: Action | None = None
    ) -> None:
        """Shows one, with a button if there is something to be done.

        The same sentence is not shown twice at once.
        """
        if any(toast.sentence == sentence for toast in self._shown):
            return
        toast = Toast(level, sentence, details, self._host)
        if action is not None:
            toast.add_action(*action).clicked.connect(lambda: self._close(toast))
        toast.closed.clicked.connect(lambda: self._close(toast))
        toast.timer.timeout.connect(lambda: self._close(toast))
        self._shown.append(toast)
        while len(self._shown) > MOST:
            self._close(self._shown[0])
        toast.show()
        self._arrange()
        toast.timer.start()

    def withdraw(self, sentence: str) -> None:
        """Takes ``sentence`` off the screen, if it is there: it no longer matters."""
        for toast in [toast for toast in self._shown if toast.sentence == sentence]:
            self._close(toast)

    @property
    def sentences(self) -> list[str]:
        """What is on screen."""
        return [toast.sentence for toast in self._shown]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keeps the toasts in their corner when the window is resized."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        return False

    def _close(self, toast: Toast) -> None:
        if toast in self._shown:
            self._shown.remove(toast)
            toast.hide()
            toast.deleteLater()
            self._arrange()

    def _arrange(self) -> None:
        """From the upper right corner down, below what the user has just clicked."""
        top = 64
        for toast in reversed(self._shown):
            toast.setFixedWidth(min(480, self._host.width() - 32))
            toast.adjustSize()
            left = self._host.width() - toast.width() - 16
            place = QRect(left, top, toast.width(), toast.height()).adjusted(-8, -8, 8, 8)
            if not toast.settled and place.contains(self._host.mapFromGlobal(QCursor.pos())):
                top = self._host.mapFromGlobal(QCursor.pos()).y() + AWAY
            if top + toast.height() > self._host.height():
                top, left = 64, 16  # no room below: the other corner
            toast.move(left, top)
            toast.raise_()
            toast.settled = True
            top += toast.height() + 8


class Toast(QFrame):
    """One sentence with an icon that says its level, an expandable text and a way to close it.

    Attributes:
        settled: Whether it has its place; until then it keeps away from the pointer.
        timer: Runs out when the toast has been read; it stands still while the mouse is over the
            toast.
    """

    def __init__(self, level: str, sentence: str, details: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.sentence = sentence
        self.settled = False
        self.setProperty("role", "toast")
        self.setAccessibleName(f"{level}: {sentence}")
        self.timer = QTimer(self, singleShot=True, interval=round(SECONDS[level] * 1000))
        self._level = level
        self._mark = Label(alignment=Qt.AlignmentFlag.AlignTop)
        text = Label(sentence, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.closed = QToolButton(autoRaise=True, toolTip="Close")
        self.closed.setAccessibleName("Close message")
        row = QHBoxLayout()
        row.addWidget(self._mark)
        row.addWidget(text, 1)
        row.addWidget(self.closed, 0, Qt.AlignmentFlag.AlignTop)
        layout = self._rows = QVBoxLayout(self)
        layout.addLayout(row)
        if details:
            self._add_details(layout, details)
        theme.changed.connect(self._tint)
        self._tint()

    def add_action(self, words: str, deed: Callable[[], None]) -> QPushButton:
        """A button that does something about it.

        There is more time to press it than to read a sentence.
        """
        button = QPushButton(words)
        button.clicked.connect(deed)
        self._rows.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        self.timer.setInterval(round(ACTION_SECONDS * 1000))
        return button

    def enterEvent(self, event: QEnterEvent) -> None:
        """Whoever points at it is reading it."""
        super().enterEvent(event)
        self.timer.stop()

    def leaveEvent(self, event: QEvent) -> None:
        """It has its whole time again once the mouse has left."""
        super().leaveEvent(event)
        self.timer.start()

    def _tint(self) -> None:
        colours = theme.colours
        tint = {"info": colours.accent, "warning": colours.warning, "error": colours.bad}[
            self._level
        ]
        self._mark.setPixmap(pixmap(self._level, 24, tint))
        self.closed.setIcon(icon("close"))

    def _add_details(self, layout: QVBoxLayout, details: str) -> None:
        box = QPlainTextEdit(details, readOnly=True)
        box.setFixedHeight(160)
        box.hide()
        show = QPushButton("Details")
        copy = QPushButton("Copy")

        def toggle() -> None:
            box.setVisible(not box.isVisible())
            self.adjustSize()

        show.clicked.connect(toggle)
        copy.clicked.connect(
            lambda: QApplication.clipboard().setText(f"{self.sentence}\n\n{details}")
        )
        row = QHBoxLayout()
        row.addStretch()
        row.addWidget(copy)
        row.addWidget(show)
        layout.addWidget(box)
        layout.addLayout(row)
