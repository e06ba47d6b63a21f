"""The engine: a few pictures at a time, in every corruption and severity."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence

import numpy as np
from torch import Tensor

from robgui.analyses.corruptions.kinds import KINDS, corrupt
from robgui.analyses.corruptions.params import NAMES, CorruptionsParams
from robgui.analyses.corruptions.result import CorruptionsResult, Example
from robgui.core.dataset import Dataset, align, inputs, match
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.analysis import Pace, Step
from robgui.core.model.classifier import Classifier

#: Pictures that are corrupted together; few, so that the first full picture comes early.
_TOGETHER = 8
#: Examples that are kept.
_EXAMPLES = 8


def corruptions(
    classifiers: Sequence[Classifier], dataset: Dataset, params: CorruptionsParams
) -> Iterator[Step[CorruptionsResult]]:
    """Asks every model about the same corrupted pictures; each Step has all corruptions."""
    trial = _Trial([match(one, dataset) for one in classifiers], dataset, params)
    pace = Pace()
    for start in range(0, trial.total, _TOGETHER):
        yield from trial.take(range(start, min(start + _TOGETHER, trial.total)), pace)
    if not trial.done:
        raise DataError(f"No labelled picture of {dataset.name} can be read; choose other data.")
    trial.total = trial.done
    yield trial.step()


class _Trial:
    """The answers so far."""

    def __init__(
        self, classifiers: list[Classifier], dataset: Dataset, params: CorruptionsParams
    ) -> None:
        first = classifiers[0]
        for other in classifiers:
            if other.settings.multi_label:
                raise ModelError(
                    f"{other.name} gives several classes at once, and corruptions count one right"
                    " answer; look at it with DeepInspect."
                )
        self._data = [align(one, dataset) for one in classifiers]
        labels = [one.labels for one in self._data]
        known = [
            np.empty(0, np.int64) if one is None else np.flatnonzero(one >= 0) for one in labels
        ]
        common = sorted(set.intersection(*(set(one.tolist()) for one in known)))
        if not common:
            raise DataError(
                f"{dataset.name} has no labels that {first.name} knows, so accuracy cannot be"
                " counted; open data with labels, or name the classes in the settings of the data."
            )
        self._labels = [one for one in labels if one is not None]
        order = np.random.default_rng(params.seed).permutation(np.asarray(common))
        self._places = order[: params.most] if params.most else order
        self.total, self._labelled = len(self._places), len(common)
        self.done = 0
        self._kinds = params.kinds or NAMES
        self._classifiers, self._params = classifiers, params
        self._before = sum(one.calls for one in classifiers)
        self._taken: list[int] = []
        self._clean: list[np.ndarray] = []
        self._right: list[np.ndarray] = []
        self._examples: list[Example] = []

    def take(self, wanted: range, pace: Pace) -> Iterator[Step[CorruptionsResult]]:
        """Corrupts these pictures in every way and asks every model."""
        places = [int(place) for place in self._places[wanted.start : wanted.stop]]
        places, _ = self._data[0].readable(places, self._classifiers[0].shape)
        if not places:
            return
        shape = len(self._classifiers), len(self._kinds), len(self._params.severities)
        right = np.zeros((*shape, len(places)), dtype=bool)
        clean = np.zeros((shape[0], len(places)), dtype=bool)
        for number, classifier in enumerate(self._classifiers):
            x = classifier.tensor(inputs(classifier, self._data[number], places))
            truth = self._labels[number][places]
            clean[number] = self._answers(classifier, x)[0] == truth
            for kind in range(shape[1]):
                for at in range(shape[2]):
                    right[number, kind, at] = self._ask(number, x, places, kind, at, clean[number])
                    if pace.due() and self.done:
                        yield self.step()
        self._clean.append(clean)
        self._right.append(right)
        self._taken += places
        self.done += len(places)

    def _ask(
        self, number: int, x: Tensor, places: list[int], kind: int, at: int, clean: np.ndarray
    ) -> np.ndarray:
        """Which answers of one model stay right under one corruption."""
        classifier, severity = self._classifiers[number], self._params.severities[at]
        seeds = [self._seed(kind, severity, place) for place in places]
        changed = corrupt(x, self._kinds[kind], severity, seeds)
        predicted, confidence = self._answers(classifier, changed)
        truth = self._labels[number][places]
        self._keep(number, x, changed, places, kind, severity, clean, predicted, confidence)
        return np.asarray(predicted == truth)

    def _seed(self, kind: int, severity: int, place: int) -> int:
        """A number of its own for each picture and corruption, whatever else is asked."""
        text = f"{self._params.seed} {self._kinds[kind]} {severity} {place}"
        return zlib.crc32(text.encode())

    def _answers(self, classifier: Classifier, x: Tensor) -> tuple[np.ndarray, np.ndarray]:
        confidence, predicted = to_host(*classifier.probs(x, batch=self._params.batch).max(1))
        return predicted, confidence

    def _keep(
        self,
        number: int,
        x: Tensor,
        changed: Tensor,
        places: list[int],
        kind: int,
        severity: int,
        clean: np.ndarray,
        predicted: np.ndarray,
        confidence: np.ndarray,
    ) -> None:
        """Keeps a turned answer where a weaker corruption is enough than in those kept."""
        truth = self._labels[number][places]
        for row in np.flatnonzero(clean & (predicted != truth)).tolist():
            rank = (severity, -float(confidence[row]))
            kept = [(one.severity, -one.confidence) for one in self._examples]
            if len(kept) == _EXAMPLES and rank >= kept[-1]:
                continue
            same = [one for one in self._examples if one.place == places[row]]
            if any((one.severity, -one.confidence) <= rank for one in same):
                continue
            before, after = to_host(x[row], changed[row])
            example = Example(
                number,
                places[row],
                self._data[0].key(places[row]),
                kind,
                severity,
                int(truth[row]),
                int(predicted[row]),
                float(confidence[row]),
                picture_of(before, "image"),
                picture_of(after, "image"),
                after.astype(np.float32),
            )
            others = [one for one in self._examples if one.place != places[row]]
            ranked = sorted([*others, example], key=lambda one: (one.severity, -one.confidence))
            self._examples = ranked[:_EXAMPLES]

    def step(self) -> Step[CorruptionsResult]:
        """Everything so far."""
        return Step(self.done, self.total, self._result())

    def _result(self) -> CorruptionsResult:
        shape = len(self._classifiers), len(self._kinds), len(self._params.severities)
        empty = np.zeros((*shape, 0), dtype=bool)
        return CorruptionsResult(
            networks=tuple(one.name for one in self._classifiers),
            kinds=tuple(KINDS[name].title for name in self._kinds),
            groups=tuple(KINDS[name].group for name in self._kinds),
            severities=self._params.severities,
            clean=np.concatenate([empty[:, 0, 0], *self._clean], axis=-1),
            right=np.concatenate([empty, *self._right], axis=-1),
            places=np.asarray(self._taken, dtype=np.int64),
            classes=tuple(tuple(one.labels) for one in self._classifiers),
            dataset=self._data[0].name,
            total=self.total,
            labelled=self._labelled,
            examples=tuple(self._examples),
            model_calls=sum(one.calls for one in self._classifiers) - self._before,
        )
