"""Chips: what a model says, in the colour of its class."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPen

from robgui.core.view import Ink, class_inks
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import class_lists, colour

#: Pixels left and right of the words, above and below them, and between two chips.
_SIDE, _LID, GAP = 8.0, 3.0, 6.0
_ARROW = "→"
#: A name cut to fewer letters than these tells nothing; its share gives way first.
_LEAST_LETTERS = 3


def class_colours(taken: str, given: str) -> tuple[QColor, QColor]:
    """The colours of a class and of what it is taken for, as in the pictures of their model."""
    names = class_lists.of(taken, given)
    if not names:  # Their model is not open: the colours of an input before and after.
        return colour(Ink("class", name=taken)), colour(Ink("rival", name=given))
    first, second = class_inks((taken, given), names, ("class", "rival"))
    return colour(first), colour(second)


def confusion_words(taken: str, given: str) -> str:
    """``red → GREEN``: the wrong answer is the loud one."""
    return f"{taken} {_ARROW} {given.upper()}"


def letters_on(ground: QColor) -> QColor:
    """Black or white, whichever is read better on ``ground``."""
    if _light(ground) > _MIDDLE:
        return QColor("#000000")
    return QColor("#FFFFFF")


#: The lightness at which black and white letters are read equally well.
#: √(1.05 × 0.05) − 0.05, by the contrast ratio of WCAG 2.
_MIDDLE = 0.179


def _light(tint: QColor) -> float:
    """Relative luminance, from which text contrast is computed."""
    # From sRGB to linear light; 0.03928 is the threshold as WCAG 2 prints it.
    parts = (tint.redF(), tint.greenF(), tint.blueF())
    red, green, blue = (
        one / 12.92 if one <= 0.03928 else ((one + 0.055) / 1.055) ** 2.4 for one in parts
    )
    # The shares of the three primaries of sRGB (Rec. 709).
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def chip_height(font: QFont) -> float:
    """How high a chip is."""
    return QFontMetricsF(font).height() + 2 * _LID


def chip_words(metrics: QFontMetricsF, name: str, share: str, widest: float) -> str:
    """A name and its share within ``widest`` pixels, the chip's sides among them.

    Only the name is elided. A share that does not fit beside a few letters of the name is left out
    whole: half a number reads as another number.
    """
    room = max(0.0, widest - 2 * _SIDE)
    tail = f"  {share}" if share else ""
    left = room - metrics.horizontalAdvance(tail)
    if left < metrics.horizontalAdvance(name[:_LEAST_LETTERS] + "…"):
        tail, left = "", room
    return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, left) + tail


def draw_chip(
    painter: QPainter,
    corner: QPointF,
    name: str,
    ground: QColor,
    *,
    share: str = "",
    widest: float = 1e6,
) -> QRectF:
    """Draws a chip whose upper left corner is ``corner``; returns where it lies."""
    metrics = QFontMetricsF(painter.font())
    shown = chip_words(metrics, name, share, widest)
    wide = metrics.horizontalAdvance(shown) + 2 * _SIDE
    place = QRectF(corner.x(), corner.y(), wide, metrics.height() + 2 * _LID)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(ground)
    painter.drawRoundedRect(place, place.height() / 2, place.height() / 2)
    painter.setPen(letters_on(ground))
    painter.drawText(place, Qt.AlignmentFlag.AlignCenter, shown)
    return place


def draw_confusion(
    painter: QPainter, corner: QPointF, taken: str, given: str, widest: float
) -> QRectF:
    """Two chips with an arrow between them; returns where they lie."""
    first, second = class_colours(taken, given)
    metrics = QFontMetricsF(painter.font())
    arrow = metrics.horizontalAdvance(_ARROW) + 2 * GAP
    half = max(4 * _SIDE, (widest - arrow) / 2)
    left = draw_chip(painter, corner, taken, first, widest=half)
    painter.setPen(QPen(QColor(theme.colours.text)))
    between = QRectF(left.right(), left.top(), arrow, left.height())
    painter.drawText(between, Qt.AlignmentFlag.AlignCenter, _ARROW)
    # What a short first name leaves over goes to the second.
    rest = widest - left.width() - arrow
    right = draw_chip(
        painter, QPointF(between.right(), corner.y()), given.upper(), second, widest=rest
    )
    return left.united(right)
