"""Ink on the screen: pens, brushes and symbols in the present theme; no colour is chosen here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QBrush, QColor, QPen

from robgui.core.view import Ink
from robgui.gui.app.theme import theme

_DASHES = {
    "solid": Qt.PenStyle.SolidLine,
    "dashed": Qt.PenStyle.DashLine,
    "dotted": Qt.PenStyle.DotLine,
    "dash-dot": Qt.PenStyle.DashDotLine,
}
#: pyqtgraph's names of the symbols.
# "t" points down; "t1" points up, as the triangle of a report does.
SYMBOLS = {"circle": "o", "square": "s", "cross": "x", "triangle": "t1", "diamond": "d"}
#: Bars of equal rank differ in their filling too, so colour never stands alone.
_FILLS = (
    (Qt.BrushStyle.SolidPattern, 0.75),
    (Qt.BrushStyle.BDiagPattern, 1.0),
    (Qt.BrushStyle.SolidPattern, 0.4),
    (Qt.BrushStyle.DiagCrossPattern, 1.0),
)


class ClassLists:
    """The classes of the models that are open, by which chips find the colours of two of them."""

    def __init__(self) -> None:
        self._lists: tuple[tuple[str, ...], ...] = ()

    def set(self, lists: Iterable[Sequence[str]]) -> bool:
        """Takes the lists, that of the model in use first; whether they are others than before."""
        found = tuple(dict.fromkeys(tuple(one) for one in lists))
        changed, self._lists = found != self._lists, found
        return changed

    def of(self, *names: str) -> tuple[str, ...]:
        """The first list that has all of ``names``; empty for none."""
        return next((one for one in self._lists if set(names) <= set(one)), ())


#: One for the whole program, as the theme is.
class_lists = ClassLists()


def colour(ink: Ink, alpha: float = 1.0) -> QColor:
    """The colour of an ink in the present theme."""
    made = QColor(ink.colour(theme.dark))
    made.setAlphaF(alpha)
    return made


def pen(ink: Ink, width: float = 2.0, style: Qt.PenStyle | None = None) -> QPen:
    """The pen of a line; its dashes are those of the ink unless ``style`` says otherwise."""
    return cosmetic(colour(ink), width, style or _DASHES[ink.dash])


def fill(ink: Ink, place: int) -> QBrush:
    """The filling of bar series number ``place``."""
    style, alpha = _FILLS[place % len(_FILLS)]
    return QBrush(colour(ink, alpha), style)


def halo() -> QPen:
    """The rim that lifts a sign from whatever lies behind it."""
    return cosmetic(QColor(theme.colours.surface), 1.5)


def cosmetic(tint: QColor, width: float, style: Qt.PenStyle = Qt.PenStyle.SolidLine) -> QPen:
    """A pen as wide on the screen as it says, whatever the axes of a plot are.

    It grows with the text.
    """
    made = QPen(tint)
    made.setWidthF(width * theme.scale)
    made.setStyle(style)
    made.setCosmetic(True)
    return made
