"""What a worker gives up before it reads a foreign file."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_NO_NEW_PRIVS = 38


def leave_with(parent: int) -> None:
    """Ends this process when the one that started it ends; at once if that has happened already."""
    if sys.platform == "linux":
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def confine(memory: int) -> tuple[str, ...]:
    """Gives up what a model does not need; says in words what holds on this machine.

    Args:
        memory: Bytes that may be allocated from now on; 0 sets no limit.
    """
    held: list[str] = []
    if sys.platform == "linux" and _prctl(_PR_SET_NO_NEW_PRIVS, 1):
        held.append("no new privileges")
    if sys.platform != "win32":
        held += _limits(memory)
    return tuple(held)


def _limits(memory: int) -> list[str]:
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    held = ["no core files"]
    if memory and not _has_cuda():  # a CUDA driver reserves far more addresses than it uses
        most = _addresses() + memory
        hard = resource.getrlimit(resource.RLIMIT_AS)[1]
        most = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(resource.RLIMIT_AS, (most, hard))
        held.append("limited memory")
    return held


def _addresses() -> int:
    """Bytes of address space that are taken already, most of them by libraries."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 - read before anything else is imported
            return int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:  # not Linux
        return 4 * 2**30


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


def _prctl(option: int, value: int) -> bool:
    return bool(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) == 0)
