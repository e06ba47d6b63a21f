"""Panel: draws the Results of one analysis.

The same call live, after a stop and from a reopened workspace.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from robgui.core.errors import RobguiError
from robgui.core.execution.analysis import Analysis, Pace
from robgui.core.execution.likeness import same_question
from robgui.core.execution.run import RunState
from robgui.core.verdict import Verdict
from robgui.gui.app.theme import Themed, theme
from robgui.gui.panels.empty_state import EmptyState
from robgui.gui.panels.explanation import Explanation
from robgui.gui.panels.found_button import FoundButton
from robgui.gui.panels.send_button import SendButton
from robgui.gui.panels.verdict_line import LINES, VerdictLine
from robgui.gui.widgets.elided import Caption
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.export import Export
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.offer import Offer
    from robgui.core.view import View
    from robgui.gui.state.store import Store


#: What stands on the badge, and what its tool tip adds.
STALE = "Stale: press Run"
STALE_FOR_NOW = "Stale"
FIRST_LOOK = "First look: press Run for more"
CHANGED = "Settings, model or input have changed since this was computed."
SHORT = "This comes from Inspect everything, with short settings. Run gives the full result."
#: Words that change thirty times a second cannot be read, and laying them out costs more than the
#: picture.
WORDS_SECONDS = 0.25
#: A panel lower than this many lines of text keeps its room for the picture.
LOW = 46


class Panel(Themed, QWidget):
    """Verdict in words, one big picture, then details.

    A subclass builds its picture in ``build`` and redraws it whole in ``draw``; title, invitation
    and explanation are those of its analysis.

    Attributes:
        analysis: What it draws.
        result: The result on show; None while it is empty.
        params: The settings that the result came from.
        request: What the result came from.
        run_id: The run on show, once it is in the workspace.
    """

    def __init__(self, store: Store, analysis: Analysis) -> None:
        super().__init__()
        self.store = store
        self.analysis = analysis
        self.result: Any = None
        self.params: Any = None
        self.request: Request | None = None
        self.run_id: str | None = None
        self._words_due = Pace(WORDS_SECONDS)
        self._words_later = QTimer(self, singleShot=True, interval=round(1000 * WORDS_SECONDS))
        self._words_later.timeout.connect(self._catch_up)
        self._job: Execution | None = None
        self._ignored: list[Execution] = []
        self._problem: object = None
        self._stated: Verdict | None = None
        self._laid_out: tuple[Verdict, bool] | None = None
        self._recalled = ""
        self.setAccessibleName(analysis.title)
        self._make_page()
        self.clear()
        self._connect()

    def build(self) -> QWidget:
        """Makes the picture and its details; called once."""
        raise NotImplementedError

    def draw(self, result: Any) -> None:
        """Shows a complete result; keeps its plot items and only gives them new data."""
        raise NotImplementedError

    def restyle(self) -> None:
        """Takes over the present theme; plots and view widgets paint themselves."""

    def clear(self) -> None:
        """Back to the empty state, which says what to do next."""
        self.result = self.params = self.request = self.run_id = self._job = None
        self._recalled = ""
        self._stale.hide()
        self._pages.setCurrentIndex(0)

    def show_result(self, request: Request, result: Any, verdict: Verdict | None) -> None:
        """Draws ``result`` and remembers what it came from.

        Without a ``verdict`` the words on show stay.
        """
        if not self._take(request):
            return
        self.result = result
        self._say(verdict)
        self._pages.setCurrentIndex(1)
        self.draw(result)
        if verdict is not None:
            self.say_again()  # what is on show may be another part since
            self.send.refresh()
        self.found.refresh()
        self._check_stale()

    def views(self) -> Sequence[View]:
        """What the result on show looks like; nothing while there is none."""
        if self.result is None:
            return ()
        return self._ask(self.analysis.views, ())

    def offers(self) -> Sequence[Offer]:
        """Inputs on show that another analysis may look at; they stand in the menu of Send to."""
        if self.result is None:
            return ()
        return self._ask(self.analysis.offers, ())

    @property
    def exports(self) -> bool:
        """Whether the run on show has made inputs that can be written to files."""
        return self.analysis.export is not None and self.result is not None

    def point_at(self, place: int) -> None:
        """Chooses an input of the picture in the gallery: number ``place`` of those that the run
        looked at.
        """
        if self.request is not None:
            self.store.choose(self.request, place, origin=self)

    @property
    def live(self) -> bool:
        """Whether a run is being drawn as it goes, so that the next result will follow soon."""
        return self._job is not None

    @property
    def stale(self) -> bool:
        """Whether pressing Run would ask for something else than what the picture shows."""
        return not self._stale.isHidden()

    def _take(self, request: Request) -> bool:
        """Remembers a request and its settings.

        False for an old run with settings that are no more.
        """
        if request is self.request:
            return True
        try:
            self.params = self.analysis.params.parse(dict(request.params))
        except RobguiError as error:
            self.store.say(
                "error", f"This run of {self.analysis.title} cannot be drawn: {error} Run it again."
            )
            return False
        self.request = request
        return True

    def _ask(self, function: Callable[[Any, Any], Any], otherwise: Any) -> Any:
        """What a method says of the result on show.

        What it cannot say is one message a run, not one a frame.
        """
        try:
            return function(self.result, self.params)
        except Exception as error:  # noqa: BLE001 - a method of another package raises anything
            if self._problem is not self.request:
                self._problem = self.request
                what = f"{self.analysis.title} cannot be shown: {type(error).__name__}: {error}"
                self.store.say("error", f"{what}; its numbers are kept.", traceback.format_exc())
            return otherwise

    def _words(self) -> Verdict | None:
        said: Verdict | None = self._ask(self.analysis.verdict, None)
        if said is None or self.request is None:
            return said
        return said.among(self.request.chosen)

    def _say(self, said: Verdict | None) -> None:
        """Shows a verdict beside all that is known of the same model and input."""
        if said is None or self.request is None:
            return
        self._stated = said
        known = self.store.history.evidence.shown(said, self.request, self.run_id or "")
        shown = self.part_on_show(known)
        if (shown, self.live) != self._laid_out:  # to lay out the same again repaints the panel
            self._laid_out = shown, self.live
            self.verdict.show_verdict(shown)
            self.verdict.hold_height(grow_only=self.live)

    def part_on_show(self, said: Verdict) -> Verdict:
        """What a verdict says of the part of the result on show: all of it."""
        return said

    def say_again(self) -> None:
        """Another part is on show, another run has seen a failure, or one that had is gone."""
        if self.result is not None:
            self._say(self._stated)

    # --- making -----------------------------------------------------------------------------------

    def _connect(self) -> None:
        store = self.store
        store.job_changed.connect(self._job_changed)
        store.job_stepped.connect(self._job_stepped)
        store.history.result_shown.connect(self._result_shown)
        for signal in (
            store.params_changed,
            store.selection_changed,
            store.scope_changed,
            store.library.models_changed,
            store.library.datasets_changed,
            store.library.working,
        ):
            signal.connect(self._asked_otherwise)
        for signal in (
            store.history.runs_changed,
            store.selection_changed,
            store.scope_changed,
            store.library.models_changed,
            store.library.datasets_changed,
        ):
            signal.connect(self._recall)
        store.history.opened.connect(self._workspace_opened)
        store.history.findings_changed.connect(self._more_found)
        store.history.run_deleted.connect(self._run_deleted)
        theme.changed.connect(self.look_changed)

    def _make_page(self) -> None:
        self.verdict = VerdictLine()
        self._subject = Caption(align=Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._subject.setAccessibleName("Which model on which input")
        self._subject.setProperty("role", "quiet")
        self._stale = Label(STALE)
        self._stale.setProperty("role", "badge")
        self._content = self.build()
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(12, 6, 12, 4)
        layout.setSpacing(4)
        layout.addWidget(self.verdict)
        layout.addLayout(self._origin())
        beside = QHBoxLayout()
        beside.addWidget(self._content, 1)
        beside.addWidget(self.explanation)
        layout.addLayout(beside, 1)
        self._pages = QStackedLayout(self)
        self.empty = self._empty()
        self._pages.addWidget(self.empty)
        self._pages.addWidget(page)

    def _origin(self) -> QHBoxLayout:
        """Of what the picture is, and beside it that it is stale: nothing below moves under the
        mouse.
        """
        row = QHBoxLayout()
        row.addWidget(self._subject, 1)
        row.addWidget(self._stale, 0, Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self._explained())
        self.found = FoundButton(self)
        row.addWidget(self.found)
        if self.analysis.export is not None:
            row.addWidget(self._export_button(self.analysis.export))
        row.addWidget(self.send)
        return row

    def _empty(self) -> EmptyState:
        """What is on show before the first run."""
        return EmptyState(self.store, self.analysis)

    def _explained(self) -> QPushButton:
        """The button that explains the picture: numbers on it, and words beside it."""
        self.send = SendButton(self)
        self.explanation = Explanation(self._content, self.analysis.explanation)
        button = QPushButton("What am I looking at?", checkable=True)
        button.setProperty("role", "link")
        button.setVisible(bool(self.analysis.explanation))
        button.toggled.connect(self.explanation.set_open)
        return button

    def _export_button(self, export: Export) -> QPushButton:
        button = QPushButton("Export …")
        button.setToolTip(f"{export.title}, with labels and how each was made")
        button.setAccessibleName(export.title)
        button.clicked.connect(self.store.export_wanted)
        return button

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low panel the verdict is its sentence; the rest is asked for."""
        super().resizeEvent(event)
        low = self.height() < LOW * self.fontMetrics().height()
        self.verdict.set_lines(0 if low else LINES)

    # --- what the store says ----------------------------------------------------------------------

    def _workspace_opened(self, *_: object) -> None:
        """Another workspace begins with empty panels; a copy of this one keeps its picture."""
        if not any(run.id == self.run_id for run in self.store.history.runs):
            self.clear()

    def _run_deleted(self, run_id: str) -> None:
        """The picture of a deleted run goes with it; what runs now stays."""
        if run_id == self.run_id and self._job is None:
            self.clear()

    def _job_changed(self, job: Execution) -> None:
        if job.request.analysis != self.analysis.name:
            return
        if job.state is RunState.RUNNING and job not in self._ignored:
            self._job = self._newest_at_work(job)
        if job is self._job and job.state.ended:
            self._job, self.run_id = None, job.run_id
            if self.result is not None and self.request is not None:
                self._show_subject(self.request)
                self._say_last(job)
            self._check_stale()

    def _newest_at_work(self, job: Execution) -> Execution:
        """Of several at once the one that was asked for last: Pause and Stop mean the same one."""
        newest = self.store.runner.at_work_on(self.analysis.name)
        if newest is None or newest.request.analysis != self.analysis.name:
            return job
        if newest in self._ignored:
            return job
        return newest

    def _say_last(self, job: Execution) -> None:
        said = self._words()
        if said is not None and job.state is RunState.CANCELLED:
            said = said.stopped()
        elif said is not None and job.newest is not None and job.newest.cut:
            said = said.cut(job.params.max_seconds)
        self._say(said)
        self.send.refresh()
        self.found.refresh()

    def _job_stepped(self, job: Execution) -> None:
        """Follows the run at work; a quick one is over before anyone has told that it runs."""
        step = job.newest
        if job.request.analysis != self.analysis.name or job in self._ignored or step is None:
            return
        if self._job not in (None, job) and not self._job.state.ended:
            return  # of two at once one is followed
        if job.request is not self.request:
            self._words_due = Pace(WORDS_SECONDS)
        if not self._take(job.request):
            return
        self._job, self.result, self.run_id = job, step.result, job.run_id
        self.when_seen(self._show_newest)

    def _show_newest(self) -> None:
        """Draws the newest Step; of a run that has ended unseen the last one, whose words stand
        already.
        """
        if self.request is None:
            return  # cleared before anybody looked
        words, job = None, self._job
        if job is not None and job.newest is not None:
            if self._words_due.due():
                words = self._words()
                self._show_subject(self.request, job.newest.note)
            elif not self._words_later.isActive():
                self._words_later.start()
        self.show_result(self.request, self.result, words)

    def _catch_up(self) -> None:
        """The words of the picture on show: the next Step may be long in coming."""
        if self._job is not None and self.result is not None and self.isVisible():
            self._say(self._words())
            self.send.refresh()

    def _show_subject(self, request: Request, note: str = "") -> None:
        """Which model on which input; while it runs, how far it is where its engine says so."""
        subject = self.store.subject(request)
        self._subject.set_words(f"{subject}. {note}" if note else subject)

    def _result_shown(self, run: Run, result: Any) -> None:
        if run.request.analysis != self.analysis.name:
            return
        self._job, self._ignored = None, self.store.runner.at_work
        self.run_id = run.id
        self._show_subject(run.request)
        self.show_result(run.request, result, run.verdict)

    def showEvent(self, event: QShowEvent) -> None:
        """An empty panel that comes on show draws what the workspace has for it."""
        super().showEvent(event)
        self._recall()

    def _recall(self, *_: object) -> None:
        """Draws the newest run of the model and input in use, as after a restart; what is on show
        stays.
        """
        if self.result is not None or self._job is not None or not self.isVisible():
            return
        run = self._newest_in_use()
        if run is not None and run.id != self._recalled:
            self._recalled = run.id
            self.store.history.read(run, lambda result: self._draw_recalled(run, result))

    def _draw_recalled(self, run: Run, result: Any) -> None:
        if self.result is not None or self._job is not None or result is None:
            return
        newest = self._newest_in_use()
        if newest is None or newest.id != run.id:
            self._recalled = ""  # other inputs were chosen while it was read
            return
        self._result_shown(run, result)

    def _newest_in_use(self) -> Run | None:
        """The newest stored run of the model and inputs in use."""
        now = self.store.request(self.analysis.name)
        return self.store.history.newest_like(now) if now is not None else None

    def _asked_otherwise(self, *_: object) -> None:
        self.when_seen(self._check_stale)

    def _more_found(self) -> None:
        self.when_seen(self.say_again)
        self.when_seen(self.found.refresh)

    def _check_stale(self) -> None:
        if self.request is None or self._job is not None:
            self._stale.hide()
            return
        now = self.store.request(self.analysis.name)
        if now is None:
            self._stale.setText(STALE_FOR_NOW)
            self._stale.setToolTip(CHANGED)
            self._stale.setVisible(not self._awaits_files())
            return
        stale = not same_question(now, self.request)
        if stale:
            first = self.store.inspection.gave(self.request, now)
            self._stale.setText(FIRST_LOOK if first else STALE)
            self._stale.setToolTip(SHORT if first else CHANGED)
        self._stale.setVisible(stale)

    def _awaits_files(self) -> bool:
        """Whether model or data are still being read, as when a workspace is opened: nothing has
        changed yet.
        """
        library = self.store.library
        return bool(library.loading) and (library.model is None or library.dataset is None)

    def apply_theme(self) -> None:
        """Icon and picture in the present theme."""
        self._tint()

    def _tint(self) -> None:
        self.empty.tint()
        self.restyle()
        if self.result is not None:
            self.draw(self.result)
