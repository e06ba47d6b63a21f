"""Images on the screen: pictures with captions and chips, as large as the room allows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPalette,
    QPixmap,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView

from robgui.core.view import Images, Picture
from robgui.gui.widgets.plain import tip
from robgui.gui.widgets.views.callout import Callout
from robgui.gui.widgets.views.picture_cell import (
    ARROW,
    MARGIN,
    CellDelegate,
    frame_shape,
    half_at,
    own_share,
    picture_box,
    scaled_to,
    words_of,
)
from robgui.gui.widgets.views.widget import ViewWidget

AnyIndex = QModelIndex | QPersistentModelIndex
#: Sides of a picture in pixels: never larger; smaller than the second only where few then all fit,
#: and larger than the third only where there are few.
SMALLEST, LEAST, MOST, MOST_OF_FEW = 48, 88, 320, 800
#: In a mini picture many are cut off below; this small they still tell what they are.
MINI = 64
FEW = 4
#: A column is at least as wide as its words, up to this many characters.
WORDS, MINI_WORDS = 22, 15


class ImagesView(ViewWidget):
    """Draws Images; ``chosen`` gives the number of the picture that was clicked or entered.

    Signals:
        hovered: ``(picture, column, row)``: the pixel under the mouse; None when it is on none.
    """

    hovered = Signal(object)

    kind = Images

    def build(self) -> None:
        """A list of pictures."""
        self.model = PictureModel()
        self.model.letters = MINI_WORDS if self.mini else WORDS
        self.list = _List(self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(CellDelegate(self.model, self.list))
        self.put(self.list)

    def draw(self, view: Images) -> None:
        """Takes the new pictures; the place scrolled to stays."""
        self.list.setAccessibleName(view.title)
        self.model.show(view)
        self.fit()

    def restyle(self) -> None:
        """Chips and captions in the present theme and text size."""
        self.model.measure()
        self.fit()
        self.list.viewport().update()

    def fit(self) -> None:
        """The largest pictures that need no scrolling, or the columns that the view asks for."""
        view: Images | None = self.view
        if view is None or not self.built:
            return
        room = self.list.size()
        bar = 0 if self.mini else self.list.verticalScrollBar().sizeHint().width()
        room.setWidth(room.width() - bar - 1)  # a row that fills the width to the pixel is wrapped
        asked = -(-view.columns // self.model.wide) if view.columns else 0
        least = MINI if self.mini else LEAST
        self.model.set_worded(not self.mini or self.model.words_fit(room.width()))
        self.model.set_side(self.model.best_side(room, asked, least))
        self.list.setGridSize(self.model.cell)
        self.list.stand_in_the_middle(*self._free(room))

    def _free(self, room: QSize) -> tuple[int, int]:
        """Pixels on both sides and above that leave all cells in the middle; 0 above to scroll."""
        cell, count = self.model.cell, self.model.rowCount()
        across = max(1, min(count, room.width() // max(1, cell.width())))
        beside = max(0, (room.width() - across * cell.width()) // 2 - MARGIN)
        rows = -(-count // across)
        return beside, max(0, (room.height() - rows * cell.height()) // 2 - MARGIN)

    def callouts(self) -> list[Callout]:
        """What the first picture and the first one that is wrong are."""
        pictures = self.view.pictures
        wrong = [number for number, one in enumerate(pictures) if one.right is False]
        found = []
        for number in sorted({*range(min(1, len(pictures))), *wrong[:1]}):
            row, half = divmod(number, self.model.wide)
            cell = self.list.visualRect(self.model.index(row))
            corner = cell.topLeft() + QPoint(24 + half * (self.model.frame.width() + ARROW), 24)
            place = self.list.viewport().mapTo(self, corner)
            found.append(Callout(place, f"{words_of(pictures[number])}."))
        return found

    def point(self, index: QModelIndex, place: QPoint) -> None:
        """Reads out the picture under the mouse."""
        if not index.isValid() or self.view is None:
            self.tell("")
            self.hovered.emit(None)
            return
        number = self.number(index, place.x())
        self.tell(words_of(self.view.pictures[number]))
        self.hovered.emit(self.pixel(index, place))

    def pixel(self, index: QModelIndex, place: QPoint) -> tuple[int, int, int] | None:
        """The picture and the column and row of its pixel at a place; None beside a picture."""
        shown = self.model.pictures(index.row())
        for half, (picture, pixels) in enumerate(shown):
            box = picture_box(self.list.visualRect(index), self.model.frame, pixels.size(), half)
            if box.contains(place):
                scale = picture.pixels.shape[1] / max(1, pixels.width())
                column, row = ((place - box.topLeft()).toPointF() * scale).toTuple()
                height, width = picture.pixels.shape[:2]
                number = self.model.wide * index.row() + half
                return number, min(int(column), width - 1), min(int(row), height - 1)
        return None

    def choose(self, index: QModelIndex, x: int) -> None:
        """A picture was clicked, or entered from the keyboard."""
        if index.isValid() and self.view is not None:
            self.chosen.emit(self.number(index, x))

    def number(self, index: QModelIndex, x: int) -> int:
        """The picture at ``x`` within a cell."""
        if not self.view.pairs:
            return index.row()
        cell = self.list.visualRect(index)
        return 2 * index.row() + half_at(cell, x)


class _List(QListView):
    """Cells in rows that wrap; tells its ImagesView what the mouse does."""

    def __init__(self, owner: ImagesView) -> None:
        super().__init__()
        self._owner = owner
        self.setFlow(QListView.Flow.LeftToRight)
        self.setWrapping(True)
        self.setResizeMode(QListView.ResizeMode.Adjust)
        self.setUniformItemSizes(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QListView.Shape.NoFrame)
        self.setMouseTracking(True)
        self.setMinimumHeight(60)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.setAutoFillBackground(True)  # beside what stands in the middle too

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Pictures take the room of the list, which it may get after they were drawn."""
        super().resizeEvent(event)
        self._owner.fit()

    def stand_in_the_middle(self, beside: int, above: int) -> None:
        """Leaves this many pixels free on both sides and above."""
        self.setViewportMargins(beside, above, beside, 0)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        place = event.position().toPoint()
        self._owner.point(self.indexAt(place), place)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            place = event.position().toPoint()
            self._owner.choose(self.indexAt(place), place.x())

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._owner.tell("")
        self._owner.hovered.emit(None)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Return chooses as a click does; of a pair, the one that was changed."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._owner.choose(self.currentIndex(), self.visualRect(self.currentIndex()).right())
        else:
            super().keyPressEvent(event)


