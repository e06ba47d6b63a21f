"""The feature game: which few pixels flip the class?

Wicker, Huang and Kwiatkowska, "Feature-guided black-box safety testing of deep neural networks".
SIFT keypoints become a mutable saliency distribution (Section 2); player I picks a keypoint, player
II a pixel and an instruction (Section 3); a Monte Carlo tree search finds the least severe example
(Section 4). The model is a black box: only its outputs are used.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from robgui.analyses.feature_game.example import example_of
from robgui.analyses.feature_game.params import MOST_TARGETS, FeatureGameParams
from robgui.analyses.feature_game.play.match import (
    NOTHING,
    Match,
    best_outcome,
    rounded,
)
from robgui.analyses.feature_game.play.oracle import probabilities
from robgui.analyses.feature_game.play.tree import Node, table
from robgui.analyses.feature_game.result import FeatureGameResult, Persistence
from robgui.analyses.feature_game.turning import PERSISTENCE_CALLS, persistence
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Rotation and scaling is skipped if it would take a larger share of the calls than this.
#: It takes 40 calls, so games of fewer than 400 go without.
_PERSISTENCE_SHARE = 0.1
#: An image whose values are no further from 8-bit ones than this is an 8-bit image.
#: A float32 near 1 is exact to 6e-8; half an 8-bit step is 2e-3.
_SAME = 1e-6


def feature_game(
    classifier: Classifier, dataset: Dataset, params: FeatureGameParams
) -> Iterator[Step[FeatureGameResult]]:
    """Plays the game on one image.

    Every Step has the keypoints, the saliency so far, the best example and the tree.
    """
    if len(dataset) != 1:
        raise DataError(
            f"The feature game is played on one image at a time; {len(dataset):,} were given."
        )
    # Set aside before the search, which else would use every call.
    if params.persistence and _PERSISTENCE_SHARE * params.max_calls >= PERSISTENCE_CALLS:
        reserve = PERSISTENCE_CALLS
    else:
        reserve = 0
    deadline = Deadline(params.max_seconds)
    seen = _Seen(classifier, dataset, params, reserve, deadline)
    yield from deadline.counted(_played(classifier, seen))


def _played(classifier: Classifier, seen: _Seen) -> Iterator[Step[FeatureGameResult]]:
    pace = Pace()
    if pace.due():
        yield seen.step()
    for _ in seen.match:
        if pace.due():
            yield seen.step()
    if seen.can_turn:
        seen.turn(classifier)
    yield seen.step()


class _Seen:
    """The match and what surrounds it; ``step`` is the picture at any moment."""

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: FeatureGameParams,
        reserve: int,
        deadline: Deadline,
    ) -> None:
        exact = inputs(classifier, dataset)[0]
        # One call more where rounding to 8 bits may have changed the class.
        self._asked = int(
            not np.allclose(exact, rounded(exact) / np.float32(255), rtol=0, atol=_SAME)
        )
        self.match = Match(classifier, exact, params, reserve + self._asked, deadline)
        self._deadline = deadline
        self._params = params
        self._reserve = reserve
        if self._asked:
            self._exact = self._exact_class(classifier, exact)
        else:
            self._exact = -1
        self._labels = tuple(classifier.labels)
        self._name = dataset.key(0)
        if dataset.labels is None:
            self._true = -1
        else:
            self._true = int(dataset.labels[0])
        self._input = self.match.rounded.astype(np.float32) / np.float32(255)
        # Before play, which moves the weights of the features.
        self._initial = self.match.mixture.saliency()
        self._persistence: Persistence | None = None
        self._turned = 0
        self._remark = self._remarks(classifier)

    @property
    def can_turn(self) -> bool:
        """Whether there are calls, and time, left to turn the example."""
        # At the speed of the search so far.
        seconds = PERSISTENCE_CALLS * self._deadline.seconds / max(1, self.match.oracle.calls)
        return bool(self._reserve) and seconds <= self._deadline.left

    def turn(self, classifier: Classifier) -> None:
        """Turns and scales the best example."""
        outcome = best_outcome(self.match.outcomes, self._params.norm)
        if outcome is not None:
            self._persistence = persistence(
                classifier,
                self._input,
                example_of(self._input, outcome),
                self.match.oracle.original,
            )
            self._turned = PERSISTENCE_CALLS

    def step(self) -> Step[FeatureGameResult]:
        """The complete picture now."""
        total = self._params.max_calls * len(self.match.tasks)
        # A search that ended early counts in full: progress never goes back.
        done = self._params.max_calls * len(self.match.outcomes)
        if len(self.match.outcomes) < len(self.match.tasks):
            # The search under way counts by its calls.
            done += sum(
                outcome.model_calls
                for outcome in self.match.all_outcomes[len(self.match.outcomes) :]
            )
        # Only the last Step is marked: before it the search may still use its time.
        cut = self.match.cut and len(self.match.outcomes) == len(self.match.tasks)
        return Step(min(done, total), total, self._result(), self._remark, cut)

    def _result(self) -> FeatureGameResult:
        match, search = self.match, self.match.search
        outcomes = match.all_outcomes
        best = best_outcome(outcomes, self._params.norm)
        confidence = probabilities(match.oracle.start)
        # An empty list becomes (0,) and would have no columns.
        history = np.array(search.record.history if search else [], dtype=np.float64).reshape(-1, 3)
        return FeatureGameResult(
            keypoints=match.keypoints,
            keypoint_source=match.source,
            saliency=match.mixture.saliency(),
            initial_saliency=self._initial,
            weights=match.mixture.weights,
            best=self._input if best is None else example_of(self._input, best),
            changed=np.zeros((0, 2), dtype=np.int64) if best is None else best.changed,
            severity=NOTHING if best is None else best.severity,
            # inf stands for "no example yet", which no axis can show.
            history=np.where(np.isfinite(history), history, np.nan),
            history_calls=np.array(search.record.history_calls if search else [], dtype=np.int64),
            tree=table(search.root if search else Node(), match.game),
            original=match.oracle.original,
            target=match.tasks[0].target if len({task.target for task in match.tasks}) == 1 else -1,
            found_class=-1 if best is None else best.found_class,
            model_calls=match.oracle.calls + self._turned + self._asked,
            seconds=time.monotonic() - match.began,
            input=self._input,
            input_name=self._name,
            true_class=self._true,
            labels=self._labels,
            confidence=confidence,
            found_confidence=confidence if best is None else best.confidence,
            player=match.task.player,
            outcomes=tuple(outcomes),
            searches=len(match.tasks),
            evidence=match.oracle.evidence(),
            persistence=self._persistence,
            remark=self._remark,
            exact_class=self._exact,
        )

    def _exact_class(self, classifier: Classifier, exact: np.ndarray) -> int:
        """The class of the image as it is, where rounding to 8 bits has changed it.

        -1 elsewhere.
        """
        found = int(classifier.infer(exact[None]).argmax())
        if found == self.match.oracle.original:
            return -1
        return found

    def _remarks(self, classifier: Classifier) -> str:
        """What the user should know before reading the result."""
        said = []
        match = self.match
        if match.source != "SIFT":
            if match.source == "grid":
                stands = "a regular grid stands in for them"
            else:
                stands = "they were found without its edge threshold"
            said.append(f"SIFT finds no keypoints in this image; {stands}.")
        original = match.oracle.original
        if self._exact >= 0:
            names = (
                f"already “{self._labels[original]}”; the exact values give"
                f" “{self._labels[self._exact]}”"
            )
            said.append(f"Rounded to 8 bits, as a picture file is, this image is {names}.")
        if self._true not in (-1, original):
            names = f"as “{self._labels[original]}” instead of “{self._labels[self._true]}”"
            said.append(
                f"The image is misclassified already, {names}; the game changes the class it is"
                " given."
            )
        if self._params.target and len(match.tasks) > 1 and classifier.classes - 1 > MOST_TARGETS:
            said.append(
                f"Of {classifier.classes - 1:,} other classes the {MOST_TARGETS} likeliest are"
                " tried."
            )
        return " ".join(said)
