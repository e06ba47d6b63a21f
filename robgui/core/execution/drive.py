"""drive(request, workspace): iterates an engine and keeps its run in the workspace."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robgui.core.errors import DataError, ModelError, ParamsError, RobguiError, WorkspaceError
from robgui.core.execution.analysis import Analysis, Step
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.verdict import Verdict

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.execution.request import Reference, Request
    from robgui.core.model.classifier import Classifier
    from robgui.core.workspace import Workspace

#: Seconds between two commits of a partial result, so much is lost at most when the program is killed.
COMMIT_SECONDS = 2.0
#: A commit may take at most this share of the time; huge results are committed less often.
_COMMIT_SHARE = 0.1


class Drive(Iterator[Step[Any]]):
    """A Request being carried out: iterate it to compute, close it to stop, do nothing to pause.

    The run is in the workspace as QUEUED from the start and RUNNING from the first ``next`` on. It ends as
    DONE, as CANCELLED after ``close``, or as FAILED when anything raises; the newest Step is kept in every case.
    Models and data are loaded at the first ``next``, so that making a Drive costs nothing. Not thread-safe:
    one thread at a time may call its methods. The workspace is not locked between two calls.

    Attributes:
        request: What is carried out.
        params: Its settings, validated.
        run_id: The run in the workspace; None without a workspace.
        state: The same as in the workspace.
        newest: The newest Step.
        seconds: Time spent computing; time between two ``next`` is not counted.
        verdict: What the result says, once it has ended.
        error: One sentence about why it failed or was interrupted.
        findings: The failures it has found, once it has ended.
        device: Where it is computed, known from the first ``next`` on.
    """

    def __init__(
        self,
        request: Request,
        workspace: Workspace | None,
        classifiers: Sequence[Classifier] = (),
        dataset: Dataset | None = None,
        analysis: Analysis | None = None,
    ) -> None:
        self.request = request
        self.analysis = analysis or find(request.analysis)
        self.newest: Step[Any] | None = None
        self.state = RunState.QUEUED
        self.seconds = 0.0
        self.verdict: Verdict | None = None
        self.error = ""
        self.findings: tuple[Finding, ...] = ()
        self.device = ""
        self.params = self.analysis.params.parse(dict(request.params))
        self._workspace = workspace
        self._classifiers = tuple(classifiers)
        self._dataset = dataset
        self._engine: Iterator[Step[Any]] | None = None
        self._stored: Step[Any] | None = None
        self._next_commit = 0.0
        self.run_id = None if workspace is None else workspace.add_run(request).id

    def __next__(self) -> Step[Any]:
        if self.state.ended:
            raise StopIteration
        began = time.monotonic()
        try:
            step = self._advance()
        except (KeyboardInterrupt, GeneratorExit):
            self._end(RunState.CANCELLED, "interrupted by the user", began)
            raise
        except BaseException as error:
            self._end(RunState.FAILED, sentence(error), began)
            raise
        if step is None:
            self._end(RunState.DONE, "", began)
            raise StopIteration
        self.seconds += time.monotonic() - began
        return step

    def __enter__(self) -> Drive:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def pause(self) -> None:
        """Marks the run as paused and commits its newest Step; the next ``next`` goes on."""
        if self.state is RunState.RUNNING:
            self.state = RunState.PAUSED
            self._commit()

    def close(self) -> None:
        """Stops: the engine cleans up, the run ends as CANCELLED with its newest Step."""
        if not self.state.ended:
            self._end(RunState.CANCELLED, "", time.monotonic())

    def _advance(self) -> Step[Any] | None:
        if self._engine is None:
            self._engine = self._start()
        if self.state is RunState.PAUSED:
            self.state = RunState.RUNNING
            self._store(state=self.state)
        step = next(self._engine, None)
        if step is not None:
            self.newest = step
            if time.monotonic() >= self._next_commit:
                self._commit()
        return step

    def _start(self) -> Iterator[Step[Any]]:
        self.state = RunState.RUNNING
        self._store(state=self.state, versions=versions())
        classifiers, dataset = self._prepare()
        self.device = str(classifiers[0].device) if classifiers else "cpu"
        self._store(device=self.device)
        self._next_commit = time.monotonic() + COMMIT_SECONDS
        return self.analysis.engine(classifiers if self.analysis.several_models else classifiers[0], dataset, self.params)

    def _prepare(self) -> tuple[tuple[Classifier, ...], Dataset | None]:
        from robgui.core.dataset import align, match

        looks = self.analysis.looks_at_data(self.params)
        dataset = None if not looks else self._load_dataset() if self._dataset is None else self._dataset
        classifiers = self._classifiers or tuple(self._load_model(model) for model in self.request.models)
        if not classifiers or (len(classifiers) > 1 and not self.analysis.several_models):
            wanted = "at least one model" if self.analysis.several_models else "one model"
            raise ParamsError(f"{self.analysis.title} takes {wanted}; {len(classifiers)} were given.")
        for classifier in classifiers:
            self._place(classifier)
            if refusal := self.analysis.refusal(classifier):
                raise ModelError(refusal)
        if dataset is None and looks:
            raise DataError(f"{self.analysis.title} needs inputs; open some, or name them with --data.")
        if dataset is None:
            return classifiers, None
        matched = tuple(match(classifier, dataset) for classifier in classifiers)
        dataset = align(matched[0], dataset)
        return matched, dataset if self.request.indices is None else dataset.subset(self.request.indices)

    def _place(self, classifier: Classifier) -> None:
        import torch

        wanted, autocast = torch.device(self.request.device or classifier.device), self.request.autocast
        same = wanted.type == classifier.device.type and wanted.index in (None, classifier.device.index)
        if not same or autocast not in (None, classifier.precision[0]):
            classifier.to(classifier.device if same else wanted, autocast=autocast)

    def _load_model(self, model: Reference) -> Classifier:
        from robgui.core.loading import load

        options: dict[str, Any] = dict(model.options)
        classifier = load(self._find_file(model, ModelError), device=self.request.device or None, **options)
        check_unchanged(model, classifier.fingerprint, ModelError)
        return classifier

    def _load_dataset(self) -> Dataset | None:
        from robgui.core.dataset import open_dataset

        wanted = self.request.dataset
        if wanted is None:
            return None
        if isinstance(ids := wanted.options.get("derived"), list):
            return self._load_derived(wanted, ids)
        dataset = open_dataset(self._find_file(wanted, DataError), **wanted.options)
        check_unchanged(wanted, dataset.fingerprint, DataError)
        return dataset

    def _load_derived(self, wanted: Reference, ids: list[Any]) -> Dataset:
        from robgui.core.dataset.derived import DerivedDataset

        if self._workspace is None:
            raise DataError(f"The inputs {wanted.name} live in a workspace; open that workspace and start the run there.")
        dataset = DerivedDataset(self._workspace.derived([int(id_) for id_ in ids]))
        check_unchanged(wanted, dataset.fingerprint, DataError)
        return dataset

    def _find_file(self, wanted: Reference, error: type[RobguiError]) -> Path:
        known = self._workspace.references(wanted.kind, every=True) if self._workspace is not None else []
        paths = [wanted.path, *(other.path for other in known if other.fingerprint == wanted.fingerprint)]
        for path in paths:
            if path and Path(path).exists():
                return Path(path)
        if not any(paths):
            raise error(f"The {wanted.kind} {wanted.name} lived in memory only and is gone; open it from a file and start the run anew.")
        raise error(
            f"The {wanted.kind} {wanted.name} is no longer at {wanted.path}; say where it is now (re-link) and start the run again."
        )

    def _commit(self) -> None:
        began = time.monotonic()
        step = self.newest if self.newest is not self._stored else None
        verdict = None if self.newest is None else self.analysis.verdict(self.newest.result, self.params)
        self._store(state=self.state, step=step, verdict=verdict, seconds=self.seconds)
        self._stored = self.newest
        cost = time.monotonic() - began
        self._next_commit = time.monotonic() + max(COMMIT_SECONDS, cost / _COMMIT_SHARE)

    def _end(self, state: RunState, error: str, began: float) -> None:
        """Closes the engine and records the end; a summary that raises makes the run FAILED but never costs the result."""
        problem: Exception | None = None
        try:
            close = getattr(self._engine, "close", None)
            if close is not None:
                close()
            if self.newest is not None:
                said = self.analysis.verdict(self.newest.result, self.params)
                self.verdict = said.stopped() if state is RunState.CANCELLED else said
                self.findings = tuple(self.analysis.findings(self.newest.result, self.params))
        except Exception as caught:  # noqa: BLE001 - recorded in the run, and raised again below
            problem = None if error else caught
            state, error = RunState.FAILED, error or sentence(caught)
        self._engine = None
        self.state, self.error = state, error
        self.seconds += time.monotonic() - began
        step = self.newest if self.newest is not self._stored else None
        self._store(state=state, step=step, error=error, verdict=self.verdict, seconds=self.seconds, findings=self.findings)
        if problem is not None:
            raise problem

    def _store(self, **changes: Any) -> None:
        if self._workspace is not None and self.run_id is not None:
            self._workspace.update_run(self.run_id, **changes)


def drive(
    request: Request,
    workspace: Workspace | None,
    classifiers: Sequence[Classifier] = (),
    dataset: Dataset | None = None,
    analysis: Analysis | None = None,
) -> Drive:
    """Carries out ``request``, one Step per ``next``; see Drive.

    Args:
        request: What to run.
        workspace: Where the run is kept; None keeps nothing.
        classifiers: The models of the request where they are loaded already.
        dataset: The dataset of the request where it is open already.
        analysis: The analysis of the request, or a part of it, see Shards.
    """
    if workspace is not None and workspace.read_only:
        raise WorkspaceError(f"{workspace.reason} Nothing can be recorded in it; open another workspace to run an analysis.")
    return Drive(request, workspace, classifiers, dataset, analysis)


def versions() -> dict[str, str]:
    """The versions a result depends on."""
    import torch

    from robgui.version import __version__

    return {"robgui": __version__, "torch": torch.__version__, "numpy": np.__version__, "python": platform.python_version()}


def sentence(error: BaseException) -> str:
    """An error as one sentence for a person; foreign errors keep their type and first line."""
    if isinstance(error, RobguiError):
        return str(error)
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:300]}" if lines else type(error).__name__


def check_unchanged(wanted: Reference, fingerprint: str, error: type[RobguiError]) -> None:
    """Raises when what was loaded is not what the reference means."""
    if fingerprint != wanted.fingerprint:
        raise error(f"The {wanted.kind} {wanted.name} has changed since this run was asked for; start a new run with it as it is now.")
