"""The margin of failure: best score of another class minus that of the right class.

Fails above 0.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.params import Margin
from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.core.model.classifier import Classifier

#: scikit-learn models whose probabilities are vote shares: often exactly 0, where a logarithm would
#: jump.
_VOTING = ("Forest", "Tree", "Bagging", "Neighbors")


class MarginScore:
    """The margin of noisy inputs, as a function of the latent point.

    Attributes:
        spread: Standard deviation of the latent points.

    Args:
        classifier: The model.
        prior: The noise.
        pairs: ``(T,)`` pair of input and size of each test.
        classes: ``(T,)`` right class of each test.
        rivals: ``(T,)`` the one other class that must win in each test, so the failures of
            different tests exclude each other; None for any of them.
        margin: Whether scores or probabilities are compared.
        batch: Inputs per model call.
    """

    def __init__(
        self,
        classifier: Classifier,
        prior: Prior,
        pairs: Tensor,
        classes: Tensor,
        rivals: Tensor | None,
        margin: Margin,
        batch: int,
    ) -> None:
        self._classifier, self._prior, self._pairs, self._classes, self._rivals = (
            classifier,
            prior,
            pairs,
            classes,
            rivals,
        )
        self.spread = prior.spread
        self._votes = uses_probabilities(classifier, margin)
        self._batch = batch

    def bind(self, tests: Tensor) -> Bound:
        """See ``setup.Score``."""
        inputs = self._prior.bind(self._pairs[tests])
        # Places in the flattened scores, so one ``take`` reads all rows.
        first = torch.arange(len(tests), device=tests.device) * self._classifier.classes
        own = first + self._classes[tests]
        if self._rivals is None:
            winner = own
        else:
            winner = first + self._rivals[tests]
        others = torch.zeros((len(tests), self._classifier.classes), device=tests.device)
        # Added to the scores it takes one class out of the maximum, without a copy in each call.
        others.view(-1)[winner] = -torch.inf
        ahead = self._rivals is None
        inside = self.inside(tests)

        def score(latent: Tensor) -> Tensor:
            scores = self._classifier.infer(inputs(latent), self._batch)
            if self._votes:
                scores = scores.softmax(1)
            best, won = (scores + others).amax(1), scores.take(winner)
            if ahead:
                return best - won
            return won - best

        if inside is None:
            return score
        return _within(score, inside)

    def inside(self, tests: Tensor) -> Bound | None:
        """See ``setup.Score``."""
        return self._prior.inside(self._pairs[tests])

    def together(self) -> AbstractContextManager[None]:
        """See ``setup.Score``."""
        return self._classifier.checked_together()


def _within(score: Bound, inside: Bound) -> Bound:
    """The score inside, -inf outside."""
    return lambda latent: score(latent).masked_fill(~inside(latent), -torch.inf)


def margins(scores: Tensor, own: Tensor) -> Tensor:
    """Margins ``(n,)`` of scores ``(n, classes)`` for the classes ``(n, 1)``."""
    return scores.scatter(1, own, -torch.inf).amax(1) - scores.gather(1, own)[:, 0]


def uses_probabilities(classifier: Classifier, margin: Margin) -> bool:
    """Whether probabilities are compared; ``auto`` does so for models that count votes."""
    if margin == "auto":
        return any(word in remark for remark in classifier.remarks for word in _VOTING)
    return margin == "probabilities"
