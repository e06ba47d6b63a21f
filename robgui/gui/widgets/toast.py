"""Toasts: one sentence beside the menus, with details for whoever wants them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer
from PySide6.QtGui import QEnterEvent, QGuiApplication
from PySide6.QtWidgets import (
    QApplication,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import icon, pixmap, theme
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import Label, set_tip

#: How long a toast stays; whatever it said is in the log afterwards.
SECONDS: dict[str, float] = {"info": 4, "warning": 8, "error": 15}
ACTION_SECONDS = 12.0
#: Most messages that wait for their turn; older ones are in the log only.
MOST = 3
#: What is shown first of several.
_RANK = {"info": 0, "warning": 1, "error": 2}
#: Pixels around the sentence that it cannot have.
_AROUND = 24
#: The words on a button, and what it does.
Action = tuple[str, Callable[[], None]]


class Toasts(QObject):
    """Shows one toast after the other in a place where nothing else stands; each goes by itself.

    Args:
        host: The window.
        place: Where in it a toast may stand.
    """

    def __init__(self, host: QWidget, place: Callable[[], QRect]) -> None:
        super().__init__(host)
        self._host, self._place = host, place
        self._shown: list[Toast] = []
        host.installEventFilter(self)
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.applicationStateChanged.connect(self._run_clock)

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
        self._arrange()

    def withdraw(self, sentence: str) -> None:
        """Takes ``sentence`` off the screen, if it is there: it no longer matters."""
        for toast in [toast for toast in self._shown if toast.sentence == sentence]:
            self._close(toast)

    @property
    def sentences(self) -> list[str]:
        """What is on screen or waits to be."""
        return [toast.sentence for toast in self._shown]

    @property
    def current(self) -> Toast | None:
        """The one on screen: the newest of the gravest."""
        newest = list(reversed(self._shown))
        # Of equals max keeps the first, so the newest comes first.
        return max(newest, key=lambda toast: _RANK[toast.level], default=None)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keeps the toast in its place when the window is resized."""
        if event.type() == QEvent.Type.Resize:
            self._arrange()
        if event.type() in (QEvent.Type.WindowStateChange, QEvent.Type.Show, QEvent.Type.Hide):
            self._run_clock()
        return False

    def _run_clock(self, *_: object) -> None:
        """Time runs only while somebody can read; a toast that comes into sight has all of it."""
        toast = self.current
        if toast is None:
            return
        if not self._seen():
            toast.timer.stop()
        elif not toast.timer.isActive() and not toast.underMouse():
            toast.timer.start()

    def _seen(self) -> bool:
        """Whether the window is on screen and the user is at work in this program."""
        active = QGuiApplication.applicationState() is Qt.ApplicationState.ApplicationActive
        return active and self._host.isVisible() and not self._host.isMinimized()

    def _close(self, toast: Toast) -> None:
        if toast in self._shown:
            self._shown.remove(toast)
            toast.hide()
            # Later: the click that closes it may still be on its way through its own button.
            toast.deleteLater()
            self._arrange()

    def _arrange(self) -> None:
        """One is on screen, and its time runs; the others wait."""
        current = self.current
        for toast in self._shown:
            if toast is not current:
                toast.timer.stop()
                toast.hide()
        if current is None:
            return
        current.fit(self._place())
        if current.isHidden():
            current.show()
            self._run_clock()
        # A sibling that was made since would lie above it.
        current.raise_()


class Toast(QFrame):
    """One sentence with an icon that says its level, an expandable text and a way to close it.

    Attributes:
        level: ``info``, ``warning`` or ``error``.
        timer: Runs out when the toast has been read; it stands still while the mouse is over the
            toast.
        text: The sentence, cut where it does not fit.
    """

    def __init__(self, level: str, sentence: str, details: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.level, self.sentence = level, sentence
        self.setProperty("role", "toast")
        self.setAccessibleName(f"{level}: {sentence}")
        self.timer = QTimer(self, singleShot=True, interval=round(SECONDS[level] * 1000))
        self._mark = Label(alignment=Qt.AlignmentFlag.AlignVCenter)
        self.text = Label(sentence, wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        # The toast has the width of its place; a long sentence must not widen it.
        self.text.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self._details: QPlainTextEdit | None = None
        self.closed = QToolButton(autoRaise=True, toolTip="Close")
        self.closed.setAccessibleName("Close message")
        self._others: list[QWidget] = [self._mark, self.closed]
        self._row = QHBoxLayout()
        self._row.addWidget(self._mark)
        self._row.addWidget(self.text, 1)
        self._row.addWidget(self.closed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 4, 4, 4)
        layout.addLayout(self._row)
        if details:
            self._add_details(layout, details)
        theme.changed.connect(self._tint)
        self.hide()
        self._tint()

    def fit(self, place: QRect) -> None:
        """Stands at the right of ``place``, as wide as its sentence needs, and no higher.

        What does not fit ends in dots, and the tool tip has it whole.
        """
        metrics = self.fontMetrics()
        rest = sum(one.sizeHint().width() + self._row.spacing() for one in self._others)
        width = min(metrics.horizontalAdvance(self.sentence) + rest + _AROUND, place.width())
        self.setFixedWidth(max(width, min(place.width(), rest + 80)))
        lines = max(1, (place.height() - 8) // metrics.lineSpacing())
        room = self.width() - rest - _AROUND
        # the end of a line is lost to the word that does not fit
        whole = metrics.boundingRect(
            QRect(0, 0, room, 10_000), Qt.TextFlag.TextWordWrap.value, self.sentence
        )
        fits = whole.height() <= lines * metrics.lineSpacing()
        cut = beginning(self.sentence, metrics, int(room * (lines - 0.5 * (lines > 1)) * 0.9))
        self.text.setText(self.sentence if fits else cut)
        set_tip(self.text, "" if fits else self.sentence)
        opened = self._details is not None and not self._details.isHidden()
        self.adjustSize() if opened else self.resize(self.width(), place.height())
        # QRect.right() is the last pixel inside, one less than left + width.
        self.move(place.right() - self.width() + 1, place.top())

    def add_action(self, words: str, deed: Callable[[], None]) -> QPushButton:
        """A button that does something about it.

        There is more time to press it than to read a sentence.
        """
        button = QPushButton(words)
        button.clicked.connect(deed)
        button.setProperty("tight", True)
        self._put(button)
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
            self.level
        ]
        self._mark.setPixmap(pixmap(self.level, 24, tint))
        self.closed.setIcon(icon("close"))

    def _add_details(self, layout: QVBoxLayout, details: str) -> None:
        box = self._details = QPlainTextEdit(details, readOnly=True)
        box.setFixedHeight(160)
        box.hide()
        show = QPushButton("Details")
        copy = QPushButton("Copy")

        def toggle() -> None:
            box.setVisible(box.isHidden())
            self.adjustSize()

        show.clicked.connect(toggle)
        copy.clicked.connect(
            lambda: QApplication.clipboard().setText(f"{self.sentence}\n\n{details}")
        )
        for button in (copy, show):
            button.setProperty("tight", True)
            self._put(button)
        layout.addWidget(box)

    def _put(self, button: QPushButton) -> None:
        """A button before the one that closes."""
        self._others.append(button)
        self._row.insertWidget(self._row.count() - 1, button)
