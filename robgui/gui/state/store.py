"""Store: the only object that panels and docks know; one call down, one signal up.

``library`` holds the models and data, ``history`` the workspace, ``runner`` the work in progress.
Everything slow happens in ``background`` (in order), ``opening`` (model files, which may take for
ever), ``pictures``, ``writing`` (a report takes long, and nothing waits for it), ``keeping`` (what
is written into the workspace, behind nothing else) or the Runner; the attributes are plain values
that the GUI thread may read at any time. Models themselves are in other processes: ``answers`` asks
them.
"""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.core.errors import RobguiError
from robgui.core.execution.asking.models import Models
from robgui.core.execution.choice import one_process
from robgui.core.execution.method import problems
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.terms import Terms
from robgui.gui.state.background import Background
from robgui.gui.state.evidence.tracking import Tracking
from robgui.gui.state.history.history import History
from robgui.gui.state.history.looked_at import LookedAt
from robgui.gui.state.history.marking import Marking
from robgui.gui.state.history.restoring import Restoring
from robgui.gui.state.input_filter import InputFilter
from robgui.gui.state.library.accuracies import Accuracies
from robgui.gui.state.library.library import Library
from robgui.gui.state.navigation import Navigation
from robgui.gui.state.remedies import failure
from robgui.gui.state.running.inspect_all import Inspection
from robgui.gui.state.running.left_waiting import LeftWaiting
from robgui.gui.state.running.next_run import NextRun
from robgui.gui.state.running.processes import Processes, code_of
from robgui.gui.state.running.runner import Runner
from robgui.gui.state.selection import Selection
from robgui.gui.state.selftest import SelfTest
from robgui.gui.state.sending import Sending
from robgui.gui.state.subjects import Subjects

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run


