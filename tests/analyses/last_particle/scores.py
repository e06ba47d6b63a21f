"""Scores and classifiers whose failure probability is known."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import optimize, stats
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams, LastParticleResult, last_particle
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Verdict
from robgui.core.view import View, Views

DIM = 12


def gaussian_score(p: float, step: float = 0.0) -> Callable[[Tensor, Tensor], Tensor]:
    """A linear score of the latent point that fails with probability p.

    ``step`` rounds it up to a staircase.
    """
    bound = float(stats.norm.isf(p))
    direction = torch.ones(DIM, device="cpu") / DIM**0.5

    def score(latent: Tensor, index: Tensor) -> Tensor:
        height = latent @ direction - bound
        return torch.ceil(height / step) * step if step else height

    return score


def irwin_hall_tail(t: float, n: int) -> float:
    """P(sum of n uniforms on [0, 1] > n - t), small t: no cancellation."""
    terms = [(-1) ** k * math.comb(n, k) * max(t - k, 0.0) ** n for k in range(math.floor(t) + 1)]
    return sum(terms) / math.factorial(n)


def uniform_score(p: float, n: int = 4) -> Callable[[Tensor, Tensor], Tensor]:
    """Sum of n uniforms against the level that it exceeds with probability p (Irwin and Hall)."""
    t = float(optimize.brentq(lambda value: irwin_hall_tail(value, n) - p, 1e-9, n / 2, xtol=1e-14))

    def score(latent: Tensor, index: Tensor) -> Tensor:
        # the distance of every uniform from 1, where single precision is fine
        rest = torch.special.ndtr(-latent[:, :n].double())
        return t - rest.sum(1)

    return score


class Linear(nn.Module):
    """Two classes: 0, and 1 with score ``weights · x + bias``."""

    def __init__(self, weights: np.ndarray, bias: float) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.tensor(weights, dtype=torch.float32))
        self.bias = bias

    def forward(self, x: Tensor) -> Tensor:
        height = x.flatten(1) @ self.weights + self.bias
        return torch.stack([torch.zeros_like(height), height], 1)


def linear_classifier(p: float, noise: str, eps: float, dim: int = 8) -> Classifier:
    """A table classifier that fails at (.5, …) with probability p under this noise."""
    weights = np.full(dim, 1.0)
    if noise == "gaussian":
        reach = float(stats.norm.isf(p)) * eps * dim**0.5
    elif noise == "l2":
        # one coordinate of a uniform point in the d-ball is a symmetric beta on [-1, 1]
        reach = eps * dim**0.5 * (2 * float(stats.beta.isf(p, (dim + 1) / 2, (dim + 1) / 2)) - 1)
    else:
        t = float(
            optimize.brentq(
                lambda value: irwin_hall_tail(value, dim) - p, 1e-9, dim / 2, xtol=1e-14
            )
        )
        reach = eps * (dim - 2 * t)
    return Classifier.from_module(Linear(weights, -0.5 * dim - reach), (dim,), name="linear")


def examine(classifier: Classifier, x: Any, **params: Any) -> LastParticleResult:
    """The last result for one input."""
    dataset = from_arrays(np.asarray(x, dtype=np.float32)[None], kind=classifier.kind)
    *_, step = last_particle(classifier, dataset, LastParticleParams(**params))
    return step.result


def said(result: LastParticleResult, **params: Any) -> Verdict:
    """What is said of the result of ``examine`` with these settings."""
    return find("last_particle").verdict(result, LastParticleParams(**params))


def views_of(name: str, result: Any, **params: Any) -> tuple[View, ...]:
    """The views of a result, after they were stored and read again."""
    known = find(name)
    return decode(
        Views, *encode(Views(tuple(known.views(result, known.params.parse(params)))))
    ).views
