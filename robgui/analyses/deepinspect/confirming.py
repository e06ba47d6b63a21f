"""Tests reported pairs: how few pixels turn an input of one class into the other?"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.deepinspect.pairs import members_of
from robgui.analyses.deepinspect.result import Confirmation, DeepInspectResult
from robgui.core.dataset import Dataset, inputs
from robgui.core.model.classifier import Classifier

#: Model calls of each game; there are two for each pair, one in each direction.
CALLS = 1000


def refusal(classifier: Classifier) -> str:
    """Why no pair of this model can be confirmed; empty if they can."""
    if classifier.kind != "image" or classifier.settings.multi_label:
        return "Pairs are confirmed by changing pixels, which needs images with one class each."
    return ""


def confirmation_rounds(
    classifier: Classifier, dataset: Dataset, result: DeepInspectResult, count: int, seed: int
) -> Generator[None, None, tuple[Confirmation, ...]]:
    """Plays a targeted game in both directions for each of the first reported pairs."""
    if len(result.confusion_pairs):
        pairs = result.confusion_pairs
    else:
        # With little spread nothing lies beyond the cut-off; the nearest
        # pairs are tested all the same.
        pairs = result.confusion_top
    found: list[Confirmation] = []
    for a, b in pairs[:count].tolist():
        # A distance has no direction, a game has: turning a 7 into a 1 may take
        # fewer pixels than the reverse.
        for start, target in ((a, b), (b, a)):
            places = members_of(result, start)
            if len(places):
                # Correct ones come first: to turn an input that
                # is wrong already would say nothing of the pair.
                place = int(places[0])
                found.append((yield from _played(classifier, dataset, place, start, target, seed)))
    return tuple(found)


def _played(
    classifier: Classifier, dataset: Dataset, place: int, start: int, target: int, seed: int
) -> Generator[None, None, Confirmation]:
    # Imported late: without pairs to confirm the game is not needed.
    from robgui.analyses.feature_game.params import FeatureGameParams
    from robgui.analyses.feature_game.play.match import Match, best_outcome

    image = inputs(classifier, dataset, np.array([place]))[0]
    # Whether the example survives rotation and scale costs calls and says nothing about the pair.
    params = FeatureGameParams(target=str(target), max_calls=CALLS, persistence=False, seed=seed)
    game = Match(classifier, image, params)
    if game.oracle.original == target:  # By rounding to 8 bits alone.
        return Confirmation(start, target, place, 0.0, game.oracle.calls)
    for _ in game:
        yield
    best = best_outcome(game.outcomes, "l0")
    if best is None:
        pixels = float("nan")
    else:
        pixels = best.severity.l0_pixels
    return Confirmation(start, target, place, pixels, game.oracle.calls)
