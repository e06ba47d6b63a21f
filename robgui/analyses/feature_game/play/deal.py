"""What player II holds in one game: the moves of each feature in a drawn order."""

from __future__ import annotations

from itertools import islice

import numpy as np

from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.play.game import Game

#: Features that player I chooses from, the weightiest that have a move left, and moves in a hand.
FEATURES, HAND = 8, 3

#: A feature and the moves that player II may answer with.
Choice = tuple[int, tuple[int, ...]]


class Deal:
    """The features of one game and the moves that are still free, each pixel being used once.

    A pixel belongs to the feature that is most responsible for it. Few features get larger hands,
    up to all their moves.
    """

    def __init__(self, game: Game, mixture: Mixture, rng: np.random.Generator) -> None:
        first = game.first
        # A list: a single look-up in a numpy array costs far more.
        self._pixel: list[int] = game.pixel.tolist()
        pixels = game.pixel[first]
        owner = mixture.owners().ravel()[pixels]
        # Gumbel noise on log-probabilities: sorting by the sum draws without replacement.
        noise = rng.gumbel(size=len(first))
        self._stock: dict[int, list[int]] = {}
        self._hands: dict[int, list[int]] = {}
        # A keypoint may own no pixel at all where a stronger one covers it.
        there = set(owner.tolist())
        features = [k for k in np.argsort(-mixture.prior, kind="stable").tolist() if k in there]
        # An image of few features still needs about as many moves to choose from.
        self._hand = max(HAND, FEATURES * HAND // max(1, len(features)))
        for k in features:
            mine = np.flatnonzero(owner == k)
            chance = np.log(np.maximum(mixture.within(k).ravel()[pixels[mine]], 1e-300))
            # Popped from the end of the list, which costs nothing.
            order = np.argsort(chance + noise[mine], kind="stable")  # the first stands last
            self._stock[k] = first[mine[order]].tolist()
        self._owner = dict(zip(first.tolist(), owner.tolist(), strict=True))
        self._used: set[int] = set()
        self._pixels = len(np.unique(pixels))
        for k in features:
            self._fill(k)

    @property
    def left(self) -> int:
        """Pixels that can still be changed."""
        return self._pixels - len(self._used)

    def hands(self) -> list[Choice]:
        """What player I chooses from; nothing when no move is left."""
        some = ((k, tuple(hand)) for k, hand in self._hands.items() if hand)
        return list(islice(some, FEATURES))

    def take(self, option: int) -> None:
        """Player II makes this move; its pixel is used, and the hand is filled up."""
        k, pixel = self._owner[option], self._pixel[option]
        self._used.add(pixel)
        self._hands[k] = [other for other in self._hands[k] if self._pixel[other] != pixel]
        self._fill(k)

    def copy(self) -> Deal:
        """The same position, to be played on from."""
        # The tables of the game are shared: only what a move changes is copied.
        twin = object.__new__(Deal)
        twin._pixel, twin._owner, twin._hand = self._pixel, self._owner, self._hand
        twin._pixels = self._pixels
        twin._stock = {k: list(moves) for k, moves in self._stock.items()}
        twin._hands = {k: list(moves) for k, moves in self._hands.items()}
        twin._used = set(self._used)
        return twin

    def _fill(self, k: int) -> None:
        hand, stock = self._hands.setdefault(k, []), self._stock[k]
        while stock and len(hand) < self._hand:
            option = stock.pop()
            if self._pixel[option] not in self._used:
                hand.append(option)
