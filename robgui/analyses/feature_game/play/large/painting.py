"""The first example on a large image: paint many pixels, then drop random parts not needed.

On a large image one pixel moves the scores by next to nothing, so a search that starts from single
moves finds no example for thousands of calls. Painting the most salient pixels at the extreme far
from their value, or any pixels anyhow, changes the class within a few tens of calls. Of the painted
set random parts are tried, half of it while that suffices, then larger ones. They stay spread over
the image: taken back cell by cell the set shrinks sooner, but exchange, which goes on from here,
ends with twice as many pixels. Every set that is accepted changes the class, so there is a complete
answer at any moment.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Game, State
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.searching import SearchSetup

#: Of the calls of a search, the share that painting may take until there is an example, and in
#: all after that; exchange and the tree have the rest.
LONGEST, SHARE = 0.8, 0.35
#: Squares around the strongest keypoints that are tried before anything larger.
PATCHES = 8
#: Painting begins with this share of the pixels and doubles it until the class changes.
SMALLEST = 1 / 256
#: Random parts tried at a time, and the share of the set that is too large to be tried.
PARTS, DENSEST = 4, 0.9
#: States asked between two looks at the result.
_AT_ONCE = 32


class Painting:
    """Finds an example by painting and makes it smaller, offering each to the record."""

    def __init__(self, setup: SearchSetup, record: SearchRecord) -> None:
        self._oracle = setup.oracle
        self._goal = setup.goal
        self._record = record
        self._mixture = setup.mixture
        self._saliency = setup.mixture.saliency().ravel()
        self._rng = setup.rng
        self._calls = setup.oracle.calls, setup.oracle.left

    def __iter__(self) -> Generator[None, None, None]:
        options = yield from self._first()
        share = 0.5
        while share < DENSEST and len(options) > 1 and not self._spent():
            count = max(1, round(share * len(options)))
            parts = [self._rng.permutation(options)[:count] for _ in range(PARTS)]
            margins = yield from self._margins(parts)
            if margins.max() > self._oracle.sure:
                options = parts[int(margins.argmax())]
            else:
                # Half of the set no longer does: try larger parts, 3/4, 7/8, …
                share = (1 + share) / 2

    def _spent(self) -> bool:
        share = SHARE if self._record.nearest else LONGEST
        began, left = self._calls
        return self._oracle.calls >= began + int(share * left) or not self._oracle.left

    def _first(self) -> Generator[None, None, np.ndarray]:
        """The smallest painted set that changes the class; empty when none does."""
        patches = patches_of(self._oracle.game, self._mixture, PATCHES)
        margins = yield from self._margins(patches)
        flips = np.flatnonzero(margins > self._oracle.sure).tolist()
        if flips:
            return min((patches[place] for place in flips), key=len)
        orders = self._orders()
        pixels = len(self._oracle.game.image)
        count = max(1, int(SMALLEST * pixels))
        while not self._spent():
            sets = [order[:count] for order in orders]
            margins = yield from self._margins(sets)
            won = np.flatnonzero(margins > self._oracle.sure)
            if len(won):
                # The surest of equally large sets: it has most to give when it is thinned out.
                return sets[int(won[margins[won].argmax()])]
            if count >= pixels:
                break
            count = min(2 * count, pixels)
        return np.zeros(0, dtype=np.int64)

    def _orders(self) -> list[np.ndarray]:
        """One option a pixel, in the order in which pixels are painted.

        The option that changes a pixel most: the salient first, by chance in proportion to the
        saliency, and by chance alone. Any option, by chance. And each plain colour, the salient
        first.
        """
        game = self._oracle.game
        far = game.farthest()
        keys = np.log(np.maximum(self._saliency, 1e-12))
        # Gumbel noise on log-saliency: a random order by saliency.
        by_chance = keys + self._rng.gumbel(size=len(keys))
        salient = np.argsort(-keys, kind="stable")
        return [
            far[salient],
            far[np.argsort(-by_chance, kind="stable")],
            far[self._rng.permutation(len(far))],
            self._anyhow(),
            *self._plain(keys),
        ]

    def _anyhow(self) -> np.ndarray:
        """Pixels and colours by chance alone."""
        table = self._oracle.game.by_colour()
        chosen = table[np.arange(len(table)), self._rng.integers(0, table.shape[1], len(table))]
        return np.asarray(self._rng.permutation(chosen[chosen >= 0]))

    def _plain(self, keys: np.ndarray) -> list[np.ndarray]:
        """The pixels in each colour of the game, the salient first."""
        game = self._oracle.game
        colours = np.unique(game.value, axis=0, return_inverse=True)[1].ravel()
        of_each = [np.flatnonzero(colours == colour) for colour in range(int(colours.max()) + 1)]
        return [own[np.argsort(-keys[game.pixel[own]], kind="stable")] for own in of_each]

    def _margins(self, sets: list[np.ndarray]) -> Generator[None, None, np.ndarray]:
        """Margins ``(n,)`` of sets of options; -inf where there were no calls left.

        Only the smallest that wins is remembered: sets of thousands of options would fill the
        memory.
        """
        parts = [np.zeros(0)]
        for begin in range(0, len(sets), _AT_ONCE):
            if self._spent():
                parts.append(np.full(len(sets) - begin, -np.inf))
                break
            states = [state_of(options) for options in sets[begin : begin + _AT_ONCE]]
            scores = self._oracle.tried(states)
            margins = self._goal.margins(scores)
            parts.append(np.where(np.isnan(margins), -np.inf, margins))
            won = np.flatnonzero(parts[-1] > self._oracle.sure).tolist()
            if won:
                least = min(won, key=lambda place: len(states[place]))
                if not self._record.nearest or len(states[least]) < len(self._record.nearest):
                    self._oracle.remember(states[least], scores[least])
                    self._record.iteration(states[least])
            yield
        return np.concatenate(parts)


def state_of(options: np.ndarray) -> State:
    """A set of options as a state of the game."""
    return tuple(np.sort(options).tolist())


def patches_of(game: Game, mixture: Mixture, count: int) -> list[np.ndarray]:
    """Squares as large as the keypoints and twice that, in every colour, strongest first."""
    width = game.shape[2]
    colours = np.unique(game.value, axis=0, return_inverse=True)[1].ravel()
    x, y = game.pixel % width, game.pixel // width
    patches: list[np.ndarray] = []
    for place in np.argsort(-mixture.prior, kind="stable").tolist():
        for factor in (1.0, 2.0):
            # The size of a keypoint is a diameter.
            reach = max(1.0, factor * mixture.keypoints[place, 2] / 2)
            inside = (abs(x - mixture.keypoints[place, 0]) <= reach) & (
                abs(y - mixture.keypoints[place, 1]) <= reach
            )
            patches += [
                np.flatnonzero(inside & (colours == colour))
                for colour in range(int(colours.max()) + 1)
            ]
        if len(patches) >= count:
            break
    return [patch for patch in patches if len(patch)][:count]
