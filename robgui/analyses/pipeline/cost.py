"""How many pictures the model sees in an audit of its preparation."""

from __future__ import annotations

from robgui.analyses.pipeline.params import PipelineParams
from robgui.core.execution.budget.cost import Calls, Subject

#: Ways of resizing, cropping and colouring beside the model's own, at most.
#: Four sizes, six interpolations and two colour orders (``ways``).
_WAYS = 12


def audit_calls(params: PipelineParams, subject: Subject) -> Calls:
    """Every picture in every way."""
    # The model's own way and JPEG are always tried; the others depend on sizes and channels.
    pictures, own = min(params.pictures, subject.inputs), 1 + len(params.jpeg)
    return Calls(pictures * own, pictures * (own + _WAYS))
