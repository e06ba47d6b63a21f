"""How many inputs the models see while their tolerance is bracketed."""

from __future__ import annotations

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.zonnscan.cost import ATTACK
from robgui.core.execution.budget.cost import Calls, Subject

#: Most calls of the restarts: their rows in every step, and what is found pulled back.
_AGAIN = 5 * 3 * 21 + 12 * 21

#: For one input: samples at every size, how many sizes may be sampled in full, and most calls of
#: the tests after them.
_LOOKS, _FULL, _TESTS = 25 * 200, 2, 3 * 20_000


def tolerance_calls(params: ToleranceParams, subject: Subject) -> Calls:
    """An attack on every input; a proof asks the model about few points, which are not counted."""
    inputs = min(params.most or subject.inputs, subject.inputs) * subject.models
    if subject.gradients:
        attack = ATTACK + _AGAIN
    else:
        attack = 0
    noise = 0
    if params.samples and inputs == subject.models:
        noise = subject.models * (_LOOKS + _FULL * params.samples + _TESTS)
    return Calls(inputs, inputs * (2 + attack) + noise, slopes=inputs * attack)
