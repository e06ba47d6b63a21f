"""Small networks and inputs whose neurons are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.codec import decode, encode
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Verdict
from robgui.core.view import View, Views


def small_cnn(classes: int = 4, seed: int = 0, **settings: Any) -> Classifier:
    """Two convolutions and two linear layers with random weights.

    3 + 5 + 6 neurons before the last layer.
    """
    generator = torch.Generator("cpu").manual_seed(seed)
    net = nn.Sequential(
        *(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.Conv2d(3, 5, 3), nn.ReLU()),
        *(nn.Flatten(), nn.Linear(80, 6), nn.ReLU(), nn.Linear(6, classes)),
    )
    for parameter in net.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    return Classifier.from_module(net, (1, 8, 8), output="logits", **settings)


def images(count: int = 90, classes: int = 4, seed: int = 0, *, labels: bool = True) -> Dataset:
    rng = np.random.default_rng(seed)
    x = rng.random((count, 1, 8, 8), dtype=np.float32)
    return from_arrays(
        x, rng.integers(0, classes, count) if labels else None, kind="image", name="noise"
    )


class Told(nn.Module):
    """The scores are the first ``classes`` inputs.

    The layer before the last passes all inputs on.
    """

    def __init__(self, inputs: int, classes: int) -> None:
        super().__init__()
        self.copy = nn.Linear(inputs, inputs, bias=False)
        self.copy.weight.data = torch.eye(inputs)
        self.head = nn.Linear(inputs, classes, bias=False)
        self.head.weight.data = torch.eye(classes, inputs)

    def forward(self, x: Tensor) -> Tensor:
        scores: Tensor = self.head(self.copy(x))
        return scores


def told(
    x: np.ndarray, classes: int, truth: Any = None, **settings: Any
) -> tuple[Classifier, Dataset]:
    """A table whose first columns are the scores of the classes, and a network that says so."""
    classifier = Classifier.from_module(
        Told(x.shape[1], classes), (x.shape[1],), output="logits", **settings
    )
    return classifier, from_arrays(x.astype(np.float32), truth, kind="table")


def run(name: str, classifier: Classifier, dataset: Dataset, **params: Any) -> list[Step[Any]]:
    known = find(name)
    return list(known.engine(classifier, dataset, known.params.parse(params)))


def inspect(classifier: Classifier, dataset: Dataset, **params: Any) -> Any:
    return run("deepinspect", classifier, dataset, **params)[-1].result


def said(name: str, result: Any, **params: Any) -> Verdict:
    known = find(name)
    return known.verdict(result, known.params.parse(params))


def views_of(name: str, result: Any, **params: Any) -> tuple[View, ...]:
    """The views of a result, after they were stored and read again."""
    known = find(name)
    return decode(
        Views, *encode(Views(tuple(known.views(result, known.params.parse(params)))))
    ).views
