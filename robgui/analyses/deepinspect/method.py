"""The record of DeepInspect: everything the program knows about it without computing."""

from pathlib import Path

from robgui.analyses.deepinspect.counting.parts import InspectionPart
from robgui.analyses.deepinspect.params import CoverageParams, DeepInspectParams, ThresholdsParams
from robgui.analyses.deepinspect.result import DeepInspectResult
from robgui.analyses.deepinspect.studies.result import CoverageResult, ThresholdsResult
from robgui.core.execution.analysis import Analysis, Demo, Shards
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method
from robgui.core.execution.params.params import Params


def _one_unit_per_input(params: Params, inputs: int) -> int:
    return inputs


CLASSES = Analysis(
    name="deepinspect",
    title="DeepInspect",
    tab="Classes",
    question="Which classes does the network confuse, and where is it biased?",
    engine=deferred("robgui.analyses.deepinspect.inspection:deepinspect"),
    params=DeepInspectParams,
    calls=deferred("robgui.analyses.deepinspect.cost:inspect_calls"),
    result=DeepInspectResult,
    verdict=deferred("robgui.analyses.deepinspect.words:inspect_verdict"),
    views=deferred("robgui.analyses.deepinspect.views:inspect_views"),
    findings=deferred("robgui.analyses.deepinspect.findings:inspect_findings"),
    severity_means=(
        "A class: 0.5 and half the share of its inputs that is wrong; a pair: half its true"
        " confusion, or without labels how much nearer than usual the two are; a wrong input: 0.7"
        " times how sure the model is."
    ),
    needs=frozenset({"activations"}),
    inputs="many",
    first_look={},
    shards=Shards(
        _one_unit_per_input,
        deferred("robgui.analyses.deepinspect.inspection:inspect_part"),
        deferred("robgui.analyses.deepinspect.inspection:merge_parts"),
        deferred("robgui.analyses.deepinspect.inspection:go_on"),
        InspectionPart,
    ),
    demo=Demo("fashion_cnn.safetensors", "fashion.npz"),
    invitation=(
        "Which classes does this network confuse, and where is it biased? Press Run: all inputs"
        " that the gallery shows are read once, and the matrix sharpens while they arrive. With"
        " labels you see which classes are wrong and what they are taken for; without them, which"
        " classes look alike to the network."
    ),
    explanation=(
        "With labels, the first matrix shows what is taken for what: each row is a true class, each"
        " column what the model says, and the most intense cells are the most frequent errors. The"
        " distance compares the neurons that two classes activate: the most intense cells are"
        " classes that look alike to the network and are easily confused. Bias is high where one of"
        " two classes is much nearer to a third one than the other is. Click a cell or a row to see"
        " the inputs of that pair, those that are mixed up first, and the neurons that tell the two"
        " apart most and least."
    ),
)
THRESHOLDS = Analysis(
    name="deepinspect_thresholds",
    title="DeepInspect thresholds",
    tab="Thresholds",
    question="Do the reported pairs depend on when a neuron counts as active?",
    engine=deferred("robgui.analyses.deepinspect.studies.thresholds:deepinspect_thresholds"),
    params=ThresholdsParams,
    calls=deferred("robgui.analyses.deepinspect.cost:pass_calls"),
    result=ThresholdsResult,
    verdict=deferred("robgui.analyses.deepinspect.studies.words:thresholds_verdict"),
    views=deferred("robgui.analyses.deepinspect.studies.views:thresholds_views"),
    needs=frozenset({"activations"}),
    inputs="many",
    demo=Demo("fashion_cnn.safetensors", "fashion.npz"),
    invitation=(
        "Does the list of confused classes depend on when a neuron counts as active? Press Run:"
        " several thresholds are tried in one pass over the inputs that the gallery shows."
    ),
    explanation=(
        "A neuron counts as active when its scaled output is above the threshold. Circles show how"
        " many of the reported pairs are the same as at the threshold nearest to one half; a flat"
        " line means that the choice does not matter. With labels, squares show how many reported"
        " pairs are true and triangles how many true ones are found."
    ),
)
COVERAGE = Analysis(
    name="deepinspect_coverage",
    title="DeepInspect coverage",
    tab="Coverage",
    question="Can neuron coverage tell the classes apart?",
    engine=deferred("robgui.analyses.deepinspect.studies.coverage:deepinspect_coverage"),
    params=CoverageParams,
    calls=deferred("robgui.analyses.deepinspect.cost:pass_calls"),
    result=CoverageResult,
    verdict=deferred("robgui.analyses.deepinspect.studies.words:coverage_verdict"),
    views=deferred("robgui.analyses.deepinspect.studies.views:coverage_views"),
    needs=frozenset({"activations"}),
    inputs="many",
    demo=Demo("fashion_cnn.safetensors", "fashion.npz"),
    invitation=(
        "Do coverage criteria, which many test tools count, tell the classes of this network apart?"
        " Press Run to see them class by class."
    ),
    explanation=(
        "Each column is one class, each row a way to count what its inputs reach: neurons, or"
        " sections of their ranges. The colour tells how far the class is from the mean of all. If"
        " a row has no colour, what it counts says nothing about which classes are confused, which"
        " is why DeepInspect looks at activation probabilities instead. The bars and the table"
        " have every number."
    ),
)
METHOD = Method(
    name="deepinspect",
    title="DeepInspect",
    question="Which classes does it confuse?",
    analyses=(CLASSES, THRESHOLDS, COVERAGE),
    folder=Path(__file__).parent,
    order=40,
    claims="robgui.reproduce.deepinspect.claims:claims",
)
