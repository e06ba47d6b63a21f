"""What am I looking at? Numbers on the picture, and beside it what each of them means."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, Qt, QTimer
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent
from PySide6.QtWidgets import QScrollArea, QVBoxLayout, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.views.callout import Callout
from robgui.gui.widgets.views.widget import ViewWidget

#: Letters in a line; longer ones are hard to follow, and beside a narrow picture the second.
LINE, SHORT_LINE = 70, 46
#: A page narrower than this many lines of words is narrow.
NARROW = 3
#: Milliseconds after which another tab, size or result has its numbers.
LOOK_MS = 250


class Explanation(QScrollArea):
    """The words beside a picture; while they are open, the picture carries their numbers.

    Args:
        picture: What is explained: the largest view on show in it.
        words: What its method says of it.
    """

    def __init__(self, picture: QWidget, words: str) -> None:
        super().__init__(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self.setAccessibleName("What am I looking at?")
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._picture, self._words = picture, words
        self.text = Label()
        self.text.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(8, 0, 8, 0)
        column.addWidget(self.text)
        column.addStretch(1)
        self.setWidget(page)
        self.numbers = Numbers(picture)
        # Looked at by a clock: tabs, splitters and new results change what is on show, and no one
        # signal tells of all of them.
        self._clock = QTimer(self, interval=LOOK_MS)
        self._clock.timeout.connect(self.refresh)
        self.setVisible(False)

    def set_open(self, is_open: bool) -> None:
        """Opens the words and shows their numbers, or takes both away."""
        self.setVisible(is_open)
        self.numbers.setVisible(is_open)
        (self._clock.start if is_open else self._clock.stop)()
        if is_open:
            self.refresh()

    def refresh(self) -> None:
        """Numbers and words of what is on show now."""
        callouts = self._callouts()
        self.numbers.show_callouts(callouts)
        words = [f"{place}  {one.words}" for place, one in enumerate(callouts, start=1)]
        room = self._picture.width() + self.width()
        narrow = room < NARROW * LINE * self.fontMetrics().averageCharWidth()
        letters = SHORT_LINE if narrow else LINE
        parts = [part for part in (*words, self._words) if part]
        # Broken here and not by the label, whose own width then tells how wide the words are.
        written = "\n\n".join(textwrap.fill(part, letters) for part in parts)
        # Setting the same text again would lay the page out four times a second.
        if written != self.text.text():
            self.text.setText(written)
        bar = self.verticalScrollBar().sizeHint().width()
        self.setFixedWidth(self.text.sizeHint().width() + 16 + bar)

    def _callouts(self) -> list[Callout]:
        """Those of the largest view on show."""
        views = self._picture.findChildren(ViewWidget)
        seen = [view for view in views if view.isVisible() and view.complete]
        largest = max(seen, key=lambda view: view.width() * view.height(), default=None)
        if largest is None or largest.view is None:
            return []
        moved = largest.mapTo(self._picture, QPoint())
        return [Callout(one.place + moved, one.words) for one in largest.callouts()]


class Numbers(QWidget):
    """Discs with numbers over a picture; the mouse goes through them."""

    def __init__(self, picture: QWidget) -> None:
        super().__init__(picture)
        self._picture = picture
        self.callouts: tuple[Callout, ...] = ()
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setVisible(False)
        theme.changed.connect(self.update)

    def show_callouts(self, callouts: Sequence[Callout]) -> None:
        """The first one has number 1."""
        self.callouts = tuple(callouts)
        self.setGeometry(self._picture.rect())
        # Widgets that the picture has made since would lie above it.
        self.raise_()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = QFont(self.font())
        font.setBold(True)
        painter.setFont(font)
        side = painter.fontMetrics().height() * 1.3
        for number, one in enumerate(self.callouts, start=1):
            disc = QRectF(one.place.x() - side / 2, one.place.y() - side / 2, side, side)
            # A place at the very edge keeps its whole disc inside the picture.
            disc.moveLeft(min(max(disc.left(), 1.0), self.width() - side - 1))
            disc.moveTop(min(max(disc.top(), 1.0), self.height() - side - 1))
            painter.setPen(QColor(theme.colours.surface))
            painter.setBrush(QColor(theme.colours.accent))
            painter.drawEllipse(disc)
            painter.setPen(QColor(theme.colours.on_accent))
            painter.drawText(disc, Qt.AlignmentFlag.AlignCenter, str(number))
