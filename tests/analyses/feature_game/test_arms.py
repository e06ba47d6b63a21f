"""Calls go to the way of searching that has earned them: the tree gets few where it earns none."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.feature_game import FeatureGameParams
from robgui.analyses.feature_game.features.keypoints import grid
from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Game
from robgui.analyses.feature_game.play.large.arms import Arms
from robgui.analyses.feature_game.play.large.sites import WAYS, Sites
from robgui.analyses.feature_game.play.oracle import RESERVE, Oracle
from robgui.analyses.feature_game.play.tree import Node, with_prior
from tests.analyses.feature_game.games import linear

SIDE = 64


def tried(earns: dict[str, float], count: int, seed: int = 0) -> dict[str, int]:
    """How often each way was tried when a try succeeds as often as this."""
    rng = np.random.default_rng(seed)
    arms = Arms(dict.fromkeys(earns, 1 / 6), rng.spawn(1)[0])
    for _ in range(count):
        way = arms.pick()
        arms.learn(way, float(rng.random() < earns[way]))
    return arms.tries


@pytest.mark.parametrize("seed", range(5))
def test_a_way_that_earns_nothing_gets_few_calls_but_is_not_given_up(seed):
    tries = tried({"tree": 0.0, "near": 0.3}, 400, seed)
    assert 0 < tries["tree"] < 0.15 * 400


@pytest.mark.parametrize("seed", range(5))
def test_the_tree_gets_the_calls_where_it_earns_them(seed):
    tries = tried({"tree": 0.5, "near": 0.1, "anywhere": 0.1}, 400, seed)
    assert tries["tree"] > 0.7 * 400


def test_a_way_that_begins_to_pay_is_found_again():
    arms = Arms({"old": 0.5, "new": 0.5}, np.random.default_rng(0))
    for _ in range(300):
        way = arms.pick()
        arms.learn(way, float(way == "old"))
    before = arms.tries["new"]
    for _ in range(600):
        way = arms.pick()
        arms.learn(way, float(way == "new"))
    assert arms.tries["new"] - before > 300


def test_a_way_believed_to_earn_little_begins_with_few_calls_and_can_earn_more():
    def tried_first(worth: float) -> int:
        rng = np.random.default_rng(0)
        arms = Arms({"near": 1 / 6, "tree": 1 / 24}, rng.spawn(1)[0])
        for _ in range(400):
            way = arms.pick()
            arms.learn(way, float(rng.random() < (worth if way == "tree" else 1 / 6)))
        return arms.tries["tree"]

    assert tried_first(1 / 24) < 0.15 * 400
    assert tried_first(0.5) > 0.5 * 400


def test_the_same_seed_gives_the_same_shares():
    earns = {"tree": 0.2, "near": 0.2}
    assert tried(earns, 200) == tried(earns, 200)
    assert tried(earns, 200) != tried(earns, 200, seed=1)


def sites() -> tuple[Game, Sites, Node]:
    game = Game(np.zeros((1, SIDE, SIDE), dtype=np.uint8), "l0")
    root = Node()
    mixture = Mixture(grid(SIDE, SIDE), SIDE, SIDE)
    return game, Sites(game, mixture, root, with_prior(1.4), np.random.default_rng(0)), root


@pytest.mark.parametrize("way", WAYS)
def test_every_way_draws_options_of_the_image_and_names_a_feature(way):
    game, places, root = sites()
    places.around((5 * SIDE + 5, 6 * SIDE + 6))
    for group in (1, 40):
        node, options = places.drawn(way, group)
        assert node in root.children
        assert 0 < len(options) <= group
        assert len(set(game.pixel[options].tolist())) == len(options)


def test_near_stays_near_and_anywhere_goes_everywhere():
    game, places, _ = sites()
    places.around((5 * SIDE + 5,))
    near, anywhere = (
        np.array([game.pixel[places.drawn(way, 1)[1][0]] for _ in range(100)])
        for way in ("near", "anywhere")
    )
    assert (near // SIDE <= 21).all() and (near % SIDE <= 21).all()
    assert (anywhere // SIDE > 32).mean() > 0.3 and (anywhere % SIDE > 32).mean() > 0.3


def test_calls_kept_for_taking_back_changes_can_be_set_free_but_not_added_to():
    shape = (1, 8, 8)
    oracle = Oracle(linear(np.ones(64), -9.5, shape), Game(np.zeros(shape, np.uint8), "l0"))
    oracle.allow(2000, 0)
    assert oracle.left == 2000 - RESERVE
    oracle.keep(10)
    assert oracle.left == 1990
    oracle.keep(50)
    assert oracle.left == 1990


def test_default_settings_use_the_calls_they_are_given():
    from tests.analyses.feature_game.games import play
    from tests.analyses.feature_game.test_exchange import black, uneven

    result = play(uneven(), black() / np.float32(255), max_calls=600)
    assert result.found_class >= 0
    assert 600 - 2 * len(result.changed) <= result.model_calls <= 600
    assert FeatureGameParams().max_calls == 5000
