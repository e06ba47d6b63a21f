"""Stores what this user trusts."""

from __future__ import annotations

import time

from robgui.core.records import Records

_RECORDS = Records("trust")


def is_trusted(digest: str) -> bool:
    """Whether this user has allowed exactly this code to run."""
    record = _RECORDS.read(digest)
    # Its own word as well: a record that was renamed trusts nothing.
    return record is not None and record.get("digest") == digest


def trust(digest: str, what: str) -> None:
    """Records that the user allows the code of this digest to run.

    ``what`` tells people later what it was.
    """
    _RECORDS.write(digest, {"digest": digest, "what": what, "when": time.time()})


def revoke(digest: str) -> None:
    """Withdraws the permission; code that already runs continues."""
    _RECORDS.delete(digest)


def trusted() -> dict[str, str]:
    """Everything that is trusted: digest -> what it was."""
    return {
        digest: str((_RECORDS.read(digest) or {}).get("what", ""))
        for digest in _RECORDS.known()
        if is_trusted(digest)
    }