class PictureModel(QAbstractListModel):
    """The pictures of a view, one row each, or one for each pair; scaled once for a size."""

    def __init__(self) -> None:
        super().__init__()
        self.view: Images | None = None
        self.side = 0
        self.text_height = 0
        self._shape = (1.0, 1.0)
        self._words = self._longest = 0
        self._worded = True
        self.letters = WORDS
        self.metrics = QFontMetrics(QFont())
        self._scaled: dict[int, tuple[Any, QPixmap]] = {}

    def show(self, view: Images) -> None:
        """Takes other pictures; as many as before change in place."""
        before, old = self.rowCount(), self.view
        same = old is not None and old.pairs == view.pairs
        if same and old is not None and len(old.pictures) == len(view.pictures):
            self._take(view)
            if before:
                self.dataChanged.emit(self.index(0), self.index(before - 1))
            return
        self.beginResetModel()
        self._take(view)
        self._scaled = {}
        self.endResetModel()

    def _take(self, view: Images) -> None:
        self.view = view
        self._shape = frame_shape(view)
        self.measure()

    def measure(self) -> None:
        """How wide the words are; their font may have changed."""
        pictures = () if self.view is None else self.view.pictures
        lines = [words for one in pictures for words in (one.caption, f"✓ {one.chip}")]
        widths = [self.metrics.horizontalAdvance(words) for words in lines]
        self._longest = max(widths, default=0) + self.metrics.averageCharWidth()
        self._words = min(self.letters * self.metrics.averageCharWidth(), self._longest)

    @property
    def few(self) -> bool:
        """Whether there are so few pictures that each may be large."""
        return self.view is not None and len(self.view.pictures) <= FEW

    def words_fit(self, width: int) -> bool:
        """Whether the pictures of a cell fit beside each other with all of their words."""
        return self.wide * self._longest + self._around <= width

    def set_worded(self, worded: bool) -> None:
        """Whether words stand below the pictures; very small ones say nothing rather than half."""
        if worded != self._worded:
            self._worded = worded
            self.layoutChanged.emit()

    @property
    def worded(self) -> bool:
        """Whether words stand below the pictures."""
        return self._worded

    @property
    def _around(self) -> int:
        """Pixels of a cell beside its pictures."""
        return (ARROW if self.wide == 2 else 0) + 2 * MARGIN

    def set_side(self, side: int) -> None:
        """Pictures fit into a square of this side."""
        if side != self.side:
            self.side = side
            self._scaled = {}
            self.layoutChanged.emit()

    @property
    def wide(self) -> int:
        """Pictures in a cell."""
        return 2 if self.view is not None and self.view.pairs else 1

    @property
    def frame(self) -> QSize:
        """The room of one picture, in which every one fits, at least as wide as its words."""
        return QSize(self.column(self.side), round(self.side * self._shape[1]))

    @property
    def cell(self) -> QSize:
        """Size of one cell: a picture or a pair, with its words below."""
        return QSize(*self._cell_for(self.side))

    def best_side(self, room: QSize, columns: int, least: int) -> int:
        """The largest side with which all fit, else ``columns`` in a row, else ``least``."""
        count = self.rowCount()
        lowest, most = (SMALLEST, MOST_OF_FEW) if self.few else (least, MOST)
        widest = 0
        wide, high = room.toTuple()
        for side in range(most, lowest - 1, -8):
            width, height = self._cell_for(side)
            across = columns or max(1, wide // width)
            if across * width <= wide:
                if -(-count // across) * height <= high:
                    return side
                widest = widest or side
        return (columns and widest) or least

    def column(self, side: int) -> int:
        """Width of one picture with its words."""
        return max(round(side * self._shape[0]), self._words if self._worded else 0)

    def _cell_for(self, side: int) -> tuple[int, int]:
        height = round(side * self._shape[1]) + (self.text_height if self._worded else 0)
        return self.wide * self.column(side) + self._around, height + 2 * MARGIN

    def pictures(self, row: int) -> list[tuple[Picture, QPixmap]]:
        """The pictures of a row with their pixels as they are drawn."""
        if self.view is None:
            return []
        numbers = range(self.wide * row, min(self.wide * (row + 1), len(self.view.pictures)))
        return [(self.view.pictures[number], self._pixmap(number)) for number in numbers]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        if parent.isValid() or self.view is None:
            return 0
        return len(self.view.pictures) // self.wide

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role in (Qt.ItemDataRole.AccessibleTextRole, Qt.ItemDataRole.ToolTipRole):
            words = "; ".join(words_of(picture) for picture, _ in self.pictures(index.row()))
            return tip(words) if role == Qt.ItemDataRole.ToolTipRole else words
        if role == Qt.ItemDataRole.SizeHintRole:
            return self.cell
        return None

    def _pixmap(self, number: int) -> QPixmap:
        assert self.view is not None
        pixels = self.view.pictures[number].pixels
        known = self._scaled.get(number)
        if known is None or known[0] is not pixels:
            side = round(self.side * own_share(self.view, number))
            known = self._scaled[number] = (pixels, scaled_to(pixels, max(1, side)))
        return known[1]
