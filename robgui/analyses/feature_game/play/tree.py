"""The partial game tree (Section 4): upper confidence bounds, backpropagation, players' moves.

A node of player I is a state; its children are the keypoints. A node of player II is a state with a
keypoint; its children are the states after one pixel within that keypoint has been changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from robgui.analyses.feature_game.params import Player
from robgui.analyses.feature_game.play.game import EMPTY, Game, State
from robgui.analyses.feature_game.result import GameTree


@dataclass(eq=False)
class Node:
    """One node with its pair (reward, visits).

    Attributes:
        state: The state.
        keypoint: What player I has picked to come here; -1 for a node of player I.
        option: What player II has picked to come here; -1 for a node of player II and the root.
        prior: How promising it looked before the first visit; the children of one node sum to about
            1.
        visits: How often a path went through it.
        total: Sum of the rewards of these paths.
        best: Least severity of an example found below it.
        children: Nodes one choice further.
        untried: Options not yet made into children, the most promising last; None before the first
            look.
    """

    state: State = EMPTY
    keypoint: int = -1
    option: int = -1
    prior: float = 1.0
    visits: int = 0
    total: float = 0.0
    best: float = math.inf
    children: list[Node] = field(default_factory=list)
    untried: list[int] | None = None

    @property
    def mean(self) -> float:
        """Mean reward r / n; 0 without visits."""
        if self.visits:
            return self.total / self.visits
        return 0.0


Score = Callable[[Node, Node], float]


def ucb1(constant: float) -> Score:
    """Upper confidence bound r/n_j + c √(ln n / n_j) of child j.

    A child without visits comes first.
    """

    def score(parent: Node, child: Node) -> float:
        if not child.visits:
            return math.inf
        # UCB1 (Auer and others, 2002), the bound of the search that Section 4 takes over.
        return child.mean + constant * math.sqrt(math.log(max(parent.visits, 1)) / child.visits)

    return score


def with_prior(constant: float) -> Score:
    """The bound with a prior P: r/n_j + c P_j √n / (1 + n_j)."""

    def score(parent: Node, child: Node) -> float:
        # As in AlphaGo (Silver and others, 2016): a child without visits has a finite bound, so
        # of a thousand pixels only the likely ones are tried.
        return child.mean + constant * child.prior * math.sqrt(max(parent.visits, 1)) / (
            1 + child.visits
        )

    return score


def select(node: Node, score: Score) -> Node:
    """The child with the highest score; the first of equals."""
    return max(node.children, key=lambda child: score(node, child))


def backpropagate(path: Sequence[Node], reward: float, severity: float = math.inf) -> None:
    """Adds (reward, 1) to every node from the new one up to the root."""
    for node in path:
        node.total += reward
        node.visits += 1
        node.best = min(node.best, severity)


def choose(
    children: Sequence[Node], player: Player, weights: np.ndarray, rng: np.random.Generator
) -> Node:
    """Player II's move (Algorithm 1, line 12): best child, worst, or random with these weights.

    Only visited children can be compared by r / n; of equals the more visited is the surer choice.
    """
    visited = [child for child in children if child.visits] or list(children)
    match player:
        case "cooperative":
            return max(visited, key=lambda child: (child.mean, child.visits))
        case "adversarial":
            return min(visited, key=lambda child: (child.mean, -child.visits))
        case "nature":
            total = float(weights.sum())
            if total > 0:
                chances = weights / total
            else:
                chances = np.full(len(children), 1 / len(children))
            return children[int(rng.choice(len(children), p=chances))]


def widened(visits: int, factor: float = 2.0) -> int:
    """Progressive widening: the children a node may have after ``visits`` visits."""
    # Coulom (2007), Chaslot and others (2008): of a thousand pixels the search would otherwise
    # look at each once before it looks at any twice.
    return math.ceil(factor * math.sqrt(visits + 1))


def table(root: Node, game: Game, most: int = 400) -> GameTree:
    """The most visited nodes as arrays, parents before their children."""
    # Grows while it is iterated: breadth first, so parents come before their children.
    rows: list[tuple[Node, int, int]] = [(root, -1, 0)]
    for place, (node, _, depth) in enumerate(rows):
        shown = sorted(
            (child for child in node.children if child.visits), key=lambda child: -child.visits
        )
        rows += [(child, place, depth + 1) for child in shown][: max(0, most - len(rows))]
        if place + 1 >= most:
            break
    nodes = [node for node, _, _ in rows]
    options = np.array([node.option for node in nodes])
    if len(game.pixel):
        pixel = np.where(options >= 0, game.pixel[options], -1)
    else:
        pixel = np.full(len(nodes), -1)
    return GameTree(
        parent=np.array([parent for _, parent, _ in rows]),
        depth=np.array([depth for _, _, depth in rows]),
        keypoint=np.array([node.keypoint for node in nodes]),
        pixel=np.where(
            pixel[:, None] >= 0, np.stack([pixel % game.shape[2], pixel // game.shape[2]], 1), -1
        ),
        value=_values(game, options),
        visits=np.array([node.visits for node in nodes]),
        reward=np.array([node.mean if node.visits else math.nan for node in nodes]),
        best=np.array([node.best if math.isfinite(node.best) else math.nan for node in nodes]),
        nodes=size(root),
    )


def size(root: Node) -> int:
    """How many nodes the tree has."""
    count, waiting = 0, [root]
    while waiting:
        node = waiting.pop()
        count += 1
        waiting += node.children
    return count


def _values(game: Game, options: np.ndarray) -> np.ndarray:
    values = np.full((len(options), game.shape[0]), -1, dtype=np.int16)
    values[options >= 0] = game.value[options[options >= 0]]
    return values
