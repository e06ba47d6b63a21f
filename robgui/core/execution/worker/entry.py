"""Where a worker process begins: it confines itself, then imports what it needs.

Confinement holds for the thread that asks for it and for all that come after it, and libraries
start threads when they are imported: so it comes first.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import NoReturn

from robgui.core.execution.worker.confinement import confine, kernel
from robgui.core.execution.worker.confinement.devices import make_nvidia_devices

#: What workers import sooner or later.
_IMPORTED = (
    "robgui.core.execution.worker.child",
    "torch",
    "robgui.core.loading.loader",
    "robgui.core.dataset.opening",
    "scipy.stats",
    "onnxruntime",
    "onnx",
    "skops.io",
    "sklearn.ensemble",
)


def main() -> NoReturn:
    """The life of a worker process."""
    if sys.platform == "linux":
        kernel.end_with_parent(signal.SIGKILL)
        keep_bytecode()
        make_nvidia_devices()
    sys.dont_write_bytecode = True
    place = os.environ.get("TMPDIR")
    held = confine(Path(place) if place else None)
    from robgui.core.execution.worker.child import main as work

    work(held.words)
    # to take libraries down piece by piece takes longer than many a task, and what it has written
    # is removed by who has started it
    os._exit(0)


def keep_bytecode() -> bool:
    """Imports everything once in a process that may still write, where an installer has left out
    the bytecode: without it every start would take many seconds, and a confined worker cannot keep
    it. True if that was needed.
    """
    torch = find_spec("torch")
    sources = [str(Path(__file__).with_name("child.py"))]
    if torch is not None and torch.origin:
        sources.append(torch.origin)
    if getattr(sys, "frozen", False) or not any(_lacks_bytecode(source) for source in sources):
        return False
    child = os.fork()
    if child == 0:
        kernel.end_with_parent(signal.SIGKILL)
        for name in _IMPORTED:
            with contextlib.suppress(Exception):  # it is told when it is needed
                importlib.import_module(name)
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _lacks_bytecode(source: str) -> bool:
    """Whether there is none although it could be written."""
    cached = Path(cache_from_source(source))
    if sys.dont_write_bytecode or cached.exists():
        return False
    return os.access(next(folder for folder in cached.parents if folder.exists()), os.W_OK)
