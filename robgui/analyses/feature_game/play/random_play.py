"""Random plays of the published search: drawn whole, and looked at by bisection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robgui.analyses.feature_game.play.game import Game, State
from robgui.analyses.feature_game.play.tree import Node


@dataclass
class Play:
    """One simulation: the nodes it gives its reward to, and the state it starts from."""

    path: list[Node]
    state: State


@dataclass(frozen=True)
class RandomPlay:
    """The moves of a random play from a state on."""

    game: Game
    start: State
    moves: list[int]

    @property
    def length(self) -> int:
        """How many states it has, the first included."""
        return len(self.moves) + 1

    def after(self, count: int) -> State:
        """The state after ``count`` moves."""
        # By pixel: a later move of the same pixel replaces the earlier one.
        last = {
            int(self.game.pixel[option]): option for option in (*self.start, *self.moves[:count])
        }
        return tuple(sorted(last.values()))


def between(looked: list[int], won: int | None) -> list[int]:
    """The next lengths to look at: inside the interval that holds the first winning one.

    None when it is found.
    """
    if won is None or len(looked) == 1:
        return []
    low, high = (-1, *looked)[won], looked[won]
    inside = {round(float(at)) for at in np.linspace(low, high, 5)[1:-1]} - {low, high}
    if inside:
        return [*sorted(inside), high]
    return []
