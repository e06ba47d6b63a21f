"""The engine: a few pictures at a time, in every corruption and severity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.corruptions.kinds import KINDS, corrupt
from robgui.analyses.corruptions.params import CorruptionsParams, picture_seed
from robgui.analyses.corruptions.result import CorruptionsResult, Example
from robgui.core.dataset import Dataset, align, inputs, match
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_device, to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

if TYPE_CHECKING:
    from robgui.core.execution.loaded_cache import LoadedCache

#: Pictures corrupted together; few, so the first full picture comes early.
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


def corrupted(
    shelf: LoadedCache, x: np.ndarray, kind: str, severity: int, seeds: list[int]
) -> np.ndarray:
    """Pictures ``(n, c, h, w)`` corrupted as in a run; a question, see ``Method.questions``."""
    return corrupt(torch.from_numpy(x).float(), kind, severity, seeds).numpy()


@dataclass(frozen=True)
class _Batch:
    """Some pictures for one model, on the host and on its device."""

    number: int
    places: list[int]
    here: Tensor
    there: Tensor


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
        # Pictures whose label every model knows: all are judged on the same ones.
        common = sorted(set.intersection(*(set(one.tolist()) for one in known)))
        if not common:
            raise DataError(
                f"{dataset.name} has no labels that {first.name} knows, so accuracy cannot be"
                " counted; open data with labels, or name the classes in the settings of the data."
            )
        self._labels = [one for one in labels if one is not None]
        # Random order: a run stopped early has a fair sample.
        order = np.random.default_rng(params.seed).permutation(np.asarray(common))
        if params.most:
            self._places = order[: params.most]
        else:
            self._places = order
        self.total, self._labelled = len(self._places), len(common)
        self.done = 0
        self._kinds = params.seen(first.shape[0])
        if not self._kinds:
            raise DataError(
                f"{first.name} sees no colours, so {', '.join(params.kinds)} changes nothing;"
                " choose other kinds."
            )
        self._classifiers, self._params = classifiers, params
        self._before = sum(one.calls for one in classifiers)
        self._taken: list[int] = []
        self._clean: list[np.ndarray] = []
        self._right: list[np.ndarray] = []
        self._examples: list[Example] = []

    def take(self, wanted: range, pace: Pace) -> Iterator[Step[CorruptionsResult]]:
        """Corrupts these pictures in every way and asks every model."""
        places = [int(place) for place in self._places[wanted.start : wanted.stop]]
        # Left out for every model if one file cannot be read: all are judged on the same pictures.
        places, _ = self._data[0].readable(places, self._classifiers[0].shape)
        if not places:
            return
        clean, right = [], []
        for number, classifier in enumerate(self._classifiers):
            # For each model anew: two models may take different sizes.
            given = torch.from_numpy(inputs(classifier, self._data[number], places)).float()
            batch = _Batch(number, places, given, classifier.tensor(given))
            # The clean pictures first: they are row 0 below.
            asked = [self._answers(classifier, batch.there)]
            # Answers stay on the device until all ways are asked, and are read once.
            for kind, severity in self._ways():
                asked.append(self._answers(classifier, self._corrupted(batch, kind, severity)))
                # Not before the first eight pictures are known in every way.
                if pace.due() and self.done:
                    yield self.step()
            own, answers = self._read(batch, asked)
            clean.append(own)
            # (kinds, severities, pictures).
            right.append(answers.reshape(len(self._kinds), -1, len(places)))
        self._clean.append(np.stack(clean))
        self._right.append(np.stack(right))
        self._taken += places
        self.done += len(places)

    def _ways(self) -> Iterator[tuple[int, int]]:
        """Every kind, by its number, with every severity."""
        return product(range(len(self._kinds)), self._params.severities)

    def _corrupted(self, batch: _Batch, kind: int, severity: int) -> Tensor:
        """The pictures of a batch under one corruption, on the device of its model."""
        name = self._kinds[kind]
        seed = self._params.seed
        # Seeds depend on the picture's place in the data, not on its place in the batch.
        seeds = [picture_seed(seed, name, severity, place) for place in batch.places]
        # Where it is made anyway, so the pictures are not sent to the device and back first.
        if KINDS[name].on_host:
            x = batch.here
        else:
            x = batch.there
        return to_device(corrupt(x, name, severity, seeds), batch.there.device)

    def _answers(self, classifier: Classifier, x: Tensor) -> tuple[Tensor, Tensor]:
        """Confidence and class of each picture, still on the device."""
        confidence, predicted = classifier.probs(x, batch=self._params.batch).max(1)
        return confidence, predicted

    def _read(
        self, batch: _Batch, asked: list[tuple[Tensor, Tensor]]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which answers are right without and with every corruption, in one read."""
        told = to_host(*(each for pair in asked for each in pair))
        confidence, predicted = np.stack(told[::2]), np.stack(told[1::2])
        right = predicted == self._labels[batch.number][batch.places]
        for way, (kind, severity) in enumerate(self._ways(), 1):
            # Row 0 is the clean picture: only answers that were right can turn.
            turned = np.flatnonzero(right[0] & ~right[way])
            for row in turned.tolist():
                answer = int(predicted[way, row]), float(confidence[way, row])
                self._keep(batch, row, kind, severity, answer)
        # Here, while the batch is at hand; a later batch would have to read the files again.
        self._draw(batch)
        return right[0], right[1:]

    def _keep(
        self, batch: _Batch, row: int, kind: int, severity: int, answer: tuple[int, float]
    ) -> None:
        """Keeps an answer turned by a weaker corruption than those kept."""
        place, (predicted, confidence) = batch.places[row], answer
        rank = (severity, -confidence)
        # Weakest corruption first, then the surest wrong answer.
        kept = [(one.severity, -one.confidence) for one in self._examples]
        if len(kept) == _EXAMPLES and rank >= kept[-1]:
            return
        same = [one for one in self._examples if one.place == place]
        # One example per picture, the weakest corruption that turns it.
        if any((one.severity, -one.confidence) <= rank for one in same):
            return
        truth = int(self._labels[batch.number][place])
        example = Example(
            batch.number,
            place,
            self._data[0].key(place),
            kind,
            severity,
            truth,
            predicted,
            confidence,
            # Pictures follow in ``_draw``: most candidates are pushed
            # out by weaker ones before that.
            *(np.empty(0) for _ in range(3)),
        )
        others = [one for one in self._examples if one.place != place]
        ranked = sorted([*others, example], key=lambda one: (one.severity, -one.confidence))
        self._examples = ranked[:_EXAMPLES]

    def _draw(self, batch: _Batch) -> None:
        """Makes the pictures of new examples, and reads them in one go."""
        new = [at for at, one in enumerate(self._examples) if not one.before.size]
        rows = [batch.places.index(self._examples[at].place) for at in new]
        corrupted = [
            self._corrupted(batch, self._examples[at].kind, self._examples[at].severity)[row]
            for at, row in zip(new, rows, strict=True)
        ]
        for at, row, after in zip(new, rows, to_host(*corrupted), strict=True):
            self._examples[at] = replace(
                self._examples[at],
                before=picture_of(batch.here[row].numpy(), "image"),
                after=picture_of(after, "image"),
                input=after.astype(np.float32),
            )

    def step(self) -> Step[CorruptionsResult]:
        """Everything so far."""
        return Step(self.done, self.total, self._result())

    def _result(self) -> CorruptionsResult:
        shape = len(self._classifiers), len(self._kinds), len(self._params.severities)
        # Gives the shape before the first batch, when there is nothing to join.
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
