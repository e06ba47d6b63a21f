"""The SQLite file behind a workspace: opening, schema, transactions, and errors as sentences."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from robgui.core.errors import WorkspaceError
from robgui.core.files import create as create_file
from robgui.core.regular import open_regular
from robgui.core.workspace.lock import FileLock

#: "robg" in ASCII: tells our files from other programs' SQLite files.
APPLICATION_ID = 0x726F6267

#: One script per schema version, in order; never change one that has been released, add the next.
MIGRATIONS: list[str] = [
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, request TEXT NOT NULL, state TEXT NOT NULL, created REAL NOT NULL, seconds REAL NOT NULL DEFAULT 0,
        done INTEGER NOT NULL DEFAULT 0, total INTEGER, error TEXT NOT NULL DEFAULT '', verdict TEXT NOT NULL DEFAULT '',
        device TEXT NOT NULL DEFAULT '', versions TEXT NOT NULL DEFAULT '{}'
    );
    CREATE INDEX runs_by_time ON runs (created);
    CREATE TABLE results (run TEXT PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE, document TEXT NOT NULL, blob BLOB NOT NULL);
    CREATE TABLE findings (
        id INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, kind TEXT NOT NULL,
        title TEXT NOT NULL, severity REAL NOT NULL, detail TEXT NOT NULL, note TEXT NOT NULL DEFAULT '', starred INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX findings_by_run ON findings (run);
    CREATE TABLE pictures (finding INTEGER PRIMARY KEY REFERENCES findings (id) ON DELETE CASCADE, blob BLOB NOT NULL);
    CREATE TABLE refs (fingerprint TEXT PRIMARY KEY, kind TEXT NOT NULL, body TEXT NOT NULL, used REAL NOT NULL);
    CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL);
    """,
    """
    CREATE TABLE inputs (id INTEGER PRIMARY KEY AUTOINCREMENT, document TEXT NOT NULL, blob BLOB NOT NULL);
    """,
    """
    CREATE TABLE kept (
        key TEXT PRIMARY KEY, run TEXT NOT NULL REFERENCES runs (id) ON DELETE CASCADE, document TEXT NOT NULL, blob BLOB NOT NULL
    );
    """,
]

#: Seconds before a query is aborted: real ones take milliseconds, one on a malicious file might
#: never end.
LONGEST_SECONDS = 30.0
#: Instructions of SQLite between two looks at the clock: looking at each would slow every query.
_STEPS_BETWEEN_LOOKS = 100_000


