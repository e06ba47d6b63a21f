"""The feature game on many images: the least severe example of each, and what an image costs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from robgui.analyses.choosing import ALL_CLASSES, chosen_places, class_of
from robgui.analyses.feature_game.example import example_of
from robgui.analyses.feature_game.params import COLUMN, FeatureGameBatchParams
from robgui.analyses.feature_game.play.match import Match, best_outcome, rounded
from robgui.analyses.feature_game.play.oracle import probabilities
from robgui.analyses.feature_game.result import FeatureGameBatchResult, Outcome
from robgui.core.dataset import Dataset, inputs
from robgui.core.dataset.picture import picture_of
from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Images of a batch that become findings, each with its picture: the least severe changes.
MOST_FINDINGS = 10
#: The longer side of the small pictures.
_THUMBNAIL = 64
#: Fields of the result with one entry per image.
_PER_IMAGE = (
    *(
        "severity",
        "found_class",
        "predicted",
        "true_class",
        "confidence_before",
        "confidence_after",
    ),
    *("calls", "first_calls", "seconds", "played", "skipped", "numbers"),
)


def games_part(
    classifier: Classifier, dataset: Dataset, params: FeatureGameBatchParams, part: range | None
) -> Iterator[Step[FeatureGameBatchResult]]:
    """Plays some of the games; what happens in one depends on its image and its number alone."""
    if params.target.strip().casefold() == ALL_CLASSES:
        raise ParamsError(
            "target = 'all' is for one image; on many images name one class, or none for any other"
            " class."
        )
    tally = _Tally(classifier, dataset, params, part)
    pace = Pace()
    for place in range(tally.count):
        for share in tally.play(place):
            if pace.due():
                yield tally.step(place, share)
    yield tally.step(tally.count, 0.0)


def merge_games(
    classifier: Classifier,
    dataset: Dataset,
    params: FeatureGameBatchParams,
    results: Sequence[FeatureGameBatchResult],
) -> FeatureGameBatchResult:
    """All games from those of the parts, in order.

    The times are those that the games took, wherever they were played.
    """
    column: dict[str, Any] = {
        name: np.concatenate([getattr(result, name) for result in results]) for name in _PER_IMAGE
    }
    # Places in a part count from its own first image.
    starts = np.cumsum([0, *(len(result.severity) for result in results)])
    worst = [
        (start + int(place), result.worst_inputs[i], result.worst_examples[i])
        for start, result in zip(starts, results, strict=False)
        for i, place in enumerate(result.worst)
    ]
    height = column["severity"][:, COLUMN[params.norm]]
    # Least severe first: the fewer pixels it takes, the worse for the network.
    worst = sorted(worst, key=lambda item: (height[item[0]], item[0]))[:MOST_FINDINGS]
    mean, median = _middle(height)
    return dataclasses.replace(
        results[0],
        **column,
        keys=tuple(key for result in results for key in result.keys),
        thumbnails=_stacked([result.thumbnails for result in results]),
        worst=np.array([place for place, _, _ in worst], dtype=np.int64),
        worst_inputs=(
            np.stack([image for _, image, _ in worst]) if worst else results[0].worst_inputs
        ),
        worst_examples=(
            np.stack([example for _, _, example in worst]) if worst else results[0].worst_examples
        ),
        mean=mean,
        median=median,
        model_calls=sum(result.model_calls for result in results),
    )


def feature_game_batch(
    classifier: Classifier, dataset: Dataset, params: FeatureGameBatchParams
) -> Iterator[Step[FeatureGameBatchResult]]:
    """Plays one game after the other, always with a cooperative player II."""
    return games_part(classifier, dataset, params, None)


class _Tally:
    """The games of a part, or all, that have ended; ``step`` is the picture at any moment."""

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: FeatureGameBatchParams,
        part: range | None,
    ) -> None:
        if not len(dataset):
            raise DataError(
                "The feature game needs at least one image; choose some in the gallery or with"
                " --select."
            )
        self._classifier = classifier
        self._params = params
        if params.target.strip():
            self._target = class_of(params.target, classifier.labels)
        else:
            self._target = -1
        # Calls before a game: does the image already have the target class?
        self._looks = int(self._target >= 0)
        self._available = len(dataset)
        chosen = chosen_places(self._available, params.images, params.seed)
        if part is None:
            self._first = 0
            self._numbers = chosen
        else:
            self._first = part.start
            self._numbers = chosen[part.start : part.stop]
        self._dataset = dataset.subset(self._numbers)
        self.count = n = len(self._numbers)
        # One column for each field of Severity, in its order.
        self._severity = np.full((n, 5), np.nan)
        self._found, self._predicted = np.full(n, -1), np.full(n, -1)
        self._before, self._after, self._seconds = (np.full(n, np.nan) for _ in range(3))
        self._calls, self._first_calls = (np.zeros(n, dtype=np.int64) for _ in range(2))
        self._played, self._skipped = (np.zeros(n, dtype=bool) for _ in range(2))
        labels = dataset.labels
        if labels is None:
            self._true = np.full(n, -1)
        else:
            self._true = np.asarray(labels)[self._numbers].astype(np.int64)
        self._pictures: np.ndarray | None = None
        self._worst: list[tuple[float, int, np.ndarray, np.ndarray]] = []

    def play(self, place: int) -> Iterator[float]:
        """Plays one game; yields how much of its calls are used."""
        image = inputs(self._classifier, self._dataset, [place])[0]
        # By the number among all images: a game is the same in a part and in the whole.
        params = self._params.model_copy(update={"seed": self._params.seed + self._first + place})
        # Nothing to play for: with 0 pixels it would pull the median down.
        if self._target >= 0 and self._already(place, image):
            return
        match = Match(self._classifier, image, params, self._looks)
        for _ in match:
            yield min(1.0, match.oracle.calls / params.max_calls)
        self._keep(place, match)
        yield 1.0

    def _already(self, place: int, image: np.ndarray) -> bool:
        """Leaves out an image that has the target class.

        The one call this takes is counted with the game's.
        """
        # On the image as the game would see it, rounded to 8 bits.
        scores = (
            self._classifier.infer(rounded(image)[None] / np.float32(255)).double().cpu().numpy()[0]
        )
        if int(scores.argmax()) != self._target:
            return False
        self._predicted[place], self._before[place] = (
            self._target,
            probabilities(scores)[self._target],
        )
        self._calls[place], self._played[place], self._skipped[place] = self._looks, True, True
        return True

    def _keep(self, place: int, match: Match) -> None:
        image = match.rounded.astype(np.float32) / np.float32(255)
        outcome: Outcome | None = best_outcome(match.outcomes, self._params.norm)
        last = match.outcomes[-1]
        self._played[place], self._predicted[place] = True, match.oracle.original
        self._before[place] = probabilities(match.oracle.start)[match.oracle.original]
        self._calls[place] = self._looks + match.oracle.calls
        self._first_calls[place], self._seconds[place] = last.first_calls, last.seconds
        if outcome is None:
            example = image
        else:
            example = example_of(image, outcome)
        if outcome is not None:
            self._severity[place] = dataclasses.astuple(outcome.severity)
            self._found[place], self._after[place] = (
                outcome.found_class,
                outcome.confidence[outcome.found_class],
            )
            # Only the worst keep their images: N of them would be N times two images.
            ranked = [*self._worst, (outcome.severity.by(self._params.norm), place, image, example)]
            # By severity and place only: the arrays behind them cannot be compared.
            self._worst = sorted(ranked, key=lambda item: item[:2])[:MOST_FINDINGS]
        pair = np.stack([_small(image), _small(example)])
        if self._pictures is None:
            # Made with the first game: before it the size of a small picture is not known.
            self._pictures = np.zeros((self.count, *pair.shape), dtype=np.uint8)
        self._pictures[place] = pair

    def step(self, done: int, share: float) -> Step[FeatureGameBatchResult]:
        """The complete picture now."""
        calls = self._params.max_calls
        return Step(done * calls + int(share * calls), self.count * calls, self.result())

    def result(self) -> FeatureGameBatchResult:
        """The games so far."""
        mean, median = _middle(self._severity[:, COLUMN[self._params.norm]])
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
            first_calls=self._first_calls.copy(),
            seconds=self._seconds.copy(),
            played=self._played.copy(),
            skipped=self._skipped.copy(),
            keys=tuple(self._dataset.keys()),
            numbers=self._numbers,
            thumbnails=(
                np.zeros((self.count, 2, 1, 1, 3), dtype=np.uint8)
                if self._pictures is None
                else self._pictures.copy()
            ),
            worst=np.array([place for _, place, _, _ in self._worst], dtype=np.int64),
            worst_inputs=(
                np.stack([image for _, _, image, _ in self._worst]) if self._worst else blank
            ),
            worst_examples=(
                np.stack([example for _, _, _, example in self._worst]) if self._worst else blank
            ),
            mean=mean,
            median=median,
            target=self._target,
            model_calls=int(self._calls.sum()),
            labels=tuple(self._classifier.labels),
            dataset=self._dataset.name,
            available=self._available,
        )


def _middle(severity: np.ndarray) -> tuple[float, float]:
    """Mean and median of the known severities; nan without any."""
    known = severity[np.isfinite(severity)]
    if len(known):
        return (float(known.mean()), float(np.median(known)))
    return (float("nan"), float("nan"))


def _stacked(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """The small pictures of all parts.

    Those of a part without a game are blank and get the size of the others.
    """
    # Blank pictures have a side of 1, so the largest size is that of real ones.
    size = max((part.shape[1:] for part in pictures), key=lambda shape: shape[1:3])
    return np.concatenate(
        [
            part if part.shape[1:] == size else np.zeros((len(part), *size), dtype=np.uint8)
            for part in pictures
        ]
    )


def _small(image: np.ndarray) -> np.ndarray:
    """A small picture; every second, third, … pixel of a large image."""
    step = -(-max(image.shape[1:]) // _THUMBNAIL)
    return picture_of(image[:, ::step, ::step], "image")
