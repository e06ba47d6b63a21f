"""Selection, backpropagation and the players' choices on hand-made trees."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robgui.analyses.feature_game.play.game import Game
from robgui.analyses.feature_game.play.tree import (
    Node,
    backpropagate,
    choose,
    select,
    table,
    ucb1,
    widened,
    with_prior,
)


def tree() -> tuple[Node, Node, Node]:
    root = Node(visits=10, total=6.0)
    left, right = (
        Node(keypoint=0, visits=8, total=5.6, prior=0.2),
        Node(keypoint=1, visits=2, total=0.4, prior=0.8),
    )
    root.children = [left, right]
    return root, left, right


def test_ucb_is_mean_reward_plus_a_bonus_for_what_is_rarely_visited() -> None:
    root, left, right = tree()
    score = ucb1(1.4)
    assert score(root, left) == pytest.approx(0.7 + 1.4 * math.sqrt(math.log(10) / 8))
    assert score(root, right) == pytest.approx(0.2 + 1.4 * math.sqrt(math.log(10) / 2))
    assert select(root, score) is right and select(root, ucb1(0.1)) is left


def test_a_child_without_visits_is_selected_first() -> None:
    root, _, _ = tree()
    new = Node(keypoint=2)
    root.children.append(new)
    assert select(root, ucb1(0.0)) is new


def test_a_prior_steers_the_first_visits() -> None:
    root, left, right = tree()
    score = with_prior(1.0)
    assert score(root, right) == pytest.approx(0.2 + 0.8 * math.sqrt(10) / 3)
    assert select(root, score) is right and select(root, with_prior(0.1)) is left


def test_backpropagation_adds_the_reward_and_a_visit_to_every_node_of_the_path_only() -> None:
    root, left, right = tree()
    leaf = Node(state=(3,), option=3)
    left.children = [leaf]
    backpropagate([root, left, leaf], 0.5, 4.0)
    assert (
        (root.total, root.visits) == (6.5, 11)
        and (left.total, left.visits) == (6.1, 9)
        and (leaf.total, leaf.visits) == (0.5, 1)
    )
    assert (right.total, right.visits) == (0.4, 2) and (root.best, leaf.best, right.best) == (
        4.0,
        4.0,
        math.inf,
    )


def test_the_three_players_choose_the_best_the_worst_and_by_chance() -> None:
    children = [Node(option=i, visits=4, total=4 * mean) for i, mean in enumerate((0.5, 0.9, 0.1))]
    rng = np.random.default_rng(0)
    weights = np.array([6.0, 3.0, 1.0])
    assert choose(children, "cooperative", weights, rng).option == 1
    assert choose(children, "adversarial", weights, rng).option == 2
    drawn = (
        np.bincount([choose(children, "nature", weights, rng).option for _ in range(2000)]) / 2000
    )
    assert drawn == pytest.approx([0.6, 0.3, 0.1], abs=0.04)


def test_widening_grows_with_the_root_of_the_visits() -> None:
    assert [widened(visits) for visits in (0, 3, 8, 99)] == [2, 4, 6, 20]


def test_the_table_has_parents_before_children_and_the_most_visited_first() -> None:
    game = Game(np.zeros((1, 4, 5), dtype=np.uint8), "l0")
    root, left, _ = tree()
    leaf = Node(state=(7,), option=7, visits=3, total=1.5, best=2.0)
    left.children = [leaf]
    seen = table(root, game)
    assert (
        seen.parent.tolist() == [-1, 0, 0, 1]
        and seen.visits.tolist() == [10, 8, 2, 3]
        and seen.nodes == 4
    )
    assert (
        seen.pixel[3].tolist() == [2, 1]
        and seen.value[3].tolist() == [255]
        and seen.keypoint.tolist() == [-1, 0, 1, -1]
    )
    assert seen.best[3] == 2.0 and math.isnan(seen.best[1]) and seen.reward[3] == 0.5
    assert len(table(root, game, most=2).parent) == 2
