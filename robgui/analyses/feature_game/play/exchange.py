"""Fewer pixels on a large image: a few better ones come in, and more of the weaker ones go.

At the border of the class one pixel more or less moves the margin by something that can be
measured, although it moves the scores of the unmodified image by next to nothing. A round tries
pixels one by one on top of the best example, takes the best of them together, tries which of the
old ones can be spared, and takes back as many as still leave the class changed. Every example that
is accepted is smaller than the one before, or as small and surer.

Where new pixels are looked for is decided by the tree (Section 4): player I picks a feature by the
upper confidence bound, with what its pixels have gained so far as its reward; player II picks a
pixel of it, near those that are changed already or by the feature's own distribution.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.slope import best_options
from robgui.analyses.feature_game.play.tree import Node, Score, backpropagate, select

#: Pixels tried in a round: half as many as the example has, within these bounds.
FEWEST, MOST = 16, 64
#: Pixels tried at a time; the best of them comes in.
ONE_OF = 6
#: What a changed pixel is worth is measured once; of the cheapest a part is measured again.
AGAIN = 2
#: Chance that a pixel is looked for near a changed one of its feature, and how near.
NEAR = 0.7
REACH = (1, 2, 4, 8)
#: Rounds in a row without a smaller example that end it.
PATIENCE = 4
#: States asked between two looks at the result.
_AT_ONCE = 32

Margins = Generator[None, None, np.ndarray]


class Exchange:
    """Makes the best example smaller; iterating does the work."""

    def __init__(
        self,
        oracle: Oracle,
        goal: Goal,
        mixture: Mixture,
        record: SearchRecord,
        root: Node,
        score: Score,
        rng: np.random.Generator,
        *,
        gradients: bool = False,
    ) -> None:
        """With ``gradients`` pixels are proposed by these, and features only count them."""
        self._oracle = oracle
        self._game = oracle.game
        self._goal = goal
        self._mixture = mixture
        self._record = record
        self._root = root
        self._score = score
        self._rng = rng
        self._gradients = gradients
        self._last_call = oracle.calls + oracle.left
        self._owner = mixture.owners().ravel()
        self._options = _by_pixel(self._game.pixel, len(self._game.image))
        self._state = record.best
        self._margin = float(goal.margins(oracle.scores([record.best])[0]))
        self._largest = 0.0
        self._losses: dict[int, float] = {}

    def __iter__(self) -> Generator[None, None, None]:
        failed = 0
        while failed < PATIENCE and len(self._state) > 1 and not self._over():
            before = len(self._state)
            yield from self._round()
            if len(self._state) < before:
                failed = 0
            else:
                failed = failed + 1

    def again(self, share: float) -> Exchange:
        """The same, which knows what its pixels are worth, with a share of the calls left now."""
        self._last_call = self._oracle.calls + int(share * self._oracle.left)
        if len(self._record.best) < len(self._state):
            self._state = self._record.best
            self._margin = float(self._goal.margins(self._oracle.scores([self._state])[0]))
        return self

    def _over(self) -> bool:
        return self._record.over() or self._oracle.calls >= self._last_call

    def _round(self) -> Generator[None, None, None]:
        added = yield from self._better()
        larger = self._with(added)
        unknown = [option for option in larger if option not in self._losses]
        known = sorted(set(larger) - set(unknown), key=lambda option: self._losses[option])
        count = _bounded(len(self._state))
        tried = [unknown[place] for place in self._rng.permutation(len(unknown))[:count].tolist()]
        tried += known[: max(0, count // AGAIN - len(tried))]
        margins = yield from self._margins([larger, *(_less(larger, {one}) for one in tried)])
        if not np.isfinite(margins).all():
            return
        margin = float(margins[0])
        self._losses.update(zip(tried, (margin - margins[1:]).tolist(), strict=True))
        yield from self._spare(larger, margin)

    def _better(self) -> Generator[None, None, State]:
        """The best of the pixels that the tree says to try."""
        tried = self._candidates(_bounded(len(self._state)))
        margins = yield from self._margins([self._with((option,)) for _, option in tried])
        gains = margins - self._margin
        self._largest = max(self._largest, float(gains.max(initial=0.0)))
        for (node, _), gain in zip(tried, gains.tolist(), strict=True):
            if np.isfinite(gain):
                backpropagate([self._root, node], max(0.0, gain) / max(self._largest, 1e-12))
        best = np.argsort(-gains, kind="stable")[: max(1, len(tried) // ONE_OF)].tolist()
        added = {tried[place][1]: float(gains[place]) for place in best if gains[place] > 0}
        self._losses.update(added)
        return tuple(added)

    def _candidates(self, count: int) -> list[tuple[Node, int]]:
        """Features by the tree, and an option of each that is not in the example."""
        if not self._root.children:
            self._root.children = self._features()
        if self._gradients:
            best = best_options(self._oracle, self._goal, self._state)[:count]
            owners = self._owner[self._game.pixel[best]].tolist()
            features = [self._root.children[owner] for owner in owners]
            return list(zip(features, best.tolist(), strict=True))
        found: dict[int, tuple[Node, int]] = {}
        lent: list[Node] = []
        while len(found) < count and len(lent) < 4 * count:
            node = select(self._root, self._score)
            node.visits += 1  # lent, so that a round does not try one feature alone
            lent.append(node)
            option = self._option(node.keypoint)
            if option not in self._state:
                found.setdefault(int(self._game.pixel[option]), (node, option))
        for node in lent:
            node.visits -= 1
        return list(found.values())

    def _features(self) -> list[Node]:
        """The features, half of their prior from the mixture and half from the example's pixels."""
        weights = self._mixture.weights
        owners = self._owner[self._game.pixel[list(self._state)]]
        inside = np.bincount(owners, minlength=len(weights)) / max(1, len(owners))
        prior = 0.5 * weights + 0.5 * inside
        return [Node(self._root.state, keypoint=k, prior=float(p)) for k, p in enumerate(prior)]

    def _option(self, keypoint: int) -> int:
        """A pixel of a feature in one of its colours, by chance."""
        height, width = self._game.shape[1:]
        pixels = self._game.pixel[list(self._state)]
        mine = pixels[self._owner[pixels] == keypoint]
        if len(mine) and self._rng.random() < NEAR:
            pixel = int(self._rng.choice(mine))
            reach = int(self._rng.choice(REACH))
            dy, dx = self._rng.integers(-reach, reach + 1, 2).tolist()
            y = min(max(pixel // width + dy, 0), height - 1)
            x = min(max(pixel % width + dx, 0), width - 1)
        else:
            x0, y0, size = self._mixture.keypoints[keypoint, :3]
            spread = max(size, 1.0) * self._rng.standard_normal(2)
            y = int(np.clip(round(y0 + spread[0]), 0, height - 1))
            x = int(np.clip(round(x0 + spread[1]), 0, width - 1))
        begin, end = self._options[y * width + x : y * width + x + 2].tolist()
        return int(self._rng.integers(begin, end))

    def _spare(self, larger: State, margin: float) -> Generator[None, None, None]:
        """Takes back as many options as still leave the class changed.

        Those that cost least by what is known go first; how many is guessed as if losses added up,
        then bisected.
        """
        known = [option for option in larger if option in self._losses]
        order = sorted(known, key=lambda option: self._losses[option])
        losses = np.cumsum([self._losses[option] for option in order])
        low, high = 0, min(len(order), len(larger) - 1) + 1
        middle = min(max(1, int((losses < margin).sum())), high - 1)
        best: tuple[State, float] = (larger, margin)
        while high - low > 1:
            state = _less(larger, set(order[:middle]))
            (found,) = yield from self._margins([state])
            if not np.isfinite(found):
                break
            if found > self._oracle.sure:
                low, best = middle, (state, float(found))
            else:
                high = middle
            middle = (low + high) // 2
        state, found = best
        fewer = len(state) < len(self._state)
        if fewer or (len(state) == len(self._state) and found > self._margin):
            self._state, self._margin = state, found

    def _margins(self, states: list[State]) -> Margins:
        """Margins ``(n,)``; -inf where there were no calls left.

        The smallest that wins is offered to the record; the others are forgotten.
        """
        parts = [np.zeros(0)]
        for begin in range(0, len(states), _AT_ONCE):
            asked = states[begin : begin + _AT_ONCE]
            scores = self._oracle.tried(asked)
            margins = self._goal.margins(scores)
            parts.append(np.where(np.isnan(margins), -np.inf, margins))
            won = np.flatnonzero(parts[-1] > self._oracle.sure).tolist()
            least = min(won, key=lambda place: len(asked[place]), default=None)
            if least is not None and len(asked[least]) < self._record.severity:
                self._oracle.remember(asked[least], scores[least])
                self._record.iteration(asked[least])
            yield
        return np.concatenate(parts)

    def _with(self, options: State) -> State:
        """The example with these options in place of others of the same pixels."""
        pixels = set(self._game.pixel[list(options)].tolist())
        kept = [one for one in self._state if self._game.pixel[one] not in pixels]
        return tuple(sorted([*kept, *options]))


def _bounded(size: int) -> int:
    return min(MOST, max(FEWEST, size // 2))


def _less(state: State, options: set[int]) -> State:
    return tuple(other for other in state if other not in options)


def _by_pixel(pixel: np.ndarray, count: int) -> np.ndarray:
    """Where the options of each pixel begin; those of L0 are stored pixel by pixel."""
    return np.searchsorted(pixel, np.arange(count + 1))
