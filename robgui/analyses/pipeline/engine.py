"""The engine: a few pictures at a time, prepared in every way."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robgui.analyses.pipeline.params import PipelineParams
from robgui.analyses.pipeline.result import ChangedAnswer, PipelineResult
from robgui.analyses.pipeline.ways import Way, ways_of
from robgui.core.dataset import Dataset, align, match
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_host
from robgui.core.errors import DataError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Pictures prepared together; small, so the first answers come early.
TOGETHER = 16
#: Examples that are kept.
_EXAMPLES = 6


def pipeline_audit(
    classifier: Classifier, dataset: Dataset, params: PipelineParams
) -> Iterator[Step[PipelineResult]]:
    """Asks the model about every picture in every way of preparing it."""
    classifier = match(classifier, dataset)
    fitting = align(classifier, dataset)
    audit = _Audit(classifier, fitting, params)
    pace = Pace()
    for start in range(0, audit.total, TOGETHER):
        audit.take(range(start, min(start + TOGETHER, audit.total)))
        if pace.due() and start + TOGETHER < audit.total:
            yield Step(audit.seen, audit.total, audit.result())
    if not audit.places:
        raise DataError(f"No picture of {dataset.name} can be read; choose other data.")
    # Unreadable pictures do not count.
    audit.total = len(audit.places)
    yield Step(audit.total, audit.total, audit.result())


class _Audit:
    """The answers so far."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: PipelineParams) -> None:
        # In random order: data are often sorted by class, and an interval needs a random sample.
        order = np.random.default_rng(params.seed).permutation(len(dataset))
        self._order = order[: params.pictures]
        self.total = len(self._order)
        self.seen = 0
        self.places: list[int] = []
        self._classifier, self._dataset, self._batch = classifier, dataset, params.batch
        # None: pictures of different sizes, of which at least some are resized.
        self._resized = dataset.shape is None or dataset.shape[1:] != classifier.shape[1:]
        own, channels = classifier.settings.framing, classifier.shape[0]
        self._ways = ways_of(own, channels, self._resized, params.jpeg)
        self._views = [dataset.framed(way.framing) for way in self._ways]
        self._predicted: list[list[np.ndarray]] = [[] for _ in self._ways]
        self._confidence: list[list[np.ndarray]] = [[] for _ in self._ways]
        self._examples: list[tuple[float, ChangedAnswer]] = []
        self._before = classifier.calls

    def take(self, wanted: range) -> None:
        """Prepares these pictures in every way; unreadable ones are left out."""
        self.seen = wanted.stop
        chosen = [int(place) for place in self._order[wanted.start : wanted.stop]]
        places, own = self._dataset.readable(chosen, self._classifier.shape)
        if not places:
            return
        prepared = [
            # Read once for the model's own way; the reading already
            # told which files cannot be read.
            own if number == 0 else self._prepared(number, way, places, own)
            for number, way in enumerate(self._ways)
        ]
        # All ways are asked before any answer is read, so a device works without waiting.
        answers = to_host(*(self._classifier.probs(x, batch=self._batch) for x in prepared))
        first = answers[0].argmax(1)
        for number, (x, probabilities) in enumerate(zip(prepared, answers, strict=True)):
            best, confidence = probabilities.argmax(1), probabilities.max(1)
            self._predicted[number].append(best)
            self._confidence[number].append(confidence)
            # 0 where the answer stays: such pictures are never kept.
            self._keep_examples(number, places, own, x, np.where(best != first, confidence, 0.0))
        self.places += places

    def _prepared(self, number: int, way: Way, places: list[int], own: np.ndarray) -> np.ndarray:
        same = way.framing == self._ways[0].framing
        if same:
            x = own
        else:
            x = self._views[number].array(places, self._classifier.shape)
        return way.finish(x)

    def _keep_examples(
        self, number: int, places: list[int], own: np.ndarray, x: np.ndarray, surety: np.ndarray
    ) -> None:
        """Keeps the surest changes, one for each picture."""
        for row in np.argsort(-surety, kind="stable")[:_EXAMPLES]:
            if len(self._examples) == _EXAMPLES:
                # The list is full: only a surer change gets in.
                weakest = self._examples[-1][0]
            else:
                weakest = 0.0
            if surety[row] <= weakest:
                return
            place = places[row]
            others = [kept for kept in self._examples if kept[1].place != place]
            same = [kept for kept in self._examples if kept[1].place == place]
            example = ChangedAnswer(
                place,
                self._dataset.key(place),
                number,
                picture_of(own[row], "image"),
                picture_of(x[row], "image"),
                np.asarray(x[row], dtype=np.float32),
            )
            # Several ways may change one picture; six examples should be six pictures.
            better = max([*same, (float(surety[row]), example)], key=lambda kept: kept[0])
            ranked = sorted([*others, better], key=lambda kept: -kept[0])
            self._examples = ranked[:_EXAMPLES]

    def result(self) -> PipelineResult:
        """Everything so far."""
        truth = self._dataset.labels
        places = np.asarray(self.places, dtype=np.int64)
        return PipelineResult(
            ways=tuple(way.name for way in self._ways),
            predicted=np.stack([_joined(parts, np.int64) for parts in self._predicted]),
            confidence=np.stack([_joined(parts, np.float32) for parts in self._confidence]),
            truth=np.full(len(places), -1) if truth is None else truth[places],
            places=places,
            labels=tuple(self._classifier.labels),
            dataset=self._dataset.name,
            total=self.total,
            resized=self._resized,
            examples=tuple(example for _, example in self._examples),
            model_calls=self._classifier.calls - self._before,
            available=len(self._dataset),
        )


def _joined(parts: list[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty(0, dtype), *parts]).astype(dtype)
