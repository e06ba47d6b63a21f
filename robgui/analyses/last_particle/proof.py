"""Formal bounds beside the test: whether they cover the noise, and what they prove."""

from __future__ import annotations

from collections.abc import Generator

import numpy as np
import torch

from robgui.analyses.last_particle.pair_tests import PairTests
from robgui.analyses.last_particle.params import MethodParams
from robgui.analyses.last_particle.sampling.montecarlo import MonteCarlo
from robgui.bounds import Certificate, certifying, no_certificate
from robgui.core.model.classifier import Classifier


def unprovable(params: MethodParams) -> str:
    """Why there are no formal bounds for this noise; empty if there are."""
    if not params.proof:
        return "Formal bounds were not asked for."
    if params.noise not in ("box", "clip"):
        return "Formal bounds are for noise that limits how far every value moves (box or clip)."
    if params.rounded or params.lower or params.upper:
        return "Formal bounds do not know rounded features or bounds of your own."
    return ""


def prove(
    classifier: Classifier,
    run: PairTests,
    first: int,
    last: int,
    failing: np.ndarray,
) -> Generator[None, None, Certificate]:
    """What is proven about the pairs ``first`` to ``last`` - 1; yields between pieces.

    They all have one size of noise. A failure met by the run itself outweighs the proof.

    Args:
        classifier: The model.
        run: Its tests.
        first: The first pair.
        last: The one after the last.
        failing: ``(last - first,)`` for which of them a failing input has been met.
    """
    pairs = torch.arange(first, last, device=classifier.device)
    x, reach, _ = run.prior.limits(pairs)
    # reach[0] stands for all: these pairs have one size, and its
    # scale does not depend on the input.
    proof = yield from certifying(classifier, x, run.classes[pairs], reach[0])
    if not proof.reason and bool((proof.certified & failing).any()):
        why = "this run met a failing input within the noise, which the proof rules out"
        return no_certificate(classifier, why)
    return proof


def met_failures(run: PairTests, monte_carlo: MonteCarlo, first: int, last: int) -> np.ndarray:
    """The pairs for which the test or the plain samples have met a failing input."""
    tested = np.array([run.failure(pair) is not None for pair in range(first, last)], dtype=bool)
    return np.asarray(tested | (monte_carlo.failures[first:last] > 0))
