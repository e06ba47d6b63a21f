"""The overview: a verdict on one screen.

The hero says what all methods come to, and each has a card with its number, its scale and a small
picture, which moves while it runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.step import Pace
from robgui.core.text.saying import said_by
from robgui.core.text.words import time_left
from robgui.core.view.owned import first_of
from robgui.gui.app.theme import set_heading
from robgui.gui.pages.overview_hero import Hero
from robgui.gui.pages.overview_lead import INSPECT, Lead
from robgui.gui.pages.overview_runs import MethodRuns
from robgui.gui.pages.overview_tiles import (
    belongs,
    columns_for,
    first_view,
    how_many_done,
    input_words,
    leading,
)
from robgui.gui.pages.tile import BAR, Tile
from robgui.gui.panels import Page, pages
from robgui.gui.widgets.elided import Caption
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.sized import keep_room
from robgui.gui.widgets.when_seen import WhenSeen

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.run import Run
    from robgui.gui.state.store import Store

#: A tile is at least this many characters wide; as many stand beside each other as fit.
_TILE = 40
#: Lower than this many lines of text, the hero is smaller.
_LOW = 64
#: Seconds between two pictures of a running method.
_LIVE_SECONDS = 0.3


class Overview(WhenSeen, QWidget):
    """What all methods say about the model in use.

    Attributes:
        tiles: One card for each method.
        runs: Which runs the cards show.
        left: How much of the inspection is done, and how long it takes.

    Signals:
        wants: The analysis whose panel to show.
        wants_run: The run to show in its panel.
        wants_findings: The fingerprint of the model whose findings to show.
        wants_action: The name of an action of the window.
    """

    wants = Signal(str)
    wants_run = Signal(object)
    wants_findings = Signal(str)
    wants_action = Signal(str)

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.tiles = [Tile(page) for page in pages()]
        self.runs = MethodRuns(store)
        self.hero = Hero()
        self._lead = Lead(store, self.hero)
        self._subject = ""
        self._live = Pace(_LIVE_SECONDS)
        self._make_head()
        self._make_grid()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 8)
        layout.setSpacing(8)
        layout.addLayout(self._head)
        layout.addWidget(self._progress)
        layout.addWidget(self.hero)
        layout.addWidget(self._scroll, 1)
        self._connect()
        self.when_seen(self.refresh)

    def refresh(self) -> None:
        """What speaks for every method, for the model in use."""
        store = self._store
        model = store.library.model
        data, subject = "no inputs", "No model is open."
        if store.library.dataset is not None:
            data = store.library.dataset.name
        if model is not None:
            subject = f"{model.name} on {self._input(data)}"
        for tile in self.tiles:
            run = self.runs.worst(tile.page)
            job = self.runs.at_work(tile.page)
            if run is None and job is not None and tile.is_live:
                continue  # What it says so far stays.
            if run is None:
                tile.set_run(None)
                waits = self.runs.under_way(tile.page)
                failure = "" if waits else self.runs.failure(tile.page)
                tile.set_question(*self.runs.question(tile.page), failure, waits=waits)
                if job is not None:
                    self._tell(tile, job)
                continue
            place = self.runs.place_in(run.request)
            tile.set_run(run, self.runs.said(run), place)
            if tile.due(run):
                self._read(tile, run, place)
        self._subject = subject
        self._show_lead()
        self._show_progress()

    def _input(self, data: str) -> str:
        """The input in use as its file is called, else by its number."""
        dataset, at = self._store.library.dataset, self._store.selection.input
        if dataset is None or at is None or at >= len(dataset):
            return data
        return input_words(dataset, at)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """As many tiles beside each other as fit, below a hero that leaves them room."""
        super().resizeEvent(event)
        self.hero.set_low(self.height() < self.fontMetrics().height() * _LOW)
        self._arrange()

    def _make_head(self) -> None:
        title = set_heading(Label("Overview"), "title")
        self.inspect = QPushButton(INSPECT)
        self.inspect.setProperty("role", "primary")
        self.stop = QPushButton("Stop")
        self.first = QPushButton(
            "Go first", toolTip="Lets the inspection begin before the runs that wait"
        )
        self.left = Caption(align=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self.left.setProperty("role", "quiet")
        self._head = QHBoxLayout()
        self._head.addWidget(title)
        self._head.addWidget(self.left, 1)
        self._head.addWidget(self.first)
        self._head.addWidget(self.stop)
        self._head.addWidget(self.inspect)
        self._progress = QProgressBar(textVisible=False, maximum=1000)
        self._progress.setAccessibleName("Progress of the inspection")
        self._progress.setFixedHeight(BAR)
        # Hidden most of the time: the cards must not jump when it comes.
        keep_room(self._progress)

    def _make_grid(self) -> None:
        page = QWidget()
        self._grid = QGridLayout(page)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(12)
        self._scroll = QScrollArea(widgetResizable=True, frameShape=QScrollArea.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(page)
        self._columns = self._rows = 0
        self._arrange()

    def _arrange(self) -> None:
        columns = self._fitting()
        if columns == self._columns:
            return
        # A grid layout never forgets a column: an empty one would keep its share of the width.
        for column in range(self._columns):
            self._grid.setColumnStretch(column, 0)
        for row in range(self._rows):
            self._grid.setRowStretch(row, 0)
        self._columns = columns
        self._rows = -(-len(self.tiles) // columns)
        for place, tile in enumerate(self.tiles):
            self._grid.addWidget(tile, place // columns, place % columns)
        for column in range(min(columns, len(self.tiles))):
            self._grid.setColumnStretch(column, 1)
        for row in range(self._rows):
            self._grid.setRowStretch(row, 1)

    def _fitting(self) -> int:
        least = self.fontMetrics().averageCharWidth() * _TILE
        high = max(1, self.height() - self.hero.sizeHint().height())
        return columns_for(len(self.tiles), least, self.width(), high)

    def _connect(self) -> None:
        store = self._store
        self.inspect.clicked.connect(lambda _checked: store.inspection.start())
        self.first.clicked.connect(lambda _checked: store.inspection.go_first())
        self.stop.clicked.connect(store.inspection.stop)
        for tile in self.tiles:
            tile.opened.connect(self._open)
        for signal in (
            store.ready,
            store.library.models_changed,
            store.library.datasets_changed,
            store.selection_changed,
            store.history.runs_changed,
            store.history.findings_changed,
            store.job_changed,
        ):
            signal.connect(self._changed)
        store.inspection.changed.connect(self._changed)
        store.working.connect(self._went_on)
        store.job_stepped.connect(self._show_live)
        self._lead.wants_findings.connect(self.wants_findings)
        self._lead.wants_action.connect(self.wants_action)

    def _changed(self, *_: object) -> None:
        self.when_seen(self.refresh)

    def _went_on(self, *_: object) -> None:
        self.when_seen(self._show_progress)

    def _show_live(self, job: Execution) -> None:
        """The card of a running method moves: its picture and its words so far."""
        if not self.isVisible() or not self._live.due() or job.newest is None:
            return
        for tile in self.tiles:
            if self.runs.is_of(tile.page, job.request):
                self._tell(tile, job)
                self._show_lead()

    def _tell(self, tile: Tile, job: Execution) -> None:
        """What a running method says so far, on its card."""
        assert job.newest is not None
        known = self._store.analyses[job.request.analysis]
        params = known.params.parse(dict(job.request.params))
        said = said_by(known, job.newest.result, params, job.request)
        views = known.views(job.newest.result, params)
        view = first_of(views, self.runs.place_in(job.request))
        tile.show_live(self.runs.weighed(said, job.request, job.run_id or ""), view)

    def _show_lead(self) -> None:
        applying = sum(not self.runs.question(tile.page)[1] for tile in self.tiles)
        to_come = sum(tile.told is None and self.runs.under_way(tile.page) for tile in self.tiles)
        self._lead.show(self.tiles, applying, self._subject, to_come)

    def _show_progress(self) -> None:
        inspection = self._store.inspection
        running = inspection.running
        obstacle = inspection.obstacle()
        self.inspect.setEnabled(not obstacle and not running)
        self.inspect.setToolTip(
            obstacle
            or "Runs every analysis that can work on this model, each for some seconds (Ctrl+I)"
        )
        for widget in (self._progress, self.stop):
            widget.setVisible(running)
        for tile in self.tiles:
            tile.set_progress(self._share(tile.page))
        self.first.setVisible(running and inspection.can_go_first)
        if running:
            self._progress.setValue(round(1000 * inspection.share))
            left = inspection.seconds_left
            if left is not None:
                words = time_left(left)
            elif inspection.share > 0:
                words = ""
            else:
                words = "starting"
            parts = [how_many_done(self._asked())]
            if inspection.skipped:
                parts.append(f"{inspection.skipped} already answered")
            parts.append(inspection.waits_for() or words)
            self.left.set_words(", ".join(filter(None, parts)))
        else:
            self.left.set_words("")

    def _asked(self) -> list[list[Execution]]:
        """The runs of the inspection by method, as the cards below are counted."""
        jobs = self._store.inspection.jobs
        own = (
            [one for one in jobs if belongs(tile.page, one.request.analysis)] for tile in self.tiles
        )
        return [runs for runs in own if runs]

    def _share(self, page: Page) -> float | None:
        """How far the run of a method is; None while none is under way."""
        waiting = (one for one in self._store.inspection.jobs if not one.state.ended)
        job = next((one for one in waiting if belongs(page, one.request.analysis)), None)
        if job is None:
            return None
        return job.share or 0.0

    def _read(self, tile: Tile, run: Run, place: int) -> None:
        """Reads the result of a run and makes its first view, away from the GUI thread."""
        workspace, known = self._store.history.workspace, self._store.analyses[run.request.analysis]
        if workspace is not None:
            self._store.pictures.run(
                lambda: first_view(workspace, known, run, place),
                lambda view: tile.set_view(run, view, place),
                key=f"overview {tile.page.title}",
            )

    def _open(self, page: Page, run: Run | None) -> None:
        if run is not None:
            self.wants_run.emit(run)
        else:
            self.wants.emit(leading(page, self._store))
