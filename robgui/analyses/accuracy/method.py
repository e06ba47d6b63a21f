"""The record of the accuracy method."""

from __future__ import annotations

from pathlib import Path

from robgui.analyses.accuracy.params import AccuracyParams
from robgui.analyses.accuracy.result import AccuracyResult
from robgui.core.execution.analysis import Analysis, Demo
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

ACCURACY = Analysis(
    name="accuracy",
    title="Accuracy",
    question="How often is the model right, and where is it wrong?",
    engine=deferred("robgui.analyses.accuracy.engine:accuracy"),
    calls=deferred("robgui.analyses.accuracy.cost:accuracy_calls"),
    params=AccuracyParams,
    result=AccuracyResult,
    verdict=deferred("robgui.analyses.accuracy.words:verdict"),
    coverage=deferred("robgui.analyses.accuracy.words:coverage"),
    views=deferred("robgui.analyses.accuracy.views:views"),
    findings=deferred("robgui.analyses.accuracy.words:findings"),
    severity_means=(
        "A failing class: one half and half of its share of errors; a wrong input: 0.7 times the"
        " confidence; a weak slice: half of its share of errors; a label to check: 0.3 times the"
        " confidence."
    ),
    offers=deferred("robgui.analyses.accuracy.words:offers"),
    tab="Accuracy",
    invitation=(
        "How often is the model right, and where is it wrong? Open a model and data with labels,"
        " and press Run."
    ),
    explanation=(
        "Each bar is one class: the share of its inputs that the model recognises, the weakest"
        " class first, with its 95 % interval. Further pictures show what is taken for what,"
        " whether the model claims too much, its surest mistakes, slices of the data with more"
        " errors than the rest, a map of the inputs as the model sees them, and labels that should"
        " be checked."
    ),
    inputs="many",
    first_look={"most": 2000, "compared": 1000},
    demo=Demo("traffic_cnn.pt2", "traffic", params={"most": 1000}, guided=False),
)
METHOD = Method(
    name="accuracy",
    title="Accuracy",
    question="How often is it right, and where is it wrong?",
    analyses=(ACCURACY,),
    folder=Path(__file__).parent,
    order=51,
)
