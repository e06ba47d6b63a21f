"""Results and findings in their stored form."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from robgui.core.codec import encode
from robgui.core.finding import Finding
from robgui.core.npz import npz

FindingRow = tuple[tuple[Any, ...], bytes | None]


def encoded(result: Any) -> tuple[str, bytes]:
    """A dataclass in stored form: its document and its arrays."""
    document, blob = encode(result)
    return json.dumps(document, allow_nan=False), blob


def finding_row(finding: Finding) -> FindingRow:
    """A finding in stored form: its columns, and its picture and input as one archive."""
    detail = json.dumps(encode(finding.detail)[0], allow_nan=False)
    arrays = {
        name: array
        for name, array in (("picture", finding.picture), ("input", finding.input))
        if array is not None
    }
    return (finding.kind, finding.title, float(finding.severity), detail), (
        npz(arrays) if arrays else None
    )


def insert_findings(
    connection: sqlite3.Connection, run_id: str, rows: Sequence[FindingRow]
) -> None:
    """Stores findings of a run, inside a transaction."""
    for values, blob in rows:
        cursor = connection.execute(
            "INSERT INTO findings (run, kind, title, severity, detail) VALUES (?, ?, ?, ?, ?)",
            (run_id, *values),
        )
        if blob is not None:
            connection.execute(
                "INSERT INTO pictures (finding, blob) VALUES (?, ?)", (cursor.lastrowid, blob)
            )
