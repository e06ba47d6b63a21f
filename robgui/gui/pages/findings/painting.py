"""Paints the parts of a card on the wall: picture, words, severity as bar and number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPointF, QRect, Qt
from PySide6.QtGui import QColor, QPainter, QTextLayout, QTextOption

from robgui.core.finding_pair import is_drawn, with_gap
from robgui.core.text.words import severity as severity_in_words
from robgui.core.view import Ink
from robgui.gui.app.theme import theme
from robgui.gui.docks.runs_items import track_colour
from robgui.gui.widgets.inks import colour

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace

#: Pictures of the wall are made no wider than this; the page of a finding shows all its pixels.
_SIDE = 560
#: From these severities on a bar has the colour of a risk, and of a failure.
_RISK, _FAILS = 0.34, 0.67
#: Pixels: how high a bar is, and how long at least.
_BAR, _SHORTEST = 6, 24


def wrapped(painter: QPainter, place: QRect, words: str, lines: int) -> None:
    """Words on at most ``lines`` lines; what does not fit ends with an ellipsis."""
    layout = QTextLayout(words, painter.font())
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout.setTextOption(option)
    high, top = painter.fontMetrics().height(), float(place.top())
    layout.beginLayout()
    for number in range(lines):
        line = layout.createLine()
        if not line.isValid():
            break
        line.setLineWidth(place.width())
        start = line.textStart()
        last = number == lines - 1 and start + line.textLength() < len(words)
        # All of the rest, so elidedText has something to cut.
        if last:
            text = words[start:]
        else:
            text = words[start : start + line.textLength()]
        shown = painter.fontMetrics().elidedText(
            text.strip(), Qt.TextElideMode.ElideRight, place.width()
        )
        painter.drawText(QPointF(place.left(), top + painter.fontMetrics().ascent()), shown)
        top += high
    layout.endLayout()


def draw_severity(painter: QPainter, place: QRect, severity: float, words: str) -> None:
    """The number on the left, what kind of finding it is on the right, a bar where it has room."""
    metrics = painter.fontMetrics()
    said = f"Severity {severity_in_words(severity)}"
    room = metrics.horizontalAdvance("Severity 0.00") + 8
    painter.setPen(QColor(theme.colours.text))
    painter.drawText(place, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, said)
    free = place.width() - room - 8 - metrics.horizontalAdvance(words)
    long = min(place.width() // 3, free)
    if long >= _SHORTEST:
        _draw_bar(painter, QRect(place.left() + room, place.center().y(), long, _BAR), severity)
    else:
        long = 0
    painter.setPen(QColor(theme.colours.quiet))
    left = place.left() + room + long
    rest = QRect(left, place.top(), place.right() - left + 1, place.height())
    kind = metrics.elidedText(words, Qt.TextElideMode.ElideMiddle, rest.width())
    painter.drawText(rest, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, kind)


def _draw_bar(painter: QPainter, bar: QRect, severity: float) -> None:
    bar.translate(0, -_BAR // 2)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(track_colour(False))
    painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)
    share = min(1.0, max(0.0, severity))
    bar.setWidth(max(_BAR, round(bar.width() * share)))
    painter.setBrush(severity_colour(severity))
    painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)


def severity_colour(severity: float) -> QColor:
    """The most intense colour is the worst."""
    if severity >= _FAILS:
        return colour(Ink("fails"))
    return colour(Ink("risk" if severity >= _RISK else "unknown"))


def picture(workspace: Workspace, ground: Sequence[int], finding: int) -> np.ndarray | None:
    """A finding's picture at card size, drawn on ``ground``; called on a pool thread.

    The ground also shows between the two pictures of a pair.
    """
    import cv2

    from robgui.core.dataset.drawing import on_ground

    found = workspace.finding(finding)
    whole = found.picture
    if whole is None:
        return None
    if is_drawn(found):
        whole = on_ground(whole, ground)
    else:
        whole = with_gap(whole, ground)
    height, width = whole.shape[:2]
    scale = _SIDE / max(height, width)
    if scale >= 1:
        return whole
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    # The mean of whole areas: other ways would skip single pixels, and those may be the change.
    return np.asarray(cv2.resize(whole, size, interpolation=cv2.INTER_AREA))
