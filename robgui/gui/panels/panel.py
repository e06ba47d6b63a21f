"""Panel: draws the Results of one analysis; the same call live, after a stop and when reopened."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QWidget

from robgui.core.errors import RobguiError
from robgui.core.execution.analysis import Analysis
from robgui.core.text.saying import said_by
from robgui.core.verdict import Verdict
from robgui.gui.app.theme import Themed, theme
from robgui.gui.panels.empty_state import EmptyState
from robgui.gui.panels.entrance import Entrance
from robgui.gui.panels.following import Following
from robgui.gui.panels.headline import owned, part_in_use
from robgui.gui.panels.panel_page import PanelPage
from robgui.gui.panels.recall import Recall

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.offer import Offer
    from robgui.core.view import View
    from robgui.gui.state.store import Store

#: Words that change thirty times a second cannot be read, and laying them out costs more than the
#: picture.
WORDS_SECONDS = 0.25


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
        badge: Says that the picture is stale, or only a first look.
        content: The picture and what belongs to it, as ``build`` made it.
        subject: Which model on which input.
        stated: What the result says by itself, before other evidence.
    """

    def __init__(self, store: Store, analysis: Analysis) -> None:
        super().__init__()
        self.store = store
        self.analysis = analysis
        self.result: Any = None
        self.params: Any = None
        self.request: Request | None = None
        self.run_id: str | None = None
        self._worded: Request | None = None
        self._words_later = QTimer(self, singleShot=True, interval=round(1000 * WORDS_SECONDS))
        self._words_later.timeout.connect(self._catch_up)
        self._following = Following(store.runner, analysis.name)
        self._problem: object = None
        self.stated: Verdict | None = None
        self._laid_out: tuple[Verdict, bool] | None = None
        self._recall = Recall(self)
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
        self.result = self.params = self.request = self.run_id = self._following.job = None
        self._recall.forget()
        self.badge.hide()
        self._entrance.show_empty()

    def show_result(self, request: Request, result: Any, verdict: Verdict | None) -> None:
        """Draws ``result`` and remembers what it came from.

        Without a ``verdict`` the words on show stay.
        """
        if not self._take(request):
            return
        self.result = result
        self._say(verdict)
        if self._entrance.show_page(live=self.live):
            self.draw(result)
        if verdict is not None:
            self.say_again()  # What is on show may be another part since.
            self.send.refresh()
        self.found.refresh()
        self._check_stale()

    def _show_picture(self) -> None:
        """Draws the first picture of a panel; the words stand above its place already."""
        if self.request is not None and self.result is not None:
            self.show_result(self.request, self.result, None)
            self.say_again()

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
        """Chooses in the gallery input number ``place`` of those that the run looked at."""
        if self.request is not None:
            self.store.subjects.choose(self.request, place, origin=self)

    @property
    def job(self) -> Execution | None:
        """The run that is followed; None while none is."""
        return self._following.job

    @property
    def live(self) -> bool:
        """Whether a run is being drawn as it goes, so the next result will follow soon."""
        return self.job is not None

    @property
    def complete(self) -> bool:
        """Whether the picture of the result on show is drawn, not its words alone."""
        return not self._entrance.waits

    @property
    def stale(self) -> bool:
        """Whether pressing Run would ask for something else than what the picture shows."""
        return not self.badge.isHidden()

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
        """Asks a method about the result on show.

        Its errors are one message per run, not per frame.
        """
        try:
            return function(self.result, self.params)
        except Exception as error:  # noqa: BLE001 - a method of another package raises anything
            # The request stands for the run: a result is asked about in every frame.
            if self._problem is not self.request:
                self._problem = self.request
                what = f"{self.analysis.title} cannot be shown: {type(error).__name__}: {error}"
                self.store.say("error", f"{what}; its numbers are kept.", traceback.format_exc())
            return otherwise

    def _words(self) -> Verdict | None:
        if (asked := self.request) is None:
            return None
        return self._ask(lambda found, how: said_by(self.analysis, found, how, asked), None)

    def _say(self, said: Verdict | None) -> None:
        """Shows a verdict, given everything known about the same model and input."""
        if said is None or self.request is None:
            return
        self.stated = said
        known = self.store.history.evidence.shown(said, self.request, self.run_id or "")
        shown = owned(self.part_on_show(known), self.request, self.store.library.model)
        # Laying out the same again would repaint the panel.
        if (shown, self.live) != self._laid_out:
            self._laid_out = shown, self.live
            self.verdict.show_verdict(shown, live=self.live)
            self.verdict.hold_height(grow_only=self.live)

    def part_on_show(self, said: Verdict) -> Verdict:
        """What a verdict says of the part of the result on show: of several models, that in use."""
        return part_in_use(said, self.request, self.store.library.model)

    def say_again(self) -> None:
        """Another part is on show, another run has seen a failure, or one that had is gone."""
        if self.result is not None:
            self._say(self.stated)

    def _connect(self) -> None:
        store = self.store
        store.job_changed.connect(self._job_changed)
        store.job_stepped.connect(self._job_stepped)
        store.history.result_shown.connect(self.show_stored)
        for signal in (
            store.params_changed,  # The form is made after the panel has come on show.
            store.selection_changed,
            store.scope_changed,
            store.library.models_changed,
            store.library.datasets_changed,
        ):
            signal.connect(self._asked_otherwise)
            signal.connect(self._look_back)
        store.library.working.connect(self._asked_otherwise)
        store.history.runs_changed.connect(self._look_back)
        store.library.models_changed.connect(lambda: self.when_seen(self._model_changed))
        store.history.opened.connect(self._workspace_opened)
        store.history.findings_changed.connect(self._more_found)
        store.history.run_deleted.connect(self._run_deleted)
        theme.changed.connect(self.look_changed)

    def _make_page(self) -> None:
        self.content = self.build()
        page = PanelPage(self)
        self.verdict, origin = page.verdict, page.origin
        self.subject, self.badge = origin.subject, origin.badge
        self.explanation, self.send, self.found = origin.explanation, origin.send, origin.found
        self.empty = self._empty()
        self._entrance = Entrance(self, self.empty, page, self.content, self._show_picture)

    def _empty(self) -> EmptyState:
        """What is on show before the first run."""
        return EmptyState(self.store, self.analysis)

    def _workspace_opened(self, *_: object) -> None:
        """Another workspace begins with empty panels; a copy of this one keeps its picture."""
        if not any(run.id == self.run_id for run in self.store.history.runs):
            self.clear()

    def _run_deleted(self, run_id: str) -> None:
        """The picture of a deleted run goes with it; what runs now stays."""
        if run_id == self.run_id and self.job is None:
            self.clear()

    def _job_changed(self, job: Execution) -> None:
        if not self._following.ended(job):
            return
        self.run_id = job.run_id
        self._recall.ended(job.run_id or "")
        if self.result is not None and self.request is not None:
            self._show_subject(self.request)
            self._say(job.verdict)
            self.send.refresh()
            self.found.refresh()
        self._check_stale()

    def _job_stepped(self, job: Execution) -> None:
        if not self._following.takes(job) or not self._take(job.request):
            return
        assert job.newest is not None
        self._following.job, self.result, self.run_id = job, job.newest.result, job.run_id
        self.when_seen(self._show_newest)

    def _show_newest(self) -> None:
        """Draws the newest Step; of a run that ended unseen the last, whose words stand already."""
        if self.request is None:
            return  # Cleared before anybody looked.
        words, job = None, self.job
        if job is not None and job.newest is not None:
            if self.request is not self._worded:
                self._worded = self.request
                words = self._words()
                self._show_subject(self.request, job.newest.note)
            elif not self._words_later.isActive():
                # Now and then, in a turn of their own: both at once would hold up the event loop.
                self._words_later.start()
        self.show_result(self.request, self.result, words)

    def _catch_up(self) -> None:
        """The words of the picture on show: the next Step may be long in coming."""
        job = self.job
        if job is None or job.newest is None or self.result is None or not self.isVisible():
            return
        self._show_subject(job.request, job.newest.note)
        self._say(self._words())
        self.send.refresh()

    def _show_subject(self, request: Request, note: str = "") -> None:
        """Which model on which input; while it runs, how far it is where its engine says so."""
        subject = self.store.subjects.words(request)
        self.subject.set_words(f"{subject}. {note}" if note else subject)

    def show_stored(self, run: Run, result: Any) -> None:
        """Draws the result of a stored run, if it is of its analysis."""
        if run.request.analysis != self.analysis.name:
            return
        # A run that is still going must not draw over the stored one the user has just asked for.
        self._following.let_go()
        self.run_id = run.id
        self._show_subject(run.request)
        self.show_result(run.request, result, run.verdict)

    def showEvent(self, event: QShowEvent) -> None:
        """An empty panel that comes on show draws what the workspace has for it."""
        super().showEvent(event)
        self._recall.look()

    def _look_back(self, *_: object) -> None:
        self._recall.look()

    def _model_changed(self) -> None:
        """What is on show says whose it is, or gives way."""
        self._recall.model_changed()
        self.say_again()

    def _asked_otherwise(self, *_: object) -> None:
        self.when_seen(self._check_stale)

    def _check_stale(self) -> None:
        self.badge.check(None if self.live else self.request)

    def _more_found(self) -> None:
        self.when_seen(self.say_again)
        self.when_seen(self.found.refresh)

    def apply_theme(self) -> None:
        """Icon and picture in the present theme."""
        self.empty.tint()
        self.restyle()
        if self.result is not None:
            self.draw(self.result)
