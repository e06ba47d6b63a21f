"""Limits that a worker sets for itself once everything it needs is imported."""

from __future__ import annotations

import os
import sys


def set_limits(memory: int) -> tuple[str, ...]:
    """Sets them for good; says in words which hold.

    Args:
        memory: Bytes that may be allocated from now on; 0 sets no limit.
    """
    if sys.platform == "win32":
        return ()
    import resource

    from robgui.core.devices import has_gpu

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not memory or has_gpu():  # CUDA's driver reserves far more addresses than it uses.
        return ("no core files",)
    # RLIMIT_AS counts reserved addresses, and torch with its libraries has reserved gigabytes by
    # now without using them.
    most = _addresses() + memory
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    if hard != resource.RLIM_INFINITY:
        most = min(most, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    return ("no core files", "limited memory")


def _addresses() -> int:
    """Bytes of address space already taken, mostly by libraries."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read before anything else is imported
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # Not Linux.
        return 4 * 2**30
