"""Store: the only object that panels and docks know; one call down, one signal up.

Everything slow (files, models, the workspace) happens on ``background`` or in the Runner; the attributes here
are plain values that the GUI thread may read at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from robgui.core.errors import RobguiError, TrustError
from robgui.gui.background import Background
from robgui.gui.predictions import Predictions
from robgui.gui.runner import Job, Runner
from robgui.gui.selection import Selection

if TYPE_CHECKING:
    from robgui.core.analysis import Analysis, Params
    from robgui.core.classifier import Classifier
    from robgui.core.dataset import Dataset
    from robgui.core.finding import StoredFinding
    from robgui.core.request import Reference, Request
    from robgui.core.run import Run
    from robgui.core.speed import Speed
    from robgui.core.workspace import Workspace


class Store(QObject):
    """Workspace, models, datasets, selection and runs, with one signal per kind of change.

    Signals:
        ready: torch and the analyses are imported; ``analyses`` is filled.
        models_changed: The list of models, or which one is in use, has changed.
        datasets_changed: The list of datasets, or which one is in use, has changed.
        selection_changed: ``(selection, origin)``; a view ignores its own origin.
        runs_changed: The history has changed.
        findings_changed: The findings have changed.
        job_stepped: A running Job has a newer Step.
        job_changed: A Job's state has changed.
        params_changed: The settings in the form of this analysis have changed.
        result_shown: ``(run, result)`` of a stored run that is to be drawn.
        workspace_changed: Another workspace is open.
        trust_needed: ``(path, sentence)``: a model file would execute code.
        model_opened: The user opened a model file; the loading dialog shows how it behaves.
        said: ``(level, sentence, details)`` for log and toast; level is info, warning or error.
        working: What the program is busy with, in words; empty when idle.
    """

    ready = Signal()
    models_changed = Signal()
    datasets_changed = Signal()
    selection_changed = Signal(object, object)
    runs_changed = Signal()
    findings_changed = Signal()
    job_stepped = Signal(object)
    job_changed = Signal(object)
    params_changed = Signal(str)
    result_shown = Signal(object, object)
    workspace_changed = Signal()
    trust_needed = Signal(object, str)
    model_opened = Signal(object)
    said = Signal(str, str, str)
    working = Signal(str)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.analyses: dict[str, Analysis] = {}
        self.workspace: Workspace | None = None
        self.models: list[Classifier] = []
        self.model: Classifier | None = None
        self.datasets: list[Dataset] = []
        self.dataset: Dataset | None = None
        self.selection = Selection()
        self.runs: list[Run] = []
        self.findings: list[StoredFinding] = []
        self.params: dict[str, Params | None] = {}
        self.missing: list[Reference] = []
        self.device = ""
        self._trusted: set[Path] = set()
        self.autocast = False
        self.channels_last = False
        self.mismatch = ""
        self.background = Background(1, self)
        self.background.failed.connect(self._failed)
        self.pictures = Background(2, self)
        self.pictures.failed.connect(self._failed)
        self.predictions = Predictions(self)
        self.runner = Runner(self)
        self.runner.stepped.connect(self.job_stepped)
        self.runner.changed.connect(self._job_changed)

    # --- start and end -------------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """Imports torch and the analyses away from the GUI thread."""
        self.working.emit("Loading torch …")
        self.background.run(_import_everything, self._warm)

    def _warm(self, answer: tuple[dict[str, Analysis], str]) -> None:
        self.analyses, device = answer
        self.device = self.device or device
        self.working.emit("")
        self.ready.emit()

    def shutdown(self) -> bool:
        """Stops all threads and closes the workspace; False if a model would not let go."""
        ended = self.runner.shutdown()
        self.predictions.shutdown()
        ended = self.pictures.shutdown() and ended
        ended = self.background.shutdown() and ended
        if self.workspace is not None:
            self.workspace.close()
            self.workspace = None
        return ended

    # --- workspace -----------------------------------------------------------------------------------------

    def open_workspace(self, path: Path | None = None, done: Callable[[], None] | None = None) -> None:
        """Opens ``path`` (made if missing), or the user's own, in place of the present workspace."""
        if self.runner.busy:
            self.say("warning", "Stop the running analysis before opening another workspace.")
            return

        def opened(answer: Any) -> None:
            old, (self.workspace, self.runs, self.findings, references) = self.workspace, answer
            if old is not None:
                self.background.run(old.close)
            self.select(Selection())
            self.workspace_changed.emit()
            self.runs_changed.emit()
            self.findings_changed.emit()
            if self.workspace.read_only:
                self.say("warning", f"{self.workspace.reason} New runs are shown but not kept.")
            self._reopen(references)
            if done is not None:
                done()

        self.background.run(lambda: _open_workspace(path), opened)

    def save_workspace_as(self, path: Path) -> None:
        """Copies the workspace to ``path`` and goes on with the copy."""
        workspace = self._need_workspace()

        def saved(_: Any) -> None:
            self.open_workspace(path, lambda: self.say("info", f"Saved as {path}."))

        self.background.run(lambda: workspace.save_as(path), saved)

    def export_workspace(self, folder: Path) -> None:
        """Writes every run and finding as plain files into ``folder``."""
        workspace = self._need_workspace()
        self.background.run(lambda: workspace.export(folder), lambda _: self.say("info", f"Exported to {folder}."))

    def remember_setting(self, name: str, value: Any) -> None:
        """Keeps a small JSON value (window layout, last selection) in the workspace."""
        workspace = self.workspace
        if workspace is not None and not workspace.read_only:
            self.background.run(lambda: workspace.set_setting(name, value))

    def _reopen(self, references: Sequence[Any]) -> None:
        """Loads the models and datasets the workspace knows; a missing file is said once, with what to do."""
        self.missing = [r for r in references if r.path and not Path(r.path).exists()]
        for reference in references:
            if reference in self.missing:
                self.say("warning", f"{reference.name}: {reference.path} is missing; use File, Find missing file … to point to it.")
            elif reference.path and not self._has(reference.fingerprint):
                self._load(reference)

    def _load(self, reference: Reference) -> None:
        if reference.kind == "model":
            self.load_model(Path(reference.path), trust=reference.trust, settings=dict(reference.options), quiet=True)
        else:
            self.load_dataset(Path(reference.path), quiet=True)

    def relink(self, reference: Reference, path: Path) -> None:
        """The file of ``reference`` is now at ``path``."""
        workspace = self._need_workspace()

        def linked(_: Any) -> None:
            self.missing = [r for r in self.missing if r is not reference]
            self._load(reference.model_copy(update={"path": str(path)}))

        self.background.run(lambda: workspace.relink(reference.fingerprint, path), linked)

    def write_report(self, path: Path) -> None:
        """Writes the one-file HTML report of the workspace."""
        workspace = self._need_workspace()
        self.working.emit("Writing the report …")

        def written(_: Any) -> None:
            self.working.emit("")
            self.say("info", f"Report written: {path}")

        self.background.run(lambda: _write_report(workspace, path), written)

    def _has(self, fingerprint: str) -> bool:
        return any(item.fingerprint == fingerprint for item in (*self.models, *self.datasets))

    def _need_workspace(self) -> Workspace:
        if self.workspace is None:
            raise RobguiError("No workspace is open yet; wait a moment or open one from the File menu.")
        return self.workspace

    # --- models and data -----------------------------------------------------------------------------------

    def load_model(self, path: Path, *, trust: bool = False, settings: dict[str, Any] | None = None, quiet: bool = False) -> None:
        """Loads a model file; ``model_opened`` follows unless ``quiet``."""
        self.working.emit(f"Loading {path.name} …")

        def failed(sentence: str, details: str) -> None:
            self.working.emit("")
            self._failed(sentence, details)

        def loaded(answer: Classifier | TrustError) -> None:
            self.working.emit("")
            if isinstance(answer, TrustError):
                self.trust_needed.emit(path, str(answer))
                return
            self.add_model(answer, trust=trust, activate=not quiet or self.model is None)
            if not quiet:
                self.model_opened.emit(answer)

        device = self.device
        self.background.run(lambda: _load_model(path, trust, device, settings or {}), loaded, failed=failed)

    def add_model(self, classifier: Classifier, *, trust: bool = False, activate: bool = True) -> None:
        """Adds a loaded model, in place of an older one from the same file."""
        classifier.notice = self._notice
        if trust and classifier.path is not None:
            self._trusted.add(classifier.path)
        self.models = [m for m in self.models if m.path is None or m.path != classifier.path] + [classifier]
        if activate or self.model not in self.models:
            self.use_model(classifier)
        else:
            self.models_changed.emit()
        self._remember(classifier, classifier.path in self._trusted)

    def use_model(self, classifier: Classifier) -> None:
        """Makes ``classifier`` the one that the next run looks at; picks data that fit it."""
        self.model = classifier
        if self.dataset is None or not _looks_alike(classifier, self.dataset):
            fitting = next((d for d in self.datasets if _looks_alike(classifier, d)), None)
            if fitting is not None and fitting is not self.dataset:
                self._take_dataset(fitting)
        self._match()
        self.models_changed.emit()

    def remove_model(self, classifier: Classifier) -> None:
        """Takes a model off the list; its runs stay."""
        self.models = [m for m in self.models if m is not classifier]
        workspace = self.workspace
        if workspace is not None and not workspace.read_only:
            self.background.run(lambda: workspace.forget(classifier.fingerprint))
        if self.model is classifier:
            self.model = None
            if self.models:
                self.use_model(self.models[-1])
                return
        self.models_changed.emit()

    def load_dataset(self, path: Path, *, quiet: bool = False) -> None:
        """Opens data of any format we read and uses it (unless ``quiet`` and one is in use)."""
        self.working.emit(f"Opening {path.name} …")

        def failed(sentence: str, details: str) -> None:
            self.working.emit("")
            self._failed(sentence, details)

        def opened(dataset: Dataset) -> None:
            self.working.emit("")
            self.add_dataset(dataset, activate=not quiet or self.dataset is None)
            if dataset.skipped:
                self.say("warning", f"{dataset.name}: {len(dataset.skipped):,} files were skipped; the log lists them.", _list(dataset.skipped))

        self.background.run(lambda: _open_dataset(path), opened, failed=failed)

    def add_dataset(self, dataset: Dataset, *, activate: bool = True) -> None:
        """Adds open data, in place of older data from the same path."""
        self.datasets = [d for d in self.datasets if d.path is None or d.path != dataset.path] + [dataset]
        if activate or self.dataset not in self.datasets:
            self.use_dataset(dataset)
        else:
            self.datasets_changed.emit()
        self._remember(dataset, False)

    def use_dataset(self, dataset: Dataset) -> None:
        """Shows ``dataset`` in the gallery; picks a model that fits it if the present one does not."""
        self._take_dataset(dataset)
        if self.model is None or not _looks_alike(self.model, dataset):
            fitting = next((m for m in self.models if _looks_alike(m, dataset)), None)
            if fitting is not None:
                self.model = fitting
                self.models_changed.emit()
        self._match()

    def _take_dataset(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.selection = Selection(input=0 if len(dataset) else None)
        self.datasets_changed.emit()
        self.selection_changed.emit(self.selection, None)

    def _match(self) -> None:
        """Checks that model and data fit each other; predictions start when they do."""
        self.mismatch = ""
        self.predictions.clear()
        classifier, dataset = self.model, self.dataset
        if classifier is None or dataset is None:
            return

        def matched(fitted: Classifier) -> None:
            if fitted is not classifier:
                self.models = [fitted if m is classifier else m for m in self.models]
                self.model = fitted
                fitted.notice = self._notice
                self.models_changed.emit()
            self.predictions.start(fitted, dataset)

        def refused(sentence: str, details: str) -> None:
            self.mismatch = sentence
            self.models_changed.emit()
            self._failed(sentence, details)

        self.background.run(lambda: _match(classifier, dataset), matched, failed=refused, key="match")

    def _remember(self, item: Classifier | Dataset, trust: bool) -> None:
        workspace = self.workspace
        if workspace is None or workspace.read_only or item.path is None:
            return
        self.background.run(lambda: _remember(workspace, item, trust))

    def set_device(self, device: str, *, autocast: bool | None = None, channels_last: bool | None = None) -> None:
        """Moves every model to ``device``; the next run works there."""
        if self.runner.busy:
            self.say("warning", "Stop the running analysis before changing the device.")
            return
        self.autocast = self.autocast if autocast is None else autocast
        self.channels_last = self.channels_last if channels_last is None else channels_last
        models, half, last = list(self.models), self.autocast, self.channels_last

        def move() -> None:
            for model in models:
                model.to(device, autocast=half, channels_last=last)

        def moved(_: Any) -> None:
            self.device = device
            self._match()
            self.models_changed.emit()

        self.background.run(move, moved)

    def measure_speed(self) -> None:
        """Says how fast the model in use is each way, and how much the answers change."""
        classifier = self.model
        if classifier is None or self.runner.busy:
            self.say("warning", "Open a model and stop the running analysis first.")
            return
        self.working.emit("Measuring …")

        def measured(speeds: list[Speed]) -> None:
            self.working.emit("")
            lines = [f"{s.name}: {s.inputs_per_second:,.0f} inputs/s, largest change of a probability {s.largest_change:.2g}" for s in speeds]
            self.say("info", f"{classifier.name} on {classifier.device}. " + " · ".join(lines))

        self.background.run(lambda: _measure(classifier), measured)

    def run_doctor(self) -> None:
        """Writes what is installed and what is broken into the log."""
        self.background.run(_doctor, lambda text: self.say("info", "The installation was checked; the log has the result.", text))

    # --- selection -----------------------------------------------------------------------------------------

    def select(self, selection: Selection, origin: object = None) -> None:
        """Tells every view what the user points at."""
        if selection != self.selection:
            self.selection = selection
            self.selection_changed.emit(selection, origin)

    # --- runs ----------------------------------------------------------------------------------------------

    def set_params(self, analysis: str, params: Params | None) -> None:
        """What the form of ``analysis`` shows now; None while it is not valid."""
        if self.params.get(analysis) != params:
            self.params[analysis] = params
            self.params_changed.emit(analysis)

    def request(self, analysis: str) -> Request | None:
        """What pressing Run would ask for now; None while something is missing."""
        from robgui.core.request import Reference, Request

        params = self.params.get(analysis)
        if params is None or self.model is None or self.dataset is None or self.selection.input is None:
            return None
        return Request.build(analysis, (self.model,), self.dataset, params.model_dump(), indices=(self.selection.input,))

    def obstacle(self, analysis: str) -> str:
        """Why ``analysis`` cannot run now, in words; empty when it can."""
        if analysis not in self.analyses:
            return "Still loading torch; a moment."
        if self.model is None:
            return "Open a model first."
        if self.dataset is None:
            return "Open some inputs first."
        if self.mismatch:
            return self.mismatch
        if self.selection.input is None:
            return "Choose an input in the gallery."
        if self.params.get(analysis) is None:
            return "Correct the settings first."
        return self.analyses[analysis].refusal(self.model)

    def submit(self, request: Request) -> Job:
        """Queues a Request on the models and data it was made from."""
        from robgui.core.request import drive

        classifiers = [self._model_of(r.fingerprint) for r in request.models]
        given = [c for c in classifiers if c is not None]
        wanted = request.dataset.fingerprint if request.dataset else ""
        dataset = next((d for d in self.datasets if d.fingerprint == wanted), None)
        workspace = self.workspace if self.workspace is not None and not self.workspace.read_only else None
        job = Job(request, lambda: drive(request, workspace, given if len(given) == len(classifiers) else (), dataset))
        self.runner.submit(job)
        return job

    def _model_of(self, fingerprint: str) -> Classifier | None:
        return next((m for m in self.models if m.fingerprint == fingerprint), None)

    def show_run(self, run: Run) -> None:
        """Draws a stored run again."""
        workspace = self.workspace
        if workspace is None:
            return

        def read(result: Any) -> None:
            if result is None:
                self.say("info", run.error or "This run has no result yet.")
            else:
                self.result_shown.emit(run, result)

        self.background.run(lambda: workspace.result(run.id), read, key="show run")

    def delete_run(self, run: Run) -> None:
        """Removes a run and its findings from the workspace."""
        workspace = self._need_workspace()
        self.background.run(lambda: workspace.delete_run(run.id), lambda _: self.refresh())

    def set_finding(self, finding: StoredFinding, *, note: str | None = None, starred: bool | None = None) -> None:
        """Stores the user's note or star; the list here has it at once, the workspace in a moment."""
        workspace = self._need_workspace()
        changes = {name: value for name, value in (("note", note), ("starred", starred)) if value is not None}
        self.findings = [replace(other, **changes) if other.id == finding.id else other for other in self.findings]
        self.background.run(lambda: workspace.set_finding(finding.id, note=note, starred=starred), lambda _: self.refresh())

    def refresh(self) -> None:
        """Reads history and findings again."""
        workspace = self.workspace
        if workspace is None:
            return

        def read(answer: tuple[list[Run], list[StoredFinding]]) -> None:
            self.runs, self.findings = answer
            self.runs_changed.emit()
            self.findings_changed.emit()

        self.background.run(lambda: (workspace.runs(), workspace.findings()), read, key="refresh")

    def _job_changed(self, job: Job) -> None:
        self.job_changed.emit(job)
        if job.state.ended:
            if job.error:
                self.say("error", job.error, job.details)
            self.refresh()
        else:
            self.runs_changed.emit()

    # --- words ---------------------------------------------------------------------------------------------

    def say(self, level: str, sentence: str, details: str = "") -> None:
        """One sentence for the log, and a toast when it matters."""
        self.said.emit(level, sentence, details)

    def _failed(self, sentence: str, details: str) -> None:
        self.say("error", sentence, details)

    def _notice(self, sentence: str) -> None:
        """Called by a Classifier on whatever thread it works; signals cross threads by themselves."""
        self.said.emit("warning", sentence, "")


def _import_everything() -> tuple[dict[str, Analysis], str]:
    from robgui.core.analysis import analyses
    from robgui.core.loading import default_device

    return analyses(), str(default_device())


def _open_workspace(path: Path | None) -> tuple[Workspace, list[Run], list[StoredFinding], list[Any]]:
    from robgui.core.workspace import Workspace

    workspace = Workspace.open(path or Workspace.default_path())
    references = [*workspace.references("dataset"), *workspace.references("model")]
    return workspace, workspace.runs(), workspace.findings(), references


def _load_model(path: Path, trust: bool, device: str, settings: dict[str, Any]) -> Classifier | TrustError:
    from robgui.core.loading import load

    try:
        return load(path, trust=trust, device=device or None, **settings)
    except TrustError as error:
        return error


def _open_dataset(path: Path) -> Dataset:
    from robgui.core.dataset import open_dataset

    return open_dataset(path)


def _match(classifier: Classifier, dataset: Dataset) -> Classifier:
    from robgui.core.dataset import match

    return match(classifier, dataset)


def _remember(workspace: Workspace, item: Classifier | Dataset, trust: bool) -> None:
    from robgui.core.request import reference

    workspace.remember(reference(item).model_copy(update={"trust": trust}))


def _write_report(workspace: Workspace, path: Path) -> None:
    from robgui.report.html import write_html

    write_html(workspace, path)


def _measure(classifier: Classifier) -> list[Speed]:
    from robgui.core.speed import measure

    return measure(classifier)


def _doctor() -> str:
    from robgui.doctor import report

    return report()


def _looks_alike(classifier: Classifier, dataset: Dataset) -> bool:
    """A cheap guess whether the two belong together: kind, size and class names."""
    if classifier.kind != dataset.kind:
        return False
    if dataset.shape is not None and dataset.shape != classifier.shape:
        return False
    return not dataset.names or len(dataset.names) == classifier.classes


def _list(skipped: Sequence[Any]) -> str:
    return "\n".join(f"{item.path}: {item.reason}" for item in skipped[:200])
