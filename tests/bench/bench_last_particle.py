"""How much the last-particle engine costs beyond the model itself, and how many calls it saves
against plain Monte Carlo.

Run it alone on a quiet machine: ``python -m tests.bench.bench_last_particle``. It prints figures
    and asserts nothing.
"""

from __future__ import annotations

import argparse
import itertools
import os
from collections.abc import Generator

import numpy as np
import torch
from scipy import stats
from torch import nn

from robgui.analyses.last_particle import LastParticleTableParams, estimate, last_particle_table
from robgui.analyses.last_particle.estimates import FunctionScore
from robgui.analyses.last_particle.exact import Law
from robgui.analyses.last_particle.particles.outcome import outcome
from robgui.analyses.last_particle.particles.setup import Setup
from robgui.analyses.last_particle.particles.splitting import Splitting
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from tests.bench.studies.turns import take_turns

PARTS = ("mlp", "table", "cnn", "calls", "power", "leaps", "coverage")


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
        radii=(eps,), most=inputs, replicas=1, samples=0, attack_steps=0, importance=0, guided=False
    )
    for batch in (inputs, classifier.batch()):
        table = last_particle_table(classifier, from_arrays(x, kind=classifier.kind), params)
        # formal bounds come afterwards
        steps = itertools.takewhile(lambda step: not step.result.finished.all(), table)
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


def leaping(runs: int = 100) -> None:
    """Calls, interval width, how often the interval holds the probability and how often 1e-12 is
    validated, on a linear classifier of 784 values: as published, with leaps, and the published
    moves with three repetitions.
    """
    for p in (1e-4, 1e-6, 1e-12):
        for replicas, guided in ((10, False), (10, True), (3, False)):
            print(_with_moves(p, replicas, guided, runs), flush=True)


def _with_moves(p: float, replicas: int, guided: bool, runs: int) -> str:
    noise, dim = 0.1, 784
    layer = nn.Linear(dim, 2)
    with torch.no_grad():
        ray = torch.ones(dim) / dim**0.5 / noise
        layer.weight.copy_(torch.stack([-ray, ray]) / 2)
        level = float(stats.norm.isf(p)) + 0.5 * float(ray.sum())
        layer.bias.copy_(torch.tensor([level, -level]) / 2)
    classifier = Classifier.from_module(nn.Sequential(layer), (dim,), output="logits")
    x = np.full((runs, dim), 0.5, dtype=np.float32)
    params = LastParticleTableParams(
        noise="gaussian", radii=(noise,), most=runs, replicas=replicas, samples=0, attack_steps=0,
        importance=0, proof=False, guided=guided,
    )  # fmt: skip
    before = classifier.calls
    *_, step = last_particle_table(classifier, from_arrays(x, kind="table"), params)
    result = step.result
    told = result.finished & ~result.inconclusive
    held = (result.p_low <= p) & (p <= result.p_high) & told
    width = np.log10(result.p_high / np.maximum(result.p_low, 1e-300))[told & (result.p_low > 0)]
    decades = f"{np.median(width):.2f} decades" if len(width) else "no lower end"
    moves = "leaps" if guided else "published"
    return (
        f"p = {p:g}, {replicas} repetitions, {moves}: {(classifier.calls - before) / runs:,.0f}"
        f" calls, {decades}, holds p {held.sum()} of {told.sum()}, validated"
        f" {int(result.validated.sum())} of {runs}"
    )


class _Turned:
    """The direction of a linear score, off by some degrees."""

    calls = 0

    def __init__(self, dim: int, degrees: float) -> None:
        self._direction = torch.zeros(dim)
        turned = np.radians(degrees)
        self._direction[0], self._direction[1] = float(np.cos(turned)), float(np.sin(turned))

    def directions(self, tests: torch.Tensor) -> Generator[None, None, torch.Tensor]:
        """The same for every test."""
        yield
        return self._direction.expand(len(tests), -1)


def coverage(moves: list[int], runs: int, p: float = 1e-8) -> None:
    """How often the interval of ten repetitions holds the probability of a linear score, along
    slopes that are off; 40 stands for the published moves.
    """
    law, bound = Law(2, 1, 10), float(stats.norm.isf(p))
    most = law.threshold(1e-6 * p, 0.01)
    score = FunctionScore(lambda z, _: z[:, 0] - bound)
    for steps in moves:
        held: list[bool] = []
        said = []
        calls = 0
        for dim, degrees in itertools.product((30, 120), (0, 37, 60)):
            guide = _Turned(dim, degrees) if steps < 40 else None
            setup = Setup(dim, runs, 2, 1, steps, 10, most, 1, 4096, False)
            splitting = Splitting(score, setup, torch.device("cpu"), guide)
            for _ in splitting.rounds():
                continue
            told = [
                outcome(law, most, splitting.lanes[10 * i :][:10], ended=True) for i in range(runs)
            ]
            own = [bool(one.p_low <= p <= one.p_high) for one in told if not one.inconclusive]
            held += own
            calls += int(splitting.calls.sum())
            said.append(f"{np.mean(own):.3f}")
        print(
            f"{steps} moves, p = {p:g}: holds p in {100 * np.mean(held):.1f} % of {len(held):,} tests"
            f" ({' '.join(said)} in 30 and 120 dimensions, slopes off by 0, 37 and 60 degrees),"
            f" {calls / runs / len(said):,.0f} calls a test",
            flush=True,
        )


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument(
        "--seconds", type=float, default=60.0, help="at most so long for each model"
    )
    parser.add_argument("--only", choices=PARTS)
    parser.add_argument("--moves", type=int, nargs="+", default=[12, 11, 40])
    parser.add_argument("--runs", type=int, default=1000, help="tests of each kind for coverage")
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
    if options.only in (None, "leaps"):
        leaping()
    if options.only == "coverage":
        coverage(options.moves, options.runs)


if __name__ == "__main__":
    main()
