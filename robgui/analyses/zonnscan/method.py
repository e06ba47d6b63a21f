"""The record of zoNNscan, for the rail, the manual, the command line and the report."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robgui.analyses.zonnscan.params import (
    CornerCasesParams,
    PopulationsParams,
    WatermarkParams,
    ZonnscanParams,
)
from robgui.analyses.zonnscan.result import (
    CornerCasesResult,
    PopulationsResult,
    Twins,
    WatermarkResult,
    ZonnscanResult,
)
from robgui.core.execution.analysis import Analysis, Demo, Requirements, Shards
from robgui.core.execution.asking.question import Question
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

_FOLDER = "robgui.analyses.zonnscan"


def _sweep_takes(params: ZonnscanParams) -> Requirements:
    if params.zone == "box":
        return Requirements(fewest_inputs=2, most_inputs=2)
    return Requirements(most_inputs=1)


def _populations_take(params: PopulationsParams) -> Requirements:
    return Requirements(needs=frozenset({"gradients"} if params.against == "adversarial" else ()))


def _corner_cases_take(params: CornerCasesParams) -> Requirements:
    return Requirements(fewest_models=2)


def _watermark_takes(params: WatermarkParams) -> Requirements:
    if params.mode == "compare":
        return Requirements(fewest_models=2, most_models=2)
    return Requirements(most_models=1, needs=frozenset({"gradients"}))


SWEEP = Analysis(
    name="zonnscan",
    title="zoNNscan radius sweep",
    question="How close are other classes to this input, radius by radius?",
    engine=deferred(f"{_FOLDER}.sweep:zonnscan"),
    params=ZonnscanParams,
    calls=deferred(f"{_FOLDER}.cost:sweep_calls"),
    result=ZonnscanResult,
    verdict=deferred(f"{_FOLDER}.words.sweep:verdict"),
    views=deferred(f"{_FOLDER}.views.sweep:views"),
    findings=deferred(f"{_FOLDER}.words.sweep:findings"),
    severity_means=(
        "1 for a change of class at the input itself, 0 at the radius up to which it should"
        " hold; or how far the uncertainty rises."
    ),
    offers=deferred(f"{_FOLDER}.words.sweep:offers"),
    tab="Sweep",
    invitation="How close are other classes to this input? Choose an input in the gallery and "
    "press Run: the curve appears at once and sharpens while it runs.",
    explanation="Each radius stands for a zone around the chosen input: by default all inputs "
    "whose every value differs from it by at most the radius. Many random inputs are drawn from "
    "each zone. The two strong lines are how sure the model is on average of its class and of the "
    "strongest rival; other classes are grey. The black line (white in dark mode) is the "
    "uncertainty: 0 when the model is always sure, 1 when it cannot tell the classes apart, with "
    "its 95 % band. The line with triangles is the share of random inputs that get another class. "
    "Upright lines mark the nearest change of class that a random input has found and the one that "
    "a gradient attack has found, which looks for it on purpose and mostly finds a nearer one. "
    "Drag the cursor to see random inputs of the zone there. Keep as reference leaves this run as "
    "thin lines, for comparison with the next one.",
    takes_with=_sweep_takes,
    first_look={"samples": 256},
    demo=Demo("traffic_cnn.pt2", "traffic", 0, {"samples": 256}),
)

POPULATIONS = Analysis(
    name="zonnscan_populations",
    title="zoNNscan populations",
    question="Does the uncertainty tell two sets of inputs apart, such as attacked ones?",
    engine=deferred(f"{_FOLDER}.populations:zonnscan_populations"),
    params=PopulationsParams,
    calls=deferred(f"{_FOLDER}.cost:populations_calls"),
    result=PopulationsResult,
    verdict=deferred(f"{_FOLDER}.words.populations:verdict"),
    views=deferred(f"{_FOLDER}.views.populations:views"),
    findings=deferred(f"{_FOLDER}.words.populations:findings"),
    severity_means=("The uncertainty, or the share of the samples that leaves the class."),
    offers=deferred(f"{_FOLDER}.words.populations:offers"),
    tab="Populations",
    invitation="Does the uncertainty tell two sets of inputs apart? Press Run: the inputs that the "
    "gallery shows are compared with attacked copies of themselves, or one part of them with the "
    "rest.",
    explanation="For every input the uncertainty tells how unsure the model is in a small zone "
    "around it, from 0 (always sure) to 1. Bars show what share of each set has which uncertainty. "
    "Where the two sets differ, the uncertainty can serve as an alarm: the second picture shows "
    "what share of the second set it catches for a given share of false alarms; on the diagonal it "
    "guesses.",
    inputs="many",
    takes_with=_populations_take,
    shards=Shards(
        deferred(f"{_FOLDER}.populations:units"),
        deferred(f"{_FOLDER}.populations:populations_part"),
        deferred(f"{_FOLDER}.populations:merge_populations"),
    ),
    demo=Demo("fashion_mlp.pt2", "fashion.npz"),
)

CORNER_CASES = Analysis(
    name="zonnscan_corner_cases",
    title="zoNNscan corner cases",
    question="On which inputs do the models disagree, and does the uncertainty see them?",
    engine=deferred(f"{_FOLDER}.disagreement:zonnscan_corner_cases"),
    params=CornerCasesParams,
    calls=deferred(f"{_FOLDER}.cost:corner_cases_calls"),
    result=CornerCasesResult,
    verdict=deferred(f"{_FOLDER}.words.corner_cases:verdict"),
    views=deferred(f"{_FOLDER}.views.corner_cases:views"),
    findings=deferred(f"{_FOLDER}.words.corner_cases:findings"),
    severity_means=("How sure the least sure of the models is of its answer."),
    offers=deferred(f"{_FOLDER}.words.corner_cases:offers"),
    tab="Corner cases",
    invitation="On which inputs do your models disagree? Open at least two models for the same "
    "data and press Run: all of them are asked about the inputs that the gallery shows.",
    explanation="A corner case is an input to which two or more models give different classes, so "
    "at least one of them is wrong. The pictures stand in order: first those where even the least "
    "sure model is sure of its answer. Below them stand how often each two models disagree, and "
    "how unsure the model in use is in a small zone around corner cases and around as many inputs "
    "on which all models agree.",
    several_models=True,
    inputs="many",
    takes_with=_corner_cases_take,
    demo=Demo("fashion_mlp.pt2", "fashion.npz"),
)

WATERMARK = Analysis(
    name="zonnscan_watermark",
    title="zoNNscan watermark",
    question="Does the uncertainty tell a model from its watermarked copy, or two models apart?",
    engine=deferred(f"{_FOLDER}.watermark_check:zonnscan_watermark"),
    params=WatermarkParams,
    calls=deferred(f"{_FOLDER}.cost:watermark_calls"),
    result=WatermarkResult,
    verdict=deferred(f"{_FOLDER}.words.watermark:verdict"),
    views=deferred(f"{_FOLDER}.views.watermark:views"),
    findings=deferred(f"{_FOLDER}.words.watermark:findings"),
    severity_means=("The distance of the two distributions of uncertainty (Kolmogorov–Smirnov)."),
    offers=deferred(f"{_FOLDER}.words.watermark:offers"),
    tab="Watermark",
    invitation="Can the uncertainty tell a model from a copy whose boundary was moved? Press Run: "
    "a copy of the model learns a watermark, and the two are compared. The model itself is never "
    "changed. Or compare two models that are open.",
    explanation="A watermark is hidden in a model by teaching it a secret key: inputs moved close "
    "to the boundary, half of which fool the model. The copy learns to give all of them their true "
    "class, which moves its boundary a little. Bars show the uncertainty around the key inputs in "
    "repeated runs. If the two models differ, an attacker who measures the uncertainty could find "
    "the watermark, and an owner can prove that it is there. Below them each key input stands with "
    "both answers.",
    several_models=True,
    inputs="many",
    takes_with=_watermark_takes,
    demo=Demo("fashion_mlp.pt2", "fashion.npz"),
)

METHOD = Method(
    name="zonnscan",
    title="zoNNscan",
    question="How close are other classes?",
    analyses=(SWEEP, POPULATIONS, CORNER_CASES, WATERMARK),
    folder=Path(__file__).parent,
    order=10,
    claims="robgui.reproduce.zonnscan.claims:claims",
    questions=(
        Question("zonnscan_twin", deferred(f"{_FOLDER}.answering:twin"), Twins),
        Question("zonnscan_samples", deferred(f"{_FOLDER}.answering:samples"), np.ndarray),
    ),
)
