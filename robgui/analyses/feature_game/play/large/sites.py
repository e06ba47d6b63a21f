"""Where new pixels of a large image are looked for.

There are four ways: by the tree (Section 4), where player I picks a feature by the upper confidence
bound, with what its pixels have gained so far as its reward, and player II picks pixels of it; by a
feature drawn by its weight; near pixels that are changed already; and anywhere.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Game, State
from robgui.analyses.feature_game.play.tree import Node, Score, select

Way = Literal["tree", "feature", "near", "anywhere"]
#: What a try of each is believed to be worth at first: one group in six comes in. On photos the
#: last two cost more calls than they earned when all began alike, so they begin with few.
WAYS: dict[Way, float] = {"near": 1 / 6, "feature": 1 / 6, "tree": 1 / 24, "anywhere": 1 / 24}
#: Share of the tree's pixels that are looked for near changed ones.
NEAR = 0.7
#: How far from a changed pixel, and from any other place, they lie.
REACH, AWAY = (1, 2, 4, 8, 16), (4, 8, 16)
#: How loosely a group lies: the side of its square as a multiple of the one that it would fill.
LOOSE = (1.0, 1.5, 2.5)


class Sites:
    """Draws groups of options for an example, each with the feature that it belongs to."""

    def __init__(
        self, game: Game, mixture: Mixture, root: Node, score: Score, rng: np.random.Generator
    ) -> None:
        self._game = game
        self._mixture = mixture
        self._root = root
        self._score = score
        self._rng = rng
        self._owner = mixture.owners().ravel()
        self._table = game.by_colour()
        self._far = game.farthest()
        self._pixels = np.zeros(0, dtype=np.int64)
        self._near = np.zeros(len(mixture.prior))

    def around(self, state: State) -> None:
        """Draws for this example from now on.

        Gives each feature the chance to be picked by the tree if none had gained anything.
        """
        nodes = self._root.children or [
            Node(self._root.state, keypoint=k) for k in range(len(self._mixture.prior))
        ]
        self._root.children = nodes
        self._pixels = self._game.pixel[list(state)]
        owners = self._owner[self._pixels]
        self._near = NEAR * np.bincount(owners, minlength=len(nodes)) / max(1, len(owners))
        chances = self._near + (1 - NEAR) * self._mixture.weights
        for node, chance in zip(nodes, chances.tolist(), strict=True):
            node.prior = chance

    def owner(self, option: int) -> Node:
        """The feature that an option belongs to."""
        return self._root.children[int(self._owner[self._game.pixel[option]])]

    def drawn(self, way: Way, group: int) -> tuple[Node, list[int]]:
        """A feature, and random options at a place found in this way."""
        height, width = self._game.shape[1:]
        match way:
            case "tree":
                node, y, x, near = self._by_tree()
            case "feature":
                weights = self._mixture.weights
                node = self._root.children[int(self._rng.choice(len(weights), p=weights))]
                y, x, near = *self._of_feature(node), False
            case "near":
                node, y, x, near = *self._near_one_of(self._pixels), True
            case "anywhere":
                y, x = self._rng.integers(0, (height, width)).tolist()
                node, near = self._root.children[self._owner[y * width + x]], False
        reach = int(self._rng.choice(REACH if near else AWAY))
        if group > 1:
            reach = max(reach, math.ceil(float(self._rng.choice(LOOSE)) * group**0.5 / 2))
        dy, dx = self._rng.integers(-reach, reach + 1, (2, group))
        chosen = np.unique(np.clip(y + dy, 0, height - 1) * width + np.clip(x + dx, 0, width - 1))
        return node, self._coloured(chosen)

    def _by_tree(self) -> tuple[Node, int, int, bool]:
        node = select(self._root, self._score)
        # With the share of the prior that changed pixels have given this feature.
        if self._rng.random() * node.prior < self._near[node.keypoint]:
            mine = self._pixels[self._owner[self._pixels] == node.keypoint]
            _, y, x = self._near_one_of(mine)
            return node, y, x, True
        y, x = self._of_feature(node)
        return node, y, x, False

    def _near_one_of(self, pixels: np.ndarray) -> tuple[Node, int, int]:
        pixel = int(self._rng.choice(pixels))
        y, x = divmod(pixel, self._game.shape[2])
        return self._root.children[self._owner[pixel]], y, x

    def _of_feature(self, node: Node) -> tuple[int, int]:
        """Row and column of a place drawn from a feature's Gaussian."""
        x, y, size = self._mixture.keypoints[node.keypoint, :3]
        spread = max(size, 1.0) * self._rng.standard_normal(2)
        return round(y + spread[0]), round(x + spread[1])

    def _coloured(self, pixels: np.ndarray) -> list[int]:
        """Options of the pixels: in one colour, in any, or in the farthest."""
        colours = self._table.shape[1]
        kind = int(self._rng.integers(colours + 2))
        if kind < colours:
            options = self._table[pixels, kind]
        elif kind == colours:
            options = self._far[pixels]
        else:
            options = self._table[pixels, self._rng.integers(0, colours, len(pixels))]
        return [int(one) for one in options[options >= 0]]
