"""Space: the varied parameters of a scene, and a network's scores over them.

f(u) = softmax score of class z on the image that the scene makes from u (equation 1 of the paper).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.choosing import class_of
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.params import IMAGE, SpaceParams
from robgui.analyses.semantic.regions.params import Gradient, RegionsParams
from robgui.analyses.semantic.scene.axes import varied
from robgui.analyses.semantic.scene.own_class import own_class
from robgui.analyses.semantic.scene.scene import Scene, SceneAxis
from robgui.analyses.semantic.scene.scenes import open_scene
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.dataset import Dataset, align, inputs
from robgui.core.devices import to_device, to_host
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST

if TYPE_CHECKING:
    from robgui.analyses.semantic.domain.params import OperatingDomainParams

#: Most images made at once; rendering takes longer than transforming, and a stop is answered after
#: one batch.
_RENDERED, _TRANSFORMED = 64, 1024
#: Memory of a gradient, in multiples of that of a score.
_GRADIENT_MEMORY = 4

Pauses = Generator[None, None, tuple[Tensor, Tensor]]


class Space:
    """The varied parameters of one scene as one network sees it.

    Points ``(m, n)`` are in the units of the axes. They and their scores are few numbers that
    decide what is asked next, so they stay on the host; images are made and seen on the device.

    Attributes:
        scene: The scene.
        classifier: The network.
        axes: The n parameters that vary, with the ranges used.
        values: ``(len(scene.axes),)`` where all parameters stand; the varied ones are overwritten.
        spec: What the scene was opened from.
        low: ``(n,)`` where the ranges begin.
        high: ``(n,)`` where they end.
    """

    def __init__(
        self,
        scene: Scene,
        classifier: Classifier,
        axes: Sequence[SceneAxis],
        values: np.ndarray,
        spec: str,
    ) -> None:
        self.scene, self.classifier, self.axes, self.values, self.spec = (
            scene,
            classifier,
            tuple(axes),
            values,
            spec,
        )
        self.low, self.high = (
            torch.tensor(
                [getattr(axis, end) for axis in self.axes], dtype=torch.float64, device=HOST
            )
            for end in ("low", "high")
        )
        self._usual = torch.tensor([axis.default for axis in scene.axes], device=HOST)
        self._columns = [find_axis(scene, axis.name)[0] for axis in self.axes]
        self._base = torch.tensor(values, dtype=torch.float32, device=HOST)

    @property
    def name(self) -> str:
        """What to call the scene."""
        return self.scene.name

    @property
    def periodic(self) -> list[bool]:
        """Which of the varied parameters are periodic."""
        return [axis.periodic for axis in self.axes]

    @property
    def middle(self) -> Tensor:
        """``(n,)`` the usual value of every varied parameter, clamped to its range."""
        usual = torch.tensor([axis.default for axis in self.axes], dtype=torch.float64, device=HOST)
        return usual.clamp(self.low, self.high)

    def chosen_gradient(self, wanted: Gradient) -> Gradient:
        """Differences or autograd; a network without gradients has only differences."""
        able = self.classifier.capabilities.gradients
        if wanted == "autograd" and not able:
            reason = self.classifier.capabilities.reason
            raise ModelError(
                f"gradient = autograd: {self.classifier.name} has no gradients ({reason}); choose"
                " differences."
            )
        if wanted != "auto":
            return wanted
        if able and self.scene.exact_gradient:
            return "autograd"
        return "differences"

    def wrapped(self, points: Tensor) -> Tensor:
        """Points brought into the ranges: around on periodic axes, to the nearest end on others."""
        width = self.high - self.low
        around = self.low + (points - self.low).remainder(width)
        inside = (points >= self.low) & (points <= self.high)
        turns = torch.tensor(self.periodic, device=points.device)
        return torch.where(
            inside, points, torch.where(turns, around, points.clamp(self.low, self.high))
        )

    def full(self, points: Tensor) -> Tensor:
        """Values ``(m, len(scene.axes))`` of all parameters, the varied ones from ``points``."""
        columns = list(self._base.expand(len(points), -1).unbind(1))
        for place, column in enumerate(self._columns):
            columns[column] = points[:, place].float()
        return torch.stack(columns, 1)

    def images(self, points: Tensor) -> Tensor:
        """What the network sees ``(m, c, h, w)``, without gradient, in batches, on its device."""
        size = self.batch_size(0)
        with torch.no_grad():
            parts = [
                self.scene.images(*self._there(points[i : i + size]))
                for i in range(0, len(points), size)
            ]
        if parts:
            return torch.cat(parts)
        return torch.zeros((0, *self.classifier.shape), device=self.classifier.device)

    def probs(self, points: Tensor, batch: int = 0) -> Generator[None, None, Tensor]:
        """Scores of all classes ``(m, classes)``; yields after every batch but the last."""
        size = self.batch_size(batch)
        parts = [torch.zeros((0, self.classifier.classes), device=HOST)]
        for start in range(0, len(points), size):
            if start:
                yield
            with torch.no_grad():
                images = self.scene.images(*self._there(points[start : start + size]))
            (shares,) = to_host(self._shares(self.classifier.infer(images)))
            parts.append(torch.from_numpy(shares))
        return torch.cat(parts)

    def scores(self, points: Tensor, target: int, batch: int = 0) -> Pauses:
        """Score of a class ``(m,)`` and the top class ``(m,)``.

        Yields after every batch but the last.
        """
        shares = yield from self.probs(points, batch)
        return shares[:, target].contiguous(), shares.argmax(1)

    def slopes(self, points: Tensor, target: int, batch: int = 0) -> Pauses:
        """Score of a class ``(m,)`` and its gradient ``(m, n)`` by autograd.

        Yields after every batch but the last.
        """
        size = max(1, self.batch_size(batch) // _GRADIENT_MEMORY)
        scores, gradients = (
            [torch.zeros(0, device=HOST)],
            [points.new_zeros((0, points.shape[1]))],
        )
        for start in range(0, len(points), size):
            if start:
                yield
            with torch.enable_grad():
                values, moved = self._there(points[start : start + size].detach())
                values.requires_grad_()
                logits = self.classifier.logits(self.scene.images(values, moved))
                shares = self._shares(logits)[:, target]
                (slope,) = torch.autograd.grad(shares.sum(), values)
            score, steepness = map(torch.from_numpy, to_host(shares, slope))
            scores.append(score)
            gradients.append(steepness[:, self._columns].to(points.dtype))
        return torch.cat(scores), torch.cat(gradients)

    def _there(self, points: Tensor) -> tuple[Tensor, list[bool]]:
        """Values of all parameters on the device, and which of them are not at their usual value.

        The host knows it without asking the device.
        """
        values = self.full(points)
        moved = (values != self._usual).any(0).tolist()
        return to_device(values, self.classifier.device), moved

    def _shares(self, logits: Tensor) -> Tensor:
        if self.classifier.settings.multi_label:
            return logits.sigmoid()
        return logits.softmax(1)

    def batch_size(self, wanted: int) -> int:
        """Pictures made and seen together; rendering takes longer than transforming."""
        return min(
            self.classifier.batch(wanted), _TRANSFORMED if self.scene.exact_gradient else _RENDERED
        )


def scene_of(
    params: MapParams | RegionsParams | SrvrParams,
    classifier: Classifier,
    dataset: Dataset | None = None,
    shape: int = 0,
) -> Space:
    """The space that a run with these settings examines; ``shape`` counts the scenes and inputs."""
    spec, place = shapes_of(params.scenes, dataset)[shape]
    return open_space(spec, classifier, _one(dataset, place), params)


def open_spaces(
    classifiers: Sequence[Classifier], dataset: Dataset | None, params: MapParams | SrvrParams
) -> list[list[Space]]:
    """One space for every network and shape."""
    classes = {classifier.classes for classifier in classifiers}
    if len(classes) > 1:
        raise ModelError(
            f"The models have {' and '.join(str(c) for c in sorted(classes))} classes; compare"
            " models of the same classes."
        )
    shapes = shapes_of(params.scenes, dataset)
    return [
        [open_space(spec, classifier, _one(dataset, place), params) for spec, place in shapes]
        for classifier in classifiers
    ]


def shapes_of(scenes: Sequence[str], dataset: Dataset | None) -> list[tuple[str, int | None]]:
    """Every scene with the place of its input; an image scene is one shape for each input."""
    shapes: list[tuple[str, int | None]] = []
    for spec in scenes:
        if spec != IMAGE:
            shapes.append((spec, None))
        elif dataset is None or not len(dataset):
            raise DataError(
                "The scene image needs an input to transform; choose one in the gallery or with"
                " --index, or choose a mesh."
            )
        else:
            shapes += [(spec, place) for place in range(len(dataset))]
    return shapes


def open_space(
    spec: str, classifier: Classifier, dataset: Dataset | None, params: SpaceParams
) -> Space:
    """Opens a scene and finds the axes, ranges and values that the settings name."""
    scene = open_scene(spec, classifier, dataset, params.seed, params.up)
    for name in (*params.axes, *params.ranges, *params.fixed):
        find_axis(scene, name)
    axes = varied(scene.axes, params, spec)
    values = np.array(
        [_placed(axis, params.fixed.get(axis.name, axis.default)) for axis in scene.axes]
    )
    return Space(scene, classifier, axes, values, spec)


class ScoredClass(NamedTuple):
    """The class whose score is looked at.

    Attributes:
        number: Which; -1 for a mesh of another name, which must be looked at first.
        seen: The class that the network gives the input as it is; -1 where that was not asked.
    """

    number: int
    seen: int = -1


def target_classes(
    classifier: Classifier,
    dataset: Dataset | None,
    params: MapParams | RegionsParams | SrvrParams | OperatingDomainParams,
) -> list[ScoredClass]:
    """For every shape: the class asked for, that of its input's label, or that of its name.

    An input without a label has the class predicted for it.
    """
    shapes = shapes_of(params.scenes, dataset)
    if params.target:
        return [ScoredClass(class_of(params.target, classifier.labels))] * len(shapes)
    targets = [ScoredClass(-1)] * len(shapes)
    for shape, (spec, place) in enumerate(shapes):
        if place is None:
            targets[shape] = ScoredClass(own_class(spec, classifier.labels))
        elif dataset is not None:
            targets[shape] = _class_of_input(classifier, dataset, place)
    return targets


def _class_of_input(classifier: Classifier, dataset: Dataset, place: int) -> ScoredClass:
    """By its label where it has one: a pose where a wrong answer survives is no success."""
    labels = align(classifier, dataset).labels
    # The call is made either way, so that a run costs what was announced for it.
    predicted = int(classifier.infer(inputs(classifier, dataset, [place])).argmax())
    if labels is None or not 0 <= int(labels[place]) < classifier.classes:
        return ScoredClass(predicted, predicted)
    return ScoredClass(int(labels[place]), predicted)


def find_axis(scene: Scene, name: str) -> tuple[int, SceneAxis]:
    """Place and description of the parameter called ``name``."""
    for place, axis in enumerate(scene.axes):
        if axis.name == name:
            return place, axis
    known = ", ".join(axis.name for axis in scene.axes)
    raise ParamsError(
        f"The scene {scene.name} has no parameter {name!r}; its parameters are: {known}."
    )


def usual_class(tops: Tensor, shares: Tensor) -> int:
    """The most frequent top class ``(m,)``.

    Ties go to the highest mean score ``(m, classes)``.
    """
    counts = torch.bincount(tops, minlength=shares.shape[1])
    return int((counts + shares.mean(0)).argmax())


def _placed(axis: SceneAxis, value: float) -> float:
    if not axis.periodic and not axis.low <= value <= axis.high:
        allowed = f"{axis.low:g} to {axis.high:g} {axis.unit}".rstrip()
        raise ParamsError(
            f"fixed: {axis.name} = {value:g} is outside {allowed}; choose a value inside."
        )
    return float(value)


def _one(dataset: Dataset | None, place: int | None) -> Dataset | None:
    if dataset is None or place is None:
        return None
    return dataset.subset([place])
