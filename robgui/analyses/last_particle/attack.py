"""Projected gradient search for a failure within the noise: the cross-check of a validated input.

A validated input with a counterexample is no contradiction: failures may exist and still be rarer
than the critical probability.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.margin import margins
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.params import Noise
from robgui.core.model.classifier import Classifier

#: Radii of the ball that all steps together could travel (Madry et al., 2018).
_TRAVEL = 2.5
#: Noise confined to a ball.
BOUNDED = ("box", "clip", "l2", "ball")


@dataclass(frozen=True, slots=True)
class Attacked:
    """What the search found for some pairs of an input and a size.

    Attributes:
        pairs: ``(n,)`` which pairs.
        found: ``(n,)`` whether a failure was found.
        inputs: ``(n, *shape)`` the input with the largest margin met.
    """

    pairs: Tensor
    found: Tensor
    inputs: Tensor


def refusal(classifier: Classifier, noise: Noise, steps: int) -> str:
    """Why no search is made; empty if one is."""
    if steps == 0:
        return "No gradient search was asked for."
    if noise not in BOUNDED:
        return f"No gradient search: {noise} noise has no ball to search in."
    if not classifier.capabilities.gradients:
        return (
            f"No gradient search: {classifier.name} gives no gradients,"
            f" {classifier.capabilities.reason}."
        )
    return ""


def search(
    classifier: Classifier,
    prior: Prior,
    noise: Noise,
    pairs: Tensor,
    classes: Tensor,
    steps: int,
    batch: int,
) -> Iterator[Attacked | None]:
    """Climbs the margin of each pair.

    Yields None after every step and what was found after every batch.

    Args:
        classifier: The model; it must give gradients.
        prior: The noise to stay within.
        noise: Its kind.
        pairs: ``(n,)`` pairs of an input and a size.
        classes: ``(n,)`` their right classes.
        steps: Gradient steps.
        batch: Inputs per model call; 0 lets the program choose.
    """
    rows = max(1, classifier.batch(batch) // 2)  # A gradient keeps every layer in memory.
    for first in range(0, len(pairs), rows):
        chosen, own = pairs[first : first + rows], classes[first : first + rows, None]
        x, reach, free = prior.limits(chosen)
        current = x
        # The best of all steps, not the last: the ascent may step past a failure.
        best, highest = x, torch.full((len(x),), -torch.inf, device=x.device)
        for _ in range(steps):
            direction = _direction(_gradient(classifier, current, own), reach, free, noise)
            current = prior.settled(
                _projected(x, current + direction * (_TRAVEL / steps), reach, noise), chosen
            )
            # Judged after settling: rounding and padding may undo what the gradient promised.
            height = margins(classifier.infer(current, batch), own)
            better = height > highest
            highest = torch.where(better, height, highest)
            best = torch.where(better.reshape(-1, *(1 for _ in x.shape[1:])), current, best)
            yield None
        yield Attacked(chosen, highest > 0, best)


def _gradient(classifier: Classifier, x: Tensor, own: Tensor) -> Tensor:
    with torch.enable_grad():
        leaf = x.detach().clone().requires_grad_(True)
        scores = classifier.logits(leaf)
        (gradient,) = torch.autograd.grad(margins(scores, own).sum(), leaf)
    return gradient


def _direction(gradient: Tensor, reach: Tensor, free: Tensor, noise: Noise) -> Tensor:
    """The direction of steepest ascent, one radius long."""
    if noise not in ("l2", "ball"):
        # In the L∞ norm the steepest direction moves every value as far as it may.
        return gradient.sign() * reach * free
    # In units of the reach the ball is round, also where features have different scales.
    pull = gradient * reach * free
    return pull / _norm(pull).clamp_min(torch.finfo(pull.dtype).tiny) * reach


def _projected(x: Tensor, moved: Tensor, reach: Tensor, noise: Noise) -> Tensor:
    if noise not in ("l2", "ball"):
        return torch.minimum(torch.maximum(moved, x - reach), x + reach)
    # A fixed feature has reach 0 and stays where it is.
    offset = torch.where(reach > 0, (moved - x) / reach.clamp_min(torch.finfo(x.dtype).tiny), 0)
    return x + offset / _norm(offset).clamp_min(1) * reach


def _norm(values: Tensor) -> Tensor:
    return values.square().flatten(1).sum(1).sqrt().reshape(-1, *(1 for _ in values.shape[1:]))