class Store(QObject):
    """What the user works with: models, data, selection, settings and runs.

    Signals:
        ready: The analyses are found; ``analyses`` is filled.
        selection_changed: ``(selection, origin)``; a view ignores its own origin.
        scope_changed: Other inputs pass the filter of the gallery, or other models are ticked.
        params_changed: The settings in the form of this analysis have changed.
        params_offered: ``(analysis, values)`` to be put into its form.
        thresholds_changed: The user judges by other thresholds.
        job_stepped: A running Execution has a newer Step.
        job_changed: The state of an Execution has changed.
        said: ``(level, sentence, details)`` for log and toast; level is info, warning or error.
        offered: ``(sentence, words, deed)`` for log and toast: what has happened, and a button that
            calls ``deed``.
        working: What the program is busy with now, in words; empty when idle.
        finding_wanted: The finding whose own page to show.
        export_wanted: Asks to write the inputs made by the run on show to files.
    """

    ready = Signal()
    selection_changed = Signal(object, object)
    scope_changed = Signal()
    params_changed = Signal(str)
    params_offered = Signal(str, object)
    thresholds_changed = Signal()
    job_stepped = Signal(object)
    job_changed = Signal(object)
    said = Signal(str, str, str)
    offered = Signal(str, str, object)
    working = Signal(str)
    finding_wanted = Signal(object)
    export_wanted = Signal()
    # Emitted on the threads that ask models; Qt queues them for this one.
    _waited = Signal(str)
    _noticed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.analyses: dict[str, Analysis] = {}
        self.selection = Selection()
        self.scope: tuple[int, ...] | None = None
        self._busy_with: dict[str, str] = {}
        self.filter = InputFilter()
        self._noticed_before: set[str] = set()
        # A queue each: a slow export or a slow model must hold up no note and no picture.
        self.background = Background(1, self)
        self.opening = Background(1, self)
        self.pictures = Background(2, self)
        self.writing = Background(1, self)
        self.keeping = Background(1, self)
        self.selftest = SelfTest(self.say, self.work_on, self)
        self.tracking = Tracking(self.say, self.work_on, self)
        self.answers = Models()
        self.library = Library(self.background, self.opening, self.answers, self)
        self.history = History(self.background, self.writing, self.keeping, self)
        self.looked_at = LookedAt(self.history, self.keeping, self)
        self.runner = Runner(self)
        self.left = LeftWaiting(self.history, self.runner, self.keeping, self.run_again, self)
        self.sending = Sending(self)
        self.restoring = Restoring(self.library, self.history)
        self.marking = Marking(self.library, self.history, self.keeping, self)
        self.accuracies = Accuracies(self.library, self.keeping, self)
        self.next_run = NextRun(self)
        self.processes = Processes(self)
        self.subjects = Subjects(self)
        self._connect()
        self.navigation = Navigation(self)
        self.inspection = Inspection(self)
        self.left.started.connect(self.inspection.adopt)

    def _connect(self) -> None:
        for threads in (self.background, self.opening, self.pictures, self.writing, self.keeping):
            threads.failed.connect(lambda sentence, details: self.say("error", sentence, details))
        for part in (self.library, self.history):
            part.said.connect(self.said)
        for offering in (self.library, self.history, self.left):
            offering.offered.connect(self.offered)
        self.library.working.connect(lambda words: self.work_on("library", words))
        self.history.working.connect(lambda words: self.work_on("history", words))
        self.library.added.connect(self.history.remember)
        self.library.removed.connect(self.history.forget)
        self.library.paired.connect(
            lambda: self.history.use(self.library.model, self.library.dataset)
        )
        self.library.datasets_changed.connect(self._dataset_changed)
        self.history.opened.connect(self.restoring.restore)
        self.history.found.connect(self.restoring.load)
        self.history.run_taken.connect(
            lambda run, follow: self.subjects.point_at(run.request, follow)
        )
        self.runner.working.connect(lambda words: self.work_on("worker", words))
        self._waited.connect(lambda words: self.work_on("models", words))
        self._noticed.connect(self.notice)
        self.runner.noticed.connect(self.notice)
        self.library.noticed.connect(self.notice)
        self.library.models_changed.connect(self.processes.arrange)
        self.library.models_changed.connect(self.processes.warm)
        self.library.datasets_changed.connect(self.processes.warm)
        self.runner.stepped.connect(self.job_stepped)
        self.runner.changed.connect(self._job_changed)
        self._shown_data: object = None

    # --- start and end ----------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Finds the analyses away from the GUI thread, and starts the processes for models."""
        if not one_process():
            memory, notice = self.processes.memory, self._noticed.emit
            self.answers.start(Terms(keep=True, memory=memory, notice=notice), self._waited.emit)
        self.processes.arrange()
        self.runner.start()
        self.work_on("analyses", "Loading the analyses …")
        self.background.run(_find_analyses, self._warm)

    def _warm(self, analyses: dict[str, Analysis]) -> None:
        self.analyses = analyses
        self.work_on("analyses", "")
        self.pictures.run(lambda: self.answers.ask("devices"), self.processes.set_devices)
        self.pictures.run(_preload_rest)
        for problem in problems():
            self.say("error", problem)
        self.ready.emit()

    @property
    def answered(self) -> int:
        """How many inputs models have answered so far, for runs and for the gallery."""
        return self.runner.calls + self.library.predictions.asked

    @property
    def busy(self) -> bool:
        """Whether files are being read or models opened."""
        return self.background.busy or self.opening.busy

    @property
    def asking(self) -> bool:
        """Whether a person waits for a model that is being opened, or that does not answer."""
        return bool({"models"} & set(self._busy_with)) or self.opening.busy

    def stop_everything(self) -> None:
        """Stops every run, and every model that has not answered yet."""
        self.runner.stop_all()
        self.answers.stop()

    def shutdown(self) -> bool:
        """Stops all threads and closes the workspace; False if a model would not let go."""
        self.accuracies.end()
        self.answers.close()  # Threads that wait for a model get an error.
        ended = self.runner.shutdown()
        self.looked_at.keep()
        # What the user has marked is written before the window goes.
        ended = self.keeping.shutdown(finish=True) and ended
        self.library.predictions.shutdown()
        # The call stands before `and`: each is ended, also after one that would not.
        ended = self.opening.shutdown() and ended
        ended = self.pictures.shutdown() and ended
        ended = self.writing.shutdown() and ended
        ended = self.background.shutdown() and ended
        self.selftest.close()
        self.tracking.close()
        self.history.close()
        return ended

    def say(self, level: str, sentence: str, details: str = "") -> None:
        """One sentence for the log and, for a while, on the window."""
        self.said.emit(level, sentence, details)

    def notice(self, sentence: str) -> None:
        """What a loaded model has to say, said once: the next run would say it again."""
        if sentence not in self._noticed_before:
            self._noticed_before.add(sentence)
            self.say("warning", sentence)

    def work_on(self, part: str, words: str) -> None:
        """Says what one part of the program is busy with; empty words end it."""
        # The first to begin is shown; what a worker does by itself comes after all others.
        if words:
            self._busy_with[part] = words
        else:
            self._busy_with.pop(part, None)
        shown = sorted(self._busy_with, key=lambda one: one == "worker")
        self.working.emit(self._busy_with[shown[0]] if shown else "")

    # --- workspace and selection ------------------------------------------------------------------

    def open_workspace(self, path: Path | None = None) -> None:
        """Opens a workspace in place of the present one, unless something is running.

        The models and data are then those of the workspace; one that is made has none.
        """
        # A run writes into the workspace in which it was queued, to its end.
        if self.runner.busy:
            self.say("warning", "Stop the running analysis before opening another workspace.")
        else:
            self.history.open(path)

    def set_scope(self, indices: tuple[int, ...] | None, how: InputFilter | None = None) -> None:
        """Which inputs an analysis of many looks at: those that pass the filter of the gallery.

        Args:
            indices: None means all.
            how: The filter; None where inputs were chosen in another way.
        """
        now = indices, how or InputFilter()
        if now != (self.scope, self.filter):
            self.scope, self.filter = now
            self.scope_changed.emit()

    def select(self, selection: Selection, origin: object = None) -> None:
        """Tells every view what the user points at."""
        if selection != self.selection:
            self.selection = selection
            self.looked_at.note(self.library.dataset, selection.input)
            self.selection_changed.emit(selection, origin)

    def _dataset_changed(self) -> None:
        """Other data: the selection begins anew at the input that was chosen there last."""
        dataset = self.library.dataset
        # The signal also tells of data that have only joined the list.
        if dataset is not self._shown_data:
            self._shown_data = dataset
            self.set_scope(None)
            self.select(Selection(input=self.looked_at.first(dataset)))

    # --- runs -------------------------------------------------------------------------------------

    def submit(
        self, request: Request, run_id: str | None = None, *, place: int | None = None
    ) -> Execution:
        """Queues a Request, on what is loaded already where that is what it asks for.

        Args:
            request: What to run.
            run_id: The run of the workspace that was queued for it before the program was last
                closed.
            place: Where in the queue; None puts it at the end.
        """
        from robgui.core.execution.execution import Execution

        workspace, dataset = self.history.writable, self.subjects.dataset_of(request)
        trusted = code_of(self.library.models)
        if dataset is not None and dataset.path is None:
            loose = dataset
        else:
            loose = None
        execution = Execution(request, workspace, run_id=run_id, trusted=trusted, data=loose)
        self.keeping.run(execution.enlist)
        datasets = () if dataset is None else (dataset,)
        shelf = self.answers.shelf(workspace, datasets)
        if self.processes.cluster:
            device = ""
        else:
            device = self.processes.device
        self.runner.submit(
            execution, shelf, place=place, cluster=self.processes.cluster, device=device
        )
        return execution

    def run_again(self, run: Run) -> Execution | None:
        """Queues the request of a stored run once more, or starts one that was left waiting.

        Says so when it cannot be.
        """
        try:
            return self.submit(run.request, run.id if run.state is RunState.QUEUED else None)
        except RobguiError as error:  # Its analysis or its settings are not of this version.
            self.say("error", str(error))
            return None

    def _job_changed(self, job: Execution) -> None:
        self.job_changed.emit(job)
        if job.state.ended and job in self.runner.executions:
            return  # It has ended since, which is reported once, after its last Step.
        logging.getLogger("robgui").info(
            "%s: %s", self.analyses[job.request.analysis].title, job.state.value
        )
        if sentence := failure(job):
            self.say("error" if job.state is RunState.FAILED else "warning", sentence, job.details)
        if job.state.ended and not job.attempts:  # It was taken out of the queue.
            self.keeping.run(job.withdraw, lambda _: self.history.refresh())
        elif job.state.ended:
            self.history.refresh()


def _find_analyses() -> dict[str, Analysis]:
    from robgui.core.execution.registry import analyses
    from robgui.gui.panels import preload

    preload()
    return analyses()


def _preload_rest() -> None:
    from robgui.gui.panels import preload_rest

    preload_rest()
