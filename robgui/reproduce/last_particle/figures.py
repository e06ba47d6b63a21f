"""Formats table results as the figures and words of a claim."""

from __future__ import annotations

from typing import Any

import numpy as np

from robgui.analyses.last_particle.params import LastParticleTableParams
from robgui.analyses.last_particle.result import LastParticleTableResult
from robgui.core.text.words import percent
from robgui.reproduce.last_particle.bench import ParticleBench

#: Table 1: size of the noise, then certified, validated and clean in plain sampling, in per cent.
TABLE_1 = {
    1e-4: (100, 100, 100),
    5e-4: (100, 100, 100),
    1e-3: (99, 100, 100),
    5e-3: (98, 99, 99.8),
    0.01: (95, 98, 99),
    0.05: (20, 61, 89),
    0.1: (0.05, 43, 64),
}


def table_params(bench: ParticleBench, *, plain: bool = False) -> LastParticleTableParams:
    """The paper's settings, as large as the bench says."""
    size = bench.size
    return LastParticleTableParams(
        preset="paper",
        radii=size.radii,
        most=size.inputs,
        critical=size.critical,
        samples=size.samples if plain else 0,
        # Table 1 alone compares with plain sampling and splits its false positives by an attack.
        attack_steps=40 if plain else 0,
        seed=bench.setting.seed,
    )


def settings_words(bench: ParticleBench, result: LastParticleTableResult) -> str:
    """On how many inputs and with which settings, in one sentence."""
    p = table_params(bench)
    settings = (
        f"N = {p.particles}, t = {p.steps}, p_c = {p.critical:g}, risk {p.risk:g}, m = {result.m}"
    )
    return (
        f"{bench.what}: the first {result.validated.shape[1]:,} inputs that the model gets right"
        f" (paper: 100), {settings}."
    )


def shares_of(result: LastParticleTableResult) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Certified, validated and clean in plain sampling.

    The share of the inputs at each size of noise.
    """
    return (
        result.certified.mean(1),
        result.passed.mean(1),
        (result.monte_carlo_failures == 0).mean(1),
    )


def costs_of(result: LastParticleTableResult) -> dict[str, Any]:
    """Calls and seconds of each test, and the share left open."""
    return {
        "calls": result.calls.mean(1),
        "seconds": result.seconds,
        "certified_seconds": result.certified_seconds,
        "monte_carlo_seconds": result.monte_carlo_seconds,
        "inconclusive": result.inconclusive.mean(1),
    }


def is_falling(shares: np.ndarray) -> bool:
    """All at first, fewer at last, and never up again by more than one input."""
    # 0.01 is one of the paper's 100 inputs.
    return bool(shares[0] == 1 and shares[-1] < 1 and (np.diff(shares) <= 0.01).all())


def row_words(shares: np.ndarray) -> str:
    """Shares at each size of noise, in words."""
    return ", ".join(percent(float(share)) for share in shares)


def paper_row(radii: tuple[float, ...]) -> str:
    """The row of the paper's Table 1 for these sizes of noise."""
    return ", ".join(f"{TABLE_1[radius][1]:g} %" for radius in radii if radius in TABLE_1)


def three_shares(*shares: float) -> str:
    """Shares beside each other, in words."""
    return " / ".join(percent(float(share)) for share in shares)
