"""Large images: an example within a few calls, then fewer and fewer pixels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robgui.analyses.feature_game import FeatureGameParams, Game, Goal, feature_game
from robgui.analyses.feature_game.features.keypoints import find_keypoints
from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.large.exchange import Exchange
from robgui.analyses.feature_game.play.large.painting import LONGEST, SHARE, Painting, patches_of
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.tree import Node
from robgui.analyses.feature_game.searching import SearchSetup
from robgui.core.dataset import from_arrays
from tests.analyses.feature_game.games import image, linear

SIDE = 96
SHAPE = (1, SIDE, SIDE)


def robust(lost: int = 400):
    """A class that is lost when about a given number of pixels of a square is painted white."""
    weights = np.zeros(SHAPE)
    weights[0, 30:70, 30:70] = 1
    return linear(weights.ravel(), -float(lost) - float(dark()[0, 30:70, 30:70].sum()), SHAPE)


def dark() -> np.ndarray:
    return np.asarray(np.round(image(SHAPE) * 0.3 * 255) / 255, dtype=np.float32)


def searched(
    classifier,
    calls: int = 400,
    goal: Goal | None = None,
    distance: float | None = None,
    exchange: bool = False,
):
    """The record after every look at it, for the painting alone or with exchange after it."""
    picture = np.round(dark() * 255).astype(np.uint8)
    oracle = Oracle(classifier, Game(picture, "l0"))
    oracle.allow(calls, 0)
    goal = goal or Goal(oracle.original)
    params = FeatureGameParams(distance=distance)
    record = SearchRecord(oracle, goal, params)
    mixture = Mixture(find_keypoints(picture)[0], SIDE, SIDE)
    setup = SearchSetup(oracle, goal, mixture, np.random.default_rng(0), params)
    seen = [(oracle.calls, record.best) for _ in Painting(setup, record)]
    if exchange:
        after = Exchange(replace(setup, rng=np.random.default_rng(1)), record, Node())
        seen += [(oracle.calls, record.best) for _ in after]
    return oracle, goal, record, seen


def test_the_first_example_of_a_large_image_comes_within_fifty_calls():
    _, _, record, seen = searched(robust())
    assert 0 < record.first_calls <= 50
    assert next(calls for calls, best in seen if best) <= 51


def test_every_example_on_the_way_changes_the_class_and_none_is_larger_than_the_one_before():
    oracle, goal, record, seen = searched(robust(), exchange=True)
    examples = [best for _, best in seen if best]
    sizes = [len(best) for best in examples]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 3
    for best in set(examples):
        assert goal.margins(oracle.scores([best])[0]) > oracle.sure
    assert record.severity == sizes[-1]


def test_most_of_what_is_not_needed_is_taken_back():
    _, _, record, seen = searched(robust(200), calls=2000, exchange=True)
    first = next(len(best) for _, best in seen if best)
    # no fewer than 200 pixels can do it: painting one white raises its value by at most 1
    assert 200 <= len(record.best) <= 300 < first


def test_what_is_only_tried_is_not_remembered():
    oracle, _, _, seen = searched(robust())
    assert oracle.calls > 50
    assert sum(oracle.knows(best) for _, best in seen if best) > 0
    assert oracle.known_singles() == []
    state = tuple(range(20))
    before = oracle.calls
    oracle.allow(10, 0)
    oracle.tried([state])
    assert oracle.calls == before + 1
    assert not oracle.knows(state)


def test_an_example_farther_than_allowed_is_used_on_the_way_but_not_told():
    _, _, record, seen = searched(robust(200), calls=2000, distance=350, exchange=True)
    assert record.best
    assert not seen[0][1]
    assert all(len(best) <= 350 for _, best in seen if best)


def test_painting_keeps_to_its_share_of_the_calls():
    oracle, _, record, _ = searched(robust(), calls=100)
    assert record.best
    assert SHARE * 100 < record.first_calls <= LONGEST * 100
    assert oracle.calls <= 1 + record.first_calls
    oracle, _, record, _ = searched(robust(), calls=400)
    assert oracle.calls <= 1 + SHARE * 400 + 32


def test_a_class_that_no_painting_changes_is_left_to_the_rest_of_the_search():
    weights = np.zeros(SHAPE)
    classifier = linear(weights.ravel(), -1.0, SHAPE)
    _, _, record, _ = searched(classifier)
    assert not record.best


def test_squares_around_the_strongest_keypoints_come_first():
    picture = np.round(dark() * 255).astype(np.uint8)
    game = Game(picture, "l0")
    mixture = Mixture(find_keypoints(picture)[0], SIDE, SIDE)
    x, y = mixture.keypoints[int(np.argmax(mixture.prior)), :2]
    for patch in patches_of(game, mixture, 2):
        pixels = game.pixel[patch]
        assert abs((pixels % SIDE).mean() - x) < 2
        assert abs((pixels // SIDE).mean() - y) < 2


@pytest.mark.parametrize("seed", [0, 1])
def test_a_whole_game_on_a_large_image_is_repeatable_and_early(seed):
    def played():
        params = FeatureGameParams(max_calls=300, persistence=False, seed=seed)
        *_, last = feature_game(robust(), from_arrays(dark()[None]), params)
        return last.result

    first, second = played(), played()
    assert first.outcomes[0].first_calls <= 50
    assert first.severity == second.severity
    assert np.array_equal(first.changed, second.changed)
