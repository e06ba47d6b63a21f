"""Limits the time a run spends on writing its partial results."""

from __future__ import annotations

import time

#: Commits may take this share of the time; huge results are committed less often.
COMMIT_SHARE = 0.1


class CommitBudget:
    """Keeps commits below their share of the time; executions of one program share it.

    Only processor time counts. Waiting for a busy disk or machine delays no run and must not make
    its stored result stale. What a commit loads or prepares once does not count either: a run pays
    what the cheaper of its last two commits cost.
    """

    def __init__(self) -> None:
        self._free_at = 0.0

    @property
    def free(self) -> bool:
        """Whether a commit may be made now."""
        return time.monotonic() >= self._free_at

    def spend(self, seconds: float) -> None:
        """Records that a commit took ``seconds`` of processor time."""
        # A commit of t seconds is followed by t / share seconds without one.
        self._free_at = time.monotonic() + seconds / COMMIT_SHARE
