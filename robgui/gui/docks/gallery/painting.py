"""How one input of the gallery is painted."""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from robgui.core.text.words import rough_percent, with_share
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.gallery.items import AnyIndex, GalleryModel, InputEntry
from robgui.gui.docks.thumbnails import Thumbnails, fit

#: The grid of the whole window.
PAD = 8


class GalleryDelegate(QStyledItemDelegate):
    """Paints thumbnail, label and prediction; a wrong one carries a cross instead of a tick.

    Attributes:
        size: Of every cell; the gallery shares its width among the columns.
        small: Small pictures without words; a sign tells right from wrong.
    """

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self.small = False
        self.size = self.cell()

    @staticmethod
    def side() -> int:
        """Side of a thumbnail in pixels; grows with the font."""
        # A multiple of eight pixels, about five lines of text high.
        return 8 * round(QFontMetrics(QApplication.font()).height() * 5.5 / 8)

    @classmethod
    def cell(cls) -> QSize:
        """Smallest size of one input in the grid."""
        return QSize(
            cls.side() + 3 * PAD,
            cls.side() + 2 * QFontMetrics(QApplication.font()).height() + 3 * PAD,
        )

    def least(self) -> QSize:
        """Smallest size of one input as it is painted now."""
        side = self._side() + PAD
        if self.small:
            return QSize(side, side)
        return self.cell()

    def _side(self) -> int:
        if self.small:
            return self.side() * 5 // 8
        return self.side()

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return self.size

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        model = index.model()
        assert isinstance(model, GalleryModel)
        if index.row() >= len(model.rows):
            return
        entry = model.entry(index.row())
        cell: QRect = option.rect.adjusted(2, 2, -2, -2)
        painter.save()
        painter.setFont(QApplication.font())
        self._frame(painter, cell, option)
        side = self._side()
        square = QRect(cell.left() + (cell.width() - side) // 2, cell.top() + PAD // 2, side, side)
        self._picture(painter, square, entry)
        if entry.second:
            self._badge(painter, cell, square)
        if self.small:
            self._sign(painter, square, entry)
            painter.restore()
            return
        if entry.tags:
            self._tags(painter, square, entry)
        self._words(
            painter,
            cell.adjusted(PAD // 2, square.bottom() + PAD // 2 - cell.top(), -PAD // 2, -2),
            entry,
        )
        painter.restore()

    def _sign(self, painter: QPainter, square: QRect, entry: InputEntry) -> None:
        """A tick or a cross in the corner of a small picture."""
        if entry.right is None:
            return
        size = painter.fontMetrics().height()
        spot = QRect(square.right() - size + 1, square.bottom() - size + 1, size, size)
        painter.fillRect(spot, QColor(theme.colours.surface))
        if entry.right:
            colour = theme.colours.good
        else:
            colour = theme.colours.bad
        icon("check" if entry.right else "cross", colour).paint(painter, spot)

    def _frame(self, painter: QPainter, cell: QRect, option: QStyleOptionViewItem) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if not (chosen or hover):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(theme.colours.raised))
        painter.setPen(QPen(QColor(theme.colours.accent), 2) if chosen else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 6, 6)

    def _picture(self, painter: QPainter, square: QRect, entry: InputEntry) -> None:
        found = self._thumbnails.get(entry.index)
        if isinstance(found, QPixmap):
            target = fit(found.size(), square)
            # Enlarged pixels stay sharp: in a small image each of them counts.
            painter.setRenderHint(
                QPainter.RenderHint.SmoothPixmapTransform, target.width() < found.width()
            )
            painter.drawPixmap(target, found)
        elif isinstance(found, str) or entry.unreadable:
            self._note(painter, square, "warning", "cannot be read")
        else:
            painter.fillRect(square, QColor(theme.colours.raised))

    def _badge(self, painter: QPainter, cell: QRect, square: QRect) -> None:
        """A dashed frame and the number 2: this is the other corner of a box."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(theme.colours.accent), 2, Qt.PenStyle.DashLine))
        painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 6, 6)
        side = painter.fontMetrics().height() + 4
        spot = QRect(square.topLeft(), QSize(side, side))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.colours.accent))
        painter.drawRoundedRect(spot, 4, 4)
        painter.setPen(QColor(theme.colours.on_accent))
        painter.drawText(spot, Qt.AlignmentFlag.AlignCenter, "2")

    def _tags(self, painter: QPainter, square: QRect, entry: InputEntry) -> None:
        """The first tag on a ribbon over the picture, and how many more there are."""
        metrics = painter.fontMetrics()
        if len(entry.tags) > 1:
            more = f" +{len(entry.tags) - 1}"
        else:
            more = ""
        room = square.width() - PAD - metrics.horizontalAdvance(more)
        words = metrics.elidedText(entry.tags[0], Qt.TextElideMode.ElideRight, room) + more
        width = metrics.horizontalAdvance(words) + PAD
        spot = QRect(square.left(), square.bottom() - metrics.height() + 1, width, metrics.height())
        painter.fillRect(spot, QColor(theme.colours.raised))
        painter.setPen(QColor(theme.colours.text))
        painter.drawText(spot, Qt.AlignmentFlag.AlignCenter, words)

    def _note(self, painter: QPainter, square: QRect, symbol: str, words: str) -> None:
        painter.fillRect(square, QColor(theme.colours.raised))
        size = painter.fontMetrics().height() * 3 // 2
        spot = QRect(square.center() - QPoint(size // 2, size), QSize(size, size))
        icon(symbol, theme.colours.warning).paint(painter, spot)
        painter.setPen(QColor(theme.colours.text))
        painter.drawText(
            square.adjusted(0, spot.bottom() - square.top(), 0, 0),
            Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap,
            words,
        )

    def _words(self, painter: QPainter, area: QRect, entry: InputEntry) -> None:
        metrics = painter.fontMetrics()
        line = metrics.height()
        painter.setPen(QColor(theme.colours.text))
        top = QRect(area.left(), area.top(), area.width(), line)
        painter.drawText(
            top,
            Qt.AlignmentFlag.AlignCenter,
            metrics.elidedText(entry.title, Qt.TextElideMode.ElideMiddle, area.width()),
        )
        below = top.translated(0, line)
        if not entry.guess:
            painter.setPen(QColor(theme.colours.quiet))
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, entry.without_guess)
            return
        colour = {True: theme.colours.good, False: theme.colours.bad, None: theme.colours.text}[
            entry.right
        ]
        if entry.right is not None:
            size = line * 7 // 8 + 2
        else:
            size = 0
        guess = guess_in(entry, metrics, area.width() - size)
        left = below.left() + max(0, (area.width() - size - metrics.horizontalAdvance(guess)) // 2)
        if size:
            mark = QRect(left, below.top() + (line - size) // 2 + 1, size - 2, size - 2)
            icon("check" if entry.right else "cross", colour).paint(painter, mark)
        painter.setPen(QColor(colour))
        painter.drawText(
            QRect(left + size, below.top(), area.right() - left - size + 1, line),
            Qt.AlignmentFlag.AlignVCenter,
            guess,
        )


def guess_in(entry: InputEntry, metrics: QFontMetrics, width: int) -> str:
    """The prediction with its confidence in ``width`` pixels.

    A name too long that stands above already is left out; beside one that does not, and is wrong,
    the confidence is left to the tool tip: what it is taken for matters more.
    """
    share = rough_percent(entry.confidence)
    wide = metrics.horizontalAdvance(with_share(entry.guess, share)) > width
    # The same word stands above already; only its share is news.
    if wide and entry.guess == entry.title:
        return share
    # What it is taken for matters more than how surely.
    if wide and entry.right is False:
        return metrics.elidedText(entry.guess, Qt.TextElideMode.ElideMiddle, width)
    room = width - metrics.horizontalAdvance(with_share("", share))
    return with_share(metrics.elidedText(entry.guess, Qt.TextElideMode.ElideMiddle, room), share)
