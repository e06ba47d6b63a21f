"""The record of the corruptions."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robgui.analyses.corruptions.params import CorruptionsParams
from robgui.analyses.corruptions.result import CorruptionsResult
from robgui.core.execution.analysis import Analysis, Demo
from robgui.core.execution.asking.question import Question
from robgui.core.execution.deferred import deferred
from robgui.core.execution.export import Export
from robgui.core.execution.method import Method

CORRUPTIONS = Analysis(
    name="corruptions",
    title="Corruptions",
    question="How far does accuracy fall under noise, blur, weather and compression?",
    engine=deferred("robgui.analyses.corruptions.engine:corruptions"),
    calls=deferred("robgui.analyses.corruptions.cost:corruption_calls"),
    params=CorruptionsParams,
    result=CorruptionsResult,
    verdict=deferred("robgui.analyses.corruptions.words:verdict"),
    coverage=deferred("robgui.analyses.corruptions.words:coverage"),
    views=deferred("robgui.analyses.corruptions.views:views"),
    findings=deferred("robgui.analyses.corruptions.words:findings"),
    severity_means=(
        "0.6 times the confidence in the wrong answer at severity 1, a fifth of that at severity 5."
    ),
    offers=deferred("robgui.analyses.corruptions.words:offers"),
    tab="Corruptions",
    invitation=(
        "How far does accuracy fall when pictures are noisy, blurred, foggy or compressed? Open a"
        " model and pictures with labels, and press Run."
    ),
    explanation=(
        "Each line is a group of corruptions: accuracy from the clean picture on the left to the"
        " strongest corruption on the right. The matrix shows each kind by itself, the most"
        " intense colour being the worst. Below stand pictures that were right and turn wrong, at"
        " the weakest corruption that is enough. With several models the same pictures are shown"
        " to each."
    ),
    kinds=frozenset({"image"}),
    several_models=True,
    inputs="many",
    first_look={"most": 16, "severities": (1, 3, 5)},
    export=Export(
        "Export the corrupted pictures",
        "One file with all (*.npz);;Folder of PNG pictures (*)",
        deferred("robgui.analyses.corruptions.export:write"),
    ),
    demo=Demo("traffic_cnn.pt2", "traffic", params={"most": 60}, guided=False),
)
METHOD = Method(
    name="corruptions",
    title="Corruptions",
    question="How far does accuracy fall in bad conditions?",
    analyses=(CORRUPTIONS,),
    folder=Path(__file__).parent,
    order=55,
    questions=(
        Question("corrupted", deferred("robgui.analyses.corruptions.engine:corrupted"), np.ndarray),
    ),
)
