"""The record of the last particle: everything the program knows about it without computing."""

from pathlib import Path

from robgui.analyses.last_particle.params import (
    LastParticleParams,
    LastParticleTableParams,
    table_units,
)
from robgui.analyses.last_particle.result import LastParticleResult, LastParticleTableResult
from robgui.core.execution.analysis import Analysis, Demo, Shards
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method

ONE_INPUT = Analysis(
    name="last_particle",
    title="Last particle",
    tab="One input",
    question=(
        "Is the probability that noise makes the model fail below 10⁻¹⁰, and how sure is that?"
    ),
    engine=deferred("robgui.analyses.last_particle.single_input:last_particle"),
    params=LastParticleParams,
    calls=deferred("robgui.analyses.last_particle.cost:one_input_calls"),
    result=LastParticleResult,
    verdict=deferred("robgui.analyses.last_particle.words:verdict"),
    views=deferred("robgui.analyses.last_particle.views:views"),
    findings=deferred("robgui.analyses.last_particle.findings:findings"),
    severity_means=(
        "1 for a failure at every tenth sample or more often, a tenth less for each power of ten."
    ),
    offers=deferred("robgui.analyses.last_particle.findings:offers"),
    first_look={"samples": 0},
    made_inputs={"truth": "predicted"},
    demo=Demo("fashion_cnn.safetensors", "fashion.npz", 6),
    invitation=(
        "How rarely does noise make the model fail at this input? Choose an input that the model"
        " gets right and press Run: noisy inputs climb towards failure, and the number of rounds"
        " tells how rare it is."
    ),
    explanation=(
        "The first picture shows the score that the noisy inputs must exceed, round by round;"
        " failure begins at 0, the line. The dots are the noisy inputs at this moment. The second"
        " shows the failure probability if the test stopped at each round, with a 95 % band, and"
        " the critical probability that it must stay below. Plain samples alone could prove no more"
        " than the dotted line. If an input fails it is shown with its noise; a gradient search"
        " looks for failures that chance would hardly ever find, and samples around them measure"
        " how rare they are. The powers of ten show what each way of sampling says."
    ),
)
MANY_INPUTS = Analysis(
    name="last_particle_table",
    title="Last particle table",
    tab="Many inputs",
    question="Which inputs keep their class under which noise: validated, sampled, proven?",
    engine=deferred("robgui.analyses.last_particle.table.many_inputs:last_particle_table"),
    params=LastParticleTableParams,
    calls=deferred("robgui.analyses.last_particle.cost:table_calls"),
    result=LastParticleTableResult,
    verdict=deferred("robgui.analyses.last_particle.table.words:table_verdict"),
    views=deferred("robgui.analyses.last_particle.table.views:table_views"),
    findings=deferred("robgui.analyses.last_particle.table.words:table_findings"),
    severity_means=(
        "1 for a failure at every tenth sample or more often, a tenth less for each power of ten."
    ),
    offers=deferred("robgui.analyses.last_particle.table.words:table_offers"),
    inputs="many",
    made_inputs={"truth": "predicted"},
    shards=Shards(
        table_units,
        deferred("robgui.analyses.last_particle.table.many_inputs:table_part"),
        deferred("robgui.analyses.last_particle.table.many_inputs:merge_tables"),
    ),
    demo=Demo("table_mlp.onnx", "table.csv", params={"most": 25}),
    invitation=(
        "How many inputs does the model keep right under how much noise? Press Run: all inputs that"
        " the gallery shows and that the model gets right are tested together, at every size of"
        " noise."
    ),
    explanation=(
        "Each bar is one size of noise and holds every input once: those that fail, those that pass"
        " the test although a gradient search finds a failure, validated ones, certified ones, and"
        " those that are unclear or not decided yet. Failures are decided first, so open inputs say"
        " nothing while it runs. The curves give the same as shares with 95 % bands; the matrix"
        " shows every input, the most intense fields failing most often."
    ),
)
METHOD = Method(
    name="last_particle",
    title="Last particle",
    question="How rare is a failure?",
    analyses=(ONE_INPUT, MANY_INPUTS),
    folder=Path(__file__).parent,
    order=50,
    claims="robgui.reproduce.last_particle.claims:claims",
)
