"""History: the open workspace with its runs and findings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from robgui.core.errors import RobguiError
from robgui.core.evidence import Evidence
from robgui.core.finding_groups import Group, grouped
from robgui.core.harm import Harm
from robgui.core.workspace.speaking import speakers, subject_of
from robgui.gui.state.history.exports import Exports
from robgui.gui.state.history.restored import open_workspace
from robgui.gui.state.library.alike import is_of

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.request import Reference, Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import Finding, StoredFinding
    from robgui.core.model.card import ModelCard
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace
    from robgui.gui.state.background import Background


class History(QObject):
    """The workspace as the window sees it; every access to the file happens in the background.

    What the user says is written on its own thread, which nothing can hold up, not even a model
    that never finishes loading.

    Attributes:
        harm: How bad each confusion is, as the user says.
        evidence: The failures that its runs have seen; every verdict on show is held against it.
        exports: Writes what others read.
        loading: Whether nothing is known yet: the first workspace has not been read, or another one
            is being read.

    Signals:
        opened: Another workspace is open; what it brings along is Restored, to be loaded again.
        run_deleted: The id of a run that is no longer there.
        runs_changed: The list of runs has changed.
        findings_changed: The list of findings has changed.
        run_taken: ``(run, follow)`` before its picture: model, data and inputs come along, or only
            if they are in use anyway.
        result_shown: ``(run, result)`` of a stored run to draw.
        found: A missing model or dataset, to load from its new place.
        said: ``(level, sentence, details)``.
        offered: ``(sentence, words, deed)``: what has happened, and a button that calls ``deed``.
        working: What is being done, in words; empty when idle.
    """

    opened = Signal(object)
    run_deleted = Signal(str)
    runs_changed = Signal()
    findings_changed = Signal()
    run_taken = Signal(object, bool)
    result_shown = Signal(object, object)
    found = Signal(object)
    said = Signal(str, str, str)
    offered = Signal(str, str, object)
    working = Signal(str)

    def __init__(
        self,
        background: Background,
        writing: Background,
        keeping: Background,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.workspace: Workspace | None = None
        self.runs: list[Run] = []
        self.findings: list[StoredFinding] = []
        self.evidence = Evidence()
        self.harm = Harm()
        self.missing: list[Reference] = []
        self.derived: list[Derived] = []
        self.loading = True
        self._background = background
        self._writing = writing
        self._keeping = keeping
        self.exports = Exports(self, background, writing)

    @property
    def writable(self) -> Workspace | None:
        """The workspace, if new runs can be kept in it."""
        if self.workspace is not None and not self.workspace.read_only:
            return self.workspace
        return None

    def open(
        self,
        path: Path | None = None,
        done: Callable[[], None] | None = None,
        *,
        copied: bool = False,
    ) -> None:
        """Opens ``path`` (made if missing), or the user's own, instead of the present workspace.

        Args:
            path: The file; None for the user's own.
            done: Called when it is open.
            copied: Whether it is a copy of the present one, whose models and data stay.
        """

        def opened(answer: Any) -> None:
            self.loading = False
            old = self.workspace
            self.workspace, self.runs, self.findings, restored, self.derived, self.harm = answer
            self.evidence = Evidence(self.runs, self.findings)
            if old is not None:
                # Behind what is still to be kept, which belongs to the old workspace.
                self._keeping.run(lambda: _close(old, self._writing))
            references = restored.references
            # Told now, not when a run fails for it tomorrow.
            self.missing = [r for r in references if r.path and not Path(r.path).exists()]
            for reference in self.missing:
                self.said.emit(
                    "warning",
                    f"{reference.name}: {reference.path} is missing; use File, Find missing file …"
                    " to point to it.",
                    "",
                )
            if self.workspace.read_only:
                self.said.emit(
                    "warning", f"{self.workspace.reason} New runs are shown but not kept.", ""
                )
            present = [r for r in references if r.path and r not in self.missing]
            instead = old is not None and not copied
            self.opened.emit(replace(restored, references=present, instead=instead))
            self.runs_changed.emit()
            self.findings_changed.emit()
            if done is not None:
                done()

        def failed(sentence: str, details: str) -> None:
            self.loading = False
            self.said.emit("error", sentence, details)
            self.runs_changed.emit()
            self.findings_changed.emit()

        self.loading = True
        self._background.run(lambda: open_workspace(path), opened, failed=failed)

    def save_as(self, path: Path) -> None:
        """Copies the workspace to ``path`` and goes on with the copy."""
        workspace = self.need()

        def saved() -> None:
            self.said.emit("info", f"Saved as {path}.", "")

        self._background.run(
            lambda: workspace.save_as(path), lambda _: self.open(path, saved, copied=True)
        )

    def close(self) -> None:
        """Closes the file; nothing is lost, everything is committed."""
        if self.workspace is not None:
            self.workspace.close()
            self.workspace = None

    # --- models and data --------------------------------------------------------------------------

    def remember(self, item: ModelCard | Dataset) -> None:
        """Remembers where ``item`` came from: reopening the workspace loads it again."""
        workspace, path = self.writable, item.path
        if workspace is not None and path is not None:
            self._take_as_moved(workspace, item, path)
            self._keeping.run(lambda: _remember(workspace, item))

    def _take_as_moved(self, workspace: Workspace, item: ModelCard | Dataset, path: Path) -> None:
        """Treats a missing file opened from elsewhere as moved; its runs find it again."""
        for reference in [each for each in self.missing if is_of(each, item)]:
            self.missing.remove(reference)
            name = reference.fingerprint
            self._keeping.run(partial(workspace.files.relink, name, path))
            self.said.emit("info", f"{reference.name} was missing and is now {path}.", "")

    def forget(self, item: ModelCard | Dataset) -> None:
        """Does not load this one again; its runs stay."""
        workspace = self.writable
        if workspace is not None:
            self._keeping.run(
                lambda: workspace.files.forget(
                    item.fingerprint, None if item.path is None else item.path.absolute()
                )
            )

    def use(self, model: ModelCard | None, dataset: Dataset | None) -> None:
        """Remembers the pair in use for the next time the workspace is opened."""
        workspace = self.writable
        if workspace is not None and model is not None:
            self._keeping.run(lambda: _use(workspace, model, dataset), key="in use")

    def relink(self, reference: Reference, path: Path) -> None:
        """The file of ``reference`` is now at ``path``."""
        workspace = self.need()

        def linked(_: Any) -> None:
            self.missing = [r for r in self.missing if r is not reference]
            self.found.emit(reference.model_copy(update={"path": str(path)}))

        self._keeping.run(lambda: workspace.files.relink(reference.fingerprint, path), linked)

    # --- runs and findings ------------------------------------------------------------------------

    def show_run(self, run: Run, *, follow: bool = True) -> None:
        """Draws a stored run again; with ``follow`` its model and data come into use."""
        workspace = self.need()

        def read(result: Any) -> None:
            if result is None:
                self.said.emit("info", run.error or "This run has no result yet.", "")
            else:
                self.run_taken.emit(run, follow)
                self.result_shown.emit(run, result)

        self._background.run(lambda: workspace.result(run.id), read, key="show run")

    def read(self, run: Run, done: Callable[[Any], None]) -> None:
        """Hands the result of a stored run to ``done``, once it is read."""
        workspace = self.need()
        self._background.run(
            lambda: workspace.result(run.id), done, key=f"read {run.request.analysis}"
        )

    def delete_run(self, run: Run) -> None:
        """Removes a run and its findings from the workspace."""
        workspace = self.need()

        def deleted(_: Any) -> None:
            self.run_deleted.emit(run.id)
            self.refresh()

        self._keeping.run(lambda: workspace.delete_run(run.id), deleted)

    def add_finding(self, run_id: str, finding: Finding, *, starred: bool = False) -> None:
        """Keeps a failure that was seen after its run had ended; the same one is kept once."""
        workspace = self.writable
        # Two clicks on the same button must not make two findings.
        if workspace is None or any(
            (known.run_id, known.title) == (run_id, finding.title) for known in self.findings
        ):
            return

        def keep() -> None:
            workspace.add_findings(run_id, [finding])
            if starred:
                newest = max(one.id for one in workspace.findings(run_id))
                workspace.set_finding(newest, starred=True)

        self._keeping.run(keep, lambda _: self.refresh())

    def set_finding(
        self, finding: StoredFinding, *, note: str | None = None, starred: bool | None = None
    ) -> None:
        """Stores the user's note or star.

        The list here has it at once, the workspace in a moment.
        """
        workspace = self.need()
        changes: dict[str, Any] = {
            name: value
            for name, value in (("note", note), ("starred", starred))
            if value is not None
        }
        # Shown at once; the refresh afterwards brings what the workspace holds.
        self.findings = [
            replace(other, **changes) if other.id == finding.id else other
            for other in self.findings
        ]
        self._keeping.run(
            lambda: workspace.set_finding(finding.id, note=note, starred=starred),
            lambda _: self.refresh(),
        )

    def set_harm(self, harm: Harm) -> None:
        """How bad each confusion is, as the user says; kept in the workspace."""
        self.harm = harm
        if (workspace := self.writable) is not None:
            self._keeping.run(lambda: workspace.set_harm(harm))
        self.findings_changed.emit()

    def entries(self) -> list[Group]:
        """The findings, those that are alike as one, the worst first."""
        requests = {run.id: run.request for run in self.runs}
        return grouped(self.findings, requests, self.harm)

    def refresh(self) -> None:
        """Reads runs and findings again."""
        workspace = self.workspace
        if workspace is None:
            return

        def read(answer: tuple[list[Run], list[StoredFinding]]) -> None:
            self.runs, self.findings = answer
            self.evidence = Evidence(self.runs, self.findings)
            self.runs_changed.emit()
            self.findings_changed.emit()

        self._keeping.run(lambda: (workspace.runs(), workspace.findings()), read, key="refresh")

    def speaking_like(self, *requests: Request) -> Run | None:
        """The run that speaks for the same question as the first of these that has a run."""
        for wanted in map(subject_of, requests):
            own = [run for run in self.runs if subject_of(run.request) == wanted]
            for run in speakers(own):
                return run
        return None

    def shown(self, run: Run) -> Verdict | None:
        """The verdict to show for a run: worse if another run knows of a failure."""
        if run.verdict is None:
            return None
        return self.evidence.shown(run.verdict, run.request, run.id)

    def need(self) -> Workspace:
        """The workspace; an error with a sentence while none is open."""
        if self.workspace is None:
            raise RobguiError(
                "No workspace is open yet; wait a moment or open one from the File menu."
            )
        return self.workspace


def _remember(workspace: Workspace, item: ModelCard | Dataset) -> None:
    from robgui.core.execution.request import reference

    workspace.files.remember(reference(item))


def _use(workspace: Workspace, model: ModelCard, dataset: Dataset | None) -> None:
    from robgui.core.execution.request import reference

    workspace.files.set_in_use(reference(model), None if dataset is None else reference(dataset))


def _close(workspace: Workspace, writing: Background) -> None:
    """Closes a workspace once the report that may be written of it is complete."""
    writing.wait()
    workspace.close()
