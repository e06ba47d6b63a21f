"""How much the zoNNscan engine costs beyond the model itself, and how many model calls a good
sampler saves.

Run it alone on a quiet machine: ``python -m tests.bench.bench_zonnscan``. It prints figures and
    asserts nothing.
"""

from __future__ import annotations

import argparse
import os

import numpy as np
import torch
from torch import nn

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult, zonnscan
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from tests.bench.studies.turns import take_turns

SAMPLERS = ("sobol", "antithetic", "plain")
RADII = 20  # 21 with radius 0, which takes no samples


def mlp() -> Classifier:
    """784-512-512-10, the paper's."""
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


def cnn() -> Classifier:
    """Two convolutions and two linear layers, as in the paper's Keras example."""
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


def last(classifier: Classifier, dataset: Dataset, **settings: object) -> ZonnscanResult:
    """The result when the sweep over fixed radii has ended."""
    params = ZonnscanParams.model_validate({"added": 0, **settings})
    for step in zonnscan(classifier, dataset, params):
        newest = step.result
    return newest


def overhead(classifier: Classifier, samples: int, sampler: str) -> None:
    """Engine time over bare forward time on as many samples, the two in turn."""
    dataset = from_arrays(np.random.default_rng(0).random((1, 1, 28, 28), dtype=np.float32))
    params = ZonnscanParams(samples=samples, sampler=sampler, target_half_width=0, added=0)
    for _ in zonnscan(classifier, dataset, params.model_copy(update={"samples": 64})):
        continue
    turns = take_turns(classifier, zonnscan(classifier, dataset, params), classifier.batch())
    print(f"{classifier.name}, {sampler}, {samples:,} x {RADII}: {turns.words()}", flush=True)


def calls_to_target(target: float, inputs: int) -> None:
    """Model calls until every radius is within ``target``, on the demo's MLP and images.

    Plain sampling as published uses one number of samples k for all radii, so the widest interval
    decides; the figure beside it is for plain sampling with the best k of each radius. Both k
    follow from the spread of 2,000 samples and a normal interval: no round overshoots them.
    """
    classifier = load(resources.path("demo", "fashion_mlp.pt2"))
    dataset = open_dataset(resources.path("demo", "fashion.npz"))
    needed = np.stack(
        [plain_samples(classifier, dataset.subset([i]), target) for i in range(inputs)]
    )
    one_k, own_k = RADII * needed.max(1), needed.sum(1)
    print(
        f"half-width {target}, {inputs} inputs, plain: one k {one_k.mean():,.0f} calls, own k"
        f" {own_k.mean():,.0f}"
    )
    for name in SAMPLERS:
        results = [
            last(
                classifier,
                dataset.subset([i]),
                samples=100_000,
                sampler=name,
                target_half_width=target,
            )
            for i in range(inputs)
        ]
        calls = np.array([result.samples[1:].sum() for result in results])
        widest = max(float((result.ci_high - result.ci_low).max()) / 2 for result in results)
        print(f"  {name}: {calls.mean():,.0f} calls, widest half-width {widest:.4f}")
        for words, plain in (("one k", one_k), ("own k", own_k)):
            print(
                f"    of plain with {words}: {calls.sum() / plain.sum():.3f} in all,"
                f" {np.mean(calls / plain):.3f} on average over inputs"
            )


def plain_samples(classifier: Classifier, dataset: Dataset, target: float) -> np.ndarray:
    """How many plain samples each radius needs."""
    result = last(classifier, dataset, samples=2000, sampler="plain", target_half_width=0)
    half = (result.ci_high - result.ci_low)[1:] / 2
    return np.maximum(2, np.ceil(2000 * (half / target) ** 2))


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--inputs", type=int, default=10)
    parser.add_argument("--threads", type=int, nargs="+", default=[2, 1])
    parser.add_argument("--only", choices=("mlp", "cnn", "calls"))
    options = parser.parse_args()
    for threads in options.threads:
        torch.set_num_threads(threads)
        print(f"{threads} threads, load {' '.join(map(str, np.round(os.getloadavg(), 1)))}")
        if options.only in (None, "mlp"):
            for sampler in ("sobol", "plain"):
                overhead(mlp(), options.samples, sampler)
        if options.only in (None, "cnn"):
            overhead(cnn(), max(1, options.samples // 10), "sobol")
    if options.only in (None, "calls"):
        calls_to_target(0.01, options.inputs)


if __name__ == "__main__":
    main()
