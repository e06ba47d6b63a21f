"""Small classifiers whose index is known in closed form or by quadrature."""

from __future__ import annotations

import numpy as np
import torch
from scipy import integrate, special
from torch import nn

from robgui.analyses.zonnscan import ZonnscanResult
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from tests.analyses.simple_modules import Linear


def linear(weights: list[float], bias: float) -> Classifier:
    return Classifier.from_module(Linear(weights, bias), (len(weights),))


def small_mlp(
    shape: tuple[int, ...] = (1, 6, 6), classes: int = 5, seed: int = 0, gain: float = 6.0
) -> Classifier:
    """A random network with confident and unsure regions."""
    generator = torch.Generator("cpu").manual_seed(seed)
    net = nn.Sequential(
        nn.Flatten(), nn.Linear(int(np.prod(shape)), 32), nn.Tanh(), nn.Linear(32, classes)
    )
    for parameter in net.parameters():
        parameter.data = (
            torch.randn(parameter.shape, generator=generator) * gain / parameter.shape[-1] ** 0.5
        )
    return Classifier.from_module(net, shape)


def sweep(classifier: Classifier, x: np.ndarray | list[float], **params: object) -> ZonnscanResult:
    """The last result of a sweep around ``x``."""
    return last_step(classifier, x, **params).result


def last_step(
    classifier: Classifier, x: np.ndarray | list[float], **params: object
) -> Step[ZonnscanResult]:
    return all_steps(classifier, x, **params)[-1]


def all_steps(
    classifier: Classifier, x: np.ndarray | list[float], **params: object
) -> list[Step[ZonnscanResult]]:
    known = find("zonnscan")
    array = np.asarray(x, dtype=np.float32).reshape(-1, *classifier.shape)
    return list(known.engine(classifier, from_arrays(array), known.params.parse(dict(params))))


def binary_entropy(score: np.ndarray | float) -> np.ndarray:
    """Entropy to base 2 of (sigmoid, 1 - sigmoid) of a score."""
    p = special.expit(score)
    return (special.entr(p) + special.entr(1 - p)) / np.log(2)


def exact_index(weights: list[float], bias: float, low: list[float], high: list[float]) -> float:
    """The index of a linear classifier on a box of one or two dimensions, by adaptive
    quadrature.
    """
    volume = float(np.prod(np.subtract(high, low)))
    if len(weights) == 1:
        value, _ = integrate.quad(lambda x: binary_entropy(weights[0] * x + bias), low[0], high[0])
    else:
        value, _ = integrate.dblquad(
            lambda y, x: binary_entropy(weights[0] * x + weights[1] * y + bias),
            low[0],
            high[0],
            low[1],
            high[1],
        )
    return value / volume
