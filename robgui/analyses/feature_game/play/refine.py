"""Refinement: takes back every change that is not needed, to a fixpoint, then tries swaps.

Not in the paper, but in its authors' code, and it makes the numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from robgui.analyses.feature_game.play.game import Game, Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle

#: Takes one option of a state back, wholly or by one step.
Weaken = Callable[[Game, State, int], State]
#: A state of at least twice as many options is first shortened by whole parts.
PARTS = 8
#: Shortened states that are looked at in one go.
_AT_ONCE = 64


def refined(oracle: Oracle, goal: Goal, state: State) -> Generator[None, None, State]:
    """The state without options that it does not need, and with the others as weak as they can
    be; no pixel of it is removable.

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
    """Drops whole parts of a long state first: an eighth at a time, then smaller and smaller
    parts.
    """
    parts = PARTS
    while len(state) >= 2 * parts:
        chunks = [set(chunk.tolist()) for chunk in np.array_split(np.array(state), parts)]
        margins = yield from margins_of(oracle, goal, [_less(state, chunk) for chunk in chunks])
        order = [
            place
            for place in np.argsort(-margins, kind="stable").tolist()
            if margins[place] > oracle.sure
        ]
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
