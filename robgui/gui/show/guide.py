"""The guided tour: a card with a few sentences that drives the real window through the demo.

Each step does something with the Store's own calls and says when it is done, so a slow machine only
takes longer; a step that waits can be skipped, and the card can be closed at any time.
"""

from __future__ import annotations

import re
import tempfile
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QDockWidget, QToolBar

from robgui import manual, resources
from robgui.core.execution.method import methods
from robgui.core.text.words import time_left
from robgui.gui.show.demo import choose
from robgui.gui.show.guide_card import GuideCard, TourStep

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.method import Method
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.gui.app.main_window import MainWindow

_POLL_MS = 100
#: The card takes the place of the status bar, and while it is there a page may become this low: a
#: small window does not grow.
_LOWEST_PAGE = 200
#: Characters of a card; a sentence that would go beyond is left out.
_LONGEST = 300


class DemoGuide(QObject):
    """Drives the window from one step to the next.

    Attributes:
        card: The bar at the bottom of the window with text and buttons.
        at: The step on show; -1 before the start.
    """

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._store = window.store
        self._job: Execution | None = None
        self._written = False
        self._page_height = window.pages.minimumHeight()
        self.at = -1
        self.card = GuideCard()
        self._bar = QToolBar("Guided tour", objectName="guide", movable=False)
        self._bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
        self._bar.addWidget(self.card)
        window.addToolBar(Qt.ToolBarArea.BottomToolBarArea, self._bar)
        self._bar.hide()
        # Out of the menu that QMainWindow offers for its docks and toolbars.
        self._bar.toggleViewAction().setVisible(False)
        self.chapters = self._chapters()
        self._clock = QTimer(self, interval=_POLL_MS)
        self._clock.timeout.connect(self._look)
        self.card.next.clicked.connect(self.forward)
        self.card.back.clicked.connect(lambda: self.go(self.at - 1))
        self.card.close_.clicked.connect(self.end)
        self.card.show_report.clicked.connect(
            lambda: QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.report)))
        )

    def start(self) -> None:
        """Begins at the first step."""
        if not self.active:
            self._window.room.keep_away(self._lists(), self._window.pages.currentWidget())
            self._window.pages.setMinimumHeight(_LOWEST_PAGE)
            self._window.status.hide()
        self._bar.show()
        self.go(0)
        # Space then leads through the tour.
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
        self._window.room.keep_away((), self._window.pages.currentWidget())

    def forward(self) -> None:
        """The next step, whether this one has ended or not; after the last one the tour ends."""
        if self.at + 1 < len(self.chapters):
            self.go(self.at + 1)
        else:
            self.end()

    def go(self, number: int) -> None:
        """Begins step ``number``.

        What the one before is still computing is stopped, and kept as far as it got.
        """
        if not 0 <= number < len(self.chapters):
            return
        self._stop()
        self.at = number
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
        if job is not None:
            share = job.share
            left = job.seconds_left
        else:
            share = None
            left = None
        words = f"{chapter.waiting}{f', {time_left(left)}' if left is not None else ''} …"
        self.card.show_progress(not ended, "" if ended else words, share)
        self.card.show_report.setVisible(self._written and self.at == len(self.chapters) - 1)
        if ended:
            self._clock.stop()
            if job is not None and job.error:
                self.card.say_problem(job.error)

    def _lists(self) -> list[QDockWidget]:
        window = self._window
        return [window.runs_dock, window.log_dock]

    def _stop(self) -> None:
        if self._job is not None:
            self._job.stop()
        self._job = None

    # --- what the steps do ------------------------------------------------------------------------

    def _chapters(self) -> list[TourStep]:
        return [
            TourStep(
                "Real networks and data",
                "The demo loads six small networks that were really trained, with their data. Your"
                " own models open with Ctrl+O; files can also be dropped on the window.",
                self._load,
                self._loaded,
                "Loading the demo",
            ),
            TourStep(
                "Point at an input",
                "The gallery on the left shows every input with what the network says about it, and"
                " whether that is right. But how firmly? Each of the next steps points at an input,"
                " or at all of them, and asks one question.",
                self._point,
                self._chosen,
                "Choosing the input",
            ),
            *(self._chapter(method, known) for method, known in shown_methods()),
            TourStep(
                "A finding",
                "Every failure hangs on the wall of findings, the worst first, and has a page like"
                " this one: drag the slider, star what matters, write a note, ask another method"
                " about the same input with one click. F11 tells them as a story.",
                self._show_finding,
                self._finding_shown,
                "Reading the finding",
            ),
            TourStep(
                "All on one page",
                "The overview has one tile per method: a verdict in words, a sign and a small"
                " picture. With your own model, “Inspect everything” (Ctrl+I) fills it in one go.",
                lambda: self._window.go_to(1),
                lambda: not self._store.pictures.busy,
                "Drawing the overview",
            ),
            TourStep(
                "Take it with you",
                "Everything seen here is now one HTML file that needs no network, with pictures,"
                " settings and plain words. File, Write report … makes it for your own work, also"
                " as PDF.",
                self._write_report,
                lambda: self._written,
                "Writing the report",
            ),
        ]

    def _chapter(self, method: Method, known: Analysis) -> TourStep:
        """One step for each method: its question, what it does in plain words, and its demo."""
        title, words = (
            f"{method.title}: {method.question}",
            first_sentences(manual.page(method.name).plain),
        )
        return TourStep(
            title, words, lambda: self._run(known), self._run_ended, f"{method.title} is running"
        )

    def _load(self) -> None:
        if not self._store.library.models:
            self._window.commands.start_demo()

    def _loaded(self) -> bool:
        """The models are there, or nothing more is coming."""
        store = self._store
        wanted = sum(len(entry.models) for entry in resources.demo())
        return bool(store.analyses) and (len(store.library.models) >= wanted or not store.busy)

    def _point(self) -> None:
        known = next((known for _, known in shown_methods()), None)
        self._window.gallery_dock.show()
        if known is not None and known.demo is not None:
            choose(self._store, known.demo)
            self._window.show_panel(known.name)

    def _chosen(self) -> bool:
        return not self._store.busy

    def _run(self, known: Analysis) -> None:
        """Shows the panel, fills its form and runs it, as the user would."""
        there = known.demo is not None and choose(self._store, known.demo)
        self._window.show_panel(known.name)
        if known.demo is not None:
            self._store.params_offered.emit(known.name, dict(known.demo.params))
        if there:
            obstacle = self._store.next_run.obstacle(known.name)
        else:
            obstacle = "its model or data are not loaded."
        if obstacle:
            request = None
        else:
            request = self._store.next_run.request(known.name)
        if request is not None:
            self._job = self._store.submit(request)
        else:
            words = obstacle or "something is missing."
            self.card.say_problem(f"This step cannot run here: {words} Go on with the next one.")

    def _run_ended(self) -> bool:
        """The run has ended and stands in the history, with its findings."""
        job = self._job
        if job is None or job.run_id is None:
            run = None
        else:
            run = self._run_of(job.run_id)
        return job is None or (
            job.state.ended and (job.run_id is None or (run is not None and run.state.ended))
        )

    def _show_finding(self) -> None:
        self._window.show_findings(self._best_finding())

    def _finding_shown(self) -> bool:
        return not self._store.pictures.busy

    def _best_finding(self) -> StoredFinding | None:
        """The worst finding."""
        return next(iter(self._store.history.findings), None)

    def _run_of(self, run_id: str) -> Run | None:
        return next((run for run in self._store.history.runs if run.id == run_id), None)

    @cached_property
    def report(self) -> Path:
        """Where the last step writes its report: a fresh, unguessable folder, gone at exit."""
        # Held as long as the guide: the folder is deleted with its last reference.
        self._folder = tempfile.TemporaryDirectory(
            prefix="robgui-tour-", ignore_cleanup_errors=True
        )
        return Path(self._folder.name) / "guided-tour.html"

    def _write_report(self) -> None:
        self._written = False
        self._store.history.exports.write_report(self.report, self._report_written)

    def _report_written(self) -> None:
        self._written = True


def shown_methods() -> list[tuple[Method, Analysis]]:
    """The methods that the guide stops at, each with the first of its analyses that has a demo."""
    firsts = [
        (
            method,
            next(
                (one for one in method.analyses if one.demo is not None and one.demo.guided), None
            ),
        )
        for method in methods()
    ]
    return [(method, known) for method, known in firsts if known is not None]


def first_sentences(words: str) -> str:
    """As many sentences as a card holds, at least one."""
    sentences = re.split(r"(?<=[.!?]) (?=[A-Z“])", words.strip())
    text = sentences[0]
    for sentence in sentences[1:]:
        if len(text) + len(sentence) >= _LONGEST:
            break
        text = f"{text} {sentence}"
    return text
