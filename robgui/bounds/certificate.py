"""Certificates: proven margins, less what single precision may cost, confirmed by the model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.bounds import Bounds, bounds_of
from robgui.bounds.network import Box, Network, Steps, UnsupportedError
from robgui.bounds.recording import record
from robgui.bounds.rounding import SINGLE, told_apart
from robgui.bounds.trees import Ensemble, tree_margins, trees_of
from robgui.bounds.trial import attack, compare, compare_trees
from robgui.core.devices import FULL_PRECISION, to_device, to_host
from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier

#: Relative slack for rounding the ends of a ball, and noise within it, in single precision.
_EDGE = 8 * SINGLE
#: Below this score a sigmoid comes close to the smallest number of single precision.
_LOWEST_SIGMOID = -80.0
_LOWEST_WINS = "its lowest probability wins, and in single precision several may be 0"


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proven about a few inputs.

    Attributes:
        certified: ``(n,)``: no input of the ball gets another class.
        lower: ``(n,)``: least margin of the right class over every other one in the ball, as the
            model computes it in single precision. Scores are those before a final softmax or
            sigmoid; for a forest, the probabilities.
        reason: Why the model has no formal bounds, and the arrays are empty; else empty.
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
    """Bounds the margin of ``labels`` over all inputs within ``eps``; see ``certifying``."""
    steps = certifying(classifier, x, labels, eps)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            certificate: Certificate = end.value
            return certificate


def certifying(
    classifier: Classifier,
    x: Tensor,
    labels: Tensor,
    eps: float | Tensor,
) -> Steps[Certificate]:
    """Certifies in small steps: a deep network takes about a second for each of its layers.

    Every step computes in full single precision; between steps torch's settings are restored.

    Args:
        classifier: What to bound.
        x: Inputs ``(n, *shape)`` in [0, 1].
        labels: The right classes ``(n,)``.
        eps: Radius of the ball, or one for every number of an input ``(*shape)``.
    """
    box = _ball(classifier.tensor(x).detach(), eps)
    steps = _steps(classifier, box, labels.to(classifier.device, torch.int64))
    while True:
        # TF32 and the like keep 10 bits of a product, far beyond the rounding that is counted.
        with FULL_PRECISION:
            try:
                next(steps)
            except StopIteration as end:
                certificate: Certificate = end.value
                return certificate
        yield


def _steps(classifier: Classifier, box: Box, labels: Tensor) -> Steps[Certificate]:
    try:
        lower = yield from _tried_margins(classifier, box, labels)
    except UnsupportedError as error:
        return no_certificate(classifier, str(error))
    (margins,) = to_host(lower)
    # Strictly: on a tie the model may pick either class.
    return Certificate(margins > 0, margins)


def _tried_margins(classifier: Classifier, box: Box, labels: Tensor) -> Steps[Tensor]:
    """Lower bounds ``(n,)`` of the margins; those above 0 are confirmed on the model itself."""
    _refuse(classifier)
    trees, network = trees_of(classifier), None
    if trees is not None:
        lower = _tree_margins(trees, classifier, box, labels)
    else:
        network = record(classifier.raw, classifier.shape, classifier.device)
        lower = yield from network_margins(classifier, network, box, labels)
    # Only proofs are tried on the model: an open input needs no confirmation.
    (above,) = to_host(lower > 0)
    if not above.any():
        return lower
    proven = to_device(torch.from_numpy(np.flatnonzero(above)), labels.device)
    inside = box[0][proven], box[1][proven]
    try:
        if trees is not None:
            yield from compare_trees(classifier, trees, inside)
        if network is not None:
            yield from compare(classifier, network, inside)
        floor = _floor(classifier, network, lower[proven.to(lower.device)])
        # Last, as it makes the most calls: a model that differs from
        # its record is turned down before.
        yield from attack(classifier, inside, labels[proven], floor)
    except ModelError as error:
        why = str(error).rstrip(".")
        raise UnsupportedError(f"it fails at an input within the radius ({why})") from error
    return lower


def _floor(classifier: Classifier, network: Network | None, lower: Tensor) -> Tensor:
    """The margin that the model's scores must have: the proven one if it is about them, else 0."""
    plain = network is not None and not network.squashed
    if plain and classifier.settings.output == "logits":
        return lower
    return torch.zeros_like(lower)


