"""How much of the time of a run may go into writing its partial results."""

from __future__ import annotations

import time

#: Commits may take this share of the time; huge results are committed less often.
COMMIT_SHARE = 0.1


class CommitBudget:
    """Keeps commits below their share of the time; executions of one program share it.

    What counts is processor time: waiting for a busy disk or machine holds up no run, and must not
    make its stored result old. Nor may what a commit loads or prepares once, so a run pays what the
    cheaper of its last two commits has cost.
    """

    def __init__(self) -> None:
        self._free_at = 0.0

    @property
    def free(self) -> bool:
        """Whether a commit may be made now."""
        return time.monotonic() >= self._free_at

    def spend(self, seconds: float) -> None:
        """A commit has taken ``seconds`` of the processor."""
        self._free_at = time.monotonic() + seconds / COMMIT_SHARE
