"""Games against chance and an opponent: whole, exact where they are small, and independent of the
calls allowed.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui.analyses.feature_game import Game, Goal, Mixture
from robgui.analyses.feature_game.params import FeatureGameParams
from robgui.analyses.feature_game.play.opponent import GAMES, OpponentSearch
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.searching import SearchSetup
from robgui.core.model.classifier import Classifier
from tests.analyses.feature_game.games import image, linear, play, said, small_cnn, views_of

SHAPE = (1, 2, 4)
#: Two features, each with half of the columns.
KEYPOINTS = np.array([[0.5, 0.5, 2.0, 1.0], [2.5, 0.5, 2.0, 1.0]])


class Together(nn.Module):
    """Changes class when enough weight is painted white; some pixels help or hinder each other."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        rng = np.random.default_rng(seed)
        self.register_buffer("weights", torch.from_numpy(rng.uniform(0.1, 1.0, 8)).float())
        self.register_buffer("pairs", torch.from_numpy(rng.normal(0, 0.25, (8, 8))).float())

    def forward(self, x: Tensor) -> Tensor:
        x = x.flatten(1)
        score = x @ self.weights + ((x @ self.pairs) * x).sum(1) - 1.6
        return torch.stack([torch.zeros_like(score), score], 1)


def tiny(seed: int) -> tuple[Oracle, Goal, Mixture]:
    """A black image of eight pixels, which can only become white."""
    classifier = Classifier.from_module(Together(seed), SHAPE, output="logits")
    oracle = Oracle(classifier, Game(np.zeros(SHAPE, dtype=np.uint8), "l0"))
    oracle.allow(100_000, 0)
    return oracle, Goal(oracle.original), Mixture(KEYPOINTS, *SHAPE[1:])


def brute_force(oracle: Oracle, goal: Goal, mixture: Mixture, player: str) -> float:
    """The value of the game by its definition, over all sets of changed pixels."""
    owner = mixture.owners().ravel()
    pixels = oracle.game.pixel.tolist()

    @cache
    def value(state: tuple[int, ...]) -> float:
        if state and goal.margins(oracle.scores([state])[0]) > oracle.sure:
            return 0.0
        used = {pixels[option] for option in state}
        best = math.inf
        for feature in np.unique(owner).tolist():
            moves = [
                option
                for option, pixel in enumerate(pixels)
                if pixel not in used and owner[pixel] == feature
            ]
            if moves:
                replies = [value(tuple(sorted((*state, move)))) for move in moves]
                reply = max(replies) if player == "adversarial" else sum(replies) / len(replies)
                best = min(best, 1 + reply)
        return best

    return value(())


def games(seed: int, player: str, lookahead: int) -> list[float]:
    oracle, goal, mixture = tiny(seed)
    params = FeatureGameParams(lookahead=lookahead)
    rng = np.random.default_rng(0)
    search = OpponentSearch(SearchSetup(oracle, goal, mixture, rng, params, player))
    for _ in search:
        pass
    assert len(search.games) == GAMES and search.record.ended
    return search.games


def test_an_opponents_games_converge_to_the_minimax_value_of_brute_force() -> None:
    values, errors = [], []
    for seed in range(7):
        exact = brute_force(*tiny(seed), "adversarial")
        found = [np.median(games(seed, "adversarial", look)) for look in (1, 40, 1000)]
        assert found[-1] == exact
        values.append(exact)
        errors.append([0 if value == exact else min(8, abs(value - exact)) for value in found])
    assert np.isfinite(values).sum() >= 4 and len(set(values)) > 1
    means = np.mean(errors, axis=0)
    assert means[0] >= means[1] >= means[2] == 0 < means[0]


@pytest.mark.parametrize("seed", range(4))
def test_games_against_chance_have_the_expected_severity_of_brute_force(seed: int) -> None:
    exact = brute_force(*tiny(seed), "nature")
    found = np.array(games(seed, "nature", 1000))
    if math.isinf(exact):
        assert np.isinf(found).any()
    else:
        assert abs(found.mean() - exact) <= 3 * max(found.std(), 0.5) / math.sqrt(GAMES)


def quartiles(result: object) -> np.ndarray:
    (outcome,) = result.outcomes
    return np.quantile(outcome.games, (0.25, 0.5, 0.75), method="inverted_cdf")


def white_weights() -> tuple[Classifier, np.ndarray]:
    """A black image that turns when enough weight is painted white; most pixels weigh little."""
    weights = np.random.default_rng(4).lognormal(-3.0, 1.0, (1, 12, 12))
    return linear(weights, -1.0), np.zeros((1, 12, 12), dtype=np.float32)


@pytest.mark.parametrize("player", ["nature", "adversarial"])
def test_four_times_the_calls_move_the_median_by_less_than_the_quartiles_are_apart(player) -> None:
    few = play(*white_weights(), player=player, max_calls=210, persistence=False)
    many = play(*white_weights(), player=player, max_calls=1280, persistence=False)
    assert 3 <= len(few.outcomes[0].games) <= len(many.outcomes[0].games) == GAMES
    low, middle, high = quartiles(many)
    assert abs(quartiles(few)[1] - middle) <= high - low < math.inf
    assert np.array_equal(  # more calls are more games, not other games
        few.outcomes[0].games, many.outcomes[0].games[: len(few.outcomes[0].games)]
    )


def test_helped_needs_no_more_than_chance_and_chance_no_more_than_an_opponent() -> None:
    result = play(*white_weights(), player="all", max_calls=1280)
    helped, chance, opponent = result.outcomes
    assert helped.severity.l0_pixels < np.median(chance.games) < np.median(opponent.games)
    assert np.array_equal(result.changed, helped.changed)
    told = said("feature_game", result, player="all").text
    assert "Against chance" in told and "Against an opponent" in told and f"{GAMES} games" in told
    bars = next(
        view
        for view in views_of("feature_game", result, player="all")
        if view.title == "Change found by each search"
    )
    assert bars.series[0].values[1] == np.median(chance.games)
    assert bars.series[0].low[1] <= bars.series[0].values[1] <= bars.series[0].high[1]


def test_games_that_did_not_end_give_no_number() -> None:
    result = play(small_cnn(seed=3), image(seed=3), player="adversarial", max_calls=60)
    verdict = said("feature_game", result, player="adversarial", max_calls=60)
    assert not len(result.outcomes[0].games) and result.found_class < 0
    assert "no game" in verdict.text.lower() and not math.isfinite(verdict.number.value)


def test_the_papers_games_say_what_they_measure() -> None:
    settings = {"preset": "paper", "player": "adversarial", "search_seconds": 0, "move_seconds": 0}
    result = play(small_cnn(seed=3), image(seed=3), max_calls=600, move_iterations=3, **settings)
    told = said("feature_game", result, **settings).text
    assert "calls allowed" in told and "not the value of the game" in told


def test_a_game_without_a_change_leaves_a_gap_in_the_curve() -> None:
    result = play(small_cnn(seed=3), image(seed=3), player="nature", max_calls=2400)
    (outcome,) = result.outcomes
    curve = next(
        view for view in views_of("feature_game", result) if view.title == "How the games end"
    )
    prevented = np.isinf(outcome.games)
    assert prevented.any() and not prevented.all()
    assert np.array_equal(np.isnan(curve.lines[1].y), prevented) and "gap" in curve.note
