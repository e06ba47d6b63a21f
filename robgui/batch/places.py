"""Where a batch computes on this machine: one worker process per device, or several on the CPU."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from robgui.core.errors import ParamsError
from robgui.core.execution.worker.confinement.devices import graphics_devices
from robgui.core.execution.worker.cores import cores
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers, usual_memory

#: How often a request is tried if its worker is lost.
_ATTEMPTS = 2
#: A worker that imports this module can plan a suite.
_PLANNING = "robgui.batch.planning"


def local_workers(places: Sequence[Place], imports: Sequence[str] = ()) -> Workers:
    """Worker processes that share the memory of this machine.

    Args:
        places: One worker each.
        imports: Modules that a worker imports first, for instance to register your own analysis.
    """
    # The limit of one worker alone would let several of them exhaust the machine.
    memory = usual_memory() // max(1, len(places))
    terms = Terms(imports=(*imports, _PLANNING), attempts=_ATTEMPTS, memory=memory)
    return Workers(places, terms)


def local_places(device: str = "", workers: int = 0) -> list[Place]:
    """One place per CUDA device, or ``workers`` places that share the cores.

    Without a number, one on the CPU.
    """
    known = _devices()
    wanted = device or known[0].partition(":")[0]
    found = [name for name in known if wanted in (name, name.partition(":")[0])]
    if not found:
        raise ParamsError(f"There is no device {wanted!r} here; choose one of: {', '.join(known)}.")
    count = workers or len(found)
    # Together no more threads than cores: oversubscribed, OpenMP spends its time waiting.
    threads = max(1, cores() // count)
    return [
        Place(found[number % len(found)], threads if wanted == "cpu" else 0)
        for number in range(count)
    ]


def _devices() -> list[str]:
    """The devices models can use, the default first; torch is asked only if there may be a GPU."""
    if sys.platform == "linux" and not graphics_devices():
        return ["cpu"]
    from robgui.core.devices import devices

    return [name for name, _ in devices()]


def cluster_place(address: str) -> Place:
    """The place of a worker that uses the Ray cluster at ``address``, see ``bridge``."""
    return Place(cluster=address, entry="robgui.batch.bridge:main")
