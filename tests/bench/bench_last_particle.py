"""How much the last-particle engine costs beyond the model itself, and how many calls it saves
against plain Monte Carlo.

Run it alone on a quiet machine: ``python -m tests.bench.bench_last_particle``. It prints figures
    and asserts nothing.
"""

from __future__ import annotations

import argparse
import itertools
import os

import numpy as np
import torch
from scipy import stats
from torch import nn

from robgui.analyses.last_particle import LastParticleTableParams, estimate, last_particle_table
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from tests.bench.turns import take_turns


def mlp() -> Classifier:
    """784-512-512-10."""
    torch.manual_seed(0)
    layers = [
        nn.Flatten(),
        nn.Linear(784, 512),
        nn.ReLU(),
        nn.Linear(512, 512),
        nn.ReLU(),
        nn.Linear(512, 10),
    ]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="MLP 784-512-512-10")


def table_mlp() -> Classifier:
    """72 features, 500-100-50-6: the largest network of the paper's Section 4.1."""
    torch.manual_seed(0)
    layers = [
        nn.Linear(72, 500),
        nn.ReLU(),
        nn.Linear(500, 100),
        nn.ReLU(),
        nn.Linear(100, 50),
        nn.ReLU(),
        nn.Linear(50, 6),
    ]
    return Classifier.from_module(nn.Sequential(*layers), (72,), name="MLP 72-500-100-50-6")


def cnn() -> Classifier:
    """Two convolutions and two linear layers."""
    torch.manual_seed(0)
    convolutions = [
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
    ]
    layers = [*convolutions, nn.Flatten(), nn.Linear(64 * 144, 128), nn.ReLU(), nn.Linear(128, 10)]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="CNN 32-64-128-10")


def overhead(classifier: Classifier, inputs: int, eps: float, seconds: float) -> None:
    """Engine time over bare forward time on as many samples, in batches of the engine and of the
    model's own choice.
    """
    x = np.random.default_rng(0).random((inputs, *classifier.shape), dtype=np.float32)
    params = LastParticleTableParams(
        radii=(eps,), most=inputs, replicas=1, samples=0, attack_steps=0, importance=0
    )
    for batch in (inputs, classifier.batch()):
        table = last_particle_table(classifier, from_arrays(x, kind=classifier.kind), params)
        steps = itertools.takewhile(
            lambda step: not step.result.finished.all(), table
        )  # formal bounds come afterwards
        print(
            f"{classifier.name}, bare in batches of {batch:,}:"
            f" {take_turns(classifier, steps, batch, seconds).words()}",
            flush=True,
        )


def against_monte_carlo(p: float = 1e-6, particles: int = 100, runs: int = 40) -> None:
    """Calls that plain Monte Carlo needs for the same relative error as splitting, on a linear
    score of known p.
    """
    bound = float(stats.norm.isf(p))
    direction = torch.ones(20) / 20**0.5
    result = estimate(
        lambda z, i: z @ direction - bound,
        20,
        particles=particles,
        inputs=runs,
        critical=1e-30,
        seed=1,
    )
    error = float(np.sqrt(np.mean((result.p_estimate / p - 1) ** 2)))
    calls = float(result.model_calls.mean())
    plain = (1 - p) / (p * error**2)
    print(f"p = {p:g}, N = {particles}: relative error {error:.2f} with {calls:,.0f} calls")
    print(f"  plain Monte Carlo {plain:,.0f}, {plain / calls:.0f} times as many")


def validated(p: float = 1e-12, runs: int = 100) -> None:
    """How often an input that fails so rarely is validated, and how wide the interval of one that
    fails at 1e-6 is, with ten repetitions and with the published one.
    """
    direction = torch.ones(20) / 20**0.5
    for replicas in (10, 1):
        rare, common = (
            estimate(
                lambda z, i, bound=float(stats.norm.isf(each)): z @ direction - bound,
                20,
                inputs=runs,
                replicas=replicas,
                seed=1,
            )
            for each in (p, 1e-6)
        )
        decades = np.median(np.log10(common.p_high / common.p_low))
        print(
            f"{replicas} repetitions: p = {p:g} validated {100 * rare.validated.mean():.0f} %"
            f" with {rare.model_calls.mean():,.0f} calls; at 1e-6 the interval spans"
            f" {decades:.1f} decades with {common.model_calls.mean():,.0f} calls"
        )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="at most so long for each model"
    )
    parser.add_argument("--only", choices=("mlp", "table", "cnn", "calls", "power"))
    options = parser.parse_args()
    for threads in options.threads:
        torch.set_num_threads(threads)
        print(f"{threads} threads, load {' '.join(map(str, np.round(os.getloadavg(), 1)))}")
        for name, make in (("mlp", mlp), ("table", table_mlp), ("cnn", cnn)):
            if options.only in (None, name):
                overhead(make(), options.inputs, 1e-4, options.seconds)
    if options.only in (None, "calls"):
        for p in (1e-4, 1e-6, 1e-8):
            against_monte_carlo(p)
    if options.only in (None, "power"):
        validated()


if __name__ == "__main__":
    main()
