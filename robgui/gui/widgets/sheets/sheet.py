"""Sheet: a table of results to read, sort and point at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from PySide6.QtCore import (
    QAbstractTableModel,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QSignalBlocker,
    QSize,
    Qt,
    QTimer,
    Signal,
)
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from robgui.core.text.words import number
from robgui.core.verdict import Status
from robgui.core.view import Column, Ink, Table
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import theme
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import tip

AnyIndex = QModelIndex | QPersistentModelIndex
#: A column of words is at most this many characters wide; the tool tip has the whole.
WIDEST = 48
#: How strongly a cell is tinted: its words stay readable.
TINT = 0.12
#: Milliseconds between two measurements of all cells during a run: they cost more than the picture.
_FIT_MS = 300


class Sheet(QTableView):
    """Columns of equal length; a click on a header sorts, a click on a row points at it.

    Args:
        name: For a screen reader.
        empty: What to do, while there is nothing to show.

    Attributes:
        widest: Characters of a column of words.

    Signals:
        pointed: Number of the row that was chosen, counted as it was given.
        opened: Number of the row that was double-clicked or entered.
    """

    widest = WIDEST
    pointed = Signal(int)
    opened = Signal(int)

    def __init__(self, name: str, empty: str = "") -> None:
        super().__init__()
        self._empty = empty
        self._points = self.font().pointSizeF()
        self._model = _Columns(self)
        self.setModel(self._model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        # Tab leaves the table; by default it walks through every cell.
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        # Enabling sorting sorts by the first column at once; -1 keeps the order given.
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.verticalHeader().hide()
        self._set_row_height()
        self.selectionModel().currentRowChanged.connect(self._chosen)
        self._fitting = QTimer(self, singleShot=True, interval=_FIT_MS)
        self._fitting.timeout.connect(self._fit_again)
        self._grown = False
        self.activated.connect(lambda index: self.opened.emit(self._model.order[index.row()]))

    def show_columns(self, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
        """Shows these columns; the user's order and choice stay."""
        self.show_cells([Cells(name, cells) for name, cells in columns.items()])

    def show_table(self, table: Table) -> None:
        """Shows typed columns; the user's order and choice stay."""
        self.show_cells([_typed(column) for column in table.columns])

    def show_cells(self, columns: Sequence[Cells]) -> None:
        """Shows columns that say how their cells read; the user's order and choice stay."""
        chosen = self.current
        new = [column.title for column in columns] != self._model.names
        # The reset drops the choice, and restoring it is no choice of the user.
        with QSignalBlocker(self.selectionModel()):
            self._model.show(columns)
            self.point(chosen)
        self._grown = self._fitting.isActive() and not new
        if not self._grown:
            self._fit(new)
            self._fitting.start()

    def _fit_again(self) -> None:
        """Columns hold what was shown since they were last measured."""
        if self._grown:
            self._grown = False
            self._fit(new=False)
            self._fitting.start()

    def _fit(self, new: bool) -> None:
        """Columns hold their widest cell; while a run goes on they may grow but not shrink."""
        most = self.fontMetrics().averageCharWidth() * self.widest
        header = self.horizontalHeader()
        for place in range(self._model.columnCount()):
            contents = self.sizeHintForColumn(place)
            if not self._model.holds_numbers(place):
                contents = min(contents, most)
            lines = self._model.names[place].count("\n")
            # Qt reserves as much room for the sort arrow as the title is high.
            title = header.sectionSizeHint(place) - lines * header.fontMetrics().height()
            wanted = max(contents, title) + 4
            if new or wanted > self.columnWidth(place):
                self.setColumnWidth(place, wanted)

    def _set_row_height(self) -> None:
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 10)

    def changeEvent(self, event: QEvent) -> None:
        """Larger letters take more room, also in columns that the user has moved."""
        super().changeEvent(event)
        kinds = QEvent.Type.FontChange, QEvent.Type.StyleChange
        if event.type() in kinds and self._points != self.font().pointSizeF():
            self._points = self.font().pointSizeF()
            self._set_row_height()
            QTimer.singleShot(0, self, lambda: self._fit(new=True))  # The titles grow after it.

    def sizeHint(self) -> QSize:
        """Five rows and the header: the picture above needs the room, and rows scroll."""
        return QSize(super().sizeHint().width(), 6 * self.verticalHeader().defaultSectionSize())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows, or what to do."""
        super().paintEvent(event)
        if not self._model.rowCount():
            self._say_empty()

    def _say_empty(self) -> None:
        """Paints words in the middle; called while the view is painted."""
        painter = QPainter(self.viewport())
        painter.setPen(QColor(theme.colours.quiet))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.viewport().rect().adjusted(16, 16, -16, -16), flags, self._empty)
        painter.end()

    @property
    def current(self) -> int:
        """The row chosen, counted as it was given; -1 for none."""
        row = self.currentIndex().row()
        if 0 <= row < len(self._model.order):
            return self._model.order[row]
        return -1

    def point(self, row: int) -> None:
        """Chooses a row, counted as it was given, without telling anyone."""
        with QSignalBlocker(self.selectionModel()):
            if row in self._model.order:
                place = self._model.order.index(row)
                self.selectRow(place)
                self.scrollTo(self._model.index(place, 0))
            else:
                self.clearSelection()
                self.setCurrentIndex(QModelIndex())
        self.viewport().update()

    def _chosen(self, index: QModelIndex) -> None:
        if index.isValid():
            self.pointed.emit(self._model.order[index.row()])


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        if value:
            return "yes"
        return "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    if np.isfinite(value):
        return number(float(value))
    return "n/a"


def _unknown(value: Any) -> bool:
    return value is None or (isinstance(value, float | np.floating) and bool(np.isnan(value)))


def _rank(value: Any) -> tuple[bool, Any]:
    """What a known cell is sorted by: numbers first, then words."""
    words = isinstance(value, str)
    return words, value.casefold() if words else float(value)


def _no_ink(value: Any) -> Ink | None:
    return None


@dataclass(frozen=True)
class Cells:
    """One column.

    Attributes:
        title: What stands above it.
        cells: One for each row.
        words: How a cell reads.
        ink: What a cell is written with; None for the colour of text.
        tip: What a cell says in full; None if its words are all.
        rank: What a known cell is sorted by.
        whole: Whether its words hold numbers, so they are never cut.
        ground: What a cell is tinted with; None for the ground of the table.
    """

    title: str
    cells: Sequence[Any] | np.ndarray
    words: Callable[[Any], str] = _words
    ink: Callable[[Any], Ink | None] = _no_ink
    tip: Callable[[Any], str] | None = None
    rank: Callable[[Any], Any] = _rank
    whole: bool = False
    ground: Callable[[Any], Ink | None] = _no_ink

    @cached_property
    def numbers(self) -> bool:
        """Whether it holds numbers, which stand on the right and are never cut."""
        return any(isinstance(cell, int | float | np.number) for cell in self.cells)


def _status_ink(cell: Any) -> Ink | None:
    if cell:
        return status_ink(Status(cell))
    return None


def _typed(column: Column) -> Cells:
    """A column of a Table; a status has its colour."""
    if column.kind == "status":
        return Cells(column.title, column.cells, column.words, _status_ink)
    return Cells(column.title, column.cells, column.words)


class _Columns(QAbstractTableModel):
    """The cells, and the order in which the rows stand."""

    def __init__(self, parent: Sheet) -> None:
        super().__init__(parent)
        self._columns: list[Cells] = []
        self.order: list[int] = []
        self._sorted = (-1, False)

    @property
    def names(self) -> list[str]:
        """What stands above the columns."""
        return [column.title for column in self._columns]

    def show(self, columns: Sequence[Cells]) -> None:
        self.beginResetModel()
        if [column.title for column in columns] != self.names:
            self._sorted = (-1, False)
        self._columns = list(columns)
        self._arrange()
        self.endResetModel()

    def holds_numbers(self, column: int) -> bool:
        """Whether a column may not be cut."""
        return self._columns[column].numbers or self._columns[column].whole

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order is Qt.SortOrder.DescendingOrder)
        self._arrange()
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        """Unknown values stand last, whichever way the others are sorted."""
        if self._columns:
            count = len(self._columns[0].cells)
        else:
            count = 0
        column, down = self._sorted
        self.order = list(range(count))
        if not 0 <= column < len(self._columns):
            return
        cells, rank = self._columns[column].cells, self._columns[column].rank
        # What is unknown stays last in both orders.
        known = [row for row in self.order if not _unknown(cells[row])]
        known.sort(key=lambda row: rank(cells[row]), reverse=down)
        self.order = known + [row for row in range(count) if _unknown(cells[row])]

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        if parent.isValid():
            return 0
        return len(self.order)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        if parent.isValid():
            return 0
        return len(self._columns)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or section >= len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self._columns[section].title
        if role == Qt.ItemDataRole.TextAlignmentRole:
            if self._columns[section].numbers:
                return _RIGHT
            return _LEFT
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        column = self._columns[index.column()]
        cell = column.cells[self.order[index.row()]]
        if role == Qt.ItemDataRole.DisplayRole:
            return column.words(cell)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip((column.tip or column.words)(cell))
        if role == Qt.ItemDataRole.TextAlignmentRole:
            if column.numbers:
                return _RIGHT
            return _LEFT
        if role == Qt.ItemDataRole.ForegroundRole and (ink := column.ink(cell)) is not None:
            return colour(ink)
        if role == Qt.ItemDataRole.BackgroundRole and (ink := column.ground(cell)) is not None:
            return colour(ink, TINT)
        return None


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
