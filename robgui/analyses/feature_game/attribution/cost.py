"""How many inputs the model sees while it is asked what it looks at."""

from __future__ import annotations

from robgui.analyses.feature_game.attribution.params import (
    AttributionParams,
    square_side,
    squares,
)
from robgui.core.execution.budget.cost import Calls, Subject


def attribution_calls(params: AttributionParams, subject: Subject) -> Calls:
    """Every square once, and the points of the gradients where the model gives any."""
    each = squares(subject.shape, square_side(subject.shape, params.patch))
    # One call for the answer itself and one as the reference of covering.
    covered = subject.inputs * (2 + each)
    if subject.gradients:
        slopes = subject.inputs * (params.steps + 6)
    else:
        slopes = 0
    return Calls(covered, covered + slopes, slopes=slopes)
