"""How much of the processor there is to share."""

from __future__ import annotations

import os


def cores() -> int:
    """Cores this process may use: those it is bound to, and at most OMP_NUM_THREADS."""
    if hasattr(os, "sched_getaffinity"):
        # cpu_count would also count cores that taskset or a container has taken away.
        bound = len(os.sched_getaffinity(0))
    else:
        bound = os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    if asked.isdigit() and int(asked) > 0:
        return min(bound, int(asked))
    return bound
