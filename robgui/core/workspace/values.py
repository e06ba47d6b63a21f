"""Named values, for example the window's layout, stored in the workspace as JSON."""

from __future__ import annotations

import json
from typing import Any

from robgui.core.workspace.database import Database
from robgui.core.workspace.rows import Reader


class StoredValues:
    """JSON values by name.

    Args:
        database: The file.
        reader: Reads what is stored there, trusting nothing.
    """

    def __init__(self, database: Database, reader: Reader) -> None:
        self._database = database
        self._reader = reader

    def get(self, name: str, default: Any = None) -> Any:
        """A stored value, or ``default``."""
        rows = self._database.rows("SELECT value FROM settings WHERE name = ?", (name,))
        return self._reader.json(rows[0][0]) if rows else default

    def set(self, name: str, value: Any) -> None:
        """Stores a value, replacing the previous one."""
        text = json.dumps(value, allow_nan=False)
        with self._database.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO settings (name, value) VALUES (?, ?)", (name, text)
            )
