"""What a search has found so far, and when it should end."""

from __future__ import annotations

import math

import numpy as np

from robgui.analyses.feature_game.params import GameParams
from robgui.analyses.feature_game.play.game import EMPTY, Goal, State
from robgui.analyses.feature_game.play.oracle import Oracle

#: Iterations in a row without a new state that end a search: it has nothing left to ask.
_IDLE = 25
#: Iterations averaged by the green line of the paper's Figure 3.
WINDOW = 10
#: Why a search has ended whose time was over.
TIME_OVER = "the time was over"


class SearchRecord:
    """The best example, the severity of every iteration, and the reasons to stop.

    Attributes:
        best: The least severe example; empty without any.
        nearest: The fewest changes seen that change the class, even if they are farther away than
            allowed; empty without any.
        severity: Its distance from the image; inf without any.
        history: Severity of every iteration: best so far, current, mean of the last ten; nan before
            the first example.
        history_calls: Calls of this search at each of them.
        first_calls: Calls of this search until the first example; 0 without any.
        scanned: Every one-pixel move has been tried.
        surveyed: All that promise something have been.
        optimal: Nothing less severe can be reached by these moves.
        picture_scores: ``(C,)`` the scores of that picture.
        picture: ``(h * w, c)`` uint8, the best example where it is finer than the step of the game.
        step: The step down to which changes were made finer; nan where they were not.
        done: What has been done when the search has ended by itself, in words.
        ended: Why the search has ended, in words; empty while it goes on.
    """

    def __init__(self, oracle: Oracle, goal: Goal, params: GameParams) -> None:
        self.best: State = EMPTY
        self.nearest: State = EMPTY
        self.severity = math.inf
        self.history: list[tuple[float, float, float]] = []
        self.history_calls: list[int] = []
        self.first_calls = 0
        self.optimal = False
        self.scanned = False
        self.surveyed = False
        self.done = ""
        self.picture: np.ndarray | None = None
        self.picture_scores = oracle.start
        self.step = math.nan
        self._oracle = oracle
        self._goal = goal
        if params.distance is None:
            self._farthest = math.inf
        else:
            self._farthest = params.distance
        # The paper's 1/ε-convergence (Section 4): no improvement within as many iterations.
        self._patience = math.ceil(1 / params.epsilon) if params.epsilon else math.inf
        self._start = oracle.calls
        self._stale = 0
        self._idle = 0

    @property
    def calls(self) -> int:
        """Calls of this search so far."""
        return self._oracle.calls - self._start

    def over(self) -> bool:
        """Whether the search should end."""
        return bool(self.ended)

    @property
    def ended(self) -> str:
        """Why it should end, in words."""
        if self.done:
            return self.done
        if self.optimal:
            return "no example of these moves can be less severe"
        if self._oracle.late:
            return TIME_OVER
        if not self._oracle.left:
            return "the model calls were used up"
        if self._stale >= self._patience:
            return f"no better example in {self._stale} iterations"
        if self._idle >= _IDLE:
            return "nothing was left to try"
        return ""

    def wins(self, state: State) -> bool:
        """Whether a state that has been evaluated changes the class within the distance allowed."""
        return self._changes(state) and self._oracle.game.severity(state) <= self._farthest

    def _changes(self, state: State) -> bool:
        if not state or not self._oracle.knows(state):
            return False
        return bool(self._goal.margins(self._oracle.scores([state])[0]) > self._oracle.sure)

    def offer(self, state: State) -> float:
        """Keeps the state if it is the best example so far.

        Returns its severity, inf when it is none.
        """
        if not self._changes(state):
            return math.inf
        if not self.nearest or len(state) < len(self.nearest):
            self.nearest = state
        severity = self._oracle.game.severity(state)
        if severity > self._farthest:
            return math.inf
        # Equation 2 (Definition 2): of all examples within the distance, the least severe.
        if severity < self.severity:
            # A finer picture of a worse example is no longer the best.
            self.best, self.severity, self.picture = state, severity, None
            self.first_calls = self.first_calls or max(1, self.calls)
            self._stale = -1
            self._judge()
        return severity

    def offer_picture(self, picture: np.ndarray, scores: np.ndarray) -> None:
        """Keeps a picture that changes the class, with its scores, if it is the best so far."""
        severity = self._oracle.game.distances(picture).by(self._oracle.game.norm)
        if severity < self.severity and severity <= self._farthest:
            self.picture, self.picture_scores, self.severity = picture, scores, severity
            self._stale = -1

    def finest(self, step: float) -> None:
        """Changes have been made finer down to this step."""
        self.step = step

    def settle(self, state: State) -> None:
        """Makes this the example, whether or not it is the least severe one seen."""
        self.best, self.severity = state, self._oracle.game.severity(state)
        self.first_calls = self.first_calls or max(1, self.calls)

    def iteration(self, state: State) -> float:
        """Ends an iteration with the example it has found, if any.

        Returns its severity, inf when it is none.
        """
        severity = self.offer(state)
        self.draw(severity)
        return severity

    def draw(self, severity: float) -> None:
        """Adds an iteration to the history; one without an example is drawn at the best so far."""
        self._stale += 1
        if math.isfinite(severity):
            shown = severity
        else:
            shown = self.severity
        # The last nine and this one.
        recent = [row[1] for row in self.history[1 - WINDOW :]] + [shown]
        self.history.append((self.severity, shown, sum(recent) / len(recent)))
        self.history_calls.append(self.calls)

    def game(self, middle: float, severity: float, mean: float) -> None:
        """Adds a whole game to the history; one that did not change the class leaves a gap."""
        self.history.append((middle, severity, mean))
        self.history_calls.append(self.calls)

    def drawn_again(self) -> None:
        """Updates the newest row of the history: its iteration has found a finer example."""
        if self.history and self.severity < self.history[-1][0]:
            _, _, mean = self.history.pop()
            self.history.append((self.severity, self.severity, mean))
            self.history_calls[-1] = self.calls

    def reward(self, severity: float) -> float:
        """The paper's 1 / severity scaled to [0, 1] by the best so far; 0 without an example."""
        if math.isfinite(severity) and severity > 0:
            return self.severity / severity
        return 0.0

    def idle(self, nothing_new: bool) -> None:
        """Counts iterations in a row that asked nothing new."""
        if nothing_new:
            self._idle = self._idle + 1
        else:
            self._idle = 0

    def all_singles_known(self) -> None:
        """Every one-pixel move has been tried."""
        self.scanned = self.surveyed = True
        self._judge()

    def _judge(self) -> None:
        """Under L0 one pixel cannot be beaten, nor two once every single one has failed."""
        if self._oracle.game.norm == "l0" and self.best:
            self.optimal = len(self.best) == 1 or (len(self.best) == 2 and self.scanned)
