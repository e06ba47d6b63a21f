"""The engine: one way after the other, for one picture or two."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.feature_game.attribution import ways
from robgui.analyses.feature_game.attribution.params import (
    AttributionParams,
    square_side,
    squares,
)
from robgui.analyses.feature_game.attribution.result import AttributionResult
from robgui.core.dataset import Dataset, align, inputs, match
from robgui.core.dataset.derived import Named
from robgui.core.dataset.formats.stacked import from_arrays
from robgui.core.dataset.picture import picture_of
from robgui.core.devices import to_host
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.asking.answering import loaded
from robgui.core.execution.step import Pace, Step
from robgui.core.model.backend import first_line
from robgui.core.model.classifier import Classifier

if TYPE_CHECKING:
    from robgui.core.execution.loaded_cache import LoadedCache


def attribution(
    classifier: Classifier, dataset: Dataset, params: AttributionParams
) -> Iterator[Step[AttributionResult]]:
    """Tells which pixels speak for a class."""
    look = _Look(match(classifier, dataset), dataset, params)
    pace = Pace()
    yield look.step()
    for _ in look.work():
        if pace.due():
            yield look.step()
    yield look.step()


def attribution_of(
    shelf: LoadedCache, model: dict[str, Any], x: np.ndarray, names: list[str], target: int
) -> AttributionResult:
    """What a loaded model looks at in pictures ``(n, *shape)``, for a class by its number.

    A question, see ``Method.questions``.
    """
    classifier = loaded(shelf, model)
    data = Dataset(Named(from_arrays(x, kind="image"), names), name="finding")
    look = _Look(classifier, data, AttributionParams(), target)
    for _ in look.work():
        continue
    return look.step().result


class _Look:
    """The heat so far."""

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset,
        params: AttributionParams,
        target: int | None = None,
    ) -> None:
        if classifier.settings.multi_label:
            raise ModelError(
                f"{classifier.name} gives several classes at once, and attribution follows one;"
                " look at an input of it with zoNNscan."
            )
        data = align(classifier, dataset)
        self._classifier, self._params = classifier, params
        self._before = classifier.calls
        given = inputs(classifier, data)
        self._names = tuple(dataset.key(place) for place in range(len(dataset)))
        self._pictures = np.stack([picture_of(one, "image") for one in given])
        self._x = classifier.tensor(given)
        probs = classifier.probs(self._x, params.batch)
        self._probs, self._predicted = to_host(probs, probs.argmax(1))
        if target is None:
            # One class for both pictures, that of the first: only then can their heat be compared.
            self._target = self._class(data)
        else:
            self._target = target
        self._cover = self._covered()
        self._patch = square_side(classifier.shape, params.patch)
        possible, lacking = ways.possible(classifier, self._x[:1])
        self._missing = list(lacking)
        self._heat: dict[str, list[Tensor | None]] = {way: [None] * len(given) for way in possible}
        self._left: list[Tensor] = []
        self._each = squares(classifier.shape, self._patch)
        self.total = len(given) * self._each
        self.done = 0

    def _class(self, data: Dataset) -> int:
        if self._params.target == "predicted":
            return int(self._predicted[0])
        if data.labels is None:
            label = -1
        else:
            label = int(data.labels[0])
        if label < 0:
            raise DataError(f"{self._names[0]} has no label; ask for what is predicted instead.")
        return label

    def _covered(self) -> Tensor:
        if self._params.cover == "mean":
            return self._x.mean((2, 3), keepdim=True).expand_as(self._x)
        return torch.full_like(self._x, 0.5 if self._params.cover == "grey" else 0.0)

    def work(self) -> Iterator[None]:
        """All ways for all pictures; covering goes first, because every model allows it."""
        classifier, params = self._classifier, self._params
        for at in range(len(self._x)):
            x, cover = self._x[at : at + 1], self._cover[at : at + 1]
            portions = ways.covering(classifier, x, cover, self._target, self._patch, params.batch)
            for number, heat in enumerate(portions, 1):
                self._heat[ways.OCCLUSION][at] = heat
                self.done = at * self._each + min(self._each, number * ways.TOGETHER)
                yield
            try:
                yield from self._by_gradients(at, x, cover)
            except (ModelError, RuntimeError) as error:  # A layer without a derivative.
                self._missing.append(f"Its gradients cannot be computed: {first_line(error)}.")

    def _by_gradients(self, at: int, x: Tensor, cover: Tensor) -> Iterator[None]:
        if ways.GRADIENTS in self._heat:
            found, left = ways.integrated_gradients(
                self._classifier, x, cover, self._target, self._params.steps
            )
            self._heat[ways.GRADIENTS][at] = found
            self._left.append(left)
            yield
        if ways.GRAD_CAM in self._heat:
            self._heat[ways.GRAD_CAM][at] = ways.grad_cam(self._classifier, x, self._target)
            yield

    def step(self) -> Step[AttributionResult]:
        """Everything so far; missing ways are 0."""
        count, (height, width) = len(self._x), self._x.shape[2:]
        # A way that has not come yet is no row of zeros: those would mean that nothing counts.
        # The ways go through the pictures in order,
        # so the first picture tells which have begun.
        begun = {way: row for way, row in self._heat.items() if row[0] is not None}
        maps = [one for row in begun.values() for one in row if one is not None]
        # One transfer for all maps.
        told = to_host(*maps, *self._left)
        heat = np.zeros((len(begun), count, height, width), np.float32)
        places = [
            (way, at)
            for way, row in enumerate(begun.values())
            for at, one in enumerate(row)
            if one is not None
        ]
        for place, one in zip(places, told[: len(maps)], strict=True):
            heat[place] = one
        left = [float(one) for one in told[len(maps) :]]
        result = AttributionResult(
            names=self._names,
            pictures=self._pictures,
            predicted=self._predicted.astype(np.int64),
            confidence=self._probs[:, self._target].astype(np.float64),
            target=self._target,
            labels=tuple(self._classifier.labels),
            ways=tuple(begun),
            heat=heat,
            missing=tuple(dict.fromkeys(self._missing)),
            unexplained=np.array([*left, *[np.nan] * (count - len(left))]),
            patch=self._patch,
            model_calls=self._classifier.calls - self._before,
            covered=self.done,
            squares=self.total,
            explained=tuple(sum(one is not None for one in row) for row in begun.values()),
        )
        return Step(self.done, self.total, result)
