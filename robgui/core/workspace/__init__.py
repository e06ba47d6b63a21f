"""Workspace: one SQLite file with every run, finding, reference and setting."""

from __future__ import annotations

from robgui.core.execution.run import Run, RunState
from robgui.core.finding import StoredFinding
from robgui.core.workspace.workspace import Workspace

__all__ = ["Run", "RunState", "StoredFinding", "Workspace"]
