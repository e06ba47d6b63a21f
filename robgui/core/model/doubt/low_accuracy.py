"""When an accuracy is low enough to doubt how the model is fed, and what to say then."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.text.words import count, percent

if TYPE_CHECKING:
    from collections.abc import Sequence

    from robgui.core.model.preprocessing import Tried

#: Fewer inputs than this say nothing about accuracy.
ENOUGH = 16
#: How far from guessing to perfect a model must get to be beyond doubt.
_GOOD = 0.7
#: How far it gets, at most, if it is doubted even though nothing usual does better.
_POOR = 0.4
#: How far it gets, at most, if it is no better than guessing.
_GUESSING = 0.1
_SUSPECTS = "mean, std, value range, channel order, resizing or the order of the class names"


@dataclass(frozen=True, slots=True)
class Rightness:
    """How many of some inputs a model gets right.

    Attributes:
        right: Inputs it gets right.
        counted: Inputs it was asked about.
        classes: Classes it chooses from.
    """

    right: int
    counted: int
    classes: int

    @property
    def share(self) -> float:
        """The share that is right."""
        return self.right / self.counted

    @property
    def chance(self) -> float:
        """The share that guessing gets right."""
        return 1 / self.classes

    @property
    def doubtful(self) -> bool:
        """Whether another way of feeding the model may well do better."""
        # Standard error of a share; doubted only if two of them above it is still not good.
        spread = math.sqrt(self.share * (1 - self.share) / max(1, self.counted))
        return self._known and self.share + 2 * spread < self._way(_GOOD)

    @property
    def poor(self) -> bool:
        """Whether it is doubtful even if nothing usual does better."""
        return self.doubtful and self.share < self._way(_POOR)

    @property
    def guessed(self) -> bool:
        """Whether guessing would do as well."""
        # Three standard deviations are what guessing reaches by luck.
        luck = 3 * math.sqrt(self.chance * (1 - self.chance) / max(1, self.counted))
        return self._known and self.share <= max(self.chance + luck, self._way(_GUESSING))

    @property
    def sentence(self) -> str:
        """How low it is, against guessing."""
        if self.guessed:
            return (
                f"{percent(self.share)} right is hardly better than guessing"
                f" ({percent(self.chance)})"
            )
        return f"Only {percent(self.share)} are right, guessing gives {percent(self.chance)}"

    @property
    def _known(self) -> bool:
        return self.counted >= ENOUGH and self.classes > 1

    def _way(self, part: float) -> float:
        return self.chance + part * (1 - self.chance)


def suspicion(known: Rightness) -> str:
    """What a low accuracy probably means, before anything was tried; empty if it is good."""
    if known.guessed:
        return f"{known.sentence}; {_SUSPECTS} is probably wrong."
    if known.doubtful:
        return f"{known.sentence}. If you know the model to be better, {_SUSPECTS} is wrong."
    return ""


def verdict_of(known: Rightness, tried: Sequence[Tried]) -> str:
    """What a low accuracy means once the usual ways were tried.

    Args:
        known: How often the model is right as it is.
        tried: The ways, the present settings first.
    """
    if not tried:
        return suspicion(known)
    best = clearly_better(tried)
    if best is not None:
        return (
            f"{known.sentence}, but “{best.name}” gets {percent(best.accuracy)} of"
            f" {count(best.counted, 'input')} right: mean, std, value range, channel order or"
            " resizing is probably wrong."
        )
    return (
        f"{known.sentence}. None of {count(len(tried) - 1, 'usual way')} of feeding it does clearly"
        " better. If you know the model to be better, look at its class names and at the shape of"
        " its inputs."
    )


def clearly_better(tried: Sequence[Tried]) -> Tried | None:
    """The best way, if it is better than the first by more than luck."""
    present = tried[0]
    best = max(tried, key=lambda each: each.rank)
    spread = math.sqrt(
        sum(each.accuracy * (1 - each.accuracy) / each.counted for each in (present, best))
    )
    # Three standard deviations, because the best of two dozen ways is lucky too.
    # At least 0.05, because the spread is 0 where all or none of a few are right.
    if best.accuracy - present.accuracy > max(3 * spread, 0.05):
        return best
    return None
