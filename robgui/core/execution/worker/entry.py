"""Where a worker process begins: it confines itself, then imports what it needs.

Confinement holds for the calling thread and those it starts later, and libraries start threads on
import: confinement must come first.
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
    # From here on no file can be written: Python need not try at every import.
    sys.dont_write_bytecode = True
    place = os.environ.get("TMPDIR")
    held = confine(Path(place) if place else None)
    from robgui.core.execution.worker.child import main as work

    work(held.words)
    # Tearing libraries down takes longer than many a task, and the parent removes the worker's
    # files.
    os._exit(0)


def keep_bytecode() -> bool:
    """Imports everything once, unconfined, if an installer left out the bytecode.

    Without bytecode every start would take many seconds, and a confined worker cannot write it.
    True if that was needed.
    """
    torch = find_spec("torch")
    sources = [str(Path(__file__).with_name("child.py"))]
    if torch is not None and torch.origin:
        sources.append(torch.origin)
    if getattr(sys, "frozen", False) or not any(_lacks_bytecode(source) for source in sources):
        return False
    # In a child, because importing starts threads and confinement must come before any.
    child = os.fork()
    if child == 0:
        kernel.end_with_parent(signal.SIGKILL)
        for name in _IMPORTED:
            with contextlib.suppress(Exception):  # Reported when the module is needed.
                importlib.import_module(name)
        os._exit(0)
    os.waitpid(child, 0)
    return True


def _lacks_bytecode(source: str) -> bool:
    """Whether bytecode is missing although it could be written."""
    cached = Path(cache_from_source(source))
    if sys.dont_write_bytecode or cached.exists():
        return False
    return os.access(next(folder for folder in cached.parents if folder.exists()), os.W_OK)
