"""Sheet: a table of results to read, sort and point at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView

from robgui.core.text.words import number
from robgui.gui.widgets.plain import tip
from robgui.gui.widgets.thumbs import say_empty

AnyIndex = QModelIndex | QPersistentModelIndex


class Sheet(QTableView):
    """Columns of equal length; a click on a header sorts, a click on a row points at it.

    Args:
        name: For a screen reader.
        empty: What to do, while there is nothing to show.

    Signals:
        pointed: Number of the row that was chosen, counted as it was given.
        opened: Number of the row that was double-clicked or entered.
    """

    pointed = Signal(int)
    opened = Signal(int)

    def __init__(self, name: str, empty: str = "") -> None:
        super().__init__()
        self._empty = empty
        self._model = _Columns(self)
        self.setModel(self._model)
        self.setAccessibleName(name)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setShowGrid(False)
        self.setTabKeyNavigation(False)
        self.setSortingEnabled(True)
        self.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.horizontalHeader().setHighlightSections(False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 10)
        self.selectionModel().currentRowChanged.connect(self._chosen)
        self.activated.connect(lambda index: self.opened.emit(self._model.order[index.row()]))

    def show_columns(self, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
        """Shows these columns; the user's order and choice stay."""
        chosen = self.current
        new = list(columns) != self._model.names
        with QSignalBlocker(self.selectionModel()):
            self._model.show(columns)
            self.point(chosen)
        if new:
            self.resizeColumnsToContents()

    def sizeHint(self) -> QSize:
        """Five rows and the header: the rest can be scrolled to, and the picture above needs the room."""
        return QSize(super().sizeHint().width(), 6 * self.verticalHeader().defaultSectionSize())

    def paintEvent(self, event: QPaintEvent) -> None:
        """The rows, or what to do."""
        super().paintEvent(event)
        if not self._model.rowCount():
            say_empty(self, self._empty)

    @property
    def current(self) -> int:
        """The row chosen, counted as it was given; -1 for none."""
        row = self.currentIndex().row()
        return self._model.order[row] if 0 <= row < len(self._model.order) else -1

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


class _Columns(QAbstractTableModel):
    """The cells, and the order in which the rows stand."""

    def __init__(self, parent: Sheet) -> None:
        super().__init__(parent)
        self.names: list[str] = []
        self._columns: list[Sequence[Any] | np.ndarray] = []
        self.order: list[int] = []
        self._sorted = (-1, False)

    def show(self, columns: Mapping[str, Sequence[Any] | np.ndarray]) -> None:
        self.beginResetModel()
        if list(columns) != self.names:
            self._sorted = (-1, False)
        self.names, self._columns = list(columns), list(columns.values())
        self._arrange()
        self.endResetModel()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        self.layoutAboutToBeChanged.emit()
        self._sorted = (column, order is Qt.SortOrder.DescendingOrder)
        self._arrange()
        self.layoutChanged.emit()

    def _arrange(self) -> None:
        count = len(self._columns[0]) if self._columns else 0
        column, down = self._sorted
        self.order = list(range(count))
        if 0 <= column < len(self._columns):
            values = self._columns[column]
            self.order.sort(key=lambda row: _rank(values[row]), reverse=down)

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.order)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.names)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is Qt.Orientation.Horizontal and role == Qt.ItemDataRole.DisplayRole and section < len(self.names):
            return self.names[section]
        return None

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        value = self._columns[index.column()][self.order[index.row()]]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return tip(_words(value)) if role == Qt.ItemDataRole.ToolTipRole else _words(value)
        if role == Qt.ItemDataRole.TextAlignmentRole and not isinstance(value, str):
            return Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        return None


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, int | np.integer):
        return f"{int(value):,}"
    return number(float(value)) if np.isfinite(value) else "n/a"


def _rank(value: Any) -> tuple[bool, Any]:
    """What a cell is sorted by; what is not known stands last."""
    if isinstance(value, str):
        return False, value.casefold()
    unknown = bool(np.isnan(float(value)))
    return unknown, 0.0 if unknown else float(value)
