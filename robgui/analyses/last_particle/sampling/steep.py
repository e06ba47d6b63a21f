"""The direction in which a failure is nearest, found from gradients."""

from __future__ import annotations

from collections.abc import Generator

import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.analyses.last_particle.sampling.likeliest import nearest
from robgui.core.model.classifier import Classifier

#: Rivals considered, those with the highest scores, and linearisations on the way to where each
#: would win.
_RIVALS, _STEPS = 3, 4


class SteepDirections:
    """The gradient of the rival nearest to winning, taken where it is about to win.

    The nearest point at which a rival wins is found by linearisation from the input (Hasofer and
    Lind, 1974; Rackwitz and Fiessler, 1978). See ``particles.guided.Guide``.

    Args:
        classifier: The model; it must give gradients.
        prior: The noise.
        classes: ``(pairs,)`` right classes.
    """

    def __init__(self, classifier: Classifier, prior: Prior, classes: Tensor) -> None:
        self._classifier, self._prior, self._classes = classifier, prior, classes
        self._rivals = min(_RIVALS, classifier.classes - 1)
        self.calls = 1 + self._rivals * _STEPS

    def directions(self, tests: Tensor) -> Generator[None, None, Tensor]:
        """See ``particles.guided.Guide``; one test is one pair."""
        # Each test takes a row per rival, and gradients about twice the memory.
        rows = max(1, self._classifier.batch() // (2 * self._rivals))
        found = torch.empty((len(tests), self._prior.dim), device=tests.device)
        for first in range(0, len(tests), rows):
            some = slice(first, first + rows)
            found[some] = yield from self._some(tests[some])
        return found

    def _some(self, pairs: Tensor) -> Generator[None, None, Tensor]:
        own, dim = self._classes[pairs], self._prior.dim
        zero = torch.zeros((len(pairs), dim), device=pairs.device)
        scores = self._classifier.infer(self._prior.bind(pairs, fresh=True)(zero)).clone()
        scores.scatter_(1, own[:, None], -torch.inf)
        rivals = scores.topk(self._rivals, 1).indices.flatten()
        owners, own = (each.repeat_interleave(self._rivals) for each in (pairs, own))
        inputs = self._prior.bind(owners, fresh=True)
        points = slope = zero.repeat_interleave(self._rivals, 0)
        for _ in range(_STEPS):
            height, slope = self._slope(inputs, points, own, rivals)
            points = nearest(points, slope, height)
            yield
        far = points.square().sum(1).reshape(len(pairs), self._rivals)
        # A rival without slope stays at 0 and would look like the nearest of all.
        flat = slope.square().sum(1).reshape(far.shape) == 0
        best = far.masked_fill(flat, torch.inf).argmin(1)
        steepest = slope.reshape(len(pairs), self._rivals, dim)[
            torch.arange(len(pairs), device=best.device), best
        ]
        return torch.nn.functional.normalize(steepest)

    def _slope(
        self, inputs: Bound, points: Tensor, own: Tensor, rivals: Tensor
    ) -> tuple[Tensor, Tensor]:
        """The lead of each row's rival over the right class, and its gradient."""
        with torch.enable_grad():
            leaf = points.detach().clone().requires_grad_(True)
            scores = self._classifier.logits(inputs(leaf * self._prior.spread))
            ahead = (scores.gather(1, rivals[:, None]) - scores.gather(1, own[:, None]))[:, 0]
            (slope,) = torch.autograd.grad(ahead.sum(), leaf)
        return ahead.detach(), slope.detach()
