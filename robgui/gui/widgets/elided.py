"""Shortens words that do not fit: names lose their middle, sentences their end, at a word."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
)

from robgui.gui.widgets.plain import Label, tip


class ElidedBox(QComboBox):
    """Shortens what it shows in the middle; a passing wheel does not change the choice.

    The list that opens and the model keep the whole words.
    """

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Another model, other inputs or a filter are chosen on purpose."""
        # Ignored, it goes on to a scroll area around the box.
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draws the box as the style does, with the words that fit."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        part = QStyle.SubControl.SC_ComboBoxEditField
        room = (
            self.style()
            .subControlRect(QStyle.ComplexControl.CC_ComboBox, option, part, self)
            .width()
            - 4
        )
        option.currentText = self.fontMetrics().elidedText(
            self.currentText(), Qt.TextElideMode.ElideMiddle, room
        )
        painter = QStylePainter(self)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


class Caption(Label):
    """One line that is cut with an ellipsis where there is no room; the tool tip has it whole."""

    def __init__(self, *, align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignCenter) -> None:
        super().__init__(alignment=align)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.words = ""
        # A label asks for the width of its text: the column could never become narrower again.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def set_words(self, words: str) -> None:
        """Writes this line."""
        self.words = words
        self.setToolTip(tip(words))
        self._fit()

    def resizeEvent(self, event: object) -> None:
        self._fit()

    def _fit(self) -> None:
        mode = Qt.TextElideMode.ElideMiddle
        self.setText(self.fontMetrics().elidedText(self.words, mode, self.width()))


class ElidedLink(QPushButton):
    """A link of one line that is cut after a whole word where there is no room.

    Args:
        words: What it says; the tool tip has it whole.
        tip_words: What a click does.
    """

    def __init__(self, words: str, tip_words: str) -> None:
        super().__init__()
        self.words = words
        self.setProperty("role", "link")
        self.setToolTip(tip(f"{words}\n{tip_words}"))
        self.setAccessibleName(words)
        # A button asks for room for all its words, and then none would ever be cut.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the words anew."""
        super().resizeEvent(event)
        room = self.width() - 2 * self.fontMetrics().averageCharWidth()
        # A button takes a single & for the mark of its shortcut.
        self.setText(beginning(self.words, self.fontMetrics(), room).replace("&", "&&"))


#: A word with more letters than these is a name.
_LONG = 14


def beginning(words: str, metrics: QFontMetrics, width: int) -> str:
    """As many whole words as fit, with … for the rest: a number that is cut reads as another.

    A long name is no number: it is cut in its middle rather than left out.
    """
    if metrics.horizontalAdvance(words) <= width:
        return words
    cut = metrics.elidedText(words, Qt.TextElideMode.ElideRight, width).rstrip("…")
    # Cut exactly at a gap, the last word is whole.
    if words[len(cut) : len(cut) + 1].isspace():
        whole = cut
    else:
        whole = cut.rpartition(" ")[0]
        name = words[len(whole) :].split(maxsplit=1)[0]
        room = width - metrics.horizontalAdvance(f"{whole} … ")
        if len(name) > _LONG and room > _LONG // 2 * metrics.averageCharWidth():
            middle = metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, room)
            return f"{whole} {middle} …".lstrip()
    if whole.strip():
        return f"{whole.rstrip()} …"
    return "…"


def in_lines(title: str, metrics: QFontMetrics, room: int) -> list[str]:
    """An axis title on one line if it fits, else on two about equal ones, elided at a word."""
    gaps = [place for place, sign in enumerate(title) if sign == " "]
    if metrics.horizontalAdvance(title) <= room or not gaps:
        return [metrics.elidedText(title, Qt.TextElideMode.ElideRight, room)]
    middle = min(gaps, key=lambda place: abs(2 * place - len(title)))
    first, second = title[:middle], title[middle + 1 :]
    # A second line would go on behind words that the first one, cut, has left out.
    if metrics.horizontalAdvance(first) > room:
        return [beginning(title, metrics, room)]
    return [first, beginning(second, metrics, room)]
