"""The record of the pipeline audit."""

from __future__ import annotations

from pathlib import Path

from robgui.analyses.pipeline.params import PipelineParams
from robgui.analyses.pipeline.result import PipelineResult
from robgui.core.execution.analysis import Analysis, Demo
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

AUDIT = Analysis(
    name="pipeline_audit",
    title="Pipeline audit",
    question="Which answers change when the pictures are prepared in another usual way?",
    engine=deferred("robgui.analyses.pipeline.engine:pipeline_audit"),
    params=PipelineParams,
    calls=deferred("robgui.analyses.pipeline.cost:audit_calls"),
    result=PipelineResult,
    verdict=deferred("robgui.analyses.pipeline.words:verdict"),
    coverage=deferred("robgui.analyses.pipeline.words:coverage"),
    views=deferred("robgui.analyses.pipeline.views:views"),
    findings=deferred("robgui.analyses.pipeline.words:findings"),
    severity_means="Half of the confidence in the new answer: 0.5 for one that is certain.",
    offers=deferred("robgui.analyses.pipeline.words:offers"),
    tab="Audit",
    invitation=(
        "Does the answer depend on how a picture was prepared? Open a model and pictures, and"
        " press Run."
    ),
    explanation=(
        "Each bar is one usual way of bringing pictures to the model: squashed or cropped, with"
        " another interpolation, other colours, saved as JPEG. Its height is the share of the"
        " pictures that get another answer than under the model's settings. With labels a second"
        " picture shows how often each way is right; a way that is clearly better says that the"
        " model is fed wrongly."
    ),
    kinds=frozenset({"image"}),
    inputs="many",
    first_look={"pictures": 32},
    demo=Demo("traffic_cnn.pt2", "traffic", params={"pictures": 64}),
)
METHOD = Method(
    name="pipeline",
    title="Pipeline",
    question="Does the answer depend on how the pictures are prepared?",
    analyses=(AUDIT,),
    folder=Path(__file__).parent,
    order=60,
)
