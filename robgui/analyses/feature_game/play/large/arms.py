"""Which of several ways of searching gets the next calls: the one that has earned them.

A way begins with what it is believed to earn, and is told after each try what that was worth, from
0 to 1. The next is drawn by Thompson's rule (1933): a guess of what each way earns is drawn from
what is known of it, and the largest guess wins. A way that earns nothing soon gets nearly no calls,
yet is never given up. Old tries count less and less, since what pays changes as an example becomes
smaller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, TypeVar

import numpy as np

#: Tries that the belief before the first one counts as.
BELIEVED = 12
#: What is left of the weight of a try after one more of the same way.
KEPT = 0.98

Way = TypeVar("Way")


class Arms(Generic[Way]):
    """A bandit between ways of searching.

    Attributes:
        tries: How often each way was tried.
    """

    def __init__(self, ways: Mapping[Way, float], rng: np.random.Generator) -> None:
        """With what a try of each way is believed to be worth, above 0 and below 1."""
        self.tries: dict[Way, int] = dict.fromkeys(ways, 0)
        self._rng = rng
        self._believed = dict(ways)
        self._earned = dict.fromkeys(ways, 0.0)
        self._missed = dict.fromkeys(ways, 0.0)

    def pick(self) -> Way:
        """The way that gets the next try."""
        guesses = {
            way: float(
                self._rng.beta(
                    BELIEVED * belief + self._earned[way],
                    BELIEVED * (1 - belief) + self._missed[way],
                )
            )
            for way, belief in self._believed.items()
        }
        return max(guesses, key=lambda way: guesses[way])

    def learn(self, way: Way, worth: float) -> None:
        """Takes in what a try was worth, from 0 to 1."""
        self.tries[way] += 1
        self._earned[way] = KEPT * self._earned[way] + worth
        self._missed[way] = KEPT * self._missed[way] + 1 - worth
