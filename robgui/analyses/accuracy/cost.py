"""How many inputs the model sees when accuracy is counted."""

from __future__ import annotations

from robgui.analyses.accuracy.params import AccuracyParams
from robgui.core.execution.budget.cost import Calls, Subject


def accuracy_calls(params: AccuracyParams, subject: Subject) -> Calls:
    """Each input once; those without a label are left out, usually none."""
    most = min(params.most or subject.inputs, subject.inputs)
    return Calls(1, most, usual=most)
