"""The main window; it only assembles."""

from __future__ import annotations

import inspect
import time
from collections.abc import Generator
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QTabWidget,
)

from robgui.gui.app.actions import Actions
from robgui.gui.app.arranged import LAYOUT_VERSION, Arranged
from robgui.gui.app.commands import Commands
from robgui.gui.app.folding import SETTINGS, Folding
from robgui.gui.app.settings import Settings, save_settings
from robgui.gui.app.status import StatusBar
from robgui.gui.app.theme import icon, theme
from robgui.gui.app.work_pictures import WorkPictures
from robgui.gui.forms.chooser import Chooser
from robgui.gui.panels import make_panel, panel_entries
from robgui.gui.show.guide import DemoGuide
from robgui.gui.state.remedies import failure
from robgui.gui.widgets.toast import Toasts

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.finding import StoredFinding
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.store import Store

#: The methods follow the welcome page and the overview on the rail.
FIRST_METHOD = 2


class MainWindow(Arranged):
    """Rail, panel, form, docks and status bar around one Store.

    Attributes:
        painted: When the window was first painted (``time.perf_counter``), 0 before.

    Signals:
        on_screen: The window has been painted for the first time; slow things may begin.
    """

    on_screen = Signal()

    def __init__(self, store: Store, settings: Settings) -> None:
        super().__init__()
        self.store = store
        self.settings = settings
        store.next_run.set_thresholds(settings.thresholds)
        self.painted = 0.0
        self._making = self._panels_one_by_one()
        self.setWindowTitle("robgui")
        self.setAcceptDrops(True)
        self.setDockNestingEnabled(True)
        self._make_middle()
        self._make_docks()
        self.commands = Commands(self)
        self.actions_ = Actions(self, self.commands.entries())
        self.chooser = Chooser(store)
        self._make_toolbar()
        self.status = StatusBar(store, self, (self.runs_dock, self.log_dock))
        self.setStatusBar(self.status)
        self.toasts = Toasts(self, self.free_place)
        self.folding = Folding(self)
        self._failures: dict[str, str] = {}
        self._work_pictures = WorkPictures(store)
        self.guide = DemoGuide(self)
        self._connect()
        self.commands.fill_menus()
        self._restore()
        self.go_to(0)

    def panel(self, analysis: str) -> Panel | None:
        """The panel that draws ``analysis``; None for an analysis without one."""
        self._make_panels()
        return self._panels.get(analysis)

    @property
    def current_panel(self) -> Panel | None:
        """The panel on show; None on the welcome page."""
        tabs = self.pages.currentWidget()
        if not isinstance(tabs, QTabWidget):
            return None
        self._make_panels()
        return next(
            (panel for panel in self._panels.values() if panel is tabs.currentWidget()), None
        )

    def go_to(self, number: int) -> None:
        """Shows page ``number``: 0 is the welcome page, 1 the overview, then the methods."""
        if not 0 <= number < self.pages.count():
            return
        self.pages.setCurrentIndex(number)
        self.rail.choose(number)
        self._panel_chosen()

    def show_panel(self, analysis: str) -> None:
        """Shows the panel of ``analysis``, if it has one."""
        panel = self.panel(analysis)
        for number in range(self.pages.count()):
            tabs = self.pages.widget(number)
            if panel is not None and isinstance(tabs, QTabWidget) and tabs.indexOf(panel) >= 0:
                tabs.setCurrentWidget(panel)
                self.go_to(number)

    def show_findings(self, finding: StoredFinding | None = None) -> None:
        """Shows the wall of findings, or the page of one of them."""
        self.go_to(self.pages.indexOf(self.findings))
        if finding is None:
            self.findings.show_wall()
        else:
            self.findings.open(finding)

    def run_now(self, analysis: str) -> None:
        """Shows the panel of ``analysis`` and runs it on what is chosen, as Run does."""
        self.show_panel(analysis)
        obstacle = self.store.next_run.obstacle(analysis)
        if obstacle:
            request = None
        else:
            request = self.store.next_run.request(analysis)
        if request is not None:
            self.store.submit(request)
        elif obstacle:
            self.store.say("info", obstacle)

    def show_comparison(self) -> None:
        """Compares the run on show with another one of the same analysis."""
        panel = self.current_panel
        self._make_panels()
        self.go_to(self.pages.count() - 1)
        run = next(
            (
                run
                for run in self.store.history.runs
                if panel is not None and run.id == panel.run_id
            ),
            None,
        )
        if run is not None:
            self.compare.show_pair(run)

    def _panel_chosen(self) -> None:
        panel = self.current_panel
        if panel is not None:
            name = panel.analysis.name
        else:
            name = ""
        self.run_pane.show_analysis(name)
        self.chooser.show_analysis(name)
        self.show_form()
        self.room.make(self.pages.currentWidget())
        self.folding.again()
        self.commands.refresh()

    def show_form(self) -> None:
        """Shows the settings of the panel on show, or, folded, their buttons beside its tabs."""
        page, folded = self.pages.currentWidget(), self.folding.folded(SETTINGS)
        if isinstance(page, QTabWidget):
            tabs = page
        else:
            tabs = None
        self.form_dock.setVisible(tabs is not None and not folded)
        strip = self.run_pane.strip
        if tabs is not None and folded and strip.parent() is not tabs:
            tabs.setCornerWidget(strip)
        strip.setVisible(tabs is not None and folded)

    def _make_next(self) -> None:
        """Makes one panel, and the others in later turns of the event loop.

        All of them take half a second, during which the new window would not answer.
        """
        if next(self._making, "all") != "all":
            QTimer.singleShot(0, self, self._make_next)

    def _make_panels(self) -> None:
        """Makes the panels that are not there yet, unless one is being made and asks for them."""
        if inspect.getgeneratorstate(self._making) != inspect.GEN_RUNNING:
            for _ in self._making:
                pass

    def _panels_one_by_one(self) -> Generator[str]:
        """Makes every panel once; each then listens to its runs, on show or not."""
        entries = panel_entries()
        for number, page in enumerate(self._methods, start=FIRST_METHOD):
            tabs = self.pages.widget(number)
            assert isinstance(tabs, QTabWidget)
            for analysis in page.analyses:
                panel = self._panels[analysis.name] = make_panel(self.store, analysis, entries)
                tabs.addTab(panel, analysis.tab or analysis.title)
                yield analysis.name
        self._make_compare()

    def _make_compare(self) -> None:
        """Made with the panels: pyqtgraph is not imported before the window is on screen."""
        from robgui.gui.pages.compare import Compare

        self.compare = Compare(self.store)
        self.compare.wants.connect(self.show_panel)
        place = self.compare_place.layout()
        assert place is not None
        place.addWidget(self.compare)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tells once that the window is on screen."""
        super().paintEvent(event)
        if not self.painted:
            self.painted = time.perf_counter()
            QTimer.singleShot(0, self.on_screen.emit)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        """Files may be dropped anywhere."""
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        """Opens whatever was dropped: models, data, a workspace."""
        for url in event.mimeData().urls():
            if url.isLocalFile():
                self.commands.open_path(Path(url.toLocalFile()))
        event.acceptProposedAction()

    def closeEvent(self, event: QCloseEvent) -> None:
        """Remembers the layout; every run is in the workspace already."""
        if self.store.runner.busy and not self.commands.may_quit():
            event.ignore()
            return
        self.guide.end()
        self.room.give_back()
        self.folding.release()
        self.settings.geometry = bytes(self.saveGeometry().toBase64().data()).decode()
        self.settings.layout = bytes(self.saveState(LAYOUT_VERSION).toBase64().data()).decode()
        save_settings(self.settings)
        event.accept()

    def _connect(self) -> None:
        store = self.store
        self.welcome.wants.connect(lambda name: self.actions_[name].trigger())
        self.findings.wants_export.connect(self.commands.saving.export_findings)
        self.findings.wants_presentation.connect(self.commands.present)
        self.findings.wants_cause.connect(self.commands.evidence.post_mortem)
        self.findings.wants_look.connect(self.commands.evidence.look)
        self.findings.wants.connect(self.run_now)
        self.welcome.wants_file.connect(self.commands.open_path)
        self.welcome.wants_method.connect(lambda place: self.go_to(FIRST_METHOD + place))
        self.welcome.show_recent(self.settings.recent)
        store.said.connect(self._said)
        store.job_changed.connect(self._withdraw_failure)
        store.offered.connect(
            lambda sentence, words, deed: self.toasts.show("info", sentence, action=(words, deed))
        )
        # A panel that is made only when the result comes would not hear of it.
        store.history.run_taken.connect(lambda *_: self._make_panels())
        store.history.result_shown.connect(lambda run, _: self.show_panel(run.request.analysis))
        store.sending.arrived.connect(self.show_panel)
        store.finding_wanted.connect(self.show_findings)
        store.export_wanted.connect(self.commands.saving.export_made)
        self.overview.wants.connect(self.show_panel)
        self.overview.wants_run.connect(store.history.show_run)
        self.overview.wants_findings.connect(self.show_findings_of)
        self.overview.wants_action.connect(lambda name: self.actions_[name].trigger())
        store.history.opened.connect(self._title)
        store.library.datasets_changed.connect(self._show_inputs)
        store.ready.connect(self._make_next)
        store.ready.connect(self._go_on)
        store.history.opened.connect(self._go_on)
        for dock in (
            self.gallery_dock,
            self.form_dock,
            self.runs_dock,
            self.log_dock,
        ):
            dock.visibilityChanged.connect(self._free_focus)
        for signal in (
            store.job_changed,
            store.library.models_changed,
            store.library.datasets_changed,
            store.selection_changed,
            store.history.runs_changed,
            store.history.findings_changed,
            store.navigation.changed,
            store.ready,
        ):
            signal.connect(lambda *_: self.commands.refresh())
        theme.changed.connect(self._tint)
        QApplication.styleHints().colorSchemeChanged.connect(self._follow_system)
        self._tint()

    def _said(self, level: str, sentence: str, details: str) -> None:
        self.toasts.show(level, sentence, details)

    def _withdraw_failure(self, job: Execution) -> None:
        """Removes the message about a failed run when its analysis is run again.

        The log keeps it. A run that begins at once is never announced as queued.
        """
        if sentence := failure(job):
            self._failures[job.request.analysis] = sentence
        elif not job.state.ended:
            self.toasts.withdraw(self._failures.pop(job.request.analysis, ""))

    def _follow_system(self, *_: object) -> None:
        """Follows the system's change to dark or light, if asked to.

        A closed window has no say in how others look.
        """
        if self.settings.look == "system" and self.isVisible():
            self.commands.set_look("system")

    def _tint(self) -> None:
        self.setWindowIcon(icon("app"))

    def _show_inputs(self) -> None:
        """Hides the inputs on the first page until there are some."""
        if self.store.library.datasets:
            self.room.keep(self.welcome, self.gallery_dock)
            self.room.make(self.pages.currentWidget())
            self.folding.again()

    def _go_on(self, *_: object) -> None:
        """Opens a workspace with results where the work stopped: at its newest picture."""
        history = self.store.history
        newest = next((run for run in history.runs if run.has_result), None)
        if newest is not None and self.store.analyses and self.pages.currentIndex() == 0:
            history.show_run(newest, follow=False)

    def _free_focus(self, visible: bool) -> None:
        """A dock hidden behind another must not keep the keyboard."""
        focus = self.focusWidget()
        if not visible and focus is not None and not focus.isVisible():  # type: ignore[redundant-expr]  # None if nothing has the focus
            self.pages.setFocus()

    def _title(self) -> None:
        workspace = self.store.history.workspace
        if workspace is not None:
            if workspace.read_only:
                note = " (read-only)"
            else:
                note = ""
            self.setWindowTitle(f"{workspace.path.stem}{note} · robgui")
