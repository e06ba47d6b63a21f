"""The engine: one pass over the labelled inputs in random order, then what needs all of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.accuracy import neighbours, slices
from robgui.analyses.accuracy.params import AccuracyParams
from robgui.analyses.accuracy.result import AccuracyResult, Compared, Shown
from robgui.core.dataset import Dataset, align, batches, match
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Mistakes and doubtful labels kept with their pictures.
_KEPT = 12


def accuracy(
    classifier: Classifier, dataset: Dataset, params: AccuracyParams
) -> Iterator[Step[AccuracyResult]]:
    """Counts right and wrong answers; every Step holds a random sample of the labelled inputs."""
    # Before anything is computed: a missing library should not end a run of minutes.
    neighbours.check_layout(params.layout)
    classifier = match(classifier, dataset)
    if classifier.settings.multi_label:
        raise ModelError(
            f"{classifier.name} gives several classes at once, and accuracy counts one; look at it"
            " with DeepInspect."
        )
    fitting = align(classifier, dataset)
    count = _Count(classifier, fitting, params)
    pace = Pace()
    for places, x in batches(classifier, count.chosen, params.batch):
        count.take(np.asarray(places), x)
        if pace.due() and count.seen < count.total:
            yield Step(count.seen, count.total, count.result())
    if not count.seen:
        raise DataError(f"No labelled input of {dataset.name} can be read; choose other data.")
    # Inputs that could not be read do not count.
    count.total = count.seen
    yield Step(count.seen, count.total, count.result())
    # After a Step with all counts: comparing takes seconds, and
    # nobody should wait for the numbers.
    count.compare()
    yield Step(count.total, count.total, count.result())


class _Count:
    """The counts so far."""

    def __init__(self, classifier: Classifier, dataset: Dataset, params: AccuracyParams) -> None:
        labels = dataset.labels
        if labels is None:
            known = np.empty(0, np.int64)
        else:
            known = np.flatnonzero(labels >= 0)
        if labels is None or not len(known):
            raise DataError(
                f"{dataset.name} has no labels that {classifier.name} knows, so how often it is"
                " right is unknown; open data with labels, or name the classes in the settings"
                " of the data."
            )
        # In random order: half-way, what was seen is a sample of the whole.
        order = np.random.default_rng(params.seed).permutation(known)
        if params.most:
            self._places = order[: params.most]
        else:
            self._places = order
        self.chosen = dataset.subset(self._places)
        self.total, self.labelled = len(self._places), len(known)
        # (total,) in the order of asking; every row number below counts in this order.
        self._truth = labels[self._places]
        self._classifier, self._params = classifier, params
        self._before = classifier.calls
        self._rows: list[np.ndarray] = []
        self._predicted: list[np.ndarray] = []
        self._confidence: list[np.ndarray] = []
        self._measures: list[np.ndarray] = []
        self._features: list[Tensor] = []
        self._small: list[Tensor] = []
        self._layer = ""
        self._mistakes: list[Shown] = []
        self._compared = Compared()

    @property
    def seen(self) -> int:
        """How many inputs were counted."""
        return sum(map(len, self._rows))

    def take(self, rows: np.ndarray, x: np.ndarray) -> None:
        """Asks the model about these inputs and keeps its answers."""
        inputs = self._classifier.tensor(x)
        # The order is random, so the first inputs are a random sample to compare.
        wanted = max(0, min(len(rows), self._params.compared - self.seen))
        probabilities = self._probabilities(inputs, wanted)
        confidence, predicted = to_host(*probabilities.max(1))
        self._keep_mistakes(rows, x, predicted, confidence)
        self._measures.append(slices.measures(x, self._classifier.kind))
        self._rows.append(rows)
        self._predicted.append(predicted)
        self._confidence.append(confidence)

    def _probabilities(self, inputs: Tensor, wanted: int) -> Tensor:
        """Probabilities of all inputs and, in the same call, features of the first ``wanted``."""
        if not wanted:
            return self._classifier.probs(inputs, batch=self._params.batch)
        scores, features = self._scores_and_features(inputs)
        self._features.append(features[:wanted].float())
        # Reduced now: the full pictures are not kept.
        self._small.append(neighbours.reduced(inputs[:wanted], self._classifier.kind))
        return scores.softmax(1)

    def _scores_and_features(self, inputs: Tensor) -> tuple[Tensor, Tensor]:
        """The layer before the last one if the model shows it, else the scores themselves."""
        if self._classifier.capabilities.activations:
            scores, layers = self._activations(inputs)
            # One row per input: layers over patches or tokens cannot be assigned.
            fitting = [name for name, layer in layers.items() if len(layer) == len(inputs)]
            if len(fitting) > 1:
                # The last layer gives the scores; the one before holds the features that they
                # weigh.
                self._layer = f"layer {fitting[-2]}"
                return scores, layers[fitting[-2]]
        else:
            scores = self._classifier.infer(inputs, batch=self._params.batch)
        self._layer = "the scores of the classes"
        return scores, scores

    def _activations(self, inputs: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
        """Scores and layers; a batch that does not fit into memory is halved."""
        try:
            return self._classifier.activations(inputs, _per_channel)
        except MemoryError:
            if len(inputs) == 1:
                raise ModelError(
                    f"{self._classifier.name}: not enough memory for a single input on"
                    f" {self._classifier.device}."
                ) from None
        half = len(inputs) // 2
        # Outside the except block, where the failed call's tensors would still be referenced.
        parts = [self._activations(part) for part in (inputs[:half], inputs[half:])]
        layers = {name: torch.cat([one[1][name] for one in parts]) for name in parts[0][1]}
        return torch.cat([scores for scores, _ in parts]), layers

    def _keep_mistakes(
        self, rows: np.ndarray, x: np.ndarray, predicted: np.ndarray, confidence: np.ndarray
    ) -> None:
        """Keeps the wrong answers that the model is surest of."""
        wrong = np.flatnonzero(predicted != self._truth[rows])
        best = wrong[np.argsort(-confidence[wrong], kind="stable")][:_KEPT]
        found = [
            self._shown(int(rows[at]), x[at], int(predicted[at]), float(confidence[at]))
            for at in best.tolist()
        ]
        # At most twice _KEPT at a time, so pictures of other mistakes are let go at once.
        ranked = sorted([*self._mistakes, *found], key=lambda one: -one.confidence)
        self._mistakes = ranked[:_KEPT]

    def _shown(self, row: int, x: np.ndarray, predicted: int, confidence: float) -> Shown:
        return Shown(
            int(self._places[row]),
            self.chosen.key(row),
            int(self._truth[row]),
            predicted,
            confidence,
            picture_of(x, self._classifier.kind),
            np.asarray(x, dtype=np.float32),
        )

    def compare(self) -> None:
        """What needs all inputs: slices, the map, labels to check, near-duplicates."""
        rows, kind = np.concatenate(self._rows), self._classifier.kind
        predicted = np.concatenate(self._predicted)
        names = slices.measure_names(kind, self.chosen.features, self._classifier.shape[-1])
        keys = [self.chosen.key(int(row)) for row in rows]
        truth = self._truth[rows]
        weak, tried = slices.weak_slices(
            np.concatenate(self._measures), names, keys, predicted == truth, truth
        )
        self._compared = Compared(weak, tried)
        # With fewer, some input would not have enough neighbours to ask.
        if self._features and sum(map(len, self._features)) > neighbours.ASKED:
            self._compare_features(rows, predicted)

    def _compare_features(self, rows: np.ndarray, predicted: np.ndarray) -> None:
        features, small = torch.cat(self._features), torch.cat(self._small)
        mapped = rows[: len(features)]
        rows_near = neighbours.nearest(features)
        # Compared on the device; only places and a few numbers of each input come back.
        near, same, main = to_host(
            rows_near,
            neighbours.alike(rows_near, small, self._classifier.kind),
            neighbours.main_parts(features),
        )
        doubtful = neighbours.doubtful(near, self._truth[mapped], predicted[: len(mapped)])
        self._compared = replace(
            self._compared,
            features=self._layer,
            spots=neighbours.laid_out(main, self._params.layout, self._params.seed),
            twins=neighbours.twins(near, same),
            suspects=self._suspects(rows, np.flatnonzero(doubtful), predicted),
            doubtful=int(doubtful.sum()),
        )

    def _suspects(
        self, rows: np.ndarray, doubtful: np.ndarray, predicted: np.ndarray
    ) -> tuple[Shown, ...]:
        """The doubtful labels, those most surely contradicted by the model first."""
        confidence = np.concatenate(self._confidence)
        best = doubtful[np.argsort(-confidence[doubtful], kind="stable")][:_KEPT]
        wanted = self.chosen.subset(rows[best])
        found: dict[int, np.ndarray] = {}
        # Read again: keeping every picture until the end would hold the whole dataset in memory.
        for places, x in batches(self._classifier, wanted, self._params.batch):
            found |= dict(zip(places, x, strict=True))
        return tuple(
            self._shown(int(rows[row]), found[at], int(predicted[row]), float(confidence[row]))
            for at, row in enumerate(best.tolist())
            # A file may have become unreadable since.
            if at in found
        )

    def result(self) -> AccuracyResult:
        """Everything so far."""
        rows = np.concatenate([np.empty(0, np.int64), *self._rows])
        return AccuracyResult(
            places=self._places[rows],
            truth=self._truth[rows],
            predicted=np.concatenate([np.empty(0, np.int64), *self._predicted]),
            confidence=np.concatenate([np.empty(0, np.float32), *self._confidence]),
            classes=tuple(self._classifier.labels),
            dataset=self.chosen.name,
            total=self.total,
            labelled=self.labelled,
            mistakes=tuple(self._mistakes),
            compared=self._compared,
            model_calls=self._classifier.calls - self._before,
        )


def _per_channel(output: Tensor) -> Tensor:
    """One number per channel or unit of a layer."""
    if output.ndim == 4:
        return output.mean((2, 3))
    if output.ndim == 2:
        return output
    return output.flatten(1, -2).mean(1)
