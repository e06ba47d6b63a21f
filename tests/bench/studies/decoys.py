"""Decoys: a class whose score rises first and never wins hides the one that does. How often is an
input called validated that fails with a known probability, and how often is that probability within
the interval?

Run it alone: ``python -m tests.bench.studies.decoys``. It prints a table and asserts nothing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams, last_particle
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status

DIM = 10
EPS = 0.1
PROBABILITIES = (1e-3, 3e-4, 1e-4, 1e-6)


class Decoy(nn.Module):
    """Class 0 is right. Class 1 comes close wherever the first value grows and never wins; class 2
    wins beyond a bound of the others, from where its score falls off to a low slope.

    Args:
        p: How often class 2 wins under Gaussian noise of standard deviation EPS.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.bound = float(stats.norm.isf(p))

    def forward(self, x: Tensor) -> Tensor:
        z = (x - 0.5) / EPS
        decoy = -torch.exp(-z[:, 0] / 2) - 1e-3
        along = z[:, 1:].sum(1) / (DIM - 1) ** 0.5
        beyond = along - self.bound
        hidden = torch.where(beyond > 0, beyond + 0.1, -6 + 0.2 * beyond)
        return torch.stack([torch.zeros_like(decoy), decoy, hidden], 1)


def with_gradients(p: float) -> Classifier:
    """The decoy as a network."""
    return Classifier.from_module(Decoy(p), (DIM,), output="logits", name="decoy")


def without_gradients(p: float) -> Classifier:
    """The same behind a function of arrays."""
    module = Decoy(p)

    def scores(x: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return module(torch.from_numpy(np.asarray(x, dtype=np.float32))).numpy()

    return Classifier.from_callable(scores, (DIM,), ("right", "decoy", "hidden"), output="logits")


def row(make: Callable[[float], Classifier], p: float, runs: int, **settings: Any) -> str:
    """How the runs of one model ended."""
    data = from_arrays(np.full((1, DIM), 0.5, dtype=np.float32), kind="table")
    known = find("last_particle")
    counts = dict.fromkeys(("passed", "validated", "contradicted", "covered", "told"), 0)
    for seed in range(runs):
        params = LastParticleParams(noise="gaussian", eps=EPS, seed=seed, **settings)
        *_, step = last_particle(make(p), data, params)
        result, said = step.result, known.verdict(step.result, params)
        counts["passed"] += result.passed
        counts["validated"] += said.status is Status.HOLDS
        counts["contradicted"] += said.status is Status.HOLDS and result.monte_carlo_failures > 0
        counts["covered"] += result.p_low <= p <= result.p_high
        counts["told"] += result.passed and not result.validated
    return (
        f"{p:8.0e}  test alone passes {counts['passed']:2d}, validated {counts['validated']:2d}"
        f" (beside a failed sample {counts['contradicted']}), told {counts['told']:2d},"
        f" interval holds p {counts['covered']:2d} of {runs}"
    )


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=60)
    parser.add_argument("--only", type=float, action="append", metavar="P", help="only these p")
    options = parser.parse_args()
    for title, make, settings in (
        ("with gradients", with_gradients, {}),
        ("without gradients", without_gradients, {}),
        ("published: N = 2, one repetition, nothing beside", with_gradients, _PUBLISHED),
    ):
        print(title)
        for p in options.only or PROBABILITIES:
            print(row(make, p, options.runs, **settings), flush=True)


_PUBLISHED = {"replicas": 1, "importance": 0, "attack_steps": 0}

if __name__ == "__main__":
    main()
