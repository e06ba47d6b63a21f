"""Where foreign models are opened and called: in a process of their own, unless the user wants
to debug them.
"""

from __future__ import annotations

import os

from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers

#: Set to 1, everything runs in one process, so that a debugger can follow it.
INLINE = "ROBGUI_INLINE"


def one_process() -> bool:
    """Whether the user wants everything in one process."""
    return os.environ.get(INLINE) == "1"


def one_executor(terms: Terms) -> Inline | Workers:
    """An executor for one Execution after another; a worker process is started at once."""
    if one_process():
        return Inline(LoadedCache(notice=terms.notice))
    workers = Workers([Place()], terms)
    workers.start()
    return workers
