"""The gallery's model and how one input is painted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPen, QPixmap, QStandardItemModel
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from robgui.core.text.words import percent, rough_percent
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.thumbnails import Thumbnails
from robgui.gui.state.predictions import UNREADABLE
from robgui.gui.widgets.plain import tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

AnyIndex = QModelIndex | QPersistentModelIndex
PAD = 8


@dataclass(frozen=True, slots=True)
class Entry:
    """What is known of one input, in words.

    Attributes:
        title: Label, or file name without labels.
        guess: Predicted class; empty while unknown.
        right: None without a label or a prediction.
        second: It is the second chosen input.
    """

    index: int
    key: str
    title: str
    guess: str = ""
    confidence: float = float("nan")
    right: bool | None = None
    unreadable: bool = False
    second: bool = False

    @property
    def sentence(self) -> str:
        """The same for a screen reader and the tool tip."""
        return f"{self._words} (second input)" if self.second else self._words

    @property
    def _words(self) -> str:
        if self.unreadable:
            return f"{self.key}: cannot be read"
        if not self.guess:
            return f"{self.key}: {self.title}, not predicted yet"
        mark = {True: "right", False: "wrong", None: "no label"}[self.right]
        return (
            f"{self.key}: {self.title}, predicted {self.guess} with {percent(self.confidence)},"
            f" {mark}"
        )


class GalleryModel(QStandardItemModel):
    """The inputs that pass the filter.

    Asks the store for everything, keeps nothing but their numbers.

    The empty rows are Qt's own: a list view asks every row when it lays itself out, which would
    take half a second for 100,000 rows in Python and takes ten milliseconds this way.
    """

    def __init__(self, store: Store, parent: QObject | None = None) -> None:
        super().__init__(0, 1, parent)
        self._store = store
        self.rows = np.empty(0, np.int64)

    def show(self, rows: np.ndarray) -> bool:
        """Shows these inputs (sorted); False when they are shown already."""
        if np.array_equal(rows, self.rows):
            return False
        self.rows = rows
        self.setRowCount(len(rows))
        return True

    def row_of(self, index: int | None) -> int:
        """Where input ``index`` stands; -1 when it is not shown."""
        if index is None:
            return -1
        row = int(np.searchsorted(self.rows, index))
        return row if row < len(self.rows) and self.rows[row] == index else -1

    def entry(self, row: int) -> Entry:
        """All that is painted of one row; no file is read."""
        store = self._store
        index = int(self.rows[row])
        dataset, model, predictions = (
            store.library.dataset,
            store.library.model,
            store.library.predictions,
        )
        assert dataset is not None
        labels = dataset.labels
        label = int(labels[index]) if labels is not None else -1
        key = dataset.key(index)
        outputs = model.settings.labels if model is not None else ()
        title = class_name(label, dataset.names, outputs) if label >= 0 else key
        second = index == store.selection.second
        if index >= len(predictions.classes):
            return Entry(index, key, title, second=second)
        guess = int(predictions.classes[index])
        if guess < 0:
            return Entry(index, key, title, unreadable=guess == UNREADABLE, second=second)
        wanted = int(predictions.labels[index]) if predictions.labels is not None else -1
        right = guess == wanted if wanted >= 0 else None
        words, confidence = (
            class_name(guess, outputs, dataset.names),
            float(predictions.confidence[index]),
        )
        return Entry(index, key, title, words, confidence, right, second=second)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self.rows):
            return None
        if role in (
            Qt.ItemDataRole.DisplayRole,
            Qt.ItemDataRole.ToolTipRole,
            Qt.ItemDataRole.AccessibleTextRole,
        ):
            sentence = self.entry(index.row()).sentence
            return tip(sentence) if role == Qt.ItemDataRole.ToolTipRole else sentence
        return None


class GalleryDelegate(QStyledItemDelegate):
    """Paints thumbnail, label and prediction; a wrong one carries a cross instead of a tick.

    Attributes:
        size: Of every cell; the gallery shares its width among the columns.
    """

    def __init__(self, thumbnails: Thumbnails, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thumbnails = thumbnails
        self.size = self.cell()

    @staticmethod
    def side() -> int:
        """Side of a thumbnail in pixels; grows with the font."""
        return 8 * round(QFontMetrics(QApplication.font()).height() * 5.5 / 8)

    @classmethod
    def cell(cls) -> QSize:
        """Smallest size of one input in the grid."""
        return QSize(
            cls.side() + 3 * PAD,
            cls.side() + 2 * QFontMetrics(QApplication.font()).height() + 3 * PAD,
        )

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
        side = self.side()
        square = QRect(cell.left() + (cell.width() - side) // 2, cell.top() + PAD // 2, side, side)
        self._picture(painter, square, entry)
        if entry.second:
            self._badge(painter, cell, square)
        self._words(
            painter,
            cell.adjusted(PAD // 2, square.bottom() + PAD // 2 - cell.top(), -PAD // 2, -2),
            entry,
        )
        painter.restore()

    def _frame(self, painter: QPainter, cell: QRect, option: QStyleOptionViewItem) -> None:
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hover = bool(option.state & QStyle.StateFlag.State_MouseOver)
        if not (chosen or hover):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(QColor(theme.colours.raised))
        painter.setPen(QPen(QColor(theme.colours.accent), 2) if chosen else Qt.PenStyle.NoPen)
        painter.drawRoundedRect(cell.adjusted(1, 1, -1, -1), 6, 6)

    def _picture(self, painter: QPainter, square: QRect, entry: Entry) -> None:
        found = self._thumbnails.get(entry.index)
        if isinstance(found, QPixmap):
            target = fit(found.size(), square)
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

    def _words(self, painter: QPainter, area: QRect, entry: Entry) -> None:
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
            painter.drawText(
                below, Qt.AlignmentFlag.AlignCenter, "unreadable" if entry.unreadable else "…"
            )
            return
        colour = {True: theme.colours.good, False: theme.colours.bad, None: theme.colours.text}[
            entry.right
        ]
        size = line * 7 // 8 + 2 if entry.right is not None else 0
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


def guess_in(entry: Entry, metrics: QFontMetrics, width: int) -> str:
    """The prediction with its confidence in ``width`` pixels.

    A name too long that stands above already is left out.
    """
    share = rough_percent(entry.confidence)
    if entry.guess == entry.title and metrics.horizontalAdvance(f"{entry.guess} {share}") > width:
        return share
    room = width - metrics.horizontalAdvance(f" {share}")
    return f"{metrics.elidedText(entry.guess, Qt.TextElideMode.ElideMiddle, room)} {share}"


def fit(size: QSize, square: QRect) -> QRect:
    """The largest rectangle of the picture's proportions inside ``square``, centred."""
    scaled = size.scaled(square.size(), Qt.AspectRatioMode.KeepAspectRatio)
    corner = square.center() - QPoint((scaled.width() - 1) // 2, (scaled.height() - 1) // 2)
    return QRect(corner, scaled)


def class_name(index: int, *names: tuple[str, ...]) -> str:
    """The name of a class from the first list that knows it, else its number."""
    for known in names:
        if 0 <= index < len(known):
            return known[index]
    return str(index)