class Database:
    """One connection, one lock; every method is thread-safe and raises WorkspaceError only.

    Attributes:
        path: The file.
        read_only: Nothing may be written.
        reason: One sentence that says why; empty when the file may be written.
    """

    def __init__(self, path: Path, *, create: bool) -> None:
        self.path = path
        self.read_only = False
        self.reason = ""
        self._thread_lock = threading.RLock()
        self._lock = FileLock(path.with_name(path.name + ".lock"))
        self._connection: sqlite3.Connection | None = None
        self._until = float("inf")
        _check_file(path, create)
        self._take_lock()
        try:
            with self._sentences("opened"):
                self._connection = self._connect()
                self._check_schema()
        except WorkspaceError:
            self.close()
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        """Every row of a query."""
        with self._thread_lock, self._sentences("read"):
            self._until = time.monotonic() + LONGEST_SECONDS
            return self._open_connection().execute(sql, values).fetchall()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing: commits at the end, rolls back if anything raises."""
        if self.read_only:
            raise WorkspaceError(self.reason)
        with self._thread_lock, self._sentences("written"):
            connection = self._open_connection()
            self._until = time.monotonic() + LONGEST_SECONDS
            # IMMEDIATE takes the write lock now: a later upgrade could fail in the middle.
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def shrink(self) -> None:
        """Returns the space of deleted rows to the file system."""
        with self._thread_lock, self._sentences("written"):
            # execute would free only one page.
            self._open_connection().executescript("PRAGMA incremental_vacuum")

    def copy_to(self, target: Path) -> None:
        """Writes a complete, compact copy to ``target``, which must not exist.

        Others may keep writing meanwhile. Only the user may read the copy, like every new
        workspace.
        """
        create_file(target, private=True)
        with self._sentences("copied"):
            # A second connection: writers are not blocked while the copy is made.
            connection = sqlite3.connect(_uri(self.path, "ro"), uri=True, isolation_level=None)
            try:
                connection.execute("PRAGMA trusted_schema = OFF")
                connection.execute("VACUUM INTO ?", (str(target),))
            finally:
                connection.close()

    def close(self) -> None:
        """Closes the file and frees its lock; closing twice does nothing."""
        with self._thread_lock:
            if self._connection is not None:
                with self._sentences("closed"):
                    self._connection.close()
                self._connection = None
            self._lock.free()

    def _open_connection(self) -> sqlite3.Connection:
        if self._connection is None:
            raise WorkspaceError(f"The workspace {self.path} has been closed; open it again.")
        return self._connection

    def _take_lock(self) -> None:
        try:
            if not self._lock.take():
                self._set_read_only(
                    "is open in another window or command, so it is read-only here."
                )
            elif self.path.exists() and not os.access(self.path, os.W_OK):
                self._set_read_only("may not be written by you, so it is read-only here.")
        except OSError as error:
            if not self.path.exists():
                raise WorkspaceError(
                    f"The workspace {self.path} cannot be created ({error.strerror}); choose a"
                    " folder you may write to."
                ) from error
            self._set_read_only(
                f"is in a folder that cannot be written ({error.strerror}), so it is read-only"
                " here."
            )

    def _set_read_only(self, why: str) -> None:
        self.read_only = True
        self.reason = f"The workspace {self.path} {why}"

    def _connect(self) -> sqlite3.Connection:
        mode = "rwc"
        if self.read_only:
            # Without a WAL file, and where none can be made, SQLite must be told that nothing
            # changes.
            settled = not self.path.with_name(self.path.name + "-wal").exists()
            if settled and not os.access(self.path.parent, os.W_OK):
                mode = "ro&immutable=1"
            else:
                mode = "ro"
        elif not self.path.exists():
            create_file(self.path, private=True)
        connection = sqlite3.connect(
            _uri(self.path, mode),
            uri=True,
            check_same_thread=False,
            # Transactions are begun here; Python's module would begin some by itself.
            isolation_level=None,
            timeout=5,
        )
        # Functions named in a schema are not run: the file may be malicious.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.set_progress_handler(
            lambda: time.monotonic() > self._until, _STEPS_BETWEEN_LOOKS
        )
        return connection

    def _check_schema(self) -> None:
        version = self._value("PRAGMA user_version")
        if self._value("PRAGMA application_id") != APPLICATION_ID:
            if self._value("SELECT count(*) FROM sqlite_master") > 0:
                raise WorkspaceError(
                    f"{self.path} is a database of another program, not a robgui workspace; choose"
                    " another file."
                )
            version = 0
        if version > len(MIGRATIONS):
            known = f"version {version} of the file, this program knows {len(MIGRATIONS)}"
            raise WorkspaceError(
                f"The workspace {self.path} was written by a newer robgui ({known}); update robgui."
            )
        self._refuse_foreign_schema(version)
        if self.read_only:
            if version < len(MIGRATIONS):
                raise WorkspaceError(
                    f"{self.reason} It has an older form that must be rewritten first; open it"
                    " where it may be written."
                )
            return
        self._configure(new=version == 0)
        if version < len(MIGRATIONS):
            self._migrate(version)

    def _refuse_foreign_schema(self, version: int) -> None:
        """Refuses anything this program did not create.

        A foreign view or trigger would run with every query.
        """
        found = self._open_connection().execute(_SCHEMA).fetchmany(1000)
        # The schema is compared with the one our own scripts make, in a database in memory.
        with closing(sqlite3.connect(":memory:")) as ours:
            for script in MIGRATIONS[: max(0, version)]:
                ours.executescript(script)
            expected = ours.execute(_SCHEMA).fetchall()
        if _plain(found) != _plain(expected):
            raise WorkspaceError(
                f"The workspace {self.path} is damaged or was changed by another program: its"
                " tables are not those of robgui; open a copy."
            )

    def _configure(self, *, new: bool) -> None:
        connection = self._open_connection()
        if new:
            # Only possible before the first table exists.
            connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        # Safe in WAL mode: a power cut may cost the last commit, never the file.
        connection.execute("PRAGMA synchronous = NORMAL")
        # Off by default in SQLite; deleting a run then leaves its results behind.
        connection.execute("PRAGMA foreign_keys = ON")
        # Else the WAL file stays as large as it ever was.
        connection.execute(f"PRAGMA journal_size_limit = {64 * 2**20}").fetchall()

    def _migrate(self, version: int) -> None:
        with self.transaction() as connection:
            for script in MIGRATIONS[version:]:
                # Not executescript, which commits first: a migration is all or nothing.
                for statement in script.split(";"):
                    connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    def _value(self, sql: str) -> int:
        return int(self._open_connection().execute(sql).fetchone()[0])

    @contextmanager
    def _sentences(self, done: str) -> Iterator[None]:
        """Turns what SQLite raises into one sentence that names the file."""
        try:
            yield
        except (sqlite3.Error, sqlite3.Warning, OverflowError, OSError, UnicodeError) as error:
            # A reason may not be text.
            raise WorkspaceError(
                f"The workspace {self.path} cannot be {done}: {_explain(error)}."
            ) from error
        except MemoryError as error:
            raise WorkspaceError(
                f"The workspace {self.path} cannot be {done}: there is not enough memory; it may be"
                " damaged."
            ) from error


def _check_file(path: Path, create: bool) -> None:
    """Refuses a file that is not SQLite before SQLite or anything else touches it."""
    try:
        if path.is_dir():
            raise WorkspaceError(f"{path} is a folder, not a workspace file; choose a file.")
        if not path.exists():
            if not create:
                raise WorkspaceError(f"There is no workspace {path}; check the name.")
            path.parent.mkdir(parents=True, exist_ok=True)
            return
        with open_regular(path) as file:
            head = file.read(16)
    except OSError as error:
        raise WorkspaceError(
            f"The workspace {path} cannot be opened ({error.strerror}); choose another file or"
            " folder."
        ) from error
    if head and head != b"SQLite format 3\x00":
        raise WorkspaceError(
            f"{path} is not a robgui workspace, or it is damaged; it was left as it is, choose"
            " another file."
        )


_SCHEMA = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name"


def _plain(schema: Sequence[tuple[Any, ...]]) -> list[list[str]]:
    """A schema without insignificant spaces."""
    return [[" ".join(str(word).split()) for word in row] for row in schema]


def _uri(path: Path, mode: str) -> str:
    return f"file:{quote(str(path.absolute()))}?mode={mode}"


def _explain(error: Exception) -> str:
    return " ".join(_reason(error).split())[:400]


def _reason(error: Exception) -> str:
    # Extended codes keep the plain one in their lowest byte.
    match getattr(error, "sqlite_errorcode", 0) & 0xFF:
        case sqlite3.SQLITE_FULL:
            return "the disk is full; free some space and try again"
        case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
            return (
                f"the file is damaged ({error}); it was left as it is, open another workspace or a"
                " copy"
            )
        case sqlite3.SQLITE_BUSY | sqlite3.SQLITE_LOCKED:
            return "another program is writing to it; try again"
        case (
            sqlite3.SQLITE_READONLY
            | sqlite3.SQLITE_PERM
            | sqlite3.SQLITE_CANTOPEN
            | sqlite3.SQLITE_AUTH
        ):
            return f"it may not be written or read here ({error}); choose a folder you may write to"
        case sqlite3.SQLITE_INTERRUPT:
            return (
                "it takes far too long, so the file is damaged or malicious; open another workspace"
            )
        case sqlite3.SQLITE_TOOBIG:
            return "the result is larger than 1 GB; choose settings that keep less"
        case sqlite3.SQLITE_IOERR:
            return f"the disk reports an error ({error}); check it and its free space"
    if isinstance(error, OSError):
        return error.strerror or str(error)
    return str(error)
