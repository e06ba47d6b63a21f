"""One cell of Images: the picture, its spots, its chip with sign and colour, its caption."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from robgui.core.view import Images, Ink, Picture, Spot
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plots import to_qimage

if TYPE_CHECKING:
    from robgui.gui.widgets.views.images import PictureModel

#: Pixels around a cell, and between the two pictures of a pair.
MARGIN, ARROW = 8, 24
#: Pixels of the frame around a wrong one.
FRAME = 3
Index = QModelIndex | QPersistentModelIndex
#: Beside the chip: right, wrong, not known.
_SIGNS = {True: ("✓ ", Ink("holds")), False: ("✗ ", Ink("fails")), None: ("", None)}


class CellDelegate(QStyledItemDelegate):
    """Paints a picture, or a pair with an arrow between its two."""

    def __init__(self, model: PictureModel, view: QWidget) -> None:
        super().__init__(view)
        self._model = model
        self._fit()
        theme.changed.connect(self._fit)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return self._model.cell

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        cell: QRect = option.rect
        state: Any = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.setPen(QPen(QColor(theme.colours.accent), 2))
            painter.drawRoundedRect(QRectF(cell).adjusted(2, 2, -2, -2), 6, 6)
        frame = self._model.frame
        for place, (picture, pixels) in enumerate(self._model.pictures(index.row())):
            left = cell.left() + MARGIN + place * (frame.width() + ARROW)
            box = QRect(QPoint(left, cell.top() + MARGIN), frame)
            _draw_picture(painter, picture, pixels, box)
            if self._model.worded:
                _draw_text(painter, picture, box)
            if place:
                _draw_arrow(painter, QPointF(left - ARROW / 2, box.top() + frame.height() / 2))
        painter.restore()

    def _fit(self) -> None:
        """Two lines of words below each picture."""
        view = self.parent()
        assert isinstance(view, QWidget)
        bold = view.font()
        bold.setBold(True)
        # Chips are bold, and so the wider of the two lines.
        self._model.metrics = QFontMetrics(bold)
        self._model.text_height = 2 * view.fontMetrics().lineSpacing() + 6


def picture_box(cell: QRect, frame: QSize, pixels: QSize, place: int) -> QRect:
    """Where the pixels of the first or second picture of a cell are drawn."""
    left = cell.left() + MARGIN + place * (frame.width() + ARROW)
    x = left + round((frame.width() - pixels.width()) / 2)
    y = cell.top() + MARGIN + round((frame.height() - pixels.height()) / 2)
    return QRect(QPoint(x, y), pixels)


def frame_shape(view: Images) -> tuple[float, float]:
    """Width and height, at most 1, of the smallest frame that every picture fits into."""
    shapes = [np.array(picture.pixels.shape[1::-1], float) for picture in view.pictures]
    if not shapes:
        return 1.0, 1.0
    shares = [own_share(view, number) for number in range(len(shapes))]
    fitted = [share * shape / shape.max() for share, shape in zip(shares, shapes, strict=True)]
    width, height = np.max(fitted, axis=0)
    return float(width), float(height)


def own_share(view: Images, number: int) -> float:
    """How large a picture is beside the largest: strips of one height keep one size of pixel."""
    sizes = {picture.pixels.shape[:2] for picture in view.pictures}
    if len(sizes) == 1 or len({height for height, _ in sizes}) > 1:
        return 1.0
    largest = max(max(size) for size in sizes)
    return float(max(view.pictures[number].pixels.shape[:2])) / largest


def scaled_to(pixels: Any, side: int) -> QPixmap:
    """A picture within a square; few pixels stay sharp squares, many are smoothed."""
    whole = QPixmap.fromImage(to_qimage(pixels))
    modes = Qt.TransformationMode
    smooth = max(whole.width(), whole.height()) > side
    if smooth:
        mode = modes.SmoothTransformation
    else:
        mode = modes.FastTransformation
    return whole.scaled(side, side, Qt.AspectRatioMode.KeepAspectRatio, mode)


def words_of(picture: Picture) -> str:
    """A picture in words: its caption, its chip, and whether that is right."""
    right = {True: " (right)", False: " (wrong)", None: ""}[picture.right]
    chip = f"{picture.chip}{right}" if picture.chip else ""
    return ", ".join(part for part in (picture.caption, chip, picture.detail) if part)


def half_at(cell: QRect, x: int) -> int:
    """Which picture of a pair stands at ``x``."""
    return int(x > cell.center().x())


def _draw_picture(painter: QPainter, picture: Picture, pixels: QPixmap, box: QRect) -> None:
    left = box.left() + (box.width() - pixels.width()) / 2
    corner = QPointF(left, box.top() + (box.height() - pixels.height()) / 2)
    painter.drawPixmap(corner, pixels)
    if picture.right is False:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour(Ink("fails")), FRAME))
        around = QRectF(corner, pixels.size().toSizeF())
        # A little outside: the frame takes few pixels from the picture.
        painter.drawRect(around.adjusted(-1, -1, 1, 1))
    scale = pixels.width() / picture.pixels.shape[1]
    for spot in picture.spots:
        _draw_spot(painter, spot, corner, scale)


def _draw_text(painter: QPainter, picture: Picture, box: QRect) -> None:
    """Chip and caption below a picture."""
    line = painter.fontMetrics().lineSpacing()
    chip = QRect(box.left(), box.top() + box.height() + 4, box.width(), line)
    if picture.chip:
        _draw_chip(painter, picture, chip)
    painter.setPen(QColor(theme.colours.text))
    caption = chip.translated(0, line if picture.chip else 0)
    _draw_words(painter, picture.caption, caption)


def _draw_chip(painter: QPainter, picture: Picture, place: QRect) -> None:
    sign, ink = _SIGNS[picture.right]
    painter.setPen(colour(ink or picture.ink))
    font = painter.font()
    bold = painter.font()
    bold.setBold(True)
    painter.setFont(bold)
    _draw_words(painter, f"{sign}{picture.chip}", place)
    painter.setFont(font)


def _draw_words(painter: QPainter, words: str, place: QRect) -> None:
    """One line, cut in its middle where it is too long."""
    cut = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, place.width())
    painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter | Qt.AlignmentFlag.AlignVCenter), cut)


def _draw_spot(painter: QPainter, spot: Spot, corner: QPointF, scale: float) -> None:
    """An open sign with a rim; its place is in pixels of the picture."""
    middle = QPointF(corner.x() + (spot.x + 0.5) * scale, corner.y() + (spot.y + 0.5) * scale)
    thin = spot.size > 0  # it frames pixels, which are to be seen
    if thin:
        # A pixel of a large picture may be smaller than a sign that can be seen.
        reach = max(3.0, spot.size * scale / 2)
    else:
        reach = 5.0
    painter.setBrush(Qt.BrushStyle.NoBrush)
    widths = (2.5, 1.25) if thin else (4.0, 2.0)
    # Twice: a rim in the colour of the ground lets the sign stand out from any picture.
    for pen in (QPen(QColor(theme.colours.surface), widths[0]), QPen(colour(spot.ink), widths[1])):
        painter.setPen(pen)
        if spot.symbol == "cross":
            for side in (1, -1):
                there = QPointF(reach, side * reach)
                painter.drawLine(middle - there, middle + there)
        elif spot.symbol == "square":
            painter.drawRect(QRectF(middle.x() - reach, middle.y() - reach, 2 * reach, 2 * reach))
        else:
            painter.drawEllipse(middle, reach, reach)


def _draw_arrow(painter: QPainter, middle: QPointF) -> None:
    painter.setPen(QPen(QColor(theme.colours.quiet), 2))
    tip = QPointF(middle.x() + 7, middle.y())
    painter.drawLine(QPointF(middle.x() - 7, middle.y()), tip)
    for side in (-5, 5):
        painter.drawLine(tip, QPointF(tip.x() - 5, tip.y() + side))
