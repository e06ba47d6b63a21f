"""How many inputs the models see while their tolerance is bracketed."""

from __future__ import annotations

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.core.execution.budget.cost import Calls, Subject

#: The gradient attack: 10 radii in 13 steps, twice 8 in 17, and pulling back what it finds.
_ATTACK = 10 * 13 + 2 * 8 * 17
_PULLED = 3 * 12 * 17


def tolerance_calls(params: ToleranceParams, subject: Subject) -> Calls:
    """An attack on every input; a proof asks the model about few points, which are not counted."""
    inputs = min(params.most or subject.inputs, subject.inputs) * subject.models
    if not subject.gradients:
        return Calls.exactly(inputs)
    return Calls(inputs, inputs * (1 + _ATTACK + _PULLED), slopes=inputs * _ATTACK)
