"""The model as the game asks it: batched, cached, and within a budget of calls."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch

from robgui.analyses.feature_game.play.game import EMPTY, Game, Goal, State
from robgui.analyses.feature_game.result import SteepnessEvidence
from robgui.core.devices import to_host
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.model.classifier import Classifier

#: A margin within this share of the largest score could be an accident of rounding: another batch
#: size, another device.
#: Single precision keeps 1e-7 of a number; sums over a layer lose about two digits more.
ROUNDING = 1e-5
#: Calls, and most of the budget as a share, that are kept for taking back changes that are not
#: needed.
RESERVE, RESERVED_SHARE = 64, 0.05


class Oracle:
    """Scores of states, cached.

    One oracle serves all searches on one image: a later search gets for free what an earlier one
    has paid for.

    Attributes:
        calls: Images shown to the model so far.
        sure: A game is won when its margin is above this.
    """

    def __init__(
        self,
        classifier: Classifier,
        game: Game,
        batch: int = 0,
        deadline: Deadline | None = None,
    ) -> None:
        self.game = game
        self.calls = 0
        self._classifier = classifier
        self._batch = batch
        self._time = deadline or Deadline()
        self._known: dict[State, np.ndarray] = {}
        self._last_call, self._last_second = 1, float("inf")
        self._reserve = 0
        self._lipschitz, self._gap, self._pairs, self._singles = 0.0, float("nan"), 0, 0
        # The image itself is the first call, before any budget is set.
        self.scores([EMPTY])
        self.start = self._known[EMPTY]
        self.original = int(self.start.argmax())
        self.sure = ROUNDING * float(np.abs(self.start).max())
        self._confidence = float(probabilities(self.start)[self.original])

    def allow(self, calls: int, seconds: float) -> None:
        """Begins a search with more calls and seconds of computing, 0 for no limit."""
        self._reserve = min(RESERVE, int(RESERVED_SHARE * calls))
        self._last_call = self.calls + calls
        self._last_second = self._time.seconds + (seconds or float("inf"))

    def keep(self, calls: int) -> None:
        """Keeps at most this many calls for taking back changes; the rest are free."""
        self._reserve = min(self._reserve, calls)

    @property
    def left(self) -> int:
        """Calls left to the search; 0 when its time is over."""
        if not self.late:
            return max(0, self._last_call - self._reserve - self.calls)
        return 0

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self._time.seconds >= self._last_second

    def known_singles(self) -> list[int]:
        """The options whose one-pixel move has been evaluated, by this search or an earlier one."""
        return [state[0] for state in self._known if len(state) == 1]

    def knows(self, state: State) -> bool:
        """Whether the state has been evaluated."""
        return state in self._known

    def scores(self, states: Sequence[State], *, urgent: bool = False) -> np.ndarray:
        """Scores ``(n, C)``; nan where the budget is used up.

        ``urgent`` may also use the reserve.
        """
        # Each state once, in order: repeated ones in a batch would be paid for twice.
        new = list(dict.fromkeys(state for state in states if state not in self._known))
        room = self._last_call - self.calls - (0 if urgent else self._reserve)
        self._ask(new[: max(0, room)])
        if len(states) == 1 and states[0] in self._known:
            return self._known[states[0]][None]
        blank = np.full(self._classifier.classes, np.nan)
        return np.array([self._known.get(state, blank) for state in states]).reshape(
            len(states), self._classifier.classes
        )

    def tried(self, states: Sequence[State]) -> np.ndarray:
        """Scores ``(n, C)`` of states that are not remembered; nan where the budget is used up."""
        room = max(0, min(len(states), self.left))
        blank = np.full((len(states) - room, self._classifier.classes), np.nan)
        size = self._classifier.batch(self._batch)
        parts = [self._answers(states[i : min(i + size, room)]) for i in range(0, room, size)]
        return np.concatenate([*parts, blank])

    def remember(self, state: State, scores: np.ndarray) -> None:
        """Keeps the scores of a state that was tried."""
        self._known[state] = scores

    def slope(self, state: State, goal: Goal) -> np.ndarray | None:
        """Gradient ``(h * w, c)`` of the margin at a state; it counts as one call.

        None if the budget is used up.
        """
        if not self.left:
            return None
        with torch.enable_grad():
            x = self.game.render([state], self._classifier.device).requires_grad_()
            scores = self._classifier.logits(x)[0]
            if goal.target < 0:
                kept = goal.original
            else:
                kept = goal.target
            rest = scores.clone()
            rest[kept] = -torch.inf
            beyond = rest.max() - scores[kept]
            if goal.target < 0:
                margin = beyond
            else:
                margin = -beyond
            (gradient,) = torch.autograd.grad(margin, x)
        self.calls += 1
        (slope,) = to_host(gradient[0].flatten(1).T.double())
        return np.asarray(slope)

    def judge(self, pictures: Sequence[np.ndarray]) -> np.ndarray:
        """Scores ``(n, C)`` of uint8 pictures ``(h * w, c)`` that are no states of the game.

        They count as calls; nan where the budget is used up.
        """
        scores = np.full((len(pictures), self._classifier.classes), np.nan)
        room = max(0, min(len(pictures), self.left))
        if room:
            images = np.stack([picture.T.reshape(self.game.shape) for picture in pictures[:room]])
            x = images.astype(np.float32) / np.float32(255)
            scores[:room] = self._classifier.infer(x, self._batch).double().cpu().numpy()
            self.calls += room
        return scores

    def evidence(self) -> SteepnessEvidence:
        """Steepness and gap seen so far."""
        return SteepnessEvidence(
            self._lipschitz, self._gap, self._pairs, self._singles, len(self.game.first)
        )

    def _ask(self, states: list[State]) -> None:
        size = self._classifier.batch(self._batch)
        for begin in range(0, len(states), size):
            part = states[begin : begin + size]
            self._known.update(zip(part, self._answers(part), strict=True))

    def _answers(self, states: Sequence[State]) -> np.ndarray:
        """Scores ``(n, C)`` of states that fit into one batch."""
        x = self.game.render(states, self._classifier.device)
        (scores,) = to_host(self._classifier.infer(x, self._batch).double())
        self.calls += len(states)
        if self.calls > 1:
            self._look(states, scores)
        return scores

    def _look(self, states: Sequence[State], scores: np.ndarray) -> None:
        """Records how steeply the original class's confidence falls, and how far at a change."""
        fall = np.abs(probabilities(scores)[:, self.original] - self._confidence)
        self._pairs += len(states)
        self._singles += sum(
            len(state) == 1 and int(self.game.level[state[0]]) == 1 for state in states
        )
        distance = self.game.l1(states)
        # ħ of Definition 4: the steepest fall of the confidence per L1 distance seen so far.
        self._lipschitz = max(self._lipschitz, float((fall / np.maximum(distance, 1e-12)).max()))
        changed = scores.argmax(1) != self.original
        if changed.any():
            # ℓ of Section 4 (above Theorem 4): the least change of confidence seen at a change of
            # class.
            self._gap = float(np.nanmin([self._gap, float(fall[changed].min())]))


def probabilities(scores: np.ndarray) -> np.ndarray:
    """Softmax over the last axis."""
    # Less the largest score: exp of a raw one can overflow.
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(powers / powers.sum(-1, keepdims=True))