def _refuse(classifier: Classifier) -> None:
    settings = classifier.settings
    if settings.multi_label:
        raise UnsupportedError("an input may have several classes at once")
    if settings.lowest_wins and settings.output == "probabilities":
        raise UnsupportedError(_LOWEST_WINS)
    if classifier.precision[0]:
        raise UnsupportedError("it computes in half precision; switch that off")


def _ball(x: Tensor, eps: float | Tensor) -> Box:
    """The ends of the balls within [0, 1], rounded outwards.

    An input outside [0, 1] may stay there, or be cut off at the end; both lie between the ends.
    """
    radius = torch.as_tensor(eps, dtype=x.dtype, device=x.device).expand_as(x)
    # A radius of 0 stays exact: that number cannot move.
    radius = torch.where(radius > 0, radius * (1 + _EDGE) + _EDGE * x.abs(), radius)
    low, high = x - radius, x + radius
    stays = torch.maximum(low, x.clamp_max(0)), torch.minimum(high, x.clamp_min(1))
    return torch.minimum(low.clamp(0, 1), stays[0]), torch.maximum(high.clamp(0, 1), stays[1])


def _tree_margins(trees: Ensemble, classifier: Classifier, box: Box, labels: Tensor) -> Tensor:
    """Lower bounds ``(n,)`` of the margins."""
    ends = classifier.raw_input(box[0]), classifier.raw_input(box[1])
    # Scaling by a negative factor swaps the corners.
    low, high = torch.minimum(*ends), torch.maximum(*ends)
    if not (torch.equal(ends[0], box[0]) and torch.equal(ends[1], box[1])):
        size = torch.maximum(-low, high) + classifier.raw_input(box[0] * 0).abs()
        # Another batch size may round differently.
        low, high = (low - _EDGE * size, high + _EDGE * size)
    return tree_margins(trees, low, high, labels)


def network_margins(
    classifier: Classifier,
    network: Network,
    box: Box,
    labels: Tensor,
) -> Steps[Tensor]:
    """Lower bounds ``(n,)`` of the margins."""
    (scores,) = network.shapes[network.output]
    labels = labels.to(network.device)
    settings = classifier.settings
    if settings.lowest_wins and network.squashed:
        raise UnsupportedError(_LOWEST_WINS)
    # Where the lowest score wins, the margin is that of the negated scores.
    sign = -1.0 if settings.lowest_wins else 1.0
    if scores == 1:
        # One score: the margin is the score itself for class 1 and its negative for class 0.
        direction = (2.0 * labels - 1) * sign
        found = yield from bounds_of(network, *box, direction[:, None, None])
        # A single probability means class 1 from one half on; a logit before a sigmoid, from zero.
        half = settings.output == "probabilities" and not network.squashed
        lower = found.lower[:, 0] - (0.5 * direction if half else 0.0)
        if half or network.squashed:
            return lower - told_apart(2)
        return lower
    own = torch.nn.functional.one_hot(labels, scores)
    others = torch.eye(scores, device=network.device, dtype=torch.int64)
    # (n, classes, scores): row j is the score of the class minus score j, bounded as one number;
    # the difference of two separate bounds would be looser.
    found = yield from bounds_of(network, *box, sign * (own[:, None] - others))
    # The margin over the nearest rival; the class itself, at margin 0, is left out.
    lower = found.lower.masked_fill(own.bool(), torch.inf).amin(1)
    return lower - _squashing(classifier, network, found, own)


def _squashing(
    classifier: Classifier,
    network: Network,
    found: Bounds,
    own: Tensor,
) -> Tensor | float:
    """How much of a margin may be lost when scores become probabilities in single precision.

    A softmax keeps ratios. Sigmoids come so close to 1 that they tie: ln σ is concave, so a margin
    m between scores of at most s becomes one of at least m / (1 + eˢ) between their logarithms.
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
