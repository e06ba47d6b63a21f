"""What earlier calls revealed about each option: its effect on the scores, shared by all states."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robgui.analyses.feature_game.play.game import Game, Goal, State

#: Most classes for which effects are kept, those with the highest scores for the image.
MOST_CLASSES = 24
#: How much a new observation counts against what was believed before.
RATE = 0.5
#: Newest predictions over which the spread of the errors is taken.
_MEMORY = 400


class Values:
    """First-order effects of options, corrected by the states that the search visits.

    The margin of a state with one more option is predicted as that of its scores plus the option's
    effect.
    """

    def __init__(self, game: Game, goal: Goal, start: np.ndarray) -> None:
        self._game = game
        self._start = start
        self._goal = goal
        others = [
            c
            for c in np.argsort(-start, kind="stable").tolist()
            if c not in (goal.original, goal.target)
        ]
        wanted = [goal.original] + ([goal.target] if goal.target >= 0 else [])
        # The original stands at 0, the target, if any, at 1: the places that ``_reduced`` names.
        self.classes = np.array((wanted + others)[:MOST_CLASSES])
        self._reduced = Goal(0, 1 if goal.target >= 0 else -1)
        self._row: dict[int, int] = {}
        self._options = np.zeros(0, dtype=np.int64)
        self._effects = np.zeros((0, len(self.classes)))
        self._errors: list[float] = []

    @property
    def options(self) -> np.ndarray:
        """``(n,)`` the options of which something is known."""
        return self._options

    @property
    def error(self) -> float:
        """Typical error of a prediction."""
        # The spread of fewer says nothing; without noise the best predictions are tried first.
        if len(self._errors) > 8:
            return float(np.std(self._errors))
        return 0.0

    def scan(self, options: Iterable[int], scores: np.ndarray) -> None:
        """Takes in the scores ``(n, C)`` of the image with one option each.

        Farther options of the pixel get a multiple.
        """
        effects = scores[:, self.classes] - self._start[self.classes]
        chains = [
            # Level k changes the pixel k times as much. Its effect is taken to be k times as large,
            # until it is asked.
            (link, effect * self._game.level[link])
            for option, effect in zip(options, effects, strict=True)
            for link in self._chain(option)
        ]
        fresh = [(option, effect) for option, effect in chains if option not in self._row]
        if not fresh:
            return
        self._row.update({option: len(self._options) + i for i, (option, _) in enumerate(fresh)})
        self._options = np.concatenate([self._options, [option for option, _ in fresh]]).astype(
            np.int64
        )
        self._effects = np.concatenate([self._effects, np.array([effect for _, effect in fresh])])

    def knows(self, option: int) -> bool:
        """Whether anything is known of the option."""
        return option in self._row

    def rows(self, options: Sequence[int]) -> np.ndarray:
        """Where these options, all of them known, stand in ``options``."""
        return np.array([self._row[option] for option in options], dtype=np.int64)

    def learn(self, options: Sequence[int], before: np.ndarray, after: np.ndarray) -> None:
        """Takes in observations: the scores ``(n, C)`` without and with each option.

        Rows without an answer are nan.
        """
        answered = np.flatnonzero(~np.isnan(after[:, 0]))
        start, end = np.broadcast_to(before, after.shape)[:, self.classes], after[:, self.classes]
        rows = [self._row.get(options[place], -1) for place in answered.tolist()]
        old = [(row, place) for row, place in zip(rows, answered.tolist(), strict=True) if row >= 0]
        if old:
            known, places = np.array(old).T
            # Judged before learning: an error is that of a prediction, not of a fit.
            believed = self._reduced.margins(start[places] + self._effects[known])
            self._errors = [
                *self._errors,
                *(self._reduced.margins(end[places]) - believed).tolist(),
            ][-_MEMORY:]
            for row, place in old:
                self._effects[row] += RATE * (end[place] - start[place] - self._effects[row])
        new = [place for row, place in zip(rows, answered.tolist(), strict=True) if row < 0]
        if new:
            self._row.update(
                {options[place]: len(self._options) + i for i, place in enumerate(new)}
            )
            self._options = np.concatenate(
                [self._options, [options[place] for place in new]]
            ).astype(np.int64)
            self._effects = np.concatenate([self._effects, end[new] - start[new]])

    def predict(self, scores: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """Margins ``(..., n)`` expected after each option in ``rows``, for scores ``(..., C)``."""
        return self._reduced.margins(scores[..., None, self.classes] + self._effects[rows])

    def gains(self, rows: np.ndarray, aim: int) -> np.ndarray:
        """``(n,)`` how far each option closes the gap to the class ``aim``."""
        place = int(np.flatnonzero(self.classes == aim)[0])
        return np.asarray(self._effects[rows, place] - self._effects[rows, 0])

    def free(self, state: State) -> np.ndarray:
        """Rows of the known options that one move from the state reaches."""
        return np.flatnonzero(self._game.moves(state)[self._options])

    def aims(self) -> list[int]:
        """Classes to aim at, the one that seems to need the fewest options first."""
        if self._goal.target >= 0:
            return [self._goal.target]
        # One level of each pixel: several would count the same pixel more than once.
        rows = np.flatnonzero(self._game.level[self._options] == 1)
        return sorted(
            self.classes[1:].tolist(), key=lambda aim: self.needed(rows, aim, self._start)
        )

    def needed(self, rows: np.ndarray, aim: int, scores: np.ndarray) -> float:
        """How many of the options it would take if their effects added up.

        Inf when all of them do not suffice.
        """
        gains = np.sort(self.gains(rows, aim))[::-1]
        gap = float(scores[self._goal.original] - scores[aim])
        sums = np.maximum(gains, 0).cumsum()
        count = int((sums < gap).sum())
        if count >= len(sums):
            return float("inf")
        if count:
            before = float(sums[count - 1])
        else:
            before = 0.0
        # A fraction of the last pixel, so aims that need as many whole pixels still differ.
        return count + (gap - before) / max(float(gains[count]), 1e-12)

    def _chain(self, option: int) -> Iterable[int]:
        while option >= 0:
            yield int(option)
            option = int(self._game.stronger[option])
