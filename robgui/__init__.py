"""robgui: look at the robustness of neural classifiers.

    import robgui
    model = robgui.load("model.onnx")
    result = robgui.run("zonnscan", model, inputs, samples=1024)
    result.plot()  # and in a notebook the result itself shows what it says, and its pictures

An error that a user can do something about is a RobguiError, whose message is one sentence. Names
are imported on first use: ``import robgui`` itself costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.batch.guards import guard_suite
    from robgui.core.dataset import Dataset, open_dataset
    from robgui.core.errors import RobguiError
    from robgui.core.execution.notebook import steps
    from robgui.core.execution.registry import analyses
    from robgui.core.loading import load
    from robgui.core.model.classifier import Classifier
    from robgui.core.workspace import Workspace
    from robgui.report.notebook import Exhibit, show
    from robgui.report.shown import run

__all__ = [
    "Classifier",
    "Dataset",
    "Exhibit",
    "RobguiError",
    "Workspace",
    "__version__",
    "analyses",
    "guard_suite",
    "load",
    "open_dataset",
    "run",
    "show",
    "steps",
]

_HOMES = {
    "Classifier": "robgui.core.model.classifier",
    "Dataset": "robgui.core.dataset",
    "Exhibit": "robgui.report.notebook",
    "RobguiError": "robgui.core.errors",
    "Workspace": "robgui.core.workspace",
    "guard_suite": "robgui.batch.guards",
    "load": "robgui.core.loading",
    "open_dataset": "robgui.core.dataset",
    "run": "robgui.report.shown",
    "show": "robgui.report.notebook",
    "steps": "robgui.core.execution.notebook",
}


def __getattr__(name: str) -> Any:
    if name == "analyses":
        return import_module("robgui.analyses")
    if name not in _HOMES:
        raise AttributeError(f"module 'robgui' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
