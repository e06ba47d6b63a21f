"""Large images: weaker pixels are exchanged for better ones, features decide where these are looked
for, and gradients propose them where the user asks for it.
"""

from __future__ import annotations

import numpy as np
import pytest

import robgui
from robgui import resources
from robgui.analyses.feature_game import FeatureGameParams, Game, Goal, feature_game
from robgui.analyses.feature_game.features.keypoints import grid
from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import EMPTY
from robgui.analyses.feature_game.play.large.exchange import GROUPS, Exchange
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.slope import Slope, best_options
from robgui.analyses.feature_game.play.tree import Node
from robgui.analyses.feature_game.searching import SearchSetup
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from tests.analyses.feature_game.games import linear

SIDE = 64
SHAPE = (1, SIDE, SIDE)


def black() -> np.ndarray:
    return np.zeros(SHAPE, dtype=np.uint8)


def uneven(lost: float = 30.0) -> Classifier:
    """White pixels count 1 in a square of 16 and 0.1 elsewhere; the class is lost at ``lost``."""
    weights = np.full(SHAPE, 0.1)
    weights[0, 24:40, 24:40] = 1.0
    return linear(weights.ravel(), -lost, SHAPE)


def began(calls: int, seed: int = 0, gradients: bool = False, pixels: int = 350):
    """An exchange that begins with these pixels, most of them of little weight."""
    oracle = Oracle(uneven(), Game(black(), "l0"))
    oracle.allow(calls, 0)
    goal = Goal(oracle.original)
    params = FeatureGameParams(gradients=gradients)
    record = SearchRecord(oracle, goal, params)
    start = tuple(range(20 * SIDE, 20 * SIDE + pixels))
    oracle.scores([start])
    record.offer(start)
    root = Node()
    mixture = Mixture(grid(SIDE, SIDE), SIDE, SIDE)
    setup = SearchSetup(oracle, goal, mixture, np.random.default_rng(seed), params)
    exchange = Exchange(setup, record, root)
    return oracle, goal, record, root, exchange


def test_the_example_only_ever_shrinks_and_always_changes_the_class():
    oracle, goal, record, _, exchange = began(800)
    sizes = [len(record.best)]
    for _ in exchange:
        assert goal.margins(oracle.scores([record.best])[0]) > oracle.sure
        sizes.append(len(record.best))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] < 0.5 * sizes[0]


def test_calls_go_to_the_features_that_pay():
    _, _, _, root, exchange = began(1500)
    for _ in exchange:
        pass
    middle = [
        node
        for node in root.children
        if 20 <= grid(SIDE, SIDE)[node.keypoint, 0] <= 44
        and 20 <= grid(SIDE, SIDE)[node.keypoint, 1] <= 44
    ]
    others = [node for node in root.children if node not in middle]
    often = np.mean([node.visits for node in middle]) / np.mean([node.visits for node in others])
    assert often > 2
    assert sum(node.visits for node in root.children) == root.visits


def test_a_round_costs_no_more_calls_on_thousands_of_pixels():
    """Groups of pixels are tried, not each of them."""
    oracle, _, record, _, exchange = began(2000, pixels=2400)
    calls = oracle.calls
    for _ in exchange.one_round():
        pass
    assert oracle.calls - calls < 80
    assert len(record.best) < 2400 - 2400 // GROUPS


def test_what_single_pixels_cost_is_learned_from_groups():
    oracle, _, record, _, exchange = began(5000, pixels=2400)
    for _ in range(6):
        for _ in exchange.one_round():
            pass
    y, x = np.divmod(oracle.game.pixel[list(record.best)], SIDE)
    worth = (y >= 24) & (y < 40) & (x >= 24) & (x < 40)
    # of the pixels it began with, a tenth are worth ten times as much as the others
    assert worth.mean() > 0.3


def test_it_keeps_to_its_calls_and_repeats_itself():
    def played(seed: int):
        oracle, _, record, _, exchange = began(300, seed)
        for _ in exchange:
            pass
        return record.best, oracle.calls

    assert played(0) == played(0)
    assert played(0)[0] != played(1)[0]
    assert played(0)[1] <= 1 + 300


def test_the_gradient_of_the_margin_ranks_the_pixels_as_trying_them_does():
    oracle, goal, *_ = began(100)
    calls = oracle.calls
    order = best_options(oracle, goal, EMPTY)
    assert oracle.calls == calls + 1
    inside = oracle.game.pixel[order[:256]]
    assert ((inside // SIDE >= 24) & (inside // SIDE < 40)).all()
    assert len(np.unique(oracle.game.pixel[order])) == len(order)
    # 20 pixels of the state are left out
    assert not np.isin(best_options(oracle, goal, tuple(range(20))), np.arange(20)).any()


def test_gradients_find_the_fewest_pixels_of_a_linear_model():
    oracle = Oracle(uneven(29.5), Game(black(), "l0"))
    oracle.allow(500, 0)
    goal = Goal(oracle.original)
    params = FeatureGameParams(gradients=True)
    record = SearchRecord(oracle, goal, params)
    for _ in Slope(oracle, goal, record):
        pass
    assert record.severity <= 32
    mixture = Mixture(grid(SIDE, SIDE), SIDE, SIDE)
    setup = SearchSetup(oracle, goal, mixture, np.random.default_rng(0), params)
    for _ in Exchange(setup, record, Node()):
        pass
    assert record.severity == 30  # 29.5 / 1, rounded up


@pytest.mark.parametrize("gradients", [False, True])
def test_a_whole_game_uses_gradients_only_when_asked(gradients, monkeypatch):
    asked = []
    slope = Oracle.slope
    monkeypatch.setattr(Oracle, "slope", lambda *given: asked.append(1) or slope(*given))
    params = FeatureGameParams(max_calls=200, persistence=False, gradients=gradients)
    x = from_arrays(np.full((1, *SHAPE), 0.1, dtype=np.float32))
    *_, last = feature_game(uneven(45.0), x, params)
    assert bool(asked) == gradients
    assert last.result.found_class >= 0
    assert last.result.model_calls <= 200


def test_a_model_without_gradients_is_refused_before_it_runs():
    model = Classifier.from_callable(lambda x: np.zeros((len(x), 2)), SHAPE, ["a", "b"])
    known = find("feature_game")
    assert known.shortage(known.params.parse({}), [model], 1) is None
    lack = known.shortage(known.params.parse({"gradients": True}), [model], 1)
    assert lack is not None
    assert "gradient" in str(lack)


def test_the_verdict_says_that_it_was_white_box_where_it_was():
    x = from_arrays(np.full((1, *SHAPE), 0.1, dtype=np.float32))
    usual = {"max_calls": 100, "persistence": False}
    *_, last = feature_game(uneven(45.0), x, FeatureGameParams.parse(usual))

    def said(**more) -> str:
        params = FeatureGameParams.parse({**usual, **more})
        return " ".join(find("feature_game").verdict(last.result, params).because)

    assert "White-box" in said(gradients=True)
    assert "White-box" not in said()
    assert "White-box" not in said(gradients=True, norm="l2")
    assert "White-box" not in said(gradients=True, player="nature")


def test_the_tree_goes_on_past_features_of_which_nothing_is_known():
    """Exchange gives every feature a node; single moves know options of only some of them."""
    model = robgui.load(resources.path("demo", "traffic_cnn.pt2"))
    image = robgui.open_dataset(resources.path("demo", "traffic")).subset([159])
    result = robgui.run("feature_game", model, image, max_calls=400)
    assert result.found_class >= 0
    assert result.severity.l0_pixels <= 3
