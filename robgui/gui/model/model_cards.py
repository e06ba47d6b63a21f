"""Eight inputs with what the model says about each: picture, mark, three bars."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPixmap
from PySide6.QtWidgets import QGridLayout, QSizePolicy, QStackedLayout, QWidget

from robgui.core.text.words import percent, rough_percent
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.thumbnails import fit, qimage
from robgui.gui.model.model_check import SHOWN, TOP, Guess
from robgui.gui.widgets.plain import Label, set_tip

_COLUMNS = 4
_GAP = 4


class Cards(QWidget):
    """A grid of cards, or a sentence while there is nothing to show."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("role", "quiet")
        grid_page = QWidget()
        grid = QGridLayout(grid_page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setSpacing(8)
        self.cards = [InputCard() for _ in range(SHOWN)]
        for place, card in enumerate(self.cards):
            grid.addWidget(card, place // _COLUMNS, place % _COLUMNS)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(grid_page)
        self._stack.addWidget(self.empty)

    def show_guesses(self, guesses: tuple[Guess, ...], sentence: str) -> None:
        """Shows these, or ``sentence`` if there are none."""
        self.empty.setText(sentence)
        self._stack.setCurrentIndex(0 if guesses else 1)
        for place, card in enumerate(self.cards):
            card.show_guess(guesses[place] if place < len(guesses) else None)


class InputCard(QWidget):
    """One input: its picture, label, a mark with a word, and its three likeliest classes."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.guess: Guess | None = None
        self._picture = QPixmap()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 24, metrics.height() * 12 + 5 * _GAP)

    def minimumSizeHint(self) -> QSize:
        metrics = self.fontMetrics()
        return QSize(metrics.averageCharWidth() * 18, metrics.height() * 9 + 5 * _GAP)

    def show_guess(self, guess: Guess | None) -> None:
        """Shows one input; None leaves the card empty."""
        self.guess = guess
        if guess is None:
            self._picture = QPixmap()
        else:
            self._picture = QPixmap.fromImage(qimage(guess.picture))
        self.setAccessibleName(self.sentence())
        set_tip(self, self.sentence())
        self.update()

    def sentence(self) -> str:
        """The card in words."""
        if self.guess is None:
            return ""
        said = ", ".join(f"{name} {percent(share)}" for name, share in self.guess.top)
        if self.guess.label:
            label = f"label {self.guess.label}"
        else:
            label = "no label"
        mark = {True: "right", False: "wrong", None: "not comparable"}[self.guess.right]
        return f"{self.guess.key}: {label}; the model says {said}; {mark}"

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.guess is None:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.colours.surface))
        painter.drawRoundedRect(self.rect(), 8, 8)
        area = self.rect().adjusted(8, 8, -8, -8)
        line = painter.fontMetrics().height()
        below = 2 * line + TOP * (line + _GAP) + 2 * _GAP
        picture = QRect(area.left(), area.top(), area.width(), max(line, area.height() - below))
        target = fit(self._picture.size(), picture)
        painter.setRenderHint(
            QPainter.RenderHint.SmoothPixmapTransform, target.width() < self._picture.width()
        )
        painter.drawPixmap(target, self._picture)
        top = picture.bottom() + 1 + _GAP
        self._words(painter, QRect(area.left(), top, area.width(), 2 * line), self.guess)
        for place, (name, share) in enumerate(self.guess.top):
            row = QRect(
                area.left(), top + 2 * line + _GAP + place * (line + _GAP), area.width(), line + 2
            )
            self._bar(painter, row, name, share)

    def _words(self, painter: QPainter, area: QRect, guess: Guess) -> None:
        metrics = painter.fontMetrics()
        line = metrics.height()
        first, second = (
            QRect(area.left(), area.top(), area.width(), line),
            QRect(area.left(), area.top() + line, area.width(), line),
        )
        painter.setPen(QColor(theme.colours.text))
        painter.drawText(
            first,
            Qt.AlignmentFlag.AlignLeft,
            metrics.elidedText(
                guess.label or guess.key, Qt.TextElideMode.ElideMiddle, area.width()
            ),
        )
        colours = theme.colours
        colour, word, symbol = {
            True: (colours.good, "right", "check"),
            False: (colours.bad, "wrong", "cross"),
            None: (colours.quiet, "no label", ""),
        }[guess.right]
        if symbol:
            icon(symbol, colour).paint(painter, QRect(second.left(), second.top(), line, line))
            second.setLeft(second.left() + line + _GAP)
        painter.setPen(QColor(colour))
        painter.drawText(second, Qt.AlignmentFlag.AlignLeft, word)

    def _bar(self, painter: QPainter, row: QRect, name: str, share: float) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.colours.raised))
        painter.drawRoundedRect(row, 3, 3)
        fill = QColor(theme.colours.accent)
        # Pale, because the name of the class stands on it.
        fill.setAlphaF(0.35)
        painter.setBrush(fill)
        painter.drawRoundedRect(
            QRect(row.left(), row.top(), max(3, round(row.width() * share)), row.height()), 3, 3
        )
        metrics = painter.fontMetrics()
        painter.setPen(QColor(theme.colours.text))
        inner = row.adjusted(4, 0, -4, 0)
        number = share_beside(name, share, metrics, inner.width() - 8)
        painter.drawText(inner, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, number)
        room = inner.width() - metrics.horizontalAdvance(number) - 8
        painter.drawText(
            inner,
            Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter,
            # In the middle: names of classes often differ only at their ends.
            metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room),
        )


def share_beside(name: str, share: float, metrics: QFontMetrics, room: int) -> str:
    """A share in words, or with signs where these would cut the name of the class."""
    words = rough_percent(share)
    if metrics.horizontalAdvance(name) + metrics.horizontalAdvance(words) <= room:
        return words
    return words.replace("over ", "> ").replace("under ", "< ")
