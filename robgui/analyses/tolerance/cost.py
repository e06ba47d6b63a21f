"""How many inputs the models see while their tolerance is bracketed."""

from __future__ import annotations

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.zonnscan.cost import ATTACK
from robgui.core.execution.budget.cost import Calls, Subject


def tolerance_calls(params: ToleranceParams, subject: Subject) -> Calls:
    """An attack on every input; a proof asks the model about few points, which are not counted."""
    inputs = min(params.most or subject.inputs, subject.inputs) * subject.models
    if not subject.gradients:
        return Calls.exactly(inputs)
    return Calls(inputs, inputs * (1 + ATTACK), slopes=inputs * ATTACK)
