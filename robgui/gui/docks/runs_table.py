"""RunsTable: one row for each job and run, its columns as wide as their words need."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QTableView

from robgui.gui.docks.runs_items import (
    ANALYSIS,
    INPUT,
    MODEL,
    QUEUED,
    RESULT,
    STATE,
    TIME,
    ProgressDelegate,
    RunsModel,
)

#: Widths in letters.
_LETTERS = {STATE: 11, ANALYSIS: 18, INPUT: 16, MODEL: 16, QUEUED: 12, TIME: 10}
#: The longest of its kind: a time is never cut.
_LONGEST = {TIME: "59 min 59 s"}


class RunsTable(QTableView):
    """Rows are chosen whole, one at a time."""

    def __init__(self, model: RunsModel) -> None:
        super().__init__()
        self.setAccessibleName("Runs, the newest first")
        self.setModel(model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setTabKeyNavigation(False)
        self.setItemDelegateForColumn(RESULT, ProgressDelegate(self))
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.verticalHeader().hide()
        header = self.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)

    def mark(self, row: int) -> None:
        """Chooses a row; -1 chooses none."""
        if row >= 0:
            self.selectRow(row)
        else:
            self.clearSelection()
            self.setCurrentIndex(QModelIndex())

    def fit(self) -> None:
        """Rows and columns for the present font."""
        metrics = self.fontMetrics()
        self.verticalHeader().setDefaultSectionSize(metrics.height() + 14)
        self.setIconSize(QSize(metrics.height(), metrics.height()))
        wide = metrics.averageCharWidth()
        for column, letters in _LETTERS.items():
            whole = metrics.horizontalAdvance(_LONGEST.get(column, "")) + 12
            self.setColumnWidth(column, max(whole, wide * letters + 12))
        self._share_width()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._share_width()

    def _share_width(self) -> None:
        """The result gets what the others leave, but never less than a few words."""
        taken = sum(self.columnWidth(column) for column in _LETTERS)
        least = self.fontMetrics().averageCharWidth() * 44
        self.setColumnWidth(RESULT, max(least, self.viewport().width() - taken))
