"""Options, states, severities, refinement."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from robgui.analyses.feature_game.play.game import Game, Goal
from robgui.analyses.feature_game.play.refine import refined
from tests.analyses.feature_game.games import finish, image, linear, oracle_of, small_cnn

BYTES = np.array([[[0, 255, 100]], [[0, 255, 0]]], dtype=np.uint8)


def test_an_option_that_changes_nothing_is_no_move() -> None:
    game = Game(BYTES, "l0")
    assert [(p, v.tolist()) for p, v in zip(game.pixel, game.value, strict=True)] == [
        (0, [255, 255]),
        (1, [0, 0]),
        (2, [0, 0]),
        (2, [255, 255]),
    ]


def test_a_colour_is_one_more_option_and_grey_images_get_its_luminance() -> None:
    game = Game(np.zeros((3, 1, 1), dtype=np.uint8), "l0", colours=("#ff0000",))
    assert sorted(game.value.tolist()) == [[255, 0, 0], [255, 255, 255]]
    assert 76 in Game(np.zeros((1, 1, 1), dtype=np.uint8), "l0", colours=("#ff0000",)).value


def test_steps_of_the_other_norms_go_on_from_one_another_and_stop_at_the_bounds() -> None:
    game = Game(np.array([[[200]]], dtype=np.uint8), "l2", 0.25)
    up = game.play((), int(game.first[0]))
    assert game.value[up[0]].tolist() == [255] and game.moves(up).sum() == 0
    down = int(game.first[1])
    assert [
        int(game.value[i][0])
        for i in (down, game.stronger[down], game.stronger[game.stronger[down]])
    ] == [136, 72, 8]
    assert game.moves((down,)).tolist().count(True) == 1


@pytest.mark.parametrize("norm", ["l0", "l1", "l2", "linf"])
def test_severities_are_those_of_the_images(norm: str) -> None:
    game = Game((image((3, 6, 7)) * 255).astype(np.uint8), norm, 0.2)
    state = game.play(game.play((), 3), 40)
    change = np.abs(game.picture(state) - game.picture(()))
    severity = game.severities(state)
    assert (
        severity.l0_pixels == (change > 0).any(0).sum() and severity.l0_dims == (change > 0).sum()
    )
    assert (severity.l1, severity.l2, severity.linf) == pytest.approx(
        (change.sum(), np.sqrt((change**2).sum()), change.max()), rel=1e-5
    )
    assert game.severity(state) == severity.by(norm)


def test_rendering_a_batch_gives_the_pictures_of_its_states() -> None:
    game = Game((image((3, 6, 7)) * 255).astype(np.uint8), "l0")
    states = [(), (3,), (0, 5, 9)]
    batch = game.render(states, torch.device("cpu")).numpy()
    assert np.array_equal(batch, np.stack([game.picture(state) for state in states]))


def test_margins_are_positive_exactly_when_the_game_is_won() -> None:
    scores = np.array([[3.0, 1.0, 2.0], [1.0, 4.0, 2.0], [0.0, 1.0, 5.0]])
    assert Goal(0).margins(scores).tolist() == [-1.0, 3.0, 5.0]
    assert Goal(0, 2).margins(scores).tolist() == [-1.0, -2.0, 4.0]
    assert Goal(0, 2).reached(scores.argmax(1)).tolist() == [False, False, True]


@pytest.mark.parametrize("seed", range(6))
def test_refinement_leaves_no_removable_pixel(seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=(8, 8))
    classifier = linear(weights, -0.4 * float(weights[weights > 0].sum()), (1, 8, 8))
    oracle, goal = oracle_of(classifier, np.zeros((1, 8, 8)))
    helpful = np.flatnonzero(weights.ravel()[oracle.game.pixel] > -0.2)
    state = tuple(sorted(helpful.tolist()))
    assert goal.margins(oracle.scores([state])[0]) > oracle.sure
    short = finish(refined(oracle, goal, state))
    assert goal.margins(oracle.scores([short])[0]) > oracle.sure
    for option in short:
        assert (
            goal.margins(oracle.scores([tuple(other for other in short if other != option)])[0])
            <= oracle.sure
        )


def test_refinement_lowers_steps_as_far_as_it_can() -> None:
    oracle, goal = oracle_of(
        linear(np.ones((2, 2)), -1.2, (1, 2, 2)), np.zeros((1, 2, 2)), norm="l1"
    )
    top = int(np.flatnonzero((oracle.game.pixel == 0) & (oracle.game.value[:, 0] == 255))[0])
    other = int(np.flatnonzero((oracle.game.pixel == 1) & (oracle.game.value[:, 0] == 255))[0])
    short = finish(refined(oracle, goal, tuple(sorted((top, other)))))
    assert oracle.game.severities(short).l1 == pytest.approx(1.25, abs=0.02)


def test_a_state_is_never_shown_to_the_model_twice_and_the_budget_is_kept() -> None:
    oracle, _ = oracle_of(small_cnn(), image(), calls=100)
    oracle.scores([(0,), (1,), (0,)])
    oracle.scores([(1,), (0,)])
    assert oracle.calls == 3
    scores = oracle.scores([(option,) for option in range(2, 140)])
    assert np.isnan(scores[-1]).all() and oracle.calls <= 101 and oracle.left == 0
