"""Scores over a box whose robust regions are known, and scenes and classifiers that show them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from robgui.analyses.semantic.scene.scene import SceneAxis
from robgui.core.dataset import Dataset
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Verdict

Score = Callable[[Tensor], Tensor]

AZIMUTH = SceneAxis("azimuth", "Azimuth", "°", 0.0, 360.0, 140.0, periodic=True)
ELEVATION = SceneAxis("elevation", "Elevation", "°", -10.0, 90.0, 40.0)
LIGHT = SceneAxis("light", "Light", "", 0.0, 1.0, 0.5)
LOW, HIGH = [0.0, -10.0, 0.0], [360.0, 90.0, 100.0]
#: The plateau of the reference figures, and a third side for three dimensions.
PLATEAU = [(100.0, 180.0), (20.0, 60.0), (30.0, 70.0)]
STARTS = [[140.0, 40.0, 50.0], [120.0, 30.0, 40.0], [160.0, 50.0, 60.0], [125.0, 45.0, 60.0]]


def plateau(sides: Sequence[tuple[float, float]], soft: float = 2.0, floor: float = 0.02) -> Score:
    """1 inside the sides, ``floor`` outside, with edges that fall over about ``soft`` to each
    side.
    """

    def score(u: Tensor) -> Tensor:
        inside = torch.ones_like(u[:, 0])
        for k, (a, b) in enumerate(sides):
            inside = (
                inside * torch.sigmoid((u[:, k] - a) / soft) * torch.sigmoid((b - u[:, k]) / soft)
            )
        return floor + (1 - floor) * inside

    return score


def around_zero(u: Tensor) -> Tensor:
    """A plateau from -30 to 30 degrees of a full turn."""
    angle = (u[:, 0] + 180) % 360 - 180
    return 0.02 + 0.98 * torch.sigmoid((angle + 30) / 2) * torch.sigmoid((30 - angle) / 2)


def overlap(low: np.ndarray, high: np.ndarray, sides: Sequence[tuple[float, float]]) -> float:
    """Intersection over union of a region with the plateau."""
    a, b = np.array(sides).T
    both = np.prod(np.clip(np.minimum(high, b) - np.maximum(low, a), 0, None))
    return float(both / (np.prod(high - low) + np.prod(b - a) - both))


@dataclass(frozen=True)
class ToyScene:
    """Writes its parameters, as shares of their ranges, into the first pixels of an image."""

    name: str = "toy"
    axes: tuple[SceneAxis, ...] = (AZIMUTH, ELEVATION, LIGHT)
    exact_gradient: bool = False
    size: int = 4

    def images(self, values: Tensor, moved: Sequence[bool] | None = None) -> Tensor:
        low, high = (
            torch.tensor([getattr(axis, end) for axis in self.axes], device=values.device)
            for end in ("low", "high")
        )
        shares = (values - low) / (high - low)
        rest = values.new_zeros((len(values), self.size**2 - len(self.axes)))
        return torch.cat([shares, rest], 1).reshape(-1, 1, self.size, self.size)


class ToyNet(nn.Module):
    """Reads the parameters back and gives class 1 the score that a function of them has.

    Class 0 and 2 share the rest.
    """

    def __init__(
        self, score: Score, axes: Sequence[SceneAxis] = (AZIMUTH, ELEVATION, LIGHT)
    ) -> None:
        super().__init__()
        self.score = score
        for end in ("low", "high"):
            self.register_buffer(end, torch.tensor([getattr(axis, end) for axis in axes]))

    def forward(self, x: Tensor) -> Tensor:
        shares = x.flatten(1)[:, : len(self.low)]
        f = self.score(self.low + shares * (self.high - self.low)).clamp(1e-6, 1 - 1e-6)
        return torch.stack([(0.9 * (1 - f)).log(), f.log(), (0.1 * (1 - f)).log()], 1)


def toy_net(score: Score, name: str = "toy net") -> Classifier:
    return Classifier.from_module(ToyNet(score), (1, 4, 4), ("other", "pot", "third"), name)


SIDES = PLATEAU[:2]
FLAT = plateau(SIDES)
#: No end within the ranges.
EVERYWHERE = plateau([(-500.0, 900.0), (-500.0, 500.0)])
#: A coarse grid, for quick maps.
GRID = {"azimuth": 12, "elevation": 10}


def with_hole(u: Tensor) -> Tensor:
    """The plateau with a trap at 150, 40."""
    hole = torch.exp(-(((u[:, 0] - 150) / 8) ** 2) - ((u[:, 1] - 40) / 8) ** 2)
    return FLAT(u) * (1 - hole)


def open_toy(
    spec: str,
    classifier: Classifier,
    dataset: Dataset | None = None,
    seed: int = 0,
    up: str = "auto",
) -> ToyScene:
    """Stands in for open_scene: any name is a toy, and the scene image has exact gradients."""
    return (
        ToyScene(dataset.key(0), exact_gradient=True)
        if spec == "image" and dataset is not None
        else ToyScene(spec)
    )


def steps(
    name: str, nets: Classifier | tuple[Classifier, ...], inputs=None, **params: object
) -> list[Step]:
    """Every Step of an analysis of toy scenes.

    Regions grow as published, from the paper's starts, unless a test asks for another mode.
    """
    known = find(name)
    models = nets if not known.several_models or isinstance(nets, tuple) else (nets,)
    published = {
        "semantic_regions": {"mode": "robust", "samples": 256},
        "srvr": {"begin": "range"},
    }
    given = {"scene": "toy", **published.get(name, {}), **params}
    return list(known.engine(models, inputs, known.params.parse(given)))


def run(name: str, nets: Classifier | tuple[Classifier, ...], inputs=None, **params: object):
    """The result of an analysis of toy scenes."""
    return steps(name, nets, inputs, **params)[-1].result


def holed(u: Tensor) -> Tensor:
    """The class everywhere but in a hole at 150, 40."""
    hole = torch.exp(-(((u[:, 0] - 150) / 25) ** 2) - ((u[:, 1] - 40) / 25) ** 2)
    return EVERYWHERE(u) * (1 - hole)


def says(name: str, result: object, **params: object) -> Verdict:
    """What an analysis of toy scenes says of a result."""
    known = find(name)
    return known.verdict(result, known.params.parse({"scene": "toy", **params}))


def titled(views, kind):
    """The views of one kind by their titles."""
    return {view.title: view for view in views if isinstance(view, kind)}
