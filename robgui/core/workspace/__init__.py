"""Workspace: one SQLite file with every run, finding, reference and setting.

Names are imported on first use: the window reads notes on inputs (``marks``) before it needs the
libraries that read data.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.execution.run import Run, RunState
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace.workspace import Workspace

__all__ = ["Run", "RunState", "StoredFinding", "Workspace"]

_HOMES = {
    "Run": "robgui.core.execution.run",
    "RunState": "robgui.core.execution.run",
    "StoredFinding": "robgui.core.finding",
    "Workspace": "robgui.core.workspace.workspace",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value
