"""What is proven about a model, what single precision takes of it, and whether the model itself agrees."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.bounds import Bounds, bounds_of
from robgui.bounds.network import Network, UnsupportedError
from robgui.bounds.precision import full_precision
from robgui.bounds.recording import record
from robgui.bounds.rounding import SINGLE, told_apart
from robgui.bounds.trees import Ensemble, tree_margins, trees_of
from robgui.bounds.trial import attack, compare, compare_trees
from robgui.core.model.classifier import Classifier

#: Roundings of the ends of a ball, and of the noise within it, in single precision.
_EDGE = 8 * SINGLE
#: Below this score a sigmoid comes close to the smallest number of single precision.
_LOWEST_SIGMOID = -80.0


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proven about a few inputs.

    Attributes:
        certified: ``(n,)``: no input of the ball gets another class.
        lower: ``(n,)``: the margin of the right class over every other one is at least this, everywhere in the ball,
            as the model computes it in single precision. Scores are those before a final softmax or sigmoid; of a
            forest the probabilities.
        reason: Why the model has no formal bounds; empty when it has. Then the arrays are empty.
    """

    certified: np.ndarray
    lower: np.ndarray
    reason: str = ""


def no_certificate(classifier: Classifier, why: str) -> Certificate:
    """Nothing is proven about the model; ``why`` completes "has no formal bounds: …"."""
    nothing = np.zeros(0)
    reason = f"{classifier.name} has no formal bounds: {why}."
    return Certificate(nothing.astype(bool), nothing, reason)


def certify(classifier: Classifier, x: Tensor, labels: Tensor, eps: float | Tensor) -> Certificate:
    """Bounds the margin of ``labels`` over all inputs within ``eps`` of ``x``; see ``certifying``."""
    steps = certifying(classifier, x, labels, eps)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            certificate: Certificate = end.value
            return certificate


def certifying(
    classifier: Classifier, x: Tensor, labels: Tensor, eps: float | Tensor
) -> Generator[None, None, Certificate]:
    """The same in small steps: a deep network takes about a second for each of its layers.

    Every step computes in full single precision; between them the settings of torch are as they were.

    Args:
        classifier: What to bound.
        x: Inputs ``(n, *shape)`` in [0, 1].
        labels: The right classes ``(n,)``.
        eps: Radius of the ball, or one for every number of an input ``(*shape)``.
    """
    x = classifier.tensor(x).detach()
    steps = _steps(classifier, *_ball(x, eps), labels.to(classifier.device, torch.int64))
    while True:
        with full_precision():
            try:
                next(steps)
            except StopIteration as end:
                certificate: Certificate = end.value
                return certificate
        yield


def _steps(
    classifier: Classifier, low: Tensor, high: Tensor, labels: Tensor
) -> Generator[None, None, Certificate]:
    try:
        lower = yield from _tried_margins(classifier, low, high, labels)
    except UnsupportedError as error:
        return no_certificate(classifier, str(error))
    return Certificate((lower > 0).cpu().numpy(), lower.cpu().numpy())


def _tried_margins(
    classifier: Classifier, low: Tensor, high: Tensor, labels: Tensor
) -> Generator[None, None, Tensor]:
    """Lower bounds ``(n,)`` of the margins; where they are positive, the model itself has been asked."""
    _refuse(classifier)
    trees = trees_of(classifier)
    network = None if trees is not None else record(classifier.raw, classifier.shape, classifier.device)
    if trees is not None:
        lower = _tree_margins(trees, classifier, low, high, labels)
    else:
        assert network is not None
        lower = yield from _network_margins(classifier, network, low, high, labels)
    proven = (lower > 0).to(low.device)
    low, high, labels, floor = low[proven], high[proven], labels[proven], lower[lower > 0]
    if not len(low):
        return lower
    if trees is not None:
        compare_trees(classifier, trees, low, high)
    if network is not None:
        yield from compare(classifier, network, low, high)
    if network is None or network.squashed or classifier.settings.output == "probabilities":
        floor = torch.zeros_like(floor)
    yield from attack(classifier, low, high, labels, floor)
    return lower


