"""The record of the feature game: everything the program knows about it without computing."""

from pathlib import Path

from robgui.analyses.choosing import chosen_places
from robgui.analyses.feature_game.attribution.params import AttributionParams
from robgui.analyses.feature_game.attribution.result import AttributionResult
from robgui.analyses.feature_game.params import FeatureGameBatchParams, FeatureGameParams
from robgui.analyses.feature_game.result import FeatureGameBatchResult, FeatureGameResult
from robgui.core.execution.analysis import Analysis, Demo, Requirements, Shards
from robgui.core.execution.asking.question import Question
from robgui.core.execution.deferred import deferred
from robgui.core.execution.method import Method


def _games(params: FeatureGameBatchParams, inputs: int) -> int:
    return len(chosen_places(inputs, params.images, params.seed))


def _one(params: FeatureGameParams) -> Requirements:
    return Requirements(most_inputs=1, needs=_needs(params))


def _many(params: FeatureGameBatchParams) -> Requirements:
    return Requirements(needs=_needs(params))


def _needs(params: FeatureGameParams | FeatureGameBatchParams) -> frozenset[str]:
    if params.gradients:
        return frozenset({"gradients"})
    return frozenset()


ONE_IMAGE = Analysis(
    name="feature_game",
    title="Feature game",
    tab="One image",
    question="Which few pixels flip the class?",
    engine=deferred("robgui.analyses.feature_game.engine:feature_game"),
    params=FeatureGameParams,
    calls=deferred("robgui.analyses.feature_game.cost:game_calls"),
    result=FeatureGameResult,
    verdict=deferred("robgui.analyses.feature_game.words:game_verdict"),
    views=deferred("robgui.analyses.feature_game.views:game_views"),
    findings=deferred("robgui.analyses.feature_game.words:game_findings"),
    severity_means=("1 for no change, 0 for a tenth of the largest distance in its norm."),
    offers=deferred("robgui.analyses.feature_game.words:game_offers"),
    kinds=frozenset({"image"}),
    takes_with=_one,
    first_look={"max_calls": 1500},
    # A red light that few pixels turn green.
    demo=Demo("traffic_cnn.pt2", "traffic", 141, {"target": "green", "max_calls": 600}, opens=True),
    invitation=(
        "Which few pixels of this image flip its class? Choose an image and press Run: a search"
        " looks for the smallest change that makes the model see another class. It only asks the"
        " model for its answers."
    ),
    explanation=(
        "Left the image, right the example: the framed pixels are all that was changed. The search"
        " first tries single pixels, then builds on those that move the answer most and takes back"
        " every change that is not needed; in large images it paints many pixels, then exchanges"
        " them for fewer. The search in detail has the curve of how the change shrinks. Finding"
        " none guarantees nothing."
    ),
)
MANY_IMAGES = Analysis(
    name="feature_game_batch",
    title="Feature game on many images",
    tab="Many images",
    question="How many pixels does it take to change the class, image by image?",
    engine=deferred("robgui.analyses.feature_game.batch:feature_game_batch"),
    params=FeatureGameBatchParams,
    calls=deferred("robgui.analyses.feature_game.cost:batch_calls"),
    result=FeatureGameBatchResult,
    verdict=deferred("robgui.analyses.feature_game.batch_words:batch_verdict"),
    coverage=deferred("robgui.analyses.feature_game.batch_words:coverage"),
    views=deferred("robgui.analyses.feature_game.batch_views:batch_views"),
    findings=deferred("robgui.analyses.feature_game.batch_words:batch_findings"),
    severity_means="1 for no change, 0 for a tenth of the largest distance in its norm.",
    offers=deferred("robgui.analyses.feature_game.batch_words:batch_offers"),
    kinds=frozenset({"image"}),
    inputs="many",
    takes_with=_many,
    shards=Shards(
        _games,
        deferred("robgui.analyses.feature_game.batch:games_part"),
        deferred("robgui.analyses.feature_game.batch:merge_games"),
    ),
    demo=Demo("fashion_cnn.safetensors", "fashion.npz", params={"images": 6, "max_calls": 1000}),
    invitation=(
        "How many pixels does it take to change the class, image by image? Press Run: the game is"
        " played on images that the gallery shows, chosen at random, one after the other."
    ),
    explanation=(
        "Each bar tells how many images change their class with that many changed pixels; the"
        " further left, the more fragile the model. Images that could not be changed with the calls"
        " allowed stand in no bar; they are counted in the sentence."
    ),
)
ATTRIBUTION = Analysis(
    name="attribution",
    title="Attribution",
    tab="What it looks at",
    question="Which parts of the picture does the answer come from?",
    engine=deferred("robgui.analyses.feature_game.attribution.engine:attribution"),
    params=AttributionParams,
    calls=deferred("robgui.analyses.feature_game.attribution.cost:attribution_calls"),
    result=AttributionResult,
    verdict=deferred("robgui.analyses.feature_game.attribution.words:verdict"),
    views=deferred("robgui.analyses.feature_game.attribution.views:views"),
    kinds=frozenset({"image"}),
    takes_with=lambda params: Requirements(most_inputs=2),
    first_look={"steps": 20},
    demo=Demo("fashion_cnn.safetensors", "fashion.npz", 3, {"steps": 20}, guided=False),
    invitation=(
        "Which parts of this picture does the answer come from? Choose a picture, or two that"
        " belong together, and press Run: parts are covered one after the other, and gradients are"
        " followed where the model gives any."
    ),
    explanation=(
        "Beside the picture stands the same in grey with colour on it: blue parts speak for the"
        " class, vermilion ones against it. Covering tells how much of the chance is lost without a"
        " part. Integrated gradients add up slopes from a covered picture to this one. Grad-CAM"
        " shows what the last convolution has seen. That a part counts does not mean that it"
        " should."
    ),
)
METHOD = Method(
    name="feature_game",
    title="Feature game",
    question="Which few pixels flip it?",
    analyses=(ONE_IMAGE, MANY_IMAGES, ATTRIBUTION),
    folder=Path(__file__).parent,
    order=30,
    questions=(
        Question(
            "attribution",
            deferred("robgui.analyses.feature_game.attribution.engine:attribution_of"),
            AttributionResult,
        ),
    ),
    claims="robgui.reproduce.feature_game.claims:claims",
)
