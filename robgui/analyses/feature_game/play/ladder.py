"""The ladder: an example from the n best moves at once, then fewer or smaller ones.

Under the distances that count how far values move, this is the whole search: many pixels by one
step, then by smaller steps (see ``finer``).
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.play.finer import Finer, Work, order_of
from robgui.analyses.feature_game.play.game import EMPTY, State
from robgui.analyses.feature_game.play.refine import refined
from robgui.analyses.feature_game.play.tree import backpropagate
from robgui.analyses.feature_game.play.values import Values
from robgui.analyses.feature_game.searching import Search, SearchSetup

#: Different classes at which the first tries, from the unmodified image, aim.
AIMS = 3
#: Orders of the pixels in a row without a smaller change that end it under the other distances.
PERSISTENCE = 20
#: States along the ladder of the n best options that are asked at once.
_RUNGS = 12


class LadderSearch(Search):
    """A search that knows what each move does alone."""

    def __init__(self, setup: SearchSetup) -> None:
        super().__init__(setup)
        self._values = Values(self._game, setup.goal, setup.oracle.start)

    def _by_steps(self, aims: list[int]) -> Work:
        """As small a change as possible: many pixels by one step, then by smaller steps."""
        finer = Finer(self._oracle, self._goal, self.record)
        for aim in aims[:AIMS]:
            if self.record.over():
                return
            yield from self._ladder(aim, 0.0)
        best = self.record.best
        if best and self._params.refine:
            yield from self._finer(finer, aims[:AIMS], best, 0.0)
        failed = 0
        while not self.record.over() and failed < PERSISTENCE:
            before, known = self._oracle.calls, self.record.severity
            # The nearest class half of the time, the next a quarter, and so on.
            aim = aims[min(len(aims) - 1, int(self._rng.geometric(0.5)) - 1)]
            state = yield from self._ladder(aim, 1.0)
            if state and self._params.refine:
                yield from self._finer(finer, [aim], state, 1.0)
            if self.record.severity < known:
                failed = 0
            else:
                failed = failed + 1
            self.record.idle(self._oracle.calls == before)
        if failed >= PERSISTENCE:
            self.record.done = f"{failed} other orders of the pixels gave no smaller change"

    def _finer(self, finer: Finer, aims: list[int], state: State, noise: float) -> Work:
        """Makes an example finer than the step of the game."""
        orders = [order_of(self._game, self._order(aim, noise, 1)) for aim in aims]
        some = [order for order in orders if len(order[0])]
        if self._game.norm == "linf":
            yield from finer.largest(some, again=noise > 0)
        else:
            before = self.record.severity
            yield from finer.spread(some, round(255 * self._params.tau))
            if self.record.severity < before:
                spread = self.record.picture
            else:
                spread = None
            if spread is None:
                picture = self._game.picture_of(state)
            else:
                picture = spread
            yield from finer.smaller(picture)
        self.record.drawn_again()

    def _order(self, aim: int, noise: float, level: int) -> list[int]:
        """The options of a level that help, the most gain for their cost first, one per pixel."""
        gains = self._noisy_gains(aim, noise)
        return self._ordered(gains, level)

    def _noisy_gains(self, aim: int, noise: float) -> np.ndarray:
        rows = np.arange(len(self._values.options))
        # Per step: a move of three steps costs three times as much.
        gains = self._values.gains(rows, aim) / self._game.level[self._values.options]
        spread = noise * float(gains.std()) * 0.3
        return np.asarray(gains + spread * self._rng.standard_normal(len(gains)))

    def _ordered(self, gains: np.ndarray, level: int) -> list[int]:
        ranked = np.arange(len(gains))[np.argsort(-gains, kind="stable")]
        options = self._values.options
        return _one_per_pixel(self._game.pixel, options, ranked, self._game.level, level, gains)

    def _ladder(self, aim: int, noise: float) -> Generator[None, None, State]:
        """An example from the n best options by gain for their cost, at every level.

        Then fewer of them, by bisection.
        """
        gains = self._noisy_gains(aim, noise)
        winner: State = EMPTY
        for level in range(1, int(self._game.level[self._values.options].max()) + 1):
            order = self._ordered(gains, level)
            # Few pixels matter most, so the rungs are dense there.
            counts = sorted({round(float(n)) for n in np.geomspace(1, max(1, len(order)), _RUNGS)})
            found = yield from self._fewest(order, counts)
            if found and (not winner or self._game.severity(found) < self._game.severity(winner)):
                winner = found
        if winner and self._params.refine:
            winner = yield from refined(self._oracle, self._goal, winner)
        if self._game.norm == "l0":
            self.record.offer(winner)
        else:
            severity = self.record.iteration(winner)
            backpropagate([self.root], self.record.reward(severity), severity)
        return winner

    def _fewest(self, order: list[int], counts: list[int]) -> Generator[None, None, State]:
        """The shortest winning prefix of an order of options, by narrowing a grid of lengths."""
        best: State = EMPTY
        while counts and self._oracle.left:
            states = [tuple(sorted(order[:count])) for count in counts]
            margins = self._goal.margins(self._oracle.scores(states))
            yield
            won = np.flatnonzero(margins > self._oracle.sure)
            if not len(won):
                break
            best = states[int(won[0])]
            low, high = (0, *counts)[int(won[0])], len(best)
            counts = sorted(
                {round(float(n)) for n in np.linspace(low, high, 8)[1:-1]} - {low, high}
            )
        return best


def _one_per_pixel(
    pixel: np.ndarray,
    options: np.ndarray,
    ranked: np.ndarray,
    level: np.ndarray,
    wanted: int,
    gains: np.ndarray,
) -> list[int]:
    """The options of a level that help, in order, the first of each pixel only."""
    chosen = [
        int(options[row]) for row in ranked if level[options[row]] == wanted and gains[row] > 0
    ]
    if chosen:
        # Places of the first option of each pixel; sorted below, they keep the order of gains.
        _, first = np.unique(pixel[chosen], return_index=True)
    else:
        _, first = (None, np.zeros(0, dtype=np.int64))
    return [chosen[place] for place in np.sort(first).tolist()]
