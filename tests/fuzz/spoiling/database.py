"""SQLite files (workspaces): cells and documents in rows, the schema, and the pages themselves."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import zipfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tests.fuzz.spoiling.archives import archive
from tests.fuzz.spoiling.documents import ODD, bent
from tests.fuzz.spoiling.plain import EDGES, noise

_PAGE = 4096
_CELLS: tuple[Any, ...] = (
    *(each for each in ODD if isinstance(each, str | float | None)),
    *(-1, 0, 2**31, 2**62, -(2**63)),
    "[" * 5000,
    '{"a":' * 3000,
    b"",
    b"\xff\xfe",
)
_SCHEMAS = (
    "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT * FROM n",
    "CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM findings; END",
    "CREATE TABLE extra (a)",
    "DROP TABLE pictures",
    "ALTER TABLE runs ADD COLUMN more",
    "CREATE INDEX i ON runs (id)",
    "PRAGMA user_version = 99",
    "PRAGMA user_version = -1",
    "PRAGMA application_id = 1",
)


def database(content: bytes, dice: random.Random) -> bytes:
    """A workspace with something wrong in its rows, its tables or its pages."""
    chance = dice.random()
    if chance < 0.15:
        return noise(content, dice)
    if chance < 0.3:
        return _pages(content, dice)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "w"
        path.write_bytes(content)
        with closing(sqlite3.connect(path)) as connection, suppress(sqlite3.Error):
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            connection.execute("PRAGMA foreign_keys = OFF")
            if chance < 0.36:
                connection.execute(dice.choice(_SCHEMAS))
            for _ in range(dice.choice((1, 1, 1, 2, 5)) if chance >= 0.36 else 0):
                _cell(connection, dice)
            connection.commit()
        return path.read_bytes()


def _pages(content: bytes, dice: random.Random) -> bytes:
    """Two pages exchanged, one emptied, or a number in the head of the file or of a page."""
    data = bytearray(content)
    count = max(1, len(data) // _PAGE)
    one, other = (dice.randrange(count) * _PAGE for _ in range(2))
    match dice.randrange(4):
        case 0:
            data[one : one + _PAGE], data[other : other + _PAGE] = (
                data[other : other + _PAGE],
                data[one : one + _PAGE],
            )
        case 1:
            data[one : one + _PAGE] = bytes(_PAGE)
        case 2:
            data[one + (100 if one == 0 else 0) + dice.randrange(12)] = dice.randrange(256)
        case _:
            place = dice.choice((16, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 52, 56, 60, 68))
            data[place : place + 2] = (dice.choice(EDGES) % 65536).to_bytes(2, "big")
    return bytes(data)


def _cell(connection: sqlite3.Connection, dice: random.Random) -> None:
    tables = [
        name
        for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        if not name.startswith("sqlite_")
    ]
    table = dice.choice(tables)
    columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
    rows = [row[0] for row in connection.execute(f"SELECT rowid FROM {table}")]
    if not rows:
        return
    column, row = dice.choice(columns), dice.choice(rows)
    (old,) = connection.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (_value(old, dice), row))


def _value(old: Any, dice: random.Random) -> Any:
    if dice.random() < 0.3:
        return dice.choice(_CELLS)
    if isinstance(old, bytes):
        if old[:2] == b"PK" and dice.random() < 0.8:
            with suppress(zipfile.BadZipFile):  # spoiled before
                return archive(old, dice, lambda _: noise)
        return noise(old, dice)
    if isinstance(old, str) and old[:1] in ("{", "["):
        with suppress(ValueError, RecursionError):
            return json.dumps(bent(json.loads(old), dice, dice.choice((1, 1, 2))))
    return dice.choice(_CELLS)
