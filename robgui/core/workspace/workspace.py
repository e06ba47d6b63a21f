"""Workspace: runs, findings, references and settings in one file that survives anything."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import platformdirs

from robgui.core.dataset.derived import Derived, numbered
from robgui.core.errors import ParamsError, WorkspaceError
from robgui.core.evidence import Evidence
from robgui.core.execution.registry import find
from robgui.core.execution.request import Request
from robgui.core.execution.run import Run, RunState
from robgui.core.execution.step import Step
from robgui.core.finding import Finding, StoredFinding
from robgui.core.harm import Harm
from robgui.core.npz import unzip
from robgui.core.verdict import Verdict, to_json
from robgui.core.workspace.database import Database
from robgui.core.workspace.kept import KeptParts
from robgui.core.workspace.known_files import KnownFiles, remembering
from robgui.core.workspace.lock import FileLock
from robgui.core.workspace.rows import Reader
from robgui.core.workspace.stored import encoded, finding_row, insert_findings
from robgui.core.workspace.values import StoredValues

_RUN = (
    "SELECT runs.id, request, state, created, seconds, done, total, error, verdict, device,"
    " versions, results.run IS NOT NULL FROM runs LEFT JOIN results ON results.run = runs.id"
)
_FINDING = (
    "SELECT findings.id, run, kind, title, severity, detail, note, starred, pictures.finding IS NOT"
    " NULL FROM findings LEFT JOIN pictures ON pictures.finding = findings.id"
)
_HARM = "harm"
_INTERRUPTED = "interrupted: the program ended before the run did"


class Workspace:
    """Everything the user has done, committed as it happens; thread-safe.

    Use ``Workspace.open``. The first opener may write; the second gets ``read_only`` and a
    ``reason`` in words. Runs left unfinished by a crash are marked CANCELLED when the file is
    opened for writing; those that were only QUEUED stay queued.

    Attributes:
        kept: What interrupted runs keep for a restart.
        values: JSON values by name: settings of the user, layouts of the window.
        files: The models and data that were used, and where they are.
        database: The file itself.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._reader = Reader(database.path)
        self.kept = KeptParts(database, self._reader)
        self.values = StoredValues(database, self._reader)
        self.files = KnownFiles(database, self._reader, self.values)
        if not self.read_only:
            with database.transaction() as connection:
                # The writer holds the file's lock, so no other program can still be computing
                # these.
                interrupted = (RunState.CANCELLED, _INTERRUPTED, RunState.RUNNING, RunState.PAUSED)
                connection.execute(
                    "UPDATE runs SET state = ?, error = ? WHERE state IN (?, ?)", interrupted
                )

    @classmethod
    def open(cls, path: str | Path, *, create: bool = True) -> Workspace:
        """Opens or creates ``path``.

        On failure raises WorkspaceError, one sentence, and leaves the file as it was.
        """
        database = Database(Path(path), create=create)
        try:
            return cls(database)
        except WorkspaceError:
            database.close()
            raise

    @staticmethod
    def default_path() -> Path:
        """The workspace opened by default."""
        return platformdirs.user_data_path("robgui", appauthor=False) / "workspace.robgui"

    @property
    def path(self) -> Path:
        """The file."""
        return self.database.path

    @property
    def read_only(self) -> bool:
        """True when nothing may be written; ``reason`` says why."""
        return self.database.read_only

    @property
    def reason(self) -> str:
        """Why the workspace is read-only, one sentence; empty when it is not."""
        return self.database.reason

    def __enter__(self) -> Workspace:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the file; another window may then write to it."""
        self.database.close()

    # Runs

    def add_run(self, request: Request, state: RunState = RunState.QUEUED) -> Run:
        """Records a new run and remembers its models and data."""
        run = Run(id=uuid.uuid4().hex[:16], request=request, state=state, created=time.time())
        with self.database.transaction() as connection:
            values = (run.id, request.model_dump_json(), run.state, run.created)
            connection.execute(
                "INSERT INTO runs (id, request, state, created) VALUES (?, ?, ?, ?)", values
            )
            for reference in (*request.models, *([request.dataset] if request.dataset else [])):
                # A known reference may have been relinked, so it keeps its path.
                if reference.path:
                    connection.execute(
                        *remembering(reference, known="UPDATE SET used = excluded.used")
                    )
        return run

    def update_run(
        self,
        id: str,  # noqa: A002
        *,
        state: RunState | None = None,
        step: Step[Any] | None = None,
        error: str | None = None,
        verdict: Verdict | None = None,
        seconds: float | None = None,
        device: str | None = None,
        versions: dict[str, str] | None = None,
        findings: Sequence[Finding] = (),
    ) -> None:
        """Changes what is given and keeps the rest, in one transaction.

        ``step`` replaces the stored result.
        """
        if verdict is None:
            said = None
        else:
            said = to_json(verdict)
        changes: dict[str, Any] = {
            "state": state,
            "error": error,
            "verdict": said,
            "seconds": seconds,
            "device": device,
        }
        changes = {name: value for name, value in changes.items() if value is not None}
        if versions is not None:
            changes["versions"] = json.dumps(versions)
        if step is not None:
            changes |= {"done": step.done, "total": step.total}
        if step is None:
            result = None
        else:
            result = encoded(step.result)
        # Packed before the transaction begins: arrays take a while, and readers wait for its end.
        rows = [finding_row(finding) for finding in findings]
        with self.database.transaction() as connection:
            # With nothing to change the statement still tells whether the run is there.
            assignments = ", ".join(f"{name} = ?" for name in changes) or "id = id"
            if (
                connection.execute(
                    f"UPDATE runs SET {assignments} WHERE id = ?", (*changes.values(), id)
                ).rowcount
                == 0
            ):
                raise WorkspaceError(f"There is no run {id} in {self.path}; it has been deleted.")
            if result is not None:
                connection.execute(
                    "INSERT OR REPLACE INTO results (run, document, blob) VALUES (?, ?, ?)",
                    (id, *result),
                )
            insert_findings(connection, id, rows)

    def runs(self) -> list[Run]:
        """Every run, newest first; results stay in the file."""
        return [
            self._reader.run(row)
            for row in self.database.rows(f"{_RUN} ORDER BY created DESC, runs.rowid DESC")
        ]

    def run(self, id: str) -> Run:  # noqa: A002
        """One run."""
        rows = self.database.rows(f"{_RUN} WHERE runs.id = ?", (id,))
        if not rows:
            raise WorkspaceError(f"There is no run {id} in {self.path}; it has been deleted.")
        return self._reader.run(rows[0])

    def result(self, id: str) -> Any:  # noqa: A002
        """The newest complete result of a run, as its analysis' own dataclass; None without one."""
        rows = self.database.rows(
            "SELECT request, document, blob FROM runs JOIN results ON run = id WHERE id = ?", (id,)
        )
        if not rows:
            return None
        request, document, blob = rows[0]
        try:
            known = find(self._reader.request(id, request).analysis)
        except ParamsError as error:
            raise WorkspaceError(
                f"The result of run {id} in {self.path} cannot be read: {error}"
            ) from error
        return self._reader.value(known.result, document, blob)

    def delete_run(self, id: str) -> None:  # noqa: A002
        """Deletes a run with its result and findings."""
        with self.database.transaction() as connection:
            connection.execute("DELETE FROM runs WHERE id = ?", (id,))
        self.database.shrink()

    # Findings

    def add_findings(self, run_id: str, findings: Sequence[Finding]) -> None:
        """Adds findings to a run."""
        self.update_run(run_id, findings=findings)

    def findings(self, run_id: str | None = None) -> list[StoredFinding]:
        """The findings of one run or of all, worst first, without their pictures."""
        where, values = ("", ()) if run_id is None else (" WHERE run = ?", (run_id,))
        return [
            self._reader.finding(row, {})
            for row in self.database.rows(
                f"{_FINDING}{where} ORDER BY severity DESC, findings.id", values
            )
        ]

    def finding(self, id: int) -> StoredFinding:  # noqa: A002
        """One finding with its picture and input."""
        rows = self.database.rows(f"{_FINDING} WHERE findings.id = ?", (id,))
        if not rows:
            raise WorkspaceError(f"There is no finding {id} in {self.path}; it has been deleted.")
        blobs = self.database.rows("SELECT blob FROM pictures WHERE finding = ?", (id,))
        if blobs and not isinstance(blobs[0][0], bytes):
            self._reader.refuse("a picture", "it is no data")
        return self._reader.finding(rows[0], unzip(blobs[0][0]) if blobs else {})

    def evidence(self) -> Evidence:
        """The failures its runs have seen, for checking every verdict shown."""
        return Evidence(self.runs(), self.findings())

    def harm(self) -> Harm:
        """How bad each confusion is, according to the user."""
        return Harm.from_json(self.values.get(_HARM))

    def set_harm(self, harm: Harm) -> None:
        """Keeps how bad each confusion is."""
        self.values.set(_HARM, harm.to_json())

    def set_finding(self, id: int, note: str | None = None, starred: bool | None = None) -> None:  # noqa: A002
        """Changes the user's note or star; None leaves it."""
        with self.database.transaction() as connection:
            connection.execute(
                "UPDATE findings SET note = coalesce(?, note), starred = coalesce(?, starred) WHERE"
                " id = ?",
                (note, starred, id),
            )

    # Derived inputs

    def add_derived(self, items: Sequence[Derived]) -> list[Derived]:
        """Stores derived inputs; returns them with their numbers."""
        rows = [encoded(item) for item in items]
        with self.database.transaction() as connection:
            ids = [
                int(
                    connection.execute(
                        "INSERT INTO inputs (document, blob) VALUES (?, ?)", row
                    ).lastrowid
                    or 0
                )
                for row in rows
            ]
        return numbered(items, ids)

    def derived(self, ids: Sequence[int] | None = None) -> list[Derived]:
        """Derived inputs by number, or all in order of creation."""
        rows = self.database.rows("SELECT id, document, blob FROM inputs ORDER BY id")
        known = {id_: (document, blob) for id_, document, blob in rows}
        if ids is None:
            chosen = list(known)
        else:
            chosen = list(ids)
        # The first missing one is told; the loop never goes round.
        for missing in (number for number in chosen if number not in known):
            raise WorkspaceError(
                f"There is no derived input {missing} in {self.path}; open the workspace it"
                " belongs to."
            )
        return numbered([self._reader.value(Derived, *known[number]) for number in chosen], chosen)

    # The whole

    def save_as(self, path: str | Path) -> Path:
        """Writes a complete copy to ``path``, replacing what is there.

        This workspace stays open on its own file.
        """
        target = Path(path).absolute()
        if target.exists() and target.samefile(self.path):
            return target
        lock = FileLock(target.with_name(target.name + ".lock"))
        # In the target's own folder, so that the last move is a rename and never half a copy.
        part = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.part")
        try:
            if not lock.take():
                raise WorkspaceError(
                    f"{target} is open in another window or command; choose another name."
                )
            self.database.copy_to(part)
            # Left by a killed program, these would be replayed into the new file.
            for suffix in ("-wal", "-shm"):
                target.with_name(target.name + suffix).unlink(missing_ok=True)
            part.replace(target)
        except OSError as error:
            raise WorkspaceError(
                f"The workspace cannot be saved as {target} ({error.strerror}); choose another"
                " folder."
            ) from error
        finally:
            part.unlink(missing_ok=True)
            lock.free()
        return target

    def export(self, folder: str | Path) -> Path:
        """Writes every run (JSON + NPZ) and finding (CSV + PNG) for other programs.

        Returns the folder.
        """
        from robgui.core.workspace.export import export

        return export(self, Path(folder))
