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
from robgui.core.execution.params.thresholds import usual
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.slot import Terms
from robgui.core.text.words import count
from robgui.gui.state.accuracies import Accuracies
from robgui.gui.state.background import Background
from robgui.gui.state.evidence.tracking import Tracking
from robgui.gui.state.history import History
from robgui.gui.state.library import Library
from robgui.gui.state.looked_at import LookedAt
from robgui.gui.state.marking import Marking
from robgui.gui.state.navigation import Navigation
from robgui.gui.state.remedies import failure, told
from robgui.gui.state.restoring import Restoring
from robgui.gui.state.running.inspect_all import Inspection
from robgui.gui.state.running.left_waiting import LeftWaiting
from robgui.gui.state.running.places import cluster_places, window_places
from robgui.gui.state.running.runner import Runner
from robgui.gui.state.selection import Selection
from robgui.gui.state.selftest import SelfTest
from robgui.gui.state.sending import Sending

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.analysis import Analysis, Params
    from robgui.core.execution.budget.cost import Estimate
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.request import Request
    from robgui.core.execution.run import Run
    from robgui.core.model.card import ModelCard


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
        finding_wanted: The finding whose own page is to be shown.
        export_wanted: The inputs that the run on show has made are to be written to files.
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
    _waited = Signal(str)
    _noticed = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.analyses: dict[str, Analysis] = {}
        self.selection = Selection()
        self.memory = 0
        self.at_once = 1
        self.cluster = self.run_device = ""
        self.scope: tuple[int, ...] | None = None
        self.params: dict[str, Params | None] = {}
        self._busy_with: dict[str, str] = {}
        self.thresholds: dict[str, float] = {}
        self.filter = ""
        self.unticked: set[str] = set()
        self._noticed_before: set[str] = set()
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
        self._connect()
        self.navigation = Navigation(self)
        self.inspection = Inspection(self)

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
        self.history.run_taken.connect(lambda run, follow: self.point_at(run.request, follow))
        self.runner.working.connect(lambda words: self.work_on("worker", words))
        self._waited.connect(lambda words: self.work_on("models", words))
        self._noticed.connect(self.notice)
        self.runner.noticed.connect(self.notice)
        self.library.noticed.connect(self.notice)
        self.library.models_changed.connect(self._arrange)
        self.library.models_changed.connect(self._warm_worker)
        self.library.datasets_changed.connect(self._warm_worker)
        self.runner.stepped.connect(self.job_stepped)
        self.runner.changed.connect(self._job_changed)
        self._shown_data: object = None

    # --- start and end ----------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Finds the analyses away from the GUI thread, and starts the processes for models."""
        if not one_process():
            terms = Terms(keep=True, memory=self.memory, notice=self._noticed.emit)
            self.answers.start(terms, self._waited.emit)
        self._arrange()
        self.runner.start()
        self.work_on("analyses", "Loading the analyses …")
        self.background.run(_find_analyses, self._warm)

    def _warm(self, analyses: dict[str, Analysis]) -> None:
        self.analyses = analyses
        self.work_on("analyses", "")
        self.pictures.run(lambda: self.answers.ask("devices"), self._found)
        self.pictures.run(_preload_rest)
        for problem in problems():
            self.say("error", problem)
        self.ready.emit()

    def _found(self, devices: list[tuple[str, str]]) -> None:
        self.library.devices = devices
        self.library.device = self.library.device or devices[0][0]
        self._arrange()

    def set_processes(self, at_once: int, memory: int) -> None:
        """How many runs compute at once, and how many bytes each of their processes may take (0
        lets the program choose); what runs goes on.
        """
        if (at_once, memory) != (self.at_once, self.memory):
            self.at_once, self.memory = at_once, memory
            self.answers.arrange(memory)
            self._arrange()

    def _arrange(self) -> None:
        library = self.library
        devices = [name for name, _ in library.devices]
        places = window_places(self.at_once, library.device, devices, self.run_device)
        self.runner.arrange([*places, *cluster_places(self.cluster, self.at_once)], self.memory)

    def set_cluster(self, address: str) -> None:
        """Runs from now on are computed by the Ray cluster at ``address``; empty for this machine.

        Models are still opened and looked at here.
        """
        if one_process():
            self.cluster = ""
        else:
            self.cluster = address
        self._arrange()

    def send_runs_to(self, device: str) -> None:
        """Runs from now on are computed on ``device``, beside what runs elsewhere; empty for the
        one in use, or whichever is free.

        Models are still opened and looked at where they are.
        """
        if one_process():
            self.run_device = ""
        else:
            self.run_device = device
        self._arrange()

    @property
    def answered(self) -> int:
        """How many inputs models have answered so far, for runs and for the gallery."""
        return self.runner.calls + self.library.predictions.asked

    @property
    def pids(self) -> list[int]:
        """The processes in which models are."""
        return [*self.answers.pids, *self.runner.pids]

    @property
    def graphics(self) -> tuple[int, int] | None:
        """Bytes in use and in all of the graphics card in use; None where there is none."""
        newest = max(self.answers.graphics, self.runner.graphics, key=lambda one: one.when)
        return newest.of(self.library.device)

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
        self.answers.close()  # whoever waits for a model is told
        ended = self.runner.shutdown()
        self.looked_at.keep()
        ended = self.keeping.shutdown(finish=True) and ended
        self.library.predictions.shutdown()
        ended = self.opening.shutdown() and ended
        ended = self.pictures.shutdown() and ended
        ended = self.writing.shutdown() and ended
        ended = self.background.shutdown() and ended
        self.selftest.close()
        self.tracking.close()
        self.history.close()
        return ended

    def run_doctor(self) -> None:
        """Writes what is installed and what is broken into the log."""
        self.background.run(
            _doctor,
            lambda text: self.say(
                "info", "The installation was checked; the log has the result.", text
            ),
        )

    def say(self, level: str, sentence: str, details: str = "") -> None:
        """One sentence for the log and, for a while, on the window."""
        self.said.emit(level, sentence, details)

    def notice(self, sentence: str) -> None:
        """What a loaded model has to say, said once: the next run would say it again."""
        if sentence not in self._noticed_before:
            self._noticed_before.add(sentence)
            self.say("warning", sentence)

    def work_on(self, part: str, words: str) -> None:
        """Says what one part of the program is busy with, or with empty words that it is no
        longer; the first to begin is shown, what a worker does by itself after all others.
        """
        if words:
            self._busy_with[part] = words
        else:
            self._busy_with.pop(part, None)
        shown = sorted(self._busy_with, key=lambda one: one == "worker")
        self.working.emit(self._busy_with[shown[0]] if shown else "")

    # --- workspace and selection ------------------------------------------------------------------

    def open_workspace(self, path: Path | None = None) -> None:
        """Opens a workspace in place of the present one, unless something is running."""
        if self.runner.busy:
            self.say("warning", "Stop the running analysis before opening another workspace.")
        else:
            self.history.open(path)

    def new_workspace(self, path: Path) -> None:
        """Begins an empty workspace in ``path``; what is open now belongs to it, too."""
        if self.runner.busy:
            self.say("warning", "Stop the running analysis before beginning another workspace.")
            return

        def opened() -> None:
            for dataset in self.library.datasets:
                self.history.remember(dataset)
            for model in self.library.models:
                self.history.remember(model)
            self.history.use(self.library.model, self.library.dataset)

        self.history.open(path, opened)

    def set_scope(self, indices: tuple[int, ...] | None, how: str = "") -> None:
        """Which inputs an analysis of many looks at: those that pass the filter of the gallery.

        Args:
            indices: None means all.
            how: The filter in words.
        """
        if indices is not None:
            self.filter = how
        else:
            self.filter = ""
        if indices != self.scope:
            self.scope = indices
            self.scope_changed.emit()

    def select(self, selection: Selection, origin: object = None) -> None:
        """Tells every view what the user points at."""
        if selection != self.selection:
            self.selection = selection
            self.looked_at.note(self.library.dataset, selection.input)
            self.selection_changed.emit(selection, origin)

    def subject(self, request: Request) -> str:
        """Which model on which input: every picture says what it shows.

        A derived input with its trail.
        """
        from robgui.core.execution.request import subject

        wanted = request.dataset
        if wanted is not None and "derived" in wanted.options:
            derived = self.library.dataset_of(request)
        else:
            derived = None
        items: tuple[Derived, ...] = getattr(derived, "items", ())
        return subject(request, items)

    def choose(self, request: Request, place: int, origin: object = None) -> bool:
        """Chooses an input of a run in the gallery; says so when its data are not open."""
        found = self.library.locate(request, place)
        if found is None:
            if request.dataset is not None:
                name = request.dataset.name
            else:
                name = "The data of this run"
            self.say("warning", f"{name} is not open; open it to see this input in the gallery.")
            return False
        dataset, index = found
        if dataset is not self.library.dataset:
            self.library.use_dataset(dataset)
        self.select(self.selection.replace(input=index), origin=origin)
        return True

    def point_at(self, request: Request, follow: bool = True) -> None:
        """Model, data and inputs of a run come back with its picture, as far as they are loaded.

        Args:
            request: Of the run.
            follow: Otherwise the pair in use and the chosen input stay; a run of that pair brings
                its filter along.
        """
        library = self.library
        model = next(
            (
                m
                for m in library.models
                if request.models and m.fingerprint == request.models[0].fingerprint
            ),
            None,
        )
        place = library.locate(request, 0)
        if not follow and (
            model is not library.model or (place is not None and place[0] is not library.dataset)
        ):
            return
        if place is not None and place[0] is not library.dataset:
            library.use_dataset(place[0])
        if model is not None and model is not library.model:
            library.use_model(model)
        if place is None or place[0] is not library.dataset:
            return
        derived = request.dataset is not None and "derived" in request.dataset.options
        known = self.analyses.get(request.analysis)
        if not derived and known is not None and known.inputs == "many":
            self.set_scope(request.indices)
        elif follow and derived:
            self.select(self.selection.replace(input=place[1], second=None))
        elif follow and request.indices and len(request.indices) <= 2:
            if len(request.indices) == 2:
                second = request.indices[1]
            else:
                second = None
            self.select(self.selection.replace(input=request.indices[0], second=second))

    def _dataset_changed(self) -> None:
        """Other data: the selection begins anew at the input that was chosen there last."""
        dataset = self.library.dataset
        if dataset is not self._shown_data:
            self._shown_data = dataset
            self.set_scope(None)
            self.select(Selection(input=self.looked_at.first(dataset)))

    # --- runs -------------------------------------------------------------------------------------

    def set_params(self, analysis: str, params: Params | None) -> None:
        """What the form of ``analysis`` shows now; None while it is not valid."""
        if self.params.get(analysis) != params:
            self.params[analysis] = params
            self.params_changed.emit(analysis)

    def set_thresholds(self, chosen: dict[str, float]) -> None:
        """The user's own thresholds, by ``analysis.field``: what forms and inspections begin
        with.
        """
        if chosen != self.thresholds:
            self.thresholds = dict(chosen)
            self.thresholds_changed.emit()

    def usual(self, analysis: str) -> dict[str, float]:
        """The thresholds that the user has chosen for an analysis, by field."""
        return usual(self.analyses[analysis], self.thresholds)

    def request(self, analysis: str) -> Request | None:
        """What pressing Run would ask for now; None while something is missing."""
        library, known, params = (
            self.library,
            self.analyses.get(analysis),
            self.params.get(analysis),
        )
        if known is None or params is None or library.model is None:
            return None
        one = known.inputs == "one"
        if known.looks_at_data(params) and (
            library.dataset is None or (one and self.selection.input is None)
        ):
            return None
        indices = self.selection.inputs if one else self.scope
        return self.build(known, params, indices, "" if one else self.filter)

    def build(
        self, known: Analysis, params: Params, indices: Sequence[int] | None, how: str = ""
    ) -> Request:
        """The Request for the models and data in use now; ``how`` says how inputs were chosen."""
        from robgui.core.execution.request import build_request

        library = self.library
        models = self.models_for(known, params)
        return build_request(
            known,
            models,
            library.dataset,
            params,
            indices=indices,
            how=how,
            autocast=library.autocast,
        )

    def obstacle(self, analysis: str) -> str:
        """Why ``analysis`` cannot run now, in words; empty when it can."""
        if analysis not in self.analyses:
            return "Still loading; a moment."
        if self.library.model is None:
            return self.library.loading or "Open a model first."
        known, params = self.analyses[analysis], self.params.get(analysis)
        looks = params is None or known.looks_at_data(params)
        if looks and (lack := self._lack_of_inputs(known)):
            return lack
        if params is None:
            return "Correct the settings first."
        models = self.models_for(known, params)
        return known.refusal(self.library.model) or told(
            known.shortage(params, models, self._count(known) if looks else 0)
        )

    def estimate(self, analysis: str) -> Estimate | None:
        """What pressing Run would cost now; None where nobody knows."""
        from robgui.core.execution.budget.cost import estimate

        known, params = self.analyses.get(analysis), self.params.get(analysis)
        if known is None or params is None or self.obstacle(analysis):
            return None
        if known.looks_at_data(params):
            inputs = self._count(known)
        else:
            inputs = 0
        try:
            return estimate(known, params, self.models_for(known, params), inputs)
        except RobguiError:  # settings that a run refuses, with a sentence, when it starts
            return None

    def compared(self, analysis: str) -> list[ModelCard]:
        """The models that a run of ``analysis`` would look at together.

        None for an analysis of one model.
        """
        known, params = self.analyses.get(analysis), self.params.get(analysis)
        if known is None or params is None or not known.several_models:
            return []
        return self.models_for(known, params)

    def models_for(self, known: Analysis, params: Params) -> list[ModelCard]:
        """The models that a run would look at now: the one in use, or all that fit the data, the
        one in use first.
        """
        if known.several_models:
            ticked = [
                model
                for model in self.library.fitting_models()
                if model is self.library.model or model.content not in self.unticked
            ]
            return ticked[: known.takes(params).most_models]
        if self.library.model is not None:
            return [self.library.model]
        return []

    def tick(self, model: ModelCard, on: bool) -> None:
        """Whether an analysis of several models looks at this one too."""
        mark = {model.content}
        if on:
            self.unticked = self.unticked - mark
        else:
            self.unticked = self.unticked | mark
        self.scope_changed.emit()

    def left_out(self) -> dict[str, str]:
        """The models that a comparison leaves out because they do not fit, by name, and why."""
        fitting, own = self.library.fitting_models(), self.library.model
        return {
            model.name: _misfit(model, own) for model in self.library.models if model not in fitting
        }

    def _lack_of_inputs(self, known: Analysis) -> str:
        if self.library.dataset is None:
            return self.library.loading or "Open some inputs first."
        if self.library.mismatch:
            return self.library.mismatch
        if known.inputs == "one" and self.selection.input is None:
            return "Choose an input in the gallery."
        if known.inputs == "many" and self.scope == ():
            return "No input passes the filter of the gallery; widen it."
        return ""

    def _count(self, known: Analysis) -> int:
        """How many inputs a run would look at now."""
        dataset = self.library.dataset
        if known.inputs == "one":
            return len(self.selection.inputs)
        if self.scope is None:
            return len(dataset or ())
        return len(self.scope)

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

        workspace, dataset = self.history.writable, self.library.dataset_of(request)
        trusted = _code_of(self.library.models)
        if dataset is not None and dataset.path is None:
            loose = dataset
        else:
            loose = None
        execution = Execution(request, workspace, run_id=run_id, trusted=trusted, data=loose)
        self.keeping.run(execution.enlist)
        datasets = () if dataset is None else (dataset,)
        shelf = self.answers.shelf(workspace, datasets)
        if self.cluster:
            device = ""
        else:
            device = self.run_device
        self.runner.submit(execution, shelf, place=place, cluster=self.cluster, device=device)
        return execution

    def run_again(self, run: Run) -> Execution | None:
        """Queues the request of a stored run once more, or starts one that was left waiting.

        Says so when it cannot be.
        """
        try:
            return self.submit(run.request, run.id if run.state is RunState.QUEUED else None)
        except RobguiError as error:  # its analysis or its settings are not of this version
            self.say("error", str(error))
            return None

    def _warm_worker(self) -> None:
        """Has the model and the data in use loaded where they will be run."""
        from robgui.core.execution.request import Request, reference

        model, dataset = self.library.model, self.library.dataset
        if model is not None and model.path is not None and not one_process():
            if dataset is not None and dataset.path is not None:
                data = reference(dataset)
            else:
                data = None
            request = Request(
                analysis="any", models=(reference(model),), dataset=data, device=str(model.device)
            )
            self.runner.warm(request, _code_of((model,)))

    def _job_changed(self, job: Execution) -> None:
        self.job_changed.emit(job)
        if job.state.ended and job in self.runner.executions:
            return  # it has ended since, which is told once, after its last Step
        logging.getLogger("robgui").info(
            "%s: %s", self.analyses[job.request.analysis].title, job.state.value
        )
        if sentence := failure(job):
            self.say("error" if job.state is RunState.FAILED else "warning", sentence, job.details)
        if job.state.ended and not job.attempts:  # it was taken out of the queue
            self.keeping.run(job.withdraw, lambda _: self.history.refresh())
        elif job.state.ended:
            self.history.refresh()


def _misfit(model: ModelCard, own: ModelCard | None) -> str:
    """Why a model cannot run together with the one in use on its data."""
    if own is not None and model.classes != own.classes:
        return f"{count(model.classes, 'class')} instead of {own.classes:,}"
    if own is not None and model.shape != own.shape:
        return "takes inputs of another size"
    return "does not fit these inputs"


def _code_of(models: Sequence[ModelCard]) -> frozenset[str]:
    """The digests of the code that was run to load these models."""
    return frozenset(model.ran for model in models if model.ran)


def _find_analyses() -> dict[str, Analysis]:
    from robgui.core.execution.registry import analyses
    from robgui.gui.panels import preload

    preload()
    return analyses()


def _preload_rest() -> None:
    from robgui.gui.panels import preload_rest

    preload_rest()


def _doctor() -> str:
    from robgui.doctor import report

    return report()
