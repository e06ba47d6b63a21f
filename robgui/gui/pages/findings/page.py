"""Findings: the failures worth showing as a wall of large pairs, each with a page of its own."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QStackedWidget, QVBoxLayout, QWidget

from robgui.core.finding import StoredFinding
from robgui.core.finding_groups import Group, failing_models
from robgui.gui.pages.findings.bar import FindingsBar
from robgui.gui.pages.findings.finding_view import FindingView
from robgui.gui.pages.findings.harm_dialog import HarmDialog, classes_to_ask
from robgui.gui.pages.findings.wall import Wall
from robgui.gui.pages.findings.wall_items import WallModel
from robgui.gui.panels.send_button import list_targets
from robgui.gui.state.replay import Replay
from robgui.gui.state.selection import Selection
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

NOTHING_YET = (
    "No findings yet.\n\nRun an analysis; the failures it finds hang here as pairs, worst first."
)
LOADING = "Loading …"
NOTHING_PASSES = "No finding passes the filter."


class Findings(WhenSeen, QWidget):
    """The wall of findings with its filters, and the page of the one that was opened.

    Signals:
        wants_export: Asks to write the findings shown to files.
        wants_presentation: Asks to present them on the whole screen.
        wants: The analysis whose panel to show and run.
        wants_cause: Asks for the cause of the chosen finding.
        wants_look: Asks what the model looks at in it.
    """

    wants_export = Signal()
    wants_presentation = Signal()
    wants = Signal(str)
    wants_cause = Signal()
    wants_look = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.setAccessibleName("Findings")
        self.model = WallModel(store, self)
        self.replay = Replay(store, self)
        self._unfolded: set[int] = set()
        self.bar = FindingsBar()
        self.text, self.kinds, self.starred = self.bar.text, self.bar.kinds, self.bar.starred
        self.count, self.harm, self.export = self.bar.count, self.bar.harm, self.bar.export
        self.wall = Wall(store, self.model)
        self.empty = Label(NOTHING_YET, wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.empty.setProperty("role", "quiet")
        self._lay_out()
        self._connect()
        self._take_workspace()

    # --- making -----------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        wall = QWidget()
        self.stack = QStackedWidget()
        self.stack.addWidget(self.wall)
        self.stack.addWidget(self.empty)
        inner = QVBoxLayout(wall)
        inner.setContentsMargins(16, 16, 16, 8)
        inner.setSpacing(8)
        inner.addWidget(self.bar)
        inner.addWidget(self.stack, 1)
        self.pages = QStackedWidget()
        self.pages.addWidget(wall)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.pages)

    def _connect(self) -> None:
        self._store.history.findings_changed.connect(self._changed)
        self._store.history.opened.connect(self._take_workspace)
        self._store.selection_changed.connect(self._follow)
        self.export.clicked.connect(self.wants_export)
        self.bar.present.clicked.connect(self.wants_presentation)
        self.harm.clicked.connect(self.ask_harm)
        self.bar.changed.connect(self.sync)
        self.wall.selectionModel().currentChanged.connect(self._chosen)
        self.wall.clicked.connect(self._clicked)
        self.wall.customContextMenuRequested.connect(self._open_menu)
        self.wall.installEventFilter(self)

    @cached_property
    def view(self) -> FindingView:
        """The page of one finding; made for the first that is opened."""
        made = FindingView(self._store)
        self.pages.addWidget(made)
        made.back.clicked.connect(self.show_wall)
        made.earlier.clicked.connect(lambda: self._step(-1))
        made.later.clicked.connect(lambda: self._step(1))
        made.wants_presentation.connect(self.wants_presentation)
        made.wants_cause.connect(self.wants_cause)
        made.wants_look.connect(self.wants_look)
        made.wants_run.connect(self.show_run)
        made.wants.connect(self.wants)
        made.wants_finding.connect(self.open)
        return made

    # --- what is shown ----------------------------------------------------------------------------

    def _take_workspace(self) -> None:
        self.wall.draw_again()
        self.show_wall()
        self.when_seen(self.sync)

    def show_model(self, fingerprint: str) -> None:
        """All that was found on one model; the filters that would hide some of it are taken off."""
        self.catch_up()
        self.bar.clear()
        self.bar.choose_model(fingerprint)
        self.show_wall()

    def show_wall(self) -> None:
        """All findings, as they were left."""
        self.pages.setCurrentIndex(0)
        self.wall.look_soon()

    def open(self, finding: StoredFinding) -> None:
        """The page of one finding."""
        self.catch_up()
        if self._store.selection.finding != finding.id:
            self._store.select(
                self._store.selection.replace(finding=finding.id, run=finding.run_id), origin=self
            )
        self.wall.mark(finding.id)
        row = self.model.row_of(finding.id)
        self.view.show_finding(finding, row, self.model.rowCount())
        self.pages.setCurrentWidget(self.view)

    def _changed(self) -> None:
        self.when_seen(self.sync)

    def sync(self) -> None:
        """Applies filter and order, on the wall and on the page of a finding."""
        history = self._store.history
        entries = history.entries()
        requests = {run.id: run.request for run in history.runs}
        self.model.models = {
            one.id: failing_models(one, requests[one.run_id])
            for one in history.findings
            if one.run_id in requests
        }
        self.bar.take(entries, self.model.models)
        groups = self.bar.arranged(self._unfold(entries))
        # To mark the chosen card scrolls to it, and a filter or a star must not.
        place = self.wall.verticalScrollBar().value()
        with QSignalBlocker(self.wall.selectionModel()):
            self.model.show(groups)
            self.wall.mark(self._store.selection.finding)
        self.wall.verticalScrollBar().setValue(place)
        self.empty.setText(self._nothing())
        self.stack.setCurrentIndex(0 if groups else 1)
        self.bar.tell(entries)
        self._follow_view()
        self.wall.look_soon()

    def _nothing(self) -> str:
        if self._store.history.findings:
            return NOTHING_PASSES
        if self._store.history.loading:
            return LOADING
        return NOTHING_YET

    def _follow_view(self) -> None:
        """The page of a finding has its newest star and note; one that is gone is left."""
        # A cached property: to ask for it would make it.
        if "view" in vars(self):
            now = self.view.finding
        else:
            now = None
        if now is None:
            return
        same = next((one for one in self._store.history.findings if one.id == now.id), None)
        if same is None:
            self.view.show_finding(None)
            self.show_wall()
        else:
            self.view.refresh(same, self.model.row_of(same.id), self.model.rowCount())

    def _unfold(self, entries: list[Group]) -> list[Group]:
        """Findings that are alike as one entry, unless the user wants to see each."""
        severity = self._store.history.harm.severity
        found: list[Group] = []
        for group in entries:
            if self._unfolded.isdisjoint(one.id for one in group.members):
                found.append(group)
            else:
                found += [Group(one, (one,), severity(one)) for one in group.members]
        return found

    def ask_harm(self) -> None:
        """Asks how bad each confusion is; the wall follows."""
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
        if unfold:
            self._unfolded = self._unfolded | ids
        else:
            self._unfolded = self._unfolded - ids
        self.sync()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.wall.look_soon()

    # --- selection --------------------------------------------------------------------------------

    def _chosen(self, current: QModelIndex) -> None:
        if current.isValid():
            finding = self.model.rows[current.row()]
            self._store.select(
                self._store.selection.replace(finding=finding.id, run=finding.run_id), origin=self
            )

    def _follow(self, selection: Selection, origin: object) -> None:
        if origin is not self:
            self.when_seen(self._mark_selected)

    def _mark_selected(self) -> None:
        # Another view has chosen it; told on from here, it would be chosen once more.
        with QSignalBlocker(self.wall.selectionModel()):
            self.wall.mark(self._store.selection.finding)
        self.wall.viewport().update()

    def _clicked(self, index: QModelIndex) -> None:
        if not self.wall.delegate.star_pressed():
            self.open(self.model.rows[index.row()])

    def _step(self, way: int) -> None:
        now = self.view.finding
        row = self.model.row_of(None if now is None else now.id) + way
        if 0 <= row < len(self.model.rows):
            self.open(self.model.rows[row])

    def _open_menu(self, place: QPoint) -> None:
        index = self.wall.indexAt(place)
        if index.isValid():
            self.menu(index.row()).popup(self.wall.viewport().mapToGlobal(place))

    def menu(self, row: int) -> QMenu:
        """What can be done with a finding."""
        finding, sending = self.model.rows[row], self._store.sending
        menu = QMenu(self)
        menu.addAction("Open").triggered.connect(lambda: self.open(finding))
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
        cause = menu.addAction("Post-mortem: what is behind it")
        cause.setEnabled(finding.confusion is not None)
        cause.triggered.connect(lambda: self._explain(finding))
        replay = menu.addAction("Replay: run again and compare")
        replay.setEnabled(not self._store.runner.busy)
        replay.triggered.connect(lambda: self.replay.start(finding))
        list_targets(
            menu.addMenu("Send its input to"),
            sending.targets(1),
            lambda name: sending.send_finding(finding, name),
        )
        menu.addSeparator()
        menu.addAction("Export those shown as images and CSV …").triggered.connect(
            self.wants_export
        )
        return menu

    def _explain(self, finding: StoredFinding) -> None:
        self.open(finding)
        self.wants_cause.emit()

    def shown(self) -> list[int]:
        """The findings that pass the filter, in order."""
        # An export may ask while another page is on show.
        self.catch_up()
        return [one.id for group in self.model.groups for one in group.members]

    def show_run(self, finding: StoredFinding) -> None:
        """Draws the run that found it."""
        run = next((run for run in self._store.history.runs if run.id == finding.run_id), None)
        if run is None:
            return
        self._store.history.show_run(run)
        if finding.places:  # one of the inputs of the run, not the one that was chosen before
            self._store.subjects.choose(run.request, finding.places[0], origin=self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        row = self.wall.currentIndex().row()
        if (
            watched is self.wall
            and isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.KeyPress
            and row >= 0
        ):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self.open(self.model.rows[row])
                return True
            if event.key() == Qt.Key.Key_Space:
                self.model.turn_star(row)
                return True
        return super().eventFilter(watched, event)
