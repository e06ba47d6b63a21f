"""Refinement: takes back every change that is not needed, to a fixpoint, then tries swaps.

The first is not in the paper, but in its authors' code, and it makes the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from robgui.analyses.feature_game.play.game import EMPTY, Game, Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.analyses.feature_game.play.record import SearchRecord
from robgui.analyses.feature_game.play.values import Values

#: Takes one option of a state back, wholly or by one step.
Weaken = Callable[[Game, State, int], State]
#: A state of at least twice as many options is first shortened by whole parts.
PARTS = 8
#: Swaps asked at once, and how many rounds without a better margin end a repair.
SWAPS, PATIENCE = 8, 24
#: Shortened states that are looked at in one go.
_AT_ONCE = 64


def refined(oracle: Oracle, goal: Goal, state: State) -> Generator[None, None, State]:
    """The state without removable options, the others as weak as they can be.

    Dropping an option may make another one needed, so the options are dropped in the order of what
    is left of the margin, as many at once as still leave the class changed, until none can go.
    """
    state = yield from _without_parts(oracle, goal, state)
    while True:
        shorter = yield from _weakened(oracle, goal, state, dropped)
        if shorter == state and oracle.game.norm != "l0":
            shorter = yield from _weakened(oracle, goal, state, lowered)
        if shorter == state:
            return state
        state = shorter


def _without_parts(oracle: Oracle, goal: Goal, state: State) -> Generator[None, None, State]:
    """Drops whole parts of a long state first: an eighth at a time, then ever smaller parts."""
    parts = PARTS
    while len(state) >= 2 * parts:
        chunks = [set(chunk.tolist()) for chunk in np.array_split(np.array(state), parts)]
        margins = yield from margins_of(oracle, goal, [_less(state, chunk) for chunk in chunks])
        order = [
            place
            for place in np.argsort(-margins, kind="stable").tolist()
            if margins[place] > oracle.sure
        ]
        # Two parts that may go alone may not go together, so growing
        # unions are tried, safest first.
        unions = [
            set().union(*(chunks[place] for place in order[: count + 1]))
            for count in range(min(len(order), parts - 1))
        ]
        runs = [_less(state, union) for union in unions]
        margins = yield from margins_of(oracle, goal, runs)
        won = np.flatnonzero(margins > oracle.sure)
        if len(won):
            state = runs[int(won[-1])]
        else:
            parts *= 2
    return state


def _less(state: State, options: set[int]) -> State:
    return tuple(other for other in state if other not in options)


def dropped(game: Game, state: State, option: int) -> State:
    """The state without the option."""
    return tuple(other for other in state if other != option)


def lowered(game: Game, state: State, option: int) -> State:
    """The state with the option one step weaker."""
    weaker = int(game.weaker[option])
    return tuple(
        sorted([other for other in state if other != option] + ([weaker] if weaker >= 0 else []))
    )


def _weakened(
    oracle: Oracle, goal: Goal, state: State, weaken: Weaken
) -> Generator[None, None, State]:
    """The longest run of single weakenings, the safest first, that still wins."""
    if not state:
        return state
    margins = yield from margins_of(
        oracle, goal, [weaken(oracle.game, state, option) for option in state]
    )
    order = [state[i] for i in np.argsort(-margins, kind="stable") if margins[i] > oracle.sure]
    if weaken is dropped:
        # One option must stay: the empty state is the image itself.
        order = order[: len(state) - 1]
    runs: list[State] = []
    for option in order:
        runs.append(weaken(oracle.game, runs[-1] if runs else state, option))
    margins = yield from margins_of(oracle, goal, runs)
    won = np.flatnonzero(margins > oracle.sure)
    if len(won):
        return runs[int(won[-1])]
    return state


def margins_of(
    oracle: Oracle, goal: Goal, states: list[State]
) -> Generator[None, None, np.ndarray]:
    """Margins ``(n,)`` of the states; -inf where there were no calls left."""
    parts = []
    for begin in range(0, len(states), _AT_ONCE):
        parts.append(goal.margins(oracle.scores(states[begin : begin + _AT_ONCE], urgent=True)))
        yield
    if parts:
        margins = np.concatenate(parts)
    else:
        margins = np.zeros(0)
    return np.where(np.isnan(margins), -np.inf, margins)


class Repair:
    """Looks for an example with a pixel less than the best one, by swaps.

    All swaps are ranked by their predicted margin plus noise of the size of the prediction's error.
    """

    def __init__(
        self,
        oracle: Oracle,
        goal: Goal,
        values: Values,
        record: SearchRecord,
        rng: np.random.Generator,
    ) -> None:
        self._oracle = oracle
        self._goal = goal
        self._values = values
        self._record = record
        self._rng = rng
        self._tired: set[State] = set()

    def fewer(self, state: State) -> Generator[None, None, State]:
        """Such an example, or nothing.

        Drops those options of the state that cost least, then swaps while margins rise.
        """
        size = len(self._record.best) - 1
        while len(state) > max(size, 1):
            shorter = [_less(state, {option}) for option in state]
            margins = self._goal.margins(self._oracle.scores(shorter))
            if np.isnan(margins).any():
                return EMPTY
            state = shorter[int(margins.argmax())]
        if len(state) < 1 or len(state) > size or state in self._tired:
            return EMPTY
        self._tired.add(state)
        rounds = 0
        while rounds < PATIENCE and self._oracle.left:
            better = yield from self._swapped(state)
            if self._record.wins(better):
                return better
            rounds = rounds + 1 if better == state else 0
            state = better
        self._tired.add(state)
        return EMPTY

    def _swapped(self, state: State) -> Generator[None, None, State]:
        """The best of the most promising swaps, or the state itself if none improves the margin."""
        without = [_less(state, {option}) for option in state]
        scores = self._oracle.scores([*without, state])
        rows = self._values.free(state)
        if np.isnan(scores).any() or not len(rows):
            return state
        predicted = self._values.predict(scores[:-1], rows)
        predicted = predicted + self._values.error * self._rng.standard_normal(predicted.shape)
        options = self._values.options[rows].tolist()
        pairs: dict[State, tuple[int, int]] = {}
        count = min(8 * SWAPS, predicted.size)
        # Only the top is sorted: there are options times pixels swaps.
        likely = np.argpartition(-predicted, count - 1, axis=None)[:count]
        for flat in likely[np.argsort(-predicted.ravel()[likely], kind="stable")].tolist():
            place, row = divmod(flat, len(rows))
            swapped = tuple(sorted((*without[place], options[row])))
            if not self._oracle.knows(swapped):
                pairs[swapped] = (place, options[row])
            if len(pairs) == SWAPS:
                break
        if not pairs:
            return state
        answers = self._oracle.scores(list(pairs))
        yield
        self._values.learn(
            [option for _, option in pairs.values()],
            scores[[place for place, _ in pairs.values()]],
            answers,
        )
        margins = np.nan_to_num(self._goal.margins(answers), nan=-np.inf)
        best = int(margins.argmax())
        if margins[best] > self._goal.margins(scores[-1]):
            return list(pairs)[best]
        return state
