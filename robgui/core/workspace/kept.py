"""What interrupted runs keep in the workspace for the next run of the same request."""

from __future__ import annotations

import json
from typing import Any

from robgui.core.codec import encode
from robgui.core.workspace.database import Database
from robgui.core.workspace.rows import Reader


class KeptParts:
    """The results of first units, one per request; deleting a run deletes its own.

    Args:
        database: The file.
        reader: Reads what is stored there, trusting nothing.
    """

    def __init__(self, database: Database, reader: Reader) -> None:
        self._database = database
        self._reader = reader

    def put(self, run: str, key: str, value: Any) -> None:
        """Keeps a dataclass for a request, replacing what was kept before."""
        document, blob = encode(value)
        row = (key, run, json.dumps(document, allow_nan=False), blob)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO kept (key, run, document, blob) VALUES (?, ?, ?, ?)", row
            )

    def get(self, key: str, cls: Any) -> Any:
        """What was kept for a request, or None."""
        rows = self._database.rows("SELECT document, blob FROM kept WHERE key = ?", (key,))
        if rows:
            return self._reader.value(cls, *rows[0])
        return None

    def drop(self, key: str) -> None:
        """Deletes what was kept for a request that is now complete."""
        with self._database.transaction() as connection:
            gone = connection.execute("DELETE FROM kept WHERE key = ?", (key,)).rowcount
        # SQLite keeps the pages of deleted rows for itself, and counts may be large.
        if gone:
            self._database.shrink()
