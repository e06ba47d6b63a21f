"""Decides where foreign models run: in their own process, or here for debugging."""

from __future__ import annotations

import os

from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers

#: Set to 1 to run everything in one process, where a debugger can follow it.
INLINE = "ROBGUI_INLINE"


def one_process() -> bool:
    """Whether the user wants everything in one process."""
    return os.environ.get(INLINE) == "1"


def one_executor(terms: Terms) -> Inline | Workers:
    """An executor for one Execution after another; its worker process starts at once."""
    if one_process():
        return Inline(LoadedCache(notice=terms.notice))
    workers = Workers([Place()], terms)
    workers.start()
    return workers
