"""The end of a game, solved exactly: every remaining position is evaluated, and both play best."""

from __future__ import annotations

import math
from collections.abc import Generator

import numpy as np

from robgui.analyses.feature_game.params import Player
from robgui.analyses.feature_game.play.deal import Deal
from robgui.analyses.feature_game.play.game import Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord

#: Positions asked at once.
_AT_ONCE = 256


class Endgame:
    """Backward induction over all positions that are left.

    Player I minimises the changes still needed; an opponent's replies maximise and chance's average
    them. Between equal features player I takes the better margin.

    Attributes:
        complete: Whether the calls sufficed.
        value: Changes still needed when both play best; inf when the class cannot be made to
            change.
    """

    def __init__(
        self, oracle: Oracle, goal: Goal, record: SearchRecord, most: int, player: Player
    ) -> None:
        self.complete = True
        self.value = math.nan
        self._oracle = oracle
        self._goal = goal
        self._record = record
        self._most = most
        self._player = player
        self._deals: dict[State, Deal] = {}
        self._values: dict[State, float] = {}

    def play(
        self, deal: Deal, moves: list[tuple[int, int]], rng: np.random.Generator, most: int
    ) -> Generator[None, None, int | None]:
        """Plays to the end, adding to ``moves``, where at most ``most`` positions are left.

        Returns after how many moves the class changes, 0 if it never does; None if more positions
        are left. For want of calls it is not complete.
        """
        start = tuple(sorted(option for _, option in moves))
        # 2 ** left bounds the positions that are left. Far above the look-ahead, counting them
        # would only cost time.
        if 2**deal.left > 64 * most or not (yield from self._enumerate(deal, start, most)):
            return None
        if not self.complete:
            return 0
        self.value = self._needed(start)
        state = start
        while not self._record.wins(state):
            if len(state) < self._most:
                hands = self._deals[state].hands()
            else:
                hands = []
            if not hands:
                return 0
            feature, hand = min(hands, key=lambda one: self._judged(state, one[1]))
            option = self._answer(state, hand, rng)
            moves.append((feature, option))
            state = _after(state, option)
        return len(moves)

    def _enumerate(self, deal: Deal, start: State, most: int) -> Generator[None, None, bool]:
        """Asks for every position that is left; False when these are more than ``most``."""
        self._deals = {start: deal}
        layer = [start]
        while layer:
            below: dict[State, Deal] = {}
            for state in layer:
                if len(state) >= self._most or self._record.wins(state):
                    continue
                for _, hand in self._deals[state].hands():
                    for option in hand:
                        # The order of the moves leaves no trace, so every position is listed once.
                        if (child := _after(state, option)) not in below:
                            below[child] = self._deals[state].copy()
                            below[child].take(option)
            self._deals.update(below)
            # Checked before the layer is asked: enumerating costs time, asking costs calls.
            if len(self._deals) > most:
                return False
            layer = list(below)
            for begin in range(0, len(layer), _AT_ONCE):
                scores = self._oracle.scores(layer[begin : begin + _AT_ONCE])
                yield
                if np.isnan(scores).any():
                    self.complete = False
                    return True
        return True

    def _needed(self, state: State) -> float:
        """Changes still needed from a position when both play best."""
        if state not in self._values:
            if self._record.wins(state):
                self._values[state] = 0.0
            else:
                if len(state) < self._most:
                    hands = self._deals[state].hands()
                else:
                    hands = []
                # Player I's side of equation 3: the reward is the inverse of the severity, so the
                # most reward is the fewest changes.
                self._values[state] = min(
                    (self._judged(state, hand)[0] for _, hand in hands), default=math.inf
                )
        return self._values[state]

    def _judged(self, state: State, hand: tuple[int, ...]) -> tuple[float, float]:
        """Changes needed when player I picks the feature with this hand, then minus the margin."""
        children = [_after(state, option) for option in hand]
        needed = [self._needed(child) for child in children]
        # Margins break ties between equally long games. They are known from the enumeration.
        margins = self._goal.margins(self._oracle.scores(children))
        if self._player == "nature":
            # Definition 3 with nature as player II: the expected number of further changes.
            return 1 + float(np.mean(needed)), -float(np.mean(margins))
        # With an adversary as player II: the most that it can make necessary.
        return 1 + max(needed), -float(np.min(margins))

    def _answer(self, state: State, hand: tuple[int, ...], rng: np.random.Generator) -> int:
        """Player II's reply: by chance, or the one that leaves the most to do."""
        if self._player == "nature":
            return hand[int(rng.integers(len(hand)))]
        return max(hand, key=lambda option: self._needed(_after(state, option)))


def _after(state: State, option: int) -> State:
    return tuple(sorted((*state, option)))
