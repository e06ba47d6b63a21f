"""How much the last-particle engine costs beyond the model itself, and how many calls it saves against plain Monte Carlo.

Run it alone on a quiet machine: ``python -m tests.bench.bench_last_particle``. It prints figures and asserts nothing.
"""

from __future__ import annotations

import argparse
import itertools
import os
import time

import numpy as np
import torch
from scipy import stats
from torch import nn

from robgui.analyses.last_particle import LastParticleTableParams, estimate, last_particle_table
from robgui.core.classifier import Classifier
from robgui.core.dataset import Dataset, from_arrays


def mlp() -> Classifier:
    """784-512-512-10."""
    torch.manual_seed(0)
    layers = [nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="MLP 784-512-512-10")


def table_mlp() -> Classifier:
    """72 features, 500-100-50-6: the largest network of the paper's Section 4.1."""
    torch.manual_seed(0)
    layers = [nn.Linear(72, 500), nn.ReLU(), nn.Linear(500, 100), nn.ReLU(), nn.Linear(100, 50), nn.ReLU(), nn.Linear(50, 6)]
    return Classifier.from_module(nn.Sequential(*layers), (72,), name="MLP 72-500-100-50-6")


def cnn() -> Classifier:
    """Two convolutions and two linear layers."""
    torch.manual_seed(0)
    convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    layers = [*convolutions, nn.Flatten(), nn.Linear(64 * 144, 128), nn.ReLU(), nn.Linear(128, 10)]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="CNN 32-64-128-10")


class Pieces:
    """A table run in pieces that take turns with the bare model, so that both meet the same load of the machine."""

    def __init__(self, classifier: Classifier, inputs: int, eps: float) -> None:
        self.classifier = classifier
        x = np.random.default_rng(0).random((inputs, *classifier.shape), dtype=np.float32)
        dataset: Dataset = from_arrays(x, kind=classifier.kind)
        params = LastParticleTableParams(radii=(eps,), most=inputs, samples=0, attack_steps=0)
        self._steps = last_particle_table(classifier, dataset, params)
        next(self._steps)
        self.engine, self.same, self.full = np.zeros(2), np.zeros(2), np.zeros(2)
        self.calls = 0

    def take_turns(self, inputs: int, seconds: float) -> None:
        """Engine, bare model in batches of the engine, bare model in batches of its own choice; until the engine or the time ends."""
        one, many = (torch.rand((size, *self.classifier.shape)) for size in (inputs, self.classifier.batch()))
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends:
            before, began = self.classifier.calls, _now()
            # several at a time: after a pause the engine makes a picture at once, which would be counted each time
            steps = list(itertools.islice(self._steps, 20))
            if len(steps) < 20 or steps[-1].result.finished.all():
                return
            self.engine += _now() - began
            count = self.classifier.calls - before
            self.calls += count
            self.same += self._bare(one, count)
            self.full += self._bare(many, count)

    def _bare(self, x: torch.Tensor, count: int) -> np.ndarray:
        """Seconds for ``count`` ready-made inputs; what the batches do not fit into is counted in part."""
        batches = max(1, round(count / len(x)))
        began = _now()
        for _ in range(batches):
            self.classifier.infer(x)
        return (_now() - began) * count / (batches * len(x))


def _now() -> np.ndarray:
    """Wall clock and processor time; the second counts on a machine that is not quiet."""
    return np.array([time.perf_counter(), time.process_time()])


def overhead(classifier: Classifier, inputs: int, eps: float, seconds: float) -> None:
    """Engine time over bare forward time on as many samples."""
    pieces = Pieces(classifier, inputs, eps)
    pieces.take_turns(inputs, seconds)
    for clock, engine, same, full in zip(("wall", "processor"), pieces.engine, pieces.same, pieces.full, strict=True):
        print(
            f"{classifier.name}, {clock}: {pieces.calls:,} calls, engine {engine:.2f} s, bare in batches of {inputs} {same:.2f} s, "
            f"of {classifier.batch()} {full:.2f} s; ratios {engine / same:.2f} and {engine / full:.2f}",
            flush=True,
        )


def against_monte_carlo(p: float = 1e-6, particles: int = 100, runs: int = 40) -> None:
    """Calls that plain Monte Carlo needs for the same relative error as splitting, on a linear score of known p."""
    bound = float(stats.norm.isf(p))
    direction = torch.ones(20) / 20**0.5
    result = estimate(lambda z, i: z @ direction - bound, 20, particles=particles, inputs=runs, critical=1e-30, seed=1)
    error = float(np.sqrt(np.mean((result.p_estimate / p - 1) ** 2)))
    calls = float(result.model_calls.mean())
    plain = (1 - p) / (p * error**2)
    print(f"p = {p:g}, N = {particles}: relative error {error:.2f} with {calls:,.0f} calls")
    print(f"  plain Monte Carlo {plain:,.0f}, {plain / calls:.0f} times as many")


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=100)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--seconds", type=float, default=60.0, help="at most so long for each model")
    parser.add_argument("--only", choices=("mlp", "table", "cnn", "calls"))
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


if __name__ == "__main__":
    main()
