"""The guided tour inside the window: a card with a few sentences that drives the real window through the demo.

Each step does something with the Store's own calls and says when it is done, so that a slow machine only takes
longer; a step that waits can be skipped, and the card can be closed at any time.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDockWidget, QToolBar

from robgui import resources
from robgui.core.text.words import duration
from robgui.gui.show.guide_card import Card, Chapter

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.model.classifier import Classifier
    from robgui.gui.app.main_window import MainWindow

#: What the tour looks at: a small convolutional network and a shirt that it is not sure of.
MODEL, DATA, INPUT = "fashion_cnn.safetensors", "fashion.npz", 6
_POLL_MS = 100
#: The card takes the place of the status bar, and while it is there a page may become this low: a small window does not grow.
_LOWEST_PAGE = 200


class Guide(QObject):
    """Drives the window from one step to the next.

    Attributes:
        card: The bar at the bottom of the window with text and buttons.
        at: The step on show; -1 before the start.
        report: Where the last step writes its report.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._store = window.store
        self._job: Execution | None = None
        self._written = False
        self._docks: list[QDockWidget] = []
        self._page_height = window.pages.minimumHeight()
        self.at = -1
        self.report = Path(tempfile.gettempdir()) / "robgui-guided-tour.html"
        self.card = Card()
        self._bar = QToolBar("Guided tour", objectName="guide", movable=False)
        self._bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._bar.addWidget(self.card)
        window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self._bar)
        self._bar.hide()
        self._bar.toggleViewAction().setVisible(False)
        self.chapters = self._chapters()
        self._clock = QTimer(self, interval=_POLL_MS)
        self._clock.timeout.connect(self._look)
        self.card.next.clicked.connect(self.forward)
        self.card.back.clicked.connect(lambda: self.go(self.at - 1))
        self.card.close_.clicked.connect(self.end)
        self.card.show_report.clicked.connect(lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.report))))

    def start(self) -> None:
        """Begins at the first step."""
        if not self.active:
            self._docks = [dock for dock in self._lists() if not dock.isHidden()]
            self._window.pages.setMinimumHeight(_LOWEST_PAGE)
            self._window.status.hide()
        self._bar.show()
        self.go(0)
        self.card.next.setFocus()

    def end(self) -> None:
        """Takes the card away; what was run stays."""
        if not self.active:
            return
        self._clock.stop()
        self._stop()
        self.at = -1
        self._bar.hide()
        self._window.pages.setMinimumHeight(self._page_height)
        self._window.status.show()
        for dock in self._docks:
            dock.show()

    def forward(self) -> None:
        """The next step, whether this one has ended or not; after the last one the tour ends."""
        if self.at + 1 < len(self.chapters):
            self.go(self.at + 1)
        else:
            self.end()

    def go(self, number: int) -> None:
        """Begins step ``number``; what the one before is still computing is stopped, and kept as far as it got."""
        if not 0 <= number < len(self.chapters):
            return
        self._stop()
        self.at = number
        for dock in self._docks:
            dock.setVisible(self.chapters[number].below)
        self.card.show_chapter(self.chapters[number], number, len(self.chapters))
        self.chapters[number].begin()
        self._clock.start()
        self._look()

    @property
    def active(self) -> bool:
        """Whether the tour is going on."""
        return self.at >= 0

    @property
    def waiting(self) -> bool:
        """Whether the step on show has not ended yet."""
        return self.active and not self.chapters[self.at].ended()

    def _look(self) -> None:
        """Ten times a second: has the step ended, how long will it take?"""
        if not self.active:
            return
        chapter, job = self.chapters[self.at], self._job
        ended = chapter.ended()
        share = job.share if job is not None else None
        left = job.seconds_left if job is not None else None
        words = f"{chapter.waiting}{f', about {duration(left)} left' if left is not None else ''} …"
        self.card.show_progress(not ended, "" if ended else words, share)
        self.card.show_report.setVisible(self._written and self.at == len(self.chapters) - 1)
        if ended:
            self._clock.stop()
            if job is not None and job.error:
                self.card.say_problem(job.error)

    def _lists(self) -> list[QDockWidget]:
        window = self._window
        return [window.runs_dock, window.findings_dock, window.log_dock]

    def _stop(self) -> None:
        if self._job is not None:
            self._job.stop()
        self._job = None

    # --- what the steps do ---------------------------------------------------------------------------------

    def _chapters(self) -> list[Chapter]:
        return [
            Chapter(
                "Real networks and data",
                "The demo loads six small networks that were really trained, with their data. Your own models open with Ctrl+O; "
                "files can also be dropped on the window.",
                self._load,
                self._loaded,
                "Loading the demo",
            ),
            Chapter(
                "Point at an input",
                "The gallery on the left shows every input with what the network says about it. Here it is a shirt, and the network "
                "is right, but how firmly? Everything that follows looks at this one picture.",
                self._point,
                self._chosen,
                "Choosing the input",
            ),
            Chapter(
                "zoNNscan: how close are other classes?",
                "Random pictures are drawn from larger and larger zones around the shirt, and the network is asked about each. The "
                "dash-dotted line marks where it first changes its mind; the dotted line says how undecided it is.",
                lambda: self._run("zonnscan", samples=256),
                self._run_ended,
                "zoNNscan is running",
            ),
            Chapter(
                "The feature game: which pixels matter?",
                "Now the worst case: a game looks for the fewest pixels that make the network change its mind. Few pixels mean a "
                "brittle answer.",
                lambda: self._run("feature_game"),
                self._run_ended,
                "The game is being played",
            ),
            Chapter(
                "A finding",
                "Failures are collected in the list below, the worst first. Star what matters, write a note, replay it with the same "
                "seed, or send its input to another method. F11 shows the starred ones on the whole screen.",
                self._show_finding,
                self._finding_shown,
                "Reading the finding",
                below=True,
            ),
            Chapter(
                "DeepInspect: what does it mix up?",
                "From one picture to the whole network: which classes look alike to its neurons, and where does it treat two "
                "classes differently? Bright fields of the matrix are pairs that it hardly tells apart.",
                lambda: self._run("deepinspect"),
                self._run_ended,
                "DeepInspect is running",
            ),
            Chapter(
                "Last particle: how rare is a failure?",
                "Is the probability that noise fools the network below one in ten billion? A few particles climb towards failure; the "
                "number of steps tells how rare it is, with a known confidence.",
                lambda: self._run("last_particle", samples=0),
                self._run_ended,
                "The particles are climbing",
            ),
            Chapter(
                "All on one page",
                "The overview has one tile per method: a verdict in words, a sign and a small picture. With your own model, "
                "“Inspect everything” (Ctrl+I) fills it in one go.",
                lambda: self._window.go_to(1),
                lambda: not self._store.pictures.busy,
                "Drawing the overview",
            ),
            Chapter(
                "Take it with you",
                "Everything seen here is now one HTML file that needs no network, with pictures, settings and plain words. "
                "File, Write report … makes it for your own work, also as PDF.",
                self._write_report,
                lambda: self._written,
                "Writing the report",
            ),
        ]

    def _load(self) -> None:
        if self._model() is None:
            self._window.commands.start_demo()

    def _loaded(self) -> bool:
        """The models are there, or nothing more is coming."""
        store = self._store
        wanted = sum(len(entry.models) for entry in resources.demo())
        return bool(store.analyses) and (len(store.library.models) >= wanted or not store.background.busy)

    def _choose(self) -> None:
        """The model, its data and the input of the tour, whatever the user has looked at meanwhile."""
        library, model = self._store.library, self._model()
        if model is None:
            return
        dataset = next((d for d in library.datasets if d.name == DATA), None)
        if dataset is not None and dataset is not library.dataset:
            library.use_dataset(dataset)
        if model is not library.model:
            library.use_model(model)
        self._store.select(self._store.selection.but(input=INPUT, second=None))

    def _point(self) -> None:
        self._choose()
        self._window.gallery_dock.show()
        self._window.show_panel("zonnscan")

    def _chosen(self) -> bool:
        return not self._store.background.busy

    def _model(self) -> Classifier | None:
        return next((model for model in self._store.library.models if model.name == MODEL), None)

    def _run(self, analysis: str, **values: object) -> None:
        """Shows the panel, fills its form and runs it, as the user would."""
        self._choose()
        self._window.show_panel(analysis)
        self._store.params_offered.emit(analysis, values)
        obstacle = self._store.obstacle(analysis)
        request = None if obstacle else self._store.request(analysis)
        if request is not None:
            self._job = self._store.submit(request)
        else:
            self.card.say_problem(f"This step cannot run here: {obstacle or 'something is missing.'} Go on with the next one.")

    def _run_ended(self) -> bool:
        """The run has ended and stands in the history, with its findings."""
        job = self._job
        run = None if job is None or job.run_id is None else self._run_of(job.run_id)
        return job is None or (job.state.ended and (job.run_id is None or (run is not None and run.state.ended)))

    def _show_finding(self) -> None:
        window, finding = self._window, self._best_finding()
        window.findings_dock.show()
        window.findings_dock.raise_()
        run = None if finding is None else self._run_of(finding.run_id)
        if finding is not None and run is not None:
            self._store.history.show_run(run)
            self._store.select(self._store.selection.but(finding=finding.id, run=run.id))

    def _finding_shown(self) -> bool:
        return not self._store.background.busy

    def _best_finding(self) -> StoredFinding | None:
        """The worst finding of the tour's own model; of any model when it has none."""
        findings = self._store.history.findings
        own = [f for f in findings if (run := self._run_of(f.run_id)) is not None and run.request.models[0].name == MODEL]
        return next(iter(own or findings), None)

    def _run_of(self, run_id: str) -> Run | None:
        return next((run for run in self._store.history.runs if run.id == run_id), None)

    def _write_report(self) -> None:
        self._written = False
        self._store.history.write_report(self.report, self._report_written)

    def _report_written(self) -> None:
        self._written = True
