"""What a result says: on how many of the inputs offered it rests, and whether its run was whole."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from robgui.core.execution.run import RunState

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.params.params import Params
    from robgui.core.execution.request import Request
    from robgui.core.execution.step import Step
    from robgui.core.verdict import Verdict

#: The first number of ``267 of 800 inputs (evenly spread)``.
_MANY = re.compile(r"^[\d,]+")


def said_by(analysis: Analysis, result: Any, params: Any, request: Request) -> Verdict:
    """The verdict on a result, with how many inputs it looked at where not at all on offer."""
    said: Verdict = analysis.verdict(result, params)
    if analysis.coverage is None:
        return said.among(request.chosen)
    looked, offered = analysis.coverage(result)
    if request.indices is not None:
        offered = len(request.indices)
    if looked >= offered:
        return said.among(request.chosen)
    # One number: what was offered and not looked at says nothing about the model.
    if looked:
        chosen = _MANY.sub(f"{looked:,}", request.chosen)
    else:
        chosen = ""
    whole = said.among(chosen)
    models = tuple(replace(one, inputs=looked) for one in whole.models)
    return replace(whole, inputs=looked, models=models)


def said_at_end(said: Verdict, state: RunState, step: Step[Any], params: Params) -> Verdict:
    """The verdict of a run's newest Step, which says first why it is not that of a whole run."""
    if state is RunState.CANCELLED:
        return said.stopped()
    # One whose whole result could not be stored has failed too, and answered all the same.
    if state is RunState.FAILED and step.done != step.total:
        return said.failed()
    if step.cut:
        return said.cut(params.max_seconds)
    return said
