"""White-box proposals: which pixels the gradient of the model says to change.

The paper's search is black-box, and so is ours unless the user asks for this. To first order a move
changes the margin by the gradient times what it does to the pixel. Pixels are added in that order,
a few at a time, with a new gradient after each few. The fewer at a time, the better the order: each
pass adds an eighth of what the pass before has needed.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.play.game import EMPTY, Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord

#: A pass adds this share of the pixels that the pass before has needed.
SHARE = 1 / 8
#: Most gradients of a pass.
_LONGEST = 24


class Slope:
    """Finds an example by gradients and offers it to the record; iterating does the work."""

    def __init__(self, oracle: Oracle, goal: Goal, record: SearchRecord) -> None:
        self._oracle = oracle
        self._goal = goal
        self._record = record

    def __iter__(self) -> Generator[None, None, None]:
        needed = yield from self._at_once()
        while needed > 1 and self._oracle.left:
            found = yield from self._by_and_by(max(1, int(SHARE * needed)))
            if not 0 < found < needed:
                return
            needed = found

    def _at_once(self) -> Generator[None, None, int]:
        """How many pixels of the first order it takes, to a power of two; 0 if all do not do."""
        order = best_options(self._oracle, self._goal, EMPTY)
        yield
        count = 1
        # Doubling takes log2 of the pixels in calls; the pass after it is finer anyway.
        while count <= len(order) and self._oracle.left:
            if self._won(tuple(sorted(order[:count].tolist()))):
                return count
            count *= 2
            yield
        return 0

    def _by_and_by(self, step: int) -> Generator[None, None, int]:
        """How many pixels it takes when ``step`` are added after each gradient."""
        state = EMPTY
        for _ in range(_LONGEST):
            order = best_options(self._oracle, self._goal, state)
            if not len(order):
                break
            state = tuple(sorted([*state, *order[:step].tolist()]))
            if self._won(state):
                return len(state)
            yield
        return 0

    def _won(self, state: State) -> bool:
        scores = self._oracle.tried([state])[0]
        # "not >" also for nan, where no calls were left.
        if not self._goal.margins(scores) > self._oracle.sure:
            return False
        self._oracle.remember(state, scores)
        self._record.iteration(state)
        return True


def best_options(oracle: Oracle, goal: Goal, state: State) -> np.ndarray:
    """The options that raise the margin by the gradient, one a pixel, the best first.

    Pixels of the state are left out. Empty if no calls are left, or no gradient points anywhere.
    """
    game = oracle.game
    slope = oracle.slope(state, goal)
    if slope is None:
        return np.zeros(0, dtype=np.int64)
    # First order of Taylor: gradient times the change that an option makes.
    change = (game.value.astype(np.float64) - game.image[game.pixel]) / 255
    gains = (slope[game.pixel] * change).sum(1)
    gains[np.isin(game.pixel, game.pixel[list(state)])] = -np.inf
    order = np.argsort(-gains, kind="stable")
    order = order[gains[order] > 0]
    # np.unique keeps the first option of each pixel, which is its best.
    _, first = np.unique(game.pixel[order], return_index=True)
    return np.asarray(order[np.sort(first)])
