"""How many inputs the models see while their tolerance is bracketed."""

from __future__ import annotations

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.zonnscan.cost import ATTACK
from robgui.core.execution.budget.cost import Calls, Subject

#: Inputs that the attack gives the model at once: few, so a call costs more than in a full batch.
_ROWS = 10
#: Most calls of the restarts: their rows in every step, and what is found pulled back.
#: Five sizes with three restarts each, in 20 steps and a last look; then
#: up to 21 points in 12 halvings.
_AGAIN = 5 * 3 * 21 + 12 * 21

#: For one input: samples at every size, how many sizes may be sampled in full, and most calls of
#: the tests after them.
#: 25 sizes with 200 samples; three tests of at most 20,000 calls (``noise``).
_LOOKS, _FULL, _TESTS = 25 * 200, 2, 3 * 20_000


def tolerance_calls(params: ToleranceParams, subject: Subject) -> Calls:
    """An attack on every input; the layers decide how long a proof takes, so it is not counted."""
    inputs = min(params.most or subject.inputs, subject.inputs) * subject.models
    if subject.gradients:
        attack = ATTACK + _AGAIN
    else:
        attack = 0
    noise = 0
    if params.samples and inputs == subject.models:
        # Noise is tried on a single input only.
        noise = subject.models * (_LOOKS + _FULL * params.samples + _TESTS)
    uncounted = ""
    if params.prove:
        uncounted = "proofs"
    most = inputs * (2 + attack) + noise
    # Inputs that are right are attacked, and most are; few need restarts or all tests of noise.
    usual = inputs * (2 + (ATTACK if attack else 0)) + noise // 4
    return Calls(inputs, most, inputs * attack, _ROWS, uncounted=uncounted, usual=usual)
