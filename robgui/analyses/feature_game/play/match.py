"""One image against one classifier: runs the requested searches one after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from robgui.analyses.choosing import ALL_CLASSES, class_of
from robgui.analyses.feature_game.features.keypoints import find_keypoints
from robgui.analyses.feature_game.features.saliency import Mixture
from robgui.analyses.feature_game.params import (
    MOST_TARGETS,
    PLAYERS,
    FeatureGameParams,
    GameParams,
    Norm,
    Player,
)
from robgui.analyses.feature_game.play.game import Game, Goal
from robgui.analyses.feature_game.play.opponent import OpponentSearch
from robgui.analyses.feature_game.play.oracle import Oracle, probabilities
from robgui.analyses.feature_game.play.published import PublishedSearch
from robgui.analyses.feature_game.play.record import TIME_OVER
from robgui.analyses.feature_game.play.search import GuidedSearch
from robgui.analyses.feature_game.result import Outcome, Severity
from robgui.analyses.feature_game.searching import SearchSetup
from robgui.core.errors import ModelError, ParamsError
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.model.classifier import Classifier

#: No example: a severity of 0 would claim that nothing needs to change.
NOTHING = Severity(*[math.nan] * 5)
#: Seconds of a search whose time is over before it begins.
_NO_TIME = 1e-9


@dataclass(frozen=True)
class SearchTask:
    """One search to be done."""

    player: Player
    target: int


class Match:
    """Everything known of the game on one image while it is played; iterating does the work.

    Attributes:
        outcomes: The searches that have ended.
        search: The search under way or the last one; None before the first.
    """

    def __init__(
        self,
        classifier: Classifier,
        image: np.ndarray,
        params: GameParams,
        reserve: int = 0,
        deadline: Deadline | None = None,
    ) -> None:
        if classifier.settings.multi_label:
            raise ModelError(
                f"{classifier.name} gives several labels at once; the feature game needs one class"
                " that wins."
            )
        self._params = params
        self._reserve = reserve
        self._deadline = deadline or Deadline()
        self.began = time.monotonic()
        self.rounded = rounded(image)
        self.game = Game(self.rounded, params.norm, params.tau, params.colours)
        self.oracle = Oracle(classifier, self.game, params.batch, self._deadline)
        self.keypoints, self.source = find_keypoints(self.rounded)
        self.outcomes: list[Outcome] = []
        self.search: GuidedSearch | PublishedSearch | OpponentSearch | None = None
        self.mixture = self._fresh_mixture()
        self.tasks = self._tasks(classifier)
        self._ended = 0

    @property
    def task(self) -> SearchTask:
        """The search under way or the last one."""
        return self.tasks[min(self._ended, len(self.tasks) - 1)]

    @property
    def cut(self) -> bool:
        """Whether the time limit of the whole game, not that of a search, has ended it."""
        late = any(outcome.ended == TIME_OVER for outcome in self.outcomes)
        return self._deadline.limited and late

    @property
    def all_outcomes(self) -> list[Outcome]:
        """The searches that have ended and the one under way."""
        return self.outcomes + (
            [self._outcome()] if self.search is not None and self._ended < len(self.tasks) else []
        )

    def __iter__(self) -> Iterator[None]:
        for place, task in enumerate(self.tasks):
            self._ended = place
            self._begin(task)
            assert self.search is not None
            yield from self.search
            self.outcomes.append(self._outcome())
            self._ended = place + 1

    def _begin(self, task: SearchTask) -> None:
        params = self._params
        # The call for the unmodified image is paid by the first search.
        calls = params.max_calls - self._reserve - (0 if self.outcomes else self.oracle.calls)
        # What earlier searches have saved is shared by those that are left.
        left = self._deadline.left / (len(self.tasks) - self._ended)
        seconds = min(params.search_seconds or math.inf, max(left, _NO_TIME))
        self.oracle.allow(max(0, calls), seconds)
        self.mixture = self._fresh_mixture()
        # A stream for each search: one more target changes none of the others.
        rng = np.random.default_rng([params.seed, self._ended])
        goal = Goal(self.oracle.original, task.target)
        self._search_began = time.monotonic()
        setup = SearchSetup(self.oracle, goal, self.mixture, rng, params, task.player)
        if params.preset == "paper":
            self.search = PublishedSearch(setup)
        elif task.player == "cooperative":
            self.search = GuidedSearch(setup)
        else:
            self.search = OpponentSearch(setup)

    def _fresh_mixture(self) -> Mixture:
        return Mixture(self.keypoints, self.game.shape[1], self.game.shape[2], self._params.spread)

    def _outcome(self) -> Outcome:
        assert self.search is not None
        record = self.search.record
        found = bool(record.best)
        # Refinement may end between two steps of the game, where no state of it can be.
        finer = record.picture
        if finer is None:
            scores = self.oracle.scores([record.best])[0]
            changed, values = self.game.changed(record.best)
            if found:
                severity = self.game.severities(record.best)
            else:
                severity = NOTHING
        else:
            scores, severity = record.picture_scores, self.game.distances(finer)
            changed, values = self.game.difference(finer)
        return Outcome(
            player=self.task.player,
            target=self.task.target,
            found_class=int(scores.argmax()) if found else -1,
            severity=severity,
            changed=changed,
            values=values,
            confidence=probabilities(scores),
            # The call for the image itself is counted once, with the first search.
            model_calls=record.calls + (0 if self._ended else 1),
            first_calls=record.first_calls,
            seconds=time.monotonic() - self._search_began,
            iterations=len(record.history),
            ended=record.ended,
            optimal=record.optimal,
            step=record.step,
            games=np.array(getattr(self.search, "games", ()), dtype=np.float64),
        )

    def _tasks(self, classifier: Classifier) -> list[SearchTask]:
        if isinstance(self._params, FeatureGameParams):
            player = self._params.player
        else:
            player = "cooperative"
        if player == "all":
            players: Sequence[Player] = PLAYERS
        else:
            players = (player,)
        targets = targets_of(self._params.target, classifier, self.oracle)
        return [SearchTask(one, target) for target in targets for one in players]


def targets_of(text: str, classifier: Classifier, oracle: Oracle) -> list[int]:
    """The target classes that a setting names; -1 stands for any class but the original."""
    if not text.strip():
        return [-1]
    if text.strip().casefold() == ALL_CLASSES:
        # The likeliest first: with many classes the others are out of reach anyway.
        ranked = np.argsort(-oracle.start, kind="stable").tolist()
        return [c for c in ranked if c != oracle.original][:MOST_TARGETS]
    target = class_of(text, classifier.labels)
    if target == oracle.original:
        raise ParamsError(
            f"target = {text!r}: the model gives this image that class already; choose another"
            " target or another image."
        )
    return [target]


def best_outcome(outcomes: Sequence[Outcome], norm: Norm) -> Outcome | None:
    """The least severe example, of a cooperative player II if there is one."""
    found = [outcome for outcome in outcomes if outcome.found_class >= 0]
    helped = [outcome for outcome in found if outcome.player == "cooperative"] or found
    return min(helped, key=lambda outcome: outcome.severity.by(norm), default=None)


def rounded(image: np.ndarray) -> np.ndarray:
    """The image as a picture file holds it: uint8."""
    return np.asarray(np.round(np.clip(image, 0, 1) * 255).astype(np.uint8))
