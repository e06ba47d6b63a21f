"""Changes smaller than the step of the game, for norms that count how far values move.

A game with steps of τ can only find multiples of τ. So each example is refined: under linf the
largest change is bisected, with as many pixels as it takes; under l1 and l2 the change of every
pixel is taken back by halves of the step, then quarters, down to one 8-bit value, while the class
stays changed.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

import numpy as np

from robgui.analyses.feature_game.play.game import Game, Goal
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord

#: Numbers of pixels tried for one largest change.
#: On a logarithmic scale, so each is about twice the last on a few hundred pixels.
_COUNTS = 10
#: Images asked at once.
_AT_ONCE = 64

Work = Generator[None, None, None]
#: Pixels in the order in which they are changed, and the sign of each change.
Order = tuple[np.ndarray, np.ndarray]


class Finer:
    """Makes examples finer and offers them to the record."""

    def __init__(self, oracle: Oracle, goal: Goal, record: SearchRecord) -> None:
        self._oracle = oracle
        self._goal = goal
        self._record = record
        self._image = oracle.game.image.astype(np.int64)

    def largest(self, orders: Sequence[Order], *, again: bool = False) -> Work:
        """Bisects the largest change under linf between nothing and the best known.

        ``again`` looks just below the best known first: another order of pixels may reach that.
        """
        # In 8-bit values: nothing finer could be saved as a picture.
        low, high = 0, round(255 * self._record.severity)
        middle = high - 1 if again else high // 2
        while high - low > 1:
            found = yield from self._fewest(orders, middle)
            if found is None:
                return
            if found:
                high = round(255 * self._record.severity)
            elif again and middle == high - 1:
                return
            else:
                low = middle
            middle = (low + high) // 2
        self._record.finest(1 / 255)

    def _fewest(self, orders: Sequence[Order], amount: int) -> Generator[None, None, bool | None]:
        """Whether some pixels changed by this amount change the class; None for want of calls."""
        tries = [
            self._moved(pixels[:count], signs[:count], amount)
            for pixels, signs in orders
            for count in sorted({round(float(n)) for n in np.geomspace(1, len(pixels), _COUNTS)})
        ]
        margins, scores = yield from self._asked(tries)
        if np.isneginf(margins).any():
            return None
        won = np.flatnonzero(margins > self._oracle.sure).tolist()
        for place in won:
            self._record.offer_picture(tries[place], scores[place])
        return bool(won)

    def _moved(self, pixels: np.ndarray, signs: np.ndarray, amount: int) -> np.ndarray:
        image = self._image.copy()
        image[pixels] = np.clip(image[pixels] + amount * signs[:, None], 0, 255)
        return image.astype(np.uint8)

    def spread(self, orders: Sequence[Order], step: int) -> Work:
        """Tries many pixels by a little instead of few by much: each amount half of the last."""
        while step >= 1:
            if (yield from self._fewest(orders, step)) is None:
                return
            step //= 2

    def smaller(self, picture: np.ndarray) -> Work:
        """Takes back the change of every pixel step by step, each step half of the one before."""
        # Signed: a uint8 difference would wrap around.
        change = picture.astype(np.int64) - self._image
        step = int(np.abs(change).max())
        while step > 1 and self._oracle.left:
            step = -(-step // 2)
            while self._oracle.left:
                less = yield from self._taken_back(change, step)
                if less is None:
                    break
                change = less
        if step == 1 and self._oracle.left:
            self._record.finest(1 / 255)

    def _taken_back(
        self, change: np.ndarray, step: int
    ) -> Generator[None, None, np.ndarray | None]:
        """The change with as many pixels as possible one step back; None when none may go."""
        pixels = np.flatnonzero((change != 0).any(1))
        tries = [_back(change, pixels[[place]], step) for place in range(len(pixels))]
        margins, _ = yield from self._asked([self._image + one for one in tries])
        # Safest first, as far as each may go back alone.
        order = pixels[np.argsort(-margins, kind="stable")][
            : int((margins > self._oracle.sure).sum())
        ]
        if not len(order):
            return None
        counts = sorted({round(float(n)) for n in np.geomspace(1, len(order), _COUNTS)})
        runs = [_back(change, order[:count], step) for count in counts]
        # A run without any change left is the image itself.
        kept = [one for one in runs if one.any()]
        margins, scores = yield from self._asked([self._image + one for one in kept])
        won = np.flatnonzero(margins > self._oracle.sure).tolist()
        if not won:
            return None
        # The longest that wins: lengths rise.
        less = kept[won[-1]]
        self._record.offer_picture((self._image + less).astype(np.uint8), scores[won[-1]])
        return less

    def _asked(
        self, images: Sequence[np.ndarray]
    ) -> Generator[None, None, tuple[np.ndarray, np.ndarray]]:
        """Margins ``(n,)``, -inf where there were no calls left, and scores ``(n, C)``."""
        parts = [self._oracle.start[None][:0]]
        for begin in range(0, len(images), _AT_ONCE):
            part = [image.astype(np.uint8) for image in images[begin : begin + _AT_ONCE]]
            parts.append(self._oracle.judge(part))
            yield
        scores = np.concatenate(parts)
        margins = self._goal.margins(scores)
        return np.where(np.isnan(margins), -np.inf, margins), scores


def order_of(game: Game, options: Sequence[int]) -> Order:
    """The pixels of options in order, and whether each goes up or down."""
    pixels = game.pixel[list(options)]
    change = game.value[list(options)].astype(np.int64) - game.image[pixels]
    return pixels, np.sign(change.sum(1))


def _back(change: np.ndarray, pixels: np.ndarray, step: int) -> np.ndarray:
    less = change.copy()
    less[pixels] = np.sign(less[pixels]) * np.maximum(np.abs(less[pixels]) - step, 0)
    return less
