"""How many inputs the models see while their tolerance is bracketed."""

from __future__ import annotations

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.zonnscan.cost import ATTACK
from robgui.core.execution.budget.cost import Calls, Subject

#: Most calls of the restarts: their rows in every step, and what is found pulled back.
_AGAIN = 5 * 3 * 21 + 12 * 21

#: For one input: sizes at which noise is sampled, and most calls of the tests after them.
_SIZES, _TESTS = 25, 3 * 20_000


def tolerance_calls(params: ToleranceParams, subject: Subject) -> Calls:
    """An attack on every input; a proof asks the model about few points, which are not counted."""
    inputs = min(params.most or subject.inputs, subject.inputs) * subject.models
    attack = ATTACK + _AGAIN if subject.gradients else 0
    noise = subject.models * (_SIZES * params.samples + _TESTS) if inputs == subject.models else 0
    noise = noise if params.samples else 0
    return Calls(inputs, inputs * (2 + attack) + noise, slopes=inputs * attack)
