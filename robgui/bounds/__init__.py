"""Formal bounds beside the statistical verdict: what no input of the box can do, by proof instead of by sampling.

``certify`` bounds the margin of the right class over the L-infinity ball inside [0, 1]: CROWN for networks made of linear,
convolution, rectifier and pooling layers, reachable leaves for tree ensembles. What has no bounds gets a reason.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.bounds import margins
from robgui.bounds.network import UnsupportedError
from robgui.bounds.recording import record
from robgui.bounds.trees import tree_margins, trees_of
from robgui.core.model.classifier import Classifier

__all__ = ["Certificate", "certify", "certifying"]

#: A margin smaller than this share of the scores may be lost when the model itself rounds to single precision.
_ROUNDING = 1e-6


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proven about a few inputs.

    Attributes:
        certified: ``(n,)``: no input of the ball gets another class.
        lower: ``(n,)``: the margin of the right class over every other one is at least this, everywhere in the ball. Scores are
            those before a final softmax or sigmoid; of a forest the probabilities.
        reason: Why the model has no formal bounds; empty when it has. Then the arrays are empty.
    """

    certified: np.ndarray
    lower: np.ndarray
    reason: str = ""


def certify(classifier: Classifier, x: Tensor, labels: Tensor, eps: float | Tensor) -> Certificate:
    """Bounds the margin of ``labels`` over all inputs within ``eps`` of ``x``; see ``certifying``."""
    steps = certifying(classifier, x, labels, eps)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            certificate: Certificate = end.value
            return certificate


def certifying(classifier: Classifier, x: Tensor, labels: Tensor, eps: float | Tensor) -> Generator[None, None, Certificate]:
    """The same in small steps: a deep network takes about a second for each of its layers.

    Args:
        classifier: What to bound.
        x: Inputs ``(n, *shape)`` in [0, 1].
        labels: The right classes ``(n,)``.
        eps: Radius of the ball, or one for every number of an input ``(*shape)``.
    """
    x = classifier.tensor(x).detach()
    labels = labels.to(classifier.device, torch.int64)
    low, high = (x - eps).clamp(0, 1), (x + eps).clamp(0, 1)
    try:
        if classifier.settings.multi_label:
            raise UnsupportedError("an input may have several classes at once")
        trees = trees_of(classifier)
        if trees is not None:
            lower = tree_margins(trees, classifier.raw_input(low), classifier.raw_input(high), labels)
            slack = torch.zeros_like(lower)
        else:
            lower, slack = yield from _network_margins(classifier, low, high, labels)
    except UnsupportedError as error:
        nothing = np.zeros(0)
        return Certificate(nothing.astype(bool), nothing, f"{classifier.name} has no formal bounds: {error}.")
    return Certificate((lower > slack).cpu().numpy(), lower.cpu().numpy())


def _network_margins(classifier: Classifier, low: Tensor, high: Tensor, labels: Tensor) -> Generator[None, None, tuple[Tensor, Tensor]]:
    """Lower bounds ``(n,)`` and how much of them rounding may take."""
    if any(classifier.precision[:1]):
        raise UnsupportedError("it computes in half precision; switch that off")
    network = record(classifier.raw, classifier.shape, classifier.device)
    (scores,) = network.shapes[network.output]
    sign = -1.0 if classifier.settings.lowest_wins else 1.0
    if scores == 1:
        direction = (2.0 * labels - 1) * sign
        weights = direction[:, None, None].to(network.dtype)
        # a single probability speaks for class 1 from one half on; the logit before a sigmoid from zero on
        half = classifier.settings.output == "probabilities" and not network.squashed
        lower = (yield from margins(network, low, high, weights))[:, 0] - (0.5 * direction if half else 0.0)
    else:
        own = torch.nn.functional.one_hot(labels, scores)
        others = torch.eye(scores, device=low.device, dtype=torch.int64).expand(len(low), -1, -1)
        weights = sign * (own[:, None] - others).to(network.dtype)
        bounds = yield from margins(network, low, high, weights)
        lower = bounds.masked_fill(own.bool(), torch.inf).amin(1)
    size = network((low + high) / 2).abs().amax(1)
    return lower, _ROUNDING * size
