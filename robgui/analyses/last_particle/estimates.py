"""The public kernel: the last particle on any score of a standard Gaussian point."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.analyses.last_particle.particles.outcome import SplittingOutcome, outcome
from robgui.analyses.last_particle.particles.setup import Setup
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.core.errors import ModelError, ParamsError

#: Default number of points scored at once.
_ROWS = 4096

ScoreFunction = Callable[[Tensor, Tensor], Any]


@dataclass(frozen=True, slots=True)
class InputEstimates:
    """One entry per input; see ``LastParticleResult`` for what each means.

    Attributes:
        validated: ``(inputs,)``.
        inconclusive: ``(inputs,)``.
        reason: Why, for each input; empty unless inconclusive.
        p_estimate: ``(inputs,)``.
        p_low: ``(inputs,)``.
        p_high: ``(inputs,)``.
        killed: ``(inputs,)``.
        m: Number of killed that validates.
        levels: For each input ``(k,)``, of its first replica.
        acceptance: For each input ``(k,)``.
        failure: For each input a failing latent point ``(dim,)``, or None.
        model_calls: ``(inputs,)``.
        mixed: ``(inputs,)``.
        dispersion: ``(inputs,)`` variance of the killed over the replicas, relative to the expected
            one; nan with one replica.
        replica_killed: ``(inputs, replicas)``.
    """

    validated: np.ndarray
    inconclusive: np.ndarray
    reason: tuple[str, ...]
    p_estimate: np.ndarray
    p_low: np.ndarray
    p_high: np.ndarray
    killed: np.ndarray
    m: int
    levels: tuple[np.ndarray, ...]
    acceptance: tuple[np.ndarray, ...]
    failure: tuple[np.ndarray | None, ...]
    model_calls: np.ndarray
    mixed: np.ndarray
    dispersion: np.ndarray
    replica_killed: np.ndarray


def estimate(
    score: ScoreFunction,
    dim: int,
    # N = 2, p_c = 1e-10 and t = 40 are those of all tables of the paper (Section 4).
    particles: int = 2,
    steps: int = 40,
    critical: float = 1e-10,
    risk: float = 0.01,
    replicas: int = 1,
    inputs: int = 1,
    seed: int = 0,
    *,
    kill: int = 1,
    batch: int = 0,
    device: str | torch.device | None = None,
) -> InputEstimates:
    """Tests for each input whether P(score(z) > 0), z ~ N(0, I), is below ``critical``.

    Args:
        score: Latent points ``(n, dim)`` and the input each belongs to ``(n,)`` -> scores ``(n,)``;
            above 0 is a failure.
        dim: Latent dimensions.
        particles: N.
        steps: Moves of every new particle.
        critical: The critical probability.
        risk: Most often that an input which fails more often than ``critical`` may be validated.
        replicas: Independent runs per input whose counts are added.
        inputs: How many inputs; all of them advance together.
        seed: Start of the random numbers.
        kill: How many particles die at once; more than 1 is adaptive multilevel splitting.
        batch: Points scored at once; 0 lets the program choose.
        device: Where the latent points live; None for torch's default.
    """
    _check(dim, particles, steps, critical, risk, replicas, inputs, kill)
    law = Law(particles, kill, replicas)
    setup = Setup(
        dim,
        inputs,
        particles,
        kill,
        steps,
        replicas,
        law.threshold(critical, risk),
        seed,
        batch or _ROWS,
    )
    splitting = Splitting(
        FunctionScore(score),
        setup,
        torch.get_default_device() if device is None else torch.device(device),
    )
    for _ in splitting.rounds():
        pass
    outcomes = [
        outcome(law, setup.m, splitting.lanes[i * replicas : (i + 1) * replicas], ended=True)
        for i in range(inputs)
    ]
    return _collected(splitting, setup, outcomes)


class FunctionScore:
    """A function of latent points and inputs as a Score."""

    spread = 1.0

    def __init__(self, function: ScoreFunction) -> None:
        self._function = function

    def bind(self, tests: Tensor) -> Bound:
        def score(latent: Tensor) -> Tensor:
            answer = torch.as_tensor(
                self._function(latent, tests), dtype=torch.float64, device=latent.device
            )
            if answer.shape != tests.shape:
                raise ModelError(
                    f"The score function gives shape {tuple(answer.shape)} for {len(tests):,}"
                    " points; it must give one number for each."
                )
            return answer

        return score

    def inside(self, tests: Tensor) -> Bound | None:
        return None

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()


def _collected(
    splitting: Splitting, setup: Setup, outcomes: list[SplittingOutcome]
) -> InputEstimates:
    # Lanes of a test stand next to each other.
    first = splitting.lanes[:: setup.replicas]
    failures = (splitting.failures.get(i) for i in range(setup.tests))
    return InputEstimates(
        validated=np.array([each.validated for each in outcomes]),
        inconclusive=np.array([each.inconclusive for each in outcomes]),
        reason=tuple(each.reason for each in outcomes),
        p_estimate=np.array([each.p_estimate for each in outcomes]),
        p_low=np.array([each.p_low for each in outcomes]),
        p_high=np.array([each.p_high for each in outcomes]),
        killed=np.array([each.killed for each in outcomes]),
        m=setup.m,
        levels=tuple(np.array(lane.levels) for lane in first),
        acceptance=tuple(np.array(lane.acceptance) for lane in first),
        failure=tuple(None if failure is None else failure.cpu().numpy() for failure in failures),
        model_calls=splitting.calls,
        mixed=np.array([each.mixed for each in outcomes]),
        dispersion=np.array([each.dispersion for each in outcomes]),
        replica_killed=splitting.killed,
    )


def _check(
    dim: int,
    particles: int,
    steps: int,
    critical: float,
    risk: float,
    replicas: int,
    inputs: int,
    kill: int,
) -> None:
    """Raises one sentence for a number that makes no sense."""
    if particles < 2:
        raise ParamsError(
            f"particles = {particles}: at least 2 are needed, one to be killed and one to survive."
        )
    if not 1 <= kill < particles:
        raise ParamsError(
            f"kill = {kill}: it must be at least 1 and smaller than particles = {particles}."
        )
    for name, share in (("critical", critical), ("risk", risk)):
        if not 0 < share < 1:
            raise ParamsError(
                f"{name} = {share:g}: it is a probability and must lie between 0 and 1, both"
                " excluded."
            )
    for name, number in (
        ("dim", dim),
        ("steps", steps),
        ("replicas", replicas),
        ("inputs", inputs),
    ):
        if number < 1:
            raise ParamsError(f"{name} = {number}: it must be at least 1.")
