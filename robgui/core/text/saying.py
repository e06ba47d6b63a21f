"""What a result says of the inputs that its request offered: how many of them it rests on."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.core.execution.analysis import Analysis
    from robgui.core.execution.request import Request
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
