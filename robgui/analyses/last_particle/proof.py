"""Formal bounds beside the test: whether they cover the noise, and what they prove."""

from __future__ import annotations

from collections.abc import Generator

import torch

from robgui.analyses.last_particle.pair_tests import PairTests
from robgui.analyses.last_particle.params import MethodParams
from robgui.bounds import Certificate, certifying
from robgui.core.model.classifier import Classifier


def unprovable(params: MethodParams) -> str:
    """Why there are no formal bounds for this noise; empty when there are."""
    if not params.proof:
        return "Formal bounds were not asked for."
    if params.noise not in ("box", "clip"):
        return "Formal bounds are for noise that moves every value by at most so much (box or clip)."
    if params.rounded or params.lower or params.upper:
        return "Formal bounds do not know rounded features or bounds of your own."
    return ""


def prove(classifier: Classifier, run: PairTests, first: int, last: int) -> Generator[None, None, Certificate]:
    """What is proven about the pairs ``first`` to ``last`` - 1, all of one size of noise; yields now and then."""
    pairs = torch.arange(first, last, device=classifier.device)
    x, reach, _ = run.prior.limits(pairs)
    return (yield from certifying(classifier, x, run.classes[pairs], reach[0]))