def _refuse(classifier: Classifier) -> None:
    settings = classifier.settings
    if settings.multi_label:
        raise UnsupportedError("an input may have several classes at once")
    if settings.lowest_wins and settings.output == "probabilities":
        raise UnsupportedError("its lowest probability wins, which rounding may make 0")
    if classifier.precision[0]:
        raise UnsupportedError("it computes in half precision; switch that off")


def _ball(x: Tensor, eps: float | Tensor) -> tuple[Tensor, Tensor]:
    """The ends of the balls within [0, 1], rounded outwards.

    An input outside [0, 1] may stay there, or be cut off at the end; both lie between the ends.
    """
    radius = torch.as_tensor(eps, dtype=x.dtype, device=x.device).expand_as(x)
    radius = torch.where(radius > 0, radius * (1 + _EDGE) + _EDGE * x.abs(), radius)
    low, high = x - radius, x + radius
    stays = torch.maximum(low, x.clamp_max(0)), torch.minimum(high, x.clamp_min(1))
    return torch.minimum(low.clamp(0, 1), stays[0]), torch.maximum(high.clamp(0, 1), stays[1])


def _tree_margins(
    trees: Ensemble, classifier: Classifier, low: Tensor, high: Tensor, labels: Tensor
) -> Tensor:
    """Lower bounds ``(n,)`` of the margins."""
    ends = classifier.raw_input(low), classifier.raw_input(high)
    first, last = torch.minimum(*ends), torch.maximum(*ends)
    if not (torch.equal(ends[0], low) and torch.equal(ends[1], high)):
        size = torch.maximum(-first, last) + classifier.raw_input(low * 0).abs()
        first, last = first - _EDGE * size, last + _EDGE * size  # another batch may round otherwise
    return tree_margins(trees, first, last, labels)


def _network_margins(
    classifier: Classifier, network: Network, low: Tensor, high: Tensor, labels: Tensor
) -> Generator[None, None, Tensor]:
    """Lower bounds ``(n,)`` of the margins."""
    (scores,) = network.shapes[network.output]
    labels = labels.to(network.device)
    sign = -1.0 if classifier.settings.lowest_wins else 1.0
    if scores == 1:
        direction = (2.0 * labels - 1) * sign
        found = yield from bounds_of(network, low, high, direction[:, None, None])
        # a single probability speaks for class 1 from one half on; the logit before a sigmoid from zero on
        half = classifier.settings.output == "probabilities" and not network.squashed
        lower = found.lower[:, 0] - (0.5 * direction if half else 0.0)
        return lower - told_apart(2) if half or network.squashed else lower
    own = torch.nn.functional.one_hot(labels, scores)
    others = torch.eye(scores, device=network.device, dtype=torch.int64).expand(len(low), -1, -1)
    found = yield from bounds_of(network, low, high, sign * (own[:, None] - others))
    lower = found.lower.masked_fill(own.bool(), torch.inf).amin(1)
    return lower - _squashing(classifier, network, found, own)


def _squashing(
    classifier: Classifier, network: Network, found: Bounds, own: Tensor
) -> Tensor | float:
    """How much of a margin may be lost when scores become probabilities in single precision.

    A softmax keeps ratios. Sigmoids come so close to 1 that they tie: ln σ is concave, so that a margin m of scores
    of at most s is one of at least m / (1 + eˢ) of their logarithms.
    """
    if not network.squashed:
        if classifier.settings.output == "probabilities":
            raise UnsupportedError("its scores count as probabilities but come from no softmax")
        return 0.0
    if network.squashed != "sigmoid":
        return told_apart(own.shape[1])
    lowest = (found.scores_low * own).sum(1)
    highest = found.scores_high.amax(1).clamp_min(0)
    lost = SINGLE * 8 * (2 + (-lowest).clamp_min(0)) * (1 + highest.exp())
    return torch.where(lowest > _LOWEST_SIGMOID, lost, torch.inf)
