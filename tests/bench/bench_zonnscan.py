"""How much the zoNNscan engine costs beyond the model itself, and how many model calls a good sampler saves.

Run it alone on a quiet machine: ``python -m tests.bench.bench_zonnscan``. It prints figures and asserts nothing.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult, zonnscan
from robgui.core.classifier import Classifier
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.loading import load

SAMPLERS = ("sobol", "antithetic", "plain")
RADII = 20  # 21 with radius 0, which takes no samples


def mlp() -> Classifier:
    """784-512-512-10, the paper's."""
    torch.manual_seed(0)
    layers = [nn.Flatten(), nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="MLP 784-512-512-10")


def cnn() -> Classifier:
    """Two convolutions and two linear layers, as in the paper's Keras example."""
    torch.manual_seed(0)
    convolutions = [nn.Conv2d(1, 32, 3), nn.ReLU(), nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2)]
    layers = [*convolutions, nn.Flatten(), nn.Linear(64 * 144, 128), nn.ReLU(), nn.Linear(128, 10)]
    return Classifier.from_module(nn.Sequential(*layers), (1, 28, 28), name="CNN 32-64-128-10")


def last(classifier: Classifier, dataset: Dataset, **settings: object) -> ZonnscanResult:
    """The result when the sweep has ended."""
    for step in zonnscan(classifier, dataset, ZonnscanParams.model_validate(settings)):
        newest = step.result
    return newest


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock time of one call."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def forward(classifier: Classifier, x: torch.Tensor, count: int) -> None:
    """The bare model on ``count`` inputs, in batches of ``len(x)``, one answer kept."""
    module = classifier._backend.module  # type: ignore[attr-defined]  # the raw network, without the Classifier around it
    with torch.inference_mode():
        for start in range(0, count, len(x)):
            module(x[: count - start])


def overhead(classifier: Classifier, samples: int, repeats: int, sampler: str) -> None:
    """Engine time over bare forward time on as many samples, the two in turn."""
    dataset = from_arrays(np.random.default_rng(0).random((1, 1, 28, 28), dtype=np.float32))
    x = torch.rand((classifier.batch(), 1, 28, 28))
    forward(classifier, x, len(x))
    pairs = []
    for _ in range(repeats):
        engine = seconds(lambda: last(classifier, dataset, samples=samples, sampler=sampler, target_half_width=0))
        bare = seconds(lambda: forward(classifier, x, samples * RADII))
        pairs.append((engine, bare))
    engines, bares = np.array(pairs).T
    ratios = ", ".join(f"{ratio:.3f}" for ratio in engines / bares)
    print(f"{classifier.name}, {sampler}, {samples:,} x {RADII}: engine {engines.min():.2f} s, bare {bares.min():.2f} s, ratios {ratios}")
    print(f"  best over best {engines.min() / bares.min():.3f}, median ratio {np.median(engines / bares):.3f}")


def calls_to_target(target: float, inputs: int) -> None:
    """Model calls until every radius is within ``target``, on the demo's MLP and images.

    Against plain sampling that stops each radius by itself too, and against plain sampling as published, where one
    number of samples serves all radii and the widest interval decides.
    """
    classifier = load(resources.path("demo", "fashion_mlp.pt2"))
    dataset = open_dataset(resources.path("demo", "fashion.npz"))
    taken = {name: np.stack([_samples(classifier, dataset.subset([i]), name, target) for i in range(inputs)]) for name in SAMPLERS}
    for name in SAMPLERS:
        calls = taken[name].sum(1)
        own, one_k = calls / taken["plain"].sum(1), calls / (RADII * taken["plain"].max(1))
        print(f"half-width {target}, {name}: {calls.mean():,.0f} calls")
        print(f"  of plain with its own stop {own.mean():.3f}, of plain with one k for all radii {one_k.mean():.3f}")


def _samples(classifier: Classifier, dataset: Dataset, sampler: str, target: float) -> np.ndarray:
    return last(classifier, dataset, samples=100_000, sampler=sampler, target_half_width=target).samples[1:]


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--only", choices=("mlp", "cnn", "calls"))
    options = parser.parse_args()
    print(f"{torch.get_num_threads()} threads, load {' '.join(map(str, np.round(os.getloadavg(), 1)))}")
    if options.only in (None, "mlp"):
        for sampler in ("sobol", "plain"):
            overhead(mlp(), options.samples, options.repeats, sampler)
    if options.only in (None, "cnn"):
        overhead(cnn(), max(1, options.samples // 10), options.repeats, "sobol")
    if options.only in (None, "calls"):
        calls_to_target(0.01, options.inputs)


if __name__ == "__main__":
    main()
