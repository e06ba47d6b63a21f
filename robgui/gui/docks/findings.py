"""Findings: the failures worth showing, worst first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QMenu,
    QStackedWidget,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from robgui.core.finding import StoredFinding
from robgui.core.finding_groups import Group
from robgui.gui.app.theme import icon, theme
from robgui.gui.docks.findings_bar import FindingsBar
from robgui.gui.docks.findings_items import (
    NOTE,
    PICTURE,
    SEVERITY,
    STAR,
    TITLE,
    FindingsDelegate,
    FindingsModel,
)
from robgui.gui.docks.harm_dialog import HarmDialog, classes_to_ask
from robgui.gui.docks.thumbnails import Thumbnails
from robgui.gui.panels.send_button import list_targets
from robgui.gui.state.replay import Replay
from robgui.gui.state.selection import Selection
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store

#: Thumbnails of findings are made no larger than this; the picture itself is shown by its panel.
_SIDE = 160
NOTHING_YET = (
    "No findings yet.\n\nRun an analysis; the failures it finds are listed here, worst first."
)
LOADING = "Loading …"
NOTHING_PASSES = "No finding passes the filter."


class Findings(QWidget):
    """The list of findings, with a filter, notes and stars.

    Signals:
        wants_export: The findings shown are to be written to files.
    """

    wants_export = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.setAccessibleName("Findings")
        self.thumbnails = Thumbnails(store.pictures, parent=self)
        self.model = FindingsModel(store, self)
        self.replay = Replay(store, self)
        self._order = (SEVERITY, True)
        self._unfolded: set[int] = set()
        self.bar = FindingsBar()
        self.text, self.kinds, self.starred = self.bar.text, self.bar.kinds, self.bar.starred
        self.count, self.harm, self.export = self.bar.count, self.bar.harm, self.bar.export
        self._make_table()
        self._lay_out()
        self._looking = QTimer(self, singleShot=True, interval=30)
        self._looking.timeout.connect(self._look)
        self._connect()
        self._fonts()
        self._take_workspace()

    # --- making -----------------------------------------------------------------------------------

    def _make_table(self) -> None:
        self.table = QTableView()
        self.table.setAccessibleName("Findings, worst first")
        self.table.setModel(self.model)
        self.table.setItemDelegate(FindingsDelegate(self.thumbnails, self.table))
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setEditTriggers(QAbstractItemView.EditTrigger.EditKeyPressed)
        self.table.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.table.setShowGrid(False)
        self.table.setTabKeyNavigation(False)
        self.table.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.table.verticalHeader().hide()
        header = self.table.horizontalHeader()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(SEVERITY, Qt.SortOrder.DescendingOrder)
        header.setSectionResizeMode(TITLE, QHeaderView.ResizeMode.Stretch)
        self.empty = Label(NOTHING_YET, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("role", "quiet")

    def _lay_out(self) -> None:
        self.stack = QStackedWidget()
        self.stack.addWidget(self.table)
        self.stack.addWidget(self.empty)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.bar)
        layout.addWidget(self.stack, 1)

    def _connect(self) -> None:
        self._store.history.findings_changed.connect(self._take_findings)
        self._store.history.opened.connect(self._take_workspace)
        self._store.selection_changed.connect(self._follow)
        theme.changed.connect(self._fonts)
        self.export.clicked.connect(self.wants_export)
        self.harm.clicked.connect(self.ask_harm)
        self.bar.changed.connect(self.sync)
        self.table.horizontalHeader().sectionClicked.connect(self.sort_by)
        self.table.selectionModel().currentRowChanged.connect(self._chosen)
        self.table.doubleClicked.connect(self._double_clicked)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.table.verticalScrollBar().valueChanged.connect(lambda _: self._look_soon())
        self.table.itemDelegate().closeEditor.connect(
            lambda *_: QTimer.singleShot(0, self, self.sync)
        )
        self.thumbnails.arrived.connect(lambda _: self.table.viewport().update())
        self.table.installEventFilter(self)

    def _fonts(self) -> None:
        metrics = self.fontMetrics()
        line, wide = metrics.height(), metrics.averageCharWidth()
        self.table.verticalHeader().setDefaultSectionSize(line * 3 + 16)
        note = min(wide * 30, max(wide * 12, self.table.viewport().width() // 4))
        for column, width in (
            (STAR, line + 24),
            (PICTURE, line * 4),
            (SEVERITY, wide * 14),
            (NOTE, note),
        ):
            self.table.setColumnWidth(column, width)
        self.table.horizontalHeader().setMinimumSectionSize(line + 16)
        self.export.setIcon(icon("export"))
        self._look_soon()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_looking"):
            self._fonts()

    # --- what is shown ----------------------------------------------------------------------------

    def _take_workspace(self) -> None:
        workspace = self._store.history.workspace
        self.thumbnails.reset(None if workspace is None else lambda key: _picture(workspace, key))
        self._take_findings()

    def _take_findings(self) -> None:
        self.bar.take_kinds(finding.kind for finding in self._store.history.findings)
        self.sync()

    def sort_by(self, column: int) -> None:
        """Sorts by a column; the other way round when it is the present one."""
        down = not self._order[1] if column == self._order[0] else column in (STAR, SEVERITY)
        self._order = (column, down)
        order = Qt.SortOrder.DescendingOrder if down else Qt.SortOrder.AscendingOrder
        self.table.horizontalHeader().setSortIndicator(column, order)
        self.sync()

    def sync(self) -> None:
        """Applies filter and order; a note being written is not disturbed."""
        if self.table.state() is QAbstractItemView.State.EditingState:
            return
        groups = [group for group in self._entries() if self.bar.passes(group)]
        column, down = self._order
        groups.sort(key=lambda group: (_rank(group, column), group.severity), reverse=down)
        rows = [group.lead for group in groups]
        place = self.table.verticalScrollBar().value()
        with QSignalBlocker(self.table.selectionModel()):
            self.model.show(rows, groups)
            self._mark(self._store.selection.finding)
        self.table.verticalScrollBar().setValue(place)
        self.empty.setText(
            NOTHING_PASSES
            if self._store.history.findings
            else LOADING
            if self._store.history.loading
            else NOTHING_YET
        )
        self.stack.setCurrentIndex(0 if rows else 1)
        shown = sum(len(group.members) for group in groups)
        self.bar.tell(shown, len(self._store.history.findings), len(rows))
        self._look_soon()

    def _entries(self) -> list[Group]:
        """Findings that are alike as one entry, unless the user wants to see each."""
        history = self._store.history
        found: list[Group] = []
        for group in history.entries():
            unfold = not self._unfolded.isdisjoint(one.id for one in group.members)
            one_each = [Group(one, (one,), history.harm.severity(one)) for one in group.members]
            found += one_each if unfold else [group]
        return found

    def ask_harm(self) -> None:
        """Asks how bad each confusion is; the list follows."""
        model = self._store.library.model
        known = () if model is None else model.labels
        dialog = HarmDialog(
            self._store.history.harm, classes_to_ask(self._store.history, known), self
        )
        if dialog.exec():
            self._store.history.set_harm(dialog.harm())

    def fold(self, finding: StoredFinding, *, unfold: bool) -> None:
        """Shows findings that are alike each by itself, or as one entry again."""
        group = next(
            one
            for one in self._store.history.entries()
            if finding.id in (m.id for m in one.members)
        )
        ids = {one.id for one in group.members}
        self._unfolded = self._unfolded | ids if unfold else self._unfolded - ids
        self.sync()

    def _look_soon(self) -> None:
        if not self._looking.isActive():
            self._looking.start()

    def _look(self) -> None:
        """Asks for the pictures on screen."""
        if not self.isVisible() or not self.model.rows:
            return
        first = max(0, self.table.rowAt(0))
        last = self.table.rowAt(self.table.viewport().height() - 1)
        shown = self.model.rows[first : (last if last >= 0 else len(self.model.rows)) + 2]
        self.thumbnails.want(finding.id for finding in shown if finding.has_picture)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fonts()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._look_soon()

    # --- selection --------------------------------------------------------------------------------

    def _chosen(self, current: QModelIndex) -> None:
        if current.isValid():
            finding = self.model.rows[current.row()]
            self._store.select(
                self._store.selection.but(finding=finding.id, run=finding.run_id), origin=self
            )

    def _follow(self, selection: Selection, origin: object) -> None:
        if origin is self:
            return
        with QSignalBlocker(self.table.selectionModel()):
            self._mark(selection.finding)
        self.table.viewport().update()
        row = self.model.row_of(selection.finding)
        if row >= 0:
            self.table.scrollTo(self.model.index(row, TITLE))

    def _mark(self, finding: int | None) -> None:
        row = self.model.row_of(finding)
        if row >= 0:
            self.table.selectRow(row)
        else:
            self.table.clearSelection()
            self.table.setCurrentIndex(QModelIndex())

    def _double_clicked(self, index: QModelIndex) -> None:
        if index.column() == NOTE:
            self.table.edit(index)
        elif index.column() != STAR:
            self.show_run(self.model.rows[index.row()])

    def _open_menu(self, place: QPoint) -> None:
        index = self.table.indexAt(place)
        if index.isValid():
            self.menu(index.row()).popup(self.table.viewport().mapToGlobal(place))

    def menu(self, row: int) -> QMenu:
        """What can be done with a finding."""
        finding, sending = self.model.rows[row], self._store.sending
        menu = QMenu(self)
        menu.addAction("Show its run").triggered.connect(lambda: self.show_run(finding))
        many = len(self.model.groups[row].members)
        if many > 1:
            unfold = menu.addAction(f"Show all {many:,} alike")
            unfold.triggered.connect(lambda: self.fold(finding, unfold=True))
        elif finding.id in self._unfolded:
            again = menu.addAction("Show those alike as one entry")
            again.triggered.connect(lambda: self.fold(finding, unfold=False))
        star = menu.addAction("Take the star away" if finding.starred else "Star")
        star.triggered.connect(lambda: self.model.turn_star(row))
        menu.addAction("Write a note").triggered.connect(
            lambda: self.table.edit(self.model.index(row, NOTE))
        )
        replay = menu.addAction("Replay: run again and compare")
        replay.setEnabled(not self._store.runner.busy)
        replay.triggered.connect(lambda: self.replay.start(finding))
        list_targets(
            menu.addMenu("Send its input to"),
            sending.targets(1),
            lambda name: sending.send_finding(finding, name),
        )
        menu.addSeparator()
        menu.addAction(
            f"Export the {len(self.model.rows):,} shown as images and CSV …"
        ).triggered.connect(self.wants_export)
        return menu

    def shown(self) -> list[int]:
        """The findings that pass the filter, in their order."""
        return [one.id for group in self.model.groups for one in group.members]

    def show_run(self, finding: StoredFinding) -> None:
        """Draws the run that found it."""
        run = next((run for run in self._store.history.runs if run.id == finding.run_id), None)
        if run is None:
            return
        self._store.history.show_run(run)
        if finding.places:  # one of the inputs of the run, not the one that was chosen before
            self._store.choose(run.request, finding.places[0], origin=self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        row = self.table.currentIndex().row()
        if (
            watched is self.table
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and row >= 0
        ):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.show_run(self.model.rows[row])
                return True
            if event.key() == Qt.Key.Key_Space:
                self.model.turn_star(row)
                return True
            if event.key() == Qt.Key.Key_F2:
                self.table.edit(self.model.index(row, NOTE))
                return True
        return super().eventFilter(watched, event)


def _rank(group: Group, column: int) -> object:
    """What a column is sorted by."""
    finding = group.lead
    values: dict[int, object] = {
        STAR: finding.starred,
        TITLE: finding.title.casefold(),
        NOTE: finding.note.casefold(),
    }
    return values.get(column, group.severity)


def _picture(workspace: Workspace, finding: int) -> np.ndarray | None:
    """A finding's picture, no larger than a thumbnail; called on a pool thread."""
    import cv2

    picture = workspace.finding(finding).picture
    if picture is None:
        return None
    height, width = picture.shape[:2]
    scale = _SIDE / max(height, width)
    if scale >= 1:
        return picture
    return np.asarray(
        cv2.resize(
            picture,
            (max(1, round(width * scale)), max(1, round(height * scale))),
            interpolation=cv2.INTER_AREA,
        )
    )
