"""How many pictures the models see under corruptions."""

from __future__ import annotations

from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.core.execution.budget.cost import Calls, Subject


def corruption_calls(params: CorruptionsParams, subject: Subject) -> Calls:
    """Each picture as it is and in every corruption.

    Those without a label are left out, usually none.
    """
    kinds = params.seen(subject.shape[0])
    each = subject.models * (1 + len(kinds) * len(params.severities))
    most = each * min(params.most or subject.inputs, subject.inputs)
    return Calls(each, most, usual=most)
