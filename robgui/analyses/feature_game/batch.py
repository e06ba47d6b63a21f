"""The feature game on many images: how severe is the least severe example of each, and what does an image cost?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from robgui.analyses.feature_game.match import Match, best_outcome, class_of, example_of
from robgui.analyses.feature_game.oracle import probabilities
from robgui.analyses.feature_game.params import ALL_CLASSES, FeatureGameBatchParams
from robgui.analyses.feature_game.result import FeatureGameBatchResult, Outcome
from robgui.analyses.feature_game.words import batch_findings, batch_headline, batch_verdict
from robgui.core.analysis import Pace, Step, analysis
from robgui.core.classifier import Classifier
from robgui.core.dataset import Dataset, inputs
from robgui.core.errors import DataError, ParamsError
from robgui.core.picture import picture_of

MOST_FINDINGS = 10
#: The longer side of the small pictures.
_THUMBNAIL = 64


@analysis(
    title="Feature game on many images",
    question="How many pixels does it take to change the class, image by image?",
    verdict=batch_verdict,
    findings=batch_findings,
    headline=batch_headline,
    kinds=("image",),
    inputs="many",
)
def feature_game_batch(classifier: Classifier, dataset: Dataset, params: FeatureGameBatchParams) -> Iterator[Step[FeatureGameBatchResult]]:
    """Plays one game after the other, always with a cooperative player II."""
    if params.target.strip().casefold() == ALL_CLASSES:
        raise ParamsError("target = 'all' is for one image; on many images name one class, or none for any other class.")
    tally = _Tally(classifier, dataset, params)
    pace = Pace()
    for place in range(tally.count):
        for share in tally.play(place):
            if pace.due():
                yield tally.step(place, share)
    yield tally.step(tally.count, 0.0)


class _Tally:
    """The games that have ended; ``step`` is the picture at any moment."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: FeatureGameBatchParams) -> None:
        if not len(dataset):
            raise DataError("The feature game needs at least one image; choose some in the gallery or with --select.")
        self._classifier = classifier
        self._params = params
        self._target = class_of(params.target, classifier) if params.target.strip() else -1
        self._numbers = _chosen(len(dataset), params.inputs, params.seed)
        self._dataset = dataset.subset(self._numbers)
        self.count = n = len(self._numbers)
        self._severity = np.full((n, 5), np.nan)
        self._found, self._predicted = np.full(n, -1), np.full(n, -1)
        self._before, self._after, self._seconds = (np.full(n, np.nan) for _ in range(3))
        self._calls, self._first = (np.zeros(n, dtype=np.int64) for _ in range(2))
        self._played, self._skipped = (np.zeros(n, dtype=bool) for _ in range(2))
        labels = dataset.labels
        self._true = np.full(n, -1) if labels is None else np.asarray(labels)[self._numbers].astype(np.int64)
        self._pictures: np.ndarray | None = None
        self._worst: list[tuple[float, int, np.ndarray, np.ndarray]] = []

    def play(self, place: int) -> Iterator[float]:
        """Plays one game; yields how much of its calls are used."""
        image = inputs(self._classifier, self._dataset, [place])[0]
        params = self._params.model_copy(update={"seed": self._params.seed + place})
        if self._target >= 0 and self._already(place, image):
            return
        match = Match(self._classifier, image, params)
        for _ in match:
            yield min(1.0, match.oracle.calls / params.max_calls)
        self._keep(place, match)
        yield 1.0

    def _already(self, place: int, image: np.ndarray) -> bool:
        """Leaves out an image that has the target class; the one call this takes is counted with the game's."""
        scores = self._classifier.infer(np.round(image[None] * 255) / 255).double().cpu().numpy()[0]
        if int(scores.argmax()) != self._target:
            return False
        self._predicted[place], self._before[place] = self._target, probabilities(scores)[self._target]
        self._calls[place], self._played[place], self._skipped[place] = 1, True, True
        return True

    def _keep(self, place: int, match: Match) -> None:
        image = match.rounded.astype(np.float32) / np.float32(255)
        outcome: Outcome | None = best_outcome(match.outcomes, self._params.norm)
        last = match.outcomes[-1]
        self._played[place], self._predicted[place] = True, match.oracle.original
        self._before[place] = probabilities(match.oracle.start)[match.oracle.original]
        self._calls[place], self._first[place], self._seconds[place] = match.oracle.calls, last.first_calls, last.seconds
        example = image if outcome is None else example_of(image, outcome)
        if outcome is not None:
            self._severity[place] = dataclasses.astuple(outcome.severity)
            self._found[place], self._after[place] = outcome.found_class, outcome.confidence[outcome.found_class]
            ranked = [*self._worst, (outcome.severity.by(self._params.norm), place, image, example)]
            self._worst = sorted(ranked, key=lambda item: item[:2])[:MOST_FINDINGS]
        pair = np.stack([_small(image), _small(example)])
        if self._pictures is None:
            self._pictures = np.zeros((self.count, *pair.shape), dtype=np.uint8)
        self._pictures[place] = pair

    def step(self, done: int, share: float) -> Step[FeatureGameBatchResult]:
        """The complete picture now."""
        calls = self._params.max_calls
        return Step(done * calls + int(share * calls), self.count * calls, self.result())

    def result(self) -> FeatureGameBatchResult:
        """The games so far."""
        column = {"l0": 0, "l1": 2, "l2": 3, "linf": 4}[self._params.norm]
        values = self._severity[np.isfinite(self._severity[:, 0]), column]
        shape = self._classifier.shape
        blank = np.zeros((0, *shape), dtype=np.float32)
        return FeatureGameBatchResult(
            severity=self._severity.copy(),
            found_class=self._found.copy(),
            predicted=self._predicted.copy(),
            true_class=self._true,
            confidence_before=self._before.copy(),
            confidence_after=self._after.copy(),
            calls=self._calls.copy(),
            first_calls=self._first.copy(),
            seconds=self._seconds.copy(),
            played=self._played.copy(),
            skipped=self._skipped.copy(),
            keys=tuple(self._dataset.keys()),
            numbers=self._numbers,
            thumbnails=np.zeros((self.count, 2, 1, 1, 3), dtype=np.uint8) if self._pictures is None else self._pictures.copy(),
            worst=np.array([place for _, place, _, _ in self._worst], dtype=np.int64),
            worst_inputs=np.stack([image for _, _, image, _ in self._worst]) if self._worst else blank,
            worst_examples=np.stack([example for _, _, _, example in self._worst]) if self._worst else blank,
            mean=float(values.mean()) if len(values) else float("nan"),
            median=float(np.median(values)) if len(values) else float("nan"),
            norm=self._params.norm,
            target=self._target,
            model_calls=int(self._calls.sum()),
            labels=tuple(self._classifier.labels),
            preset=self._params.preset,
        )


def _chosen(count: int, most: int, seed: int) -> np.ndarray:
    """At most ``most`` of the places 0 … count - 1 in rising order, by chance; ``most`` 0 takes all."""
    if not 0 < most < count:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, most, replace=False))


def _small(image: np.ndarray) -> np.ndarray:
    """A small picture; every second, third, … pixel of a large image."""
    step = -(-max(image.shape[1:]) // _THUMBNAIL)
    return picture_of(image[:, ::step, ::step], "image")
