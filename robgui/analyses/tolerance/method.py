"""The record of the tolerance method."""

from __future__ import annotations

from pathlib import Path

from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import ToleranceResult
from robgui.core.execution.analysis import Analysis, Demo
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

TOLERANCE = Analysis(
    name="tolerance",
    title="Tolerance",
    question="How much change can the inputs take, between proof and attack?",
    engine=deferred("robgui.analyses.tolerance.engine:tolerance"),
    calls=deferred("robgui.analyses.tolerance.cost:tolerance_calls"),
    params=ToleranceParams,
    result=ToleranceResult,
    verdict=deferred("robgui.analyses.tolerance.words:verdict"),
    coverage=deferred("robgui.analyses.tolerance.words:coverage"),
    views=deferred("robgui.analyses.tolerance.views:views"),
    findings=deferred("robgui.analyses.tolerance.words:findings"),
    severity_means="0.8 for an invisible change, falling to 0 at the largest change looked at.",
    offers=deferred("robgui.analyses.tolerance.words:offers"),
    tab="Tolerance",
    invitation=(
        "How much change can the inputs take before the answer turns? Open a model and inputs, and"
        " press Run."
    ),
    explanation=(
        "Every value of an input may change by up to the size below the picture, in the worst way."
        " Green: inputs proven to keep their class. Orange: inputs with a known change that"
        " turns it. Hatched: undecided. At the line is the size that an input must take."
    ),
    several_models=True,
    inputs="many",
    first_look={"most": 10, "sizes": 6},
    demo=Demo("fashion_mlp.pt2", "fashion.npz", params={"most": 30}, guided=False),
)
METHOD = Method(
    name="tolerance",
    title="Tolerance",
    question="How much change can it take?",
    analyses=(TOLERANCE,),
    folder=Path(__file__).parent,
    order=52,
)
