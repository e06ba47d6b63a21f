"""The first example on a large image: paint many pixels at once, then take back what is not needed.

On a large image one pixel moves the scores by next to nothing, so a search that starts from single
moves finds no example for thousands of calls. Painting the most salient pixels at the extreme far
from their value changes the class within a few tens of calls. The painted set is then reduced cell
by cell, the cells halved from ``COARSEST`` pixels to one: delta debugging (Zeller and Hildebrandt,
2002) on a quadtree. Every set that is accepted changes the class, so there is a complete answer at
any moment.
"""

from __future__ import annotations

from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Game, Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord

#: Of the calls of a search, the share that painting may take; exchange and the tree have the rest.
#: It may go on while more pixels than ``MANY`` are left: whole cells take those back fastest.
SHARE, LONGEST, MANY = 0.35, 0.8, 400
#: Squares around the strongest keypoints that are tried before anything larger.
PATCHES = 12
#: Painting begins with this share of the pixels and doubles it until the class changes.
SMALLEST = 1 / 256
#: Sides of the first cells, in pixels; halved until a cell is a pixel.
COARSEST = 32
#: Cells are tried again at the same size while a round takes back at least this share of them.
WORTHWHILE = 0.15
#: States asked between two looks at the result.
_AT_ONCE = 32

Cells = list[np.ndarray]


class Painting:
    """Finds an example by painting and makes it smaller, offering each to the record."""

    def __init__(
        self,
        oracle: Oracle,
        goal: Goal,
        mixture: Mixture,
        record: SearchRecord,
        rng: np.random.Generator,
    ) -> None:
        self._oracle = oracle
        self._goal = goal
        self._record = record
        self._mixture = mixture
        self._saliency = mixture.saliency().ravel()
        self._rng = rng
        self._last_call = oracle.calls + int(SHARE * oracle.left)
        self._latest = oracle.calls + int(max(SHARE, LONGEST) * oracle.left)

    def __iter__(self) -> Generator[None, None, None]:
        options = yield from self._first()
        side = COARSEST
        while len(options) > 1 and side >= 1 and not self._spent():
            options = yield from self._reduced(_cells(self._oracle.game, options, side))
            side //= 2

    def _spent(self) -> bool:
        many = self._record.severity > MANY
        if many:
            last = self._latest
        else:
            last = self._last_call
        return self._oracle.calls >= last or not self._oracle.left

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
                return sets[int(won[margins[won].argmax()])]
            if count >= pixels:
                break
            count = min(2 * count, pixels)
        return np.zeros(0, dtype=np.int64)

    def _orders(self) -> list[np.ndarray]:
        """One option a pixel, in the order in which pixels are painted.

        The option that changes a pixel most: the salient first, by chance in proportion to the
        saliency, and by chance alone. And each plain colour, the salient first.
        """
        game = self._oracle.game
        change = np.abs(game.value.astype(np.int64) - game.image[game.pixel]).sum(1)
        rising = np.lexsort((change, game.pixel))
        far = np.zeros(len(game.image), dtype=np.int64)
        far[game.pixel[rising]] = rising
        keys = np.log(np.maximum(self._saliency, 1e-12))
        by_chance = keys + self._rng.gumbel(size=len(keys))
        salient = np.argsort(-keys, kind="stable")
        return [
            far[salient],
            far[np.argsort(-by_chance, kind="stable")],
            far[self._rng.permutation(len(far))],
            *self._plain(keys),
        ]

    def _plain(self, keys: np.ndarray) -> list[np.ndarray]:
        """The pixels in each colour of the game, the salient first."""
        game = self._oracle.game
        colours = np.unique(game.value, axis=0, return_inverse=True)[1].ravel()
        of_each = [np.flatnonzero(colours == colour) for colour in range(int(colours.max()) + 1)]
        return [own[np.argsort(-keys[game.pixel[own]], kind="stable")] for own in of_each]

    def _reduced(self, cells: Cells) -> Generator[None, None, np.ndarray]:
        """What is left of the cells when none or few more of them can go."""
        while len(cells) > 1 and not self._spent():
            margins = yield from self._margins(
                [_without(cells, {place}) for place in range(len(cells))]
            )
            spare = [
                place
                for place in np.argsort(-margins, kind="stable").tolist()
                if margins[place] > self._oracle.sure
            ]
            gone = yield from self._most(cells, spare)
            if gone:
                dropped = set(spare[:gone])
                cells = [cell for place, cell in enumerate(cells) if place not in dropped]
            if gone < max(1, WORTHWHILE * (len(cells) + gone)):
                break
        return np.concatenate(cells)

    def _most(self, cells: Cells, spare: list[int]) -> Generator[None, None, int]:
        """How many of the spare cells can go together, those that cost least first: bisection."""
        low, high = min(1, len(spare)), min(len(spare) + 1, len(cells))
        while high - low > 1 and not self._spent():
            middle = (low + high) // 2
            margins = yield from self._margins([_without(cells, set(spare[:middle]))])
            low, high = (middle, high) if margins[0] > self._oracle.sure else (low, middle)
        return low

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
                if len(states[least]) < self._record.severity:
                    self._oracle.remember(states[least], scores[least])
                    self._record.iteration(states[least])
            yield
        return np.concatenate(parts)


def state_of(options: np.ndarray) -> State:
    """A set of options as a state of the game."""
    return tuple(np.sort(options).tolist())


def _without(cells: Cells, dropped: set[int]) -> np.ndarray:
    return np.concatenate([cell for place, cell in enumerate(cells) if place not in dropped])


def _cells(game: Game, options: np.ndarray, side: int) -> Cells:
    """The options grouped by squares of the image."""
    width = game.shape[2]
    pixel = game.pixel[options]
    square = pixel // width // side * width + pixel % width // side
    order = np.argsort(square, kind="stable")
    return np.split(options[order], np.flatnonzero(np.diff(square[order])) + 1)


def patches_of(game: Game, mixture: Mixture, count: int) -> list[np.ndarray]:
    """Squares as large as the keypoints and twice as large, in every colour, the strongest
    keypoints first.
    """
    width = game.shape[2]
    colours = np.unique(game.value, axis=0, return_inverse=True)[1].ravel()
    x, y = game.pixel % width, game.pixel // width
    patches: list[np.ndarray] = []
    for place in np.argsort(-mixture.prior, kind="stable").tolist():
        for factor in (1.0, 2.0):
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
