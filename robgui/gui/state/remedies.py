"""What the window says beside an error: how the remedy is done here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robgui.core.errors import Remedy, RobguiError

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution

_REMEDIES = {
    Remedy.OPEN_INPUTS: "Open some.",
    Remedy.MORE_INPUTS: "Ctrl+click the other one in the gallery.",
    Remedy.FEWER_INPUTS: "Ctrl+click the second one to let go of it.",
    Remedy.MORE_MODELS: "Open another one.",
}


def error_with_remedy(error: BaseException | None) -> str:
    """An error of ours with how to remedy it in the window; empty for none."""
    if error is None:
        return ""
    if isinstance(error, RobguiError):
        remedy = error.remedy
    else:
        remedy = None
    if remedy is None:
        return str(error)
    return f"{error} {_REMEDIES[remedy]}"


def failure(execution: Execution) -> str:
    """Why an Execution failed, as the window says it; empty when it did not."""
    if isinstance(execution.problem, RobguiError) and execution.problem.remedy is not None:
        return error_with_remedy(execution.problem)
    if execution.error and execution.details:
        more = " See the log for details."
    else:
        more = ""
    return execution.error + more
