"""Small classifiers for which the best play is known."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from robgui.analyses.feature_game import FeatureGameResult, Game, Goal
from robgui.analyses.feature_game.play.oracle import Oracle
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Verdict
from robgui.core.view import View, Views
from tests.analyses.simple_modules import Linear


def linear(
    weights: np.ndarray, bias: float, shape: tuple[int, int, int] = (1, 12, 12)
) -> Classifier:
    return Classifier.from_module(Linear(weights, bias), shape, output="logits")


def small_cnn(
    shape: tuple[int, int, int] = (1, 12, 12), classes: int = 4, seed: int = 0
) -> Classifier:
    """A random convolutional network with classes that change within a few pixels."""
    generator = torch.Generator("cpu").manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(shape[0], 6, 3, padding=1),
        nn.Tanh(),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(6 * (shape[1] // 2) * (shape[2] // 2), classes),
    )
    for parameter in net.parameters():
        parameter.data = (
            torch.randn(parameter.shape, generator=generator)
            * 2
            / max(1, parameter[0].numel()) ** 0.5
        )
    return Classifier.from_module(net, shape, output="logits")


def image(shape: tuple[int, int, int] = (1, 12, 12), seed: int = 0) -> np.ndarray:
    """A smooth 8-bit image in [0, 1] with something to see in it."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[: shape[1], : shape[2]]
    planes = [
        sum(
            np.exp(-((x - rng.uniform(0, shape[2])) ** 2 + (y - rng.uniform(0, shape[1])) ** 2) / 6)
            for _ in range(4)
        )
        for _ in range(shape[0])
    ]
    return (np.round(np.clip(np.stack(planes), 0, 1) * 255) / 255).astype(np.float32)


def all_steps(
    classifier: Classifier,
    x: np.ndarray,
    analysis: str = "feature_game",
    labels: list[int] | None = None,
    **params: object,
) -> list[Step]:
    known = find(analysis)
    array = np.asarray(x, dtype=np.float32).reshape(-1, *classifier.shape)
    dataset = from_arrays(array, labels=None if labels is None else np.array(labels))
    return list(known.engine(classifier, dataset, known.params.parse(dict(params))))


def play(classifier: Classifier, x: np.ndarray, **params: object) -> FeatureGameResult:
    """The last result of a game."""
    return all_steps(classifier, x, **params)[-1].result


def oracle_of(
    classifier: Classifier, x: np.ndarray, calls: int = 5000, norm: str = "l0"
) -> tuple[Oracle, Goal]:
    oracle = Oracle(classifier, Game(np.round(x * 255).astype(np.uint8), norm, 0.25))
    oracle.allow(calls, 0)
    return oracle, Goal(oracle.original)


def finish(steps: object) -> object:
    """What a generator returns."""
    while True:
        try:
            next(steps)  # type: ignore[call-overload]
        except StopIteration as end:
            return end.value


def said(name: str, result: object, **params: object) -> Verdict:
    known = find(name)
    return known.verdict(result, known.params.parse(params))


def views_of(name: str, result: object, **params: object) -> tuple[View, ...]:
    """The views of a result, after they were stored and read again."""
    known = find(name)
    return decode(
        Views, *encode(Views(tuple(known.views(result, known.params.parse(params)))))
    ).views
