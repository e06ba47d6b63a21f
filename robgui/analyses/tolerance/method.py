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
        "Every input has a tolerance: the largest change of all its values that keeps the class."
        " An attack shows a change that is too much, a proof shows one that is not. The upper line"
        " is the share of inputs that no known change of that size turns, the lower line the share"
        " that is proven to stay; the truth lies between. Below, each input has its own bracket."
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
