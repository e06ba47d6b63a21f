"""Replay: runs a finding's request again with the same seed and compares the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer

from robgui.core.execution.run import RunState
from robgui.core.text.words import number, severity

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.run import Run
    from robgui.core.finding import Finding, StoredFinding
    from robgui.core.workspace import Workspace
    from robgui.gui.state.store import Store


class Replay(QObject):
    """One replay at a time.

    A replay that gives exactly the same leaves nothing behind but its message.
    """

    def __init__(self, store: Store, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._waiting: tuple[Execution, StoredFinding, Run] | None = None
        store.job_changed.connect(self._heard)

    def start(self, finding: StoredFinding) -> None:
        """Queues the request of the run that found it."""
        run = next((run for run in self._store.history.runs if run.id == finding.run_id), None)
        if run is None or self._store.runner.busy:
            self._store.say("info", "Wait until the running analysis has ended, then replay.")
            return
        execution = self._store.run_again(run)
        if execution is not None:
            self._store.say("info", f"Replaying “{finding.title}” …")
            self._waiting = (execution, finding, run)

    def _heard(self, job: Execution) -> None:
        if self._waiting is None or job is not self._waiting[0] or not job.state.ended:
            return
        _, finding, run = self._waiting
        self._waiting = None
        workspace = self._store.history.workspace
        # The store says why a run failed.
        if workspace is None or job.state is RunState.FAILED:
            return
        if job.state is RunState.CANCELLED:
            self._store.say("info", "The replay was stopped before its end, so it says nothing.")
            return

        def read() -> None:
            self._store.keeping.run(
                lambda: _stored(workspace, run.id),
                lambda before: self._tell(job, finding, run, before),
            )

        # After the history has asked for the run that has just ended.
        QTimer.singleShot(0, self, read)

    def _tell(
        self, job: Execution, finding: StoredFinding, run: Run, before: list[StoredFinding]
    ) -> None:
        pairs = counterparts(before, job.findings)
        same = sum(other is not None and not differences(one, other) for one, other in pairs)
        wanted, other = next(
            ((one, other) for one, other in pairs if one.id == finding.id), (finding, None)
        )
        sentence = (
            outcome(wanted, other)
            + f" {same:,} of the {len(before):,} findings of its run came out the same."
        )
        if run.state is not RunState.DONE:
            sentence += " The first run was stopped early, the replay was not."
        exact = same == len(before) == len(job.findings)
        self._store.say(
            "info" if other is not None and not differences(wanted, other) else "warning", sentence
        )
        replayed = next(
            (known for known in self._store.history.runs if known.id == job.run_id), None
        )
        # The same to the last bit: a second copy of the run would only fill the list.
        if exact and replayed is not None and self._store.history.writable is not None:
            self._store.history.delete_run(replayed)
            # The panel has followed the replay, which is no longer there.
            self._store.history.show_run(run)


def counterparts(
    before: Sequence[StoredFinding], after: Sequence[Finding]
) -> list[tuple[StoredFinding, Finding | None]]:
    """Pairs each finding of the first run with the replay's most similar one.

    No finding is used twice.
    """
    left = list(after)
    pairs: list[tuple[StoredFinding, Finding | None]] = []
    for finding in before:
        # By title, not by position: findings are ordered by severity, which may have changed.
        alike = [
            other for other in left if (other.kind, other.title) == (finding.kind, finding.title)
        ]
        best = min(alike, key=lambda other: len(differences(finding, other)), default=None)
        if best is not None:
            # By identity: findings hold arrays, which == compares number by number.
            left = [other for other in left if other is not best]
        pairs.append((finding, best))
    return pairs


def differences(first: Finding, second: Finding) -> list[str]:
    """In what two findings of one title differ, in words.

    Nothing when they are the same to the last bit.
    """
    found = []
    if first.severity != second.severity:
        found.append(f"severity {number(second.severity)} instead of {number(first.severity)}")
    if (first.input is None) != (second.input is None):
        found.append("an input that the other has not")
    elif (
        first.input is not None
        and second.input is not None
        and not np.array_equal(first.input, second.input)
    ):
        found.append("another input")
    return found


def outcome(finding: StoredFinding, again: Finding | None) -> str:
    """One sentence: came out again, came out differently, did not come out."""
    if again is None:
        return f"“{finding.title}” did not come out again."
    if other := differences(finding, again):
        return f"“{finding.title}” came out again, but with {' and '.join(other)}."
    return (
        f"The same finding came out again, to the last bit: “{finding.title}”, severity"
        f" {severity(finding.severity)}."
    )


def _stored(workspace: Workspace, run_id: str) -> list[StoredFinding]:
    """The findings of a run with their inputs; read away from the GUI thread."""
    return [workspace.finding(finding.id) for finding in workspace.findings(run_id)]
