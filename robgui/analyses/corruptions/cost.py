"""How many pictures the models see under corruptions."""

from __future__ import annotations

from robgui.analyses.corruptions.params import NAMES, CorruptionsParams
from robgui.core.execution.budget.cost import Calls, Subject


def corruption_calls(params: CorruptionsParams, subject: Subject) -> Calls:
    """Each picture as it is and in every corruption; those without a label are left out."""
    kinds = len(params.kinds or NAMES)
    each = subject.models * (1 + kinds * len(params.severities))
    return Calls(each, each * min(params.most or subject.inputs, subject.inputs))
