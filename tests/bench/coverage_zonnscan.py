"""How often the 95 % interval of a sweep holds the truth at the default settings, radius by radius.

Run it alone: ``python -m tests.bench.coverage_zonnscan``. It prints a table for each model of the
    demo and asserts
nothing. The truth is the mean of a sweep with many more samples and no early stop. A cell is an
input at a radius; it is resolvable when its truth is one that its samples can tell from 0. Where
they cannot, the program says "below b": then b must be above the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
import torch

from robgui import resources
from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult
from robgui.analyses.zonnscan.resolution import resolution
from robgui.analyses.zonnscan.sweep import _Sweep
from robgui.core.dataset import Dataset, open_dataset
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier

MODELS = {
    "table_mlp.onnx": "table.csv",
    "table_forest.skops": "table.csv",
    "fashion_mlp.pt2": "fashion.npz",
    "fashion_cnn.safetensors": "fashion.npz",
    "traffic_cnn.pt2": "traffic",
}
#: Sweeps behind the truth, each with a seed of its own.
TRUTH_SEEDS = 4


def scanned(classifier: Classifier, dataset: Dataset, **settings: object) -> ZonnscanResult:
    """A sweep without the searches for a change of class, which have no part in the interval."""
    sweep = _Sweep(classifier, dataset, ZonnscanParams.model_validate(settings))
    for _ in sweep.scan:
        continue
    return sweep.step().result


def truth_of(classifier: Classifier, dataset: Dataset, samples: int) -> np.ndarray:
    """The uncertainty ``(R,)`` from many samples of seeds that nobody else uses."""
    seeds = range(10_000, 10_000 + TRUTH_SEEDS)
    runs = [
        scanned(classifier, dataset, samples=samples, target_half_width=0, seed=seed).index
        for seed in seeds
    ]
    return np.mean(runs, axis=0)


def said(result: ZonnscanResult) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The interval that the program says ``(R,)``, and where it says a number rather than a
    bound.
    """
    least = np.array([resolution(n) for n in result.samples])
    told = (result.index >= least) | (result.radii == 0)
    return (
        np.where(told, result.ci_low, 0),
        np.where(told, result.ci_high, np.maximum(result.ci_high, least)),
        told,
    )


def inputs_of(dataset: Dataset, count: int) -> Iterator[Dataset]:
    """Inputs spread over the dataset."""
    for place in np.linspace(0, len(dataset) - 1, count).astype(int).tolist():
        yield dataset.subset([place])


def measure(
    name: str, inputs: int, seeds: int, truth_samples: int, **settings: object
) -> list[float]:
    """Prints the table of one model; returns the coverage of every resolvable cell."""
    classifier, dataset = (
        load(resources.path("demo", name), device="cpu"),
        open_dataset(resources.path("demo", MODELS[name])),
    )
    held, known, counts = [], [], []
    for one in inputs_of(dataset, inputs):
        truth = truth_of(classifier, one, truth_samples)
        runs = [scanned(classifier, one, seed=seed, **settings) for seed in range(seeds)]
        ends = [said(run) for run in runs]
        held.append([(low <= truth + 1e-12) & (truth <= high + 1e-12) for low, high, _ in ends])
        samples = np.array([run.samples for run in runs])
        counts.append(samples)
        known.append(truth >= np.vectorize(resolution)(np.median(samples, axis=0)))
    share, resolvable, taken = (
        np.mean(held, axis=1)[:, 1:],
        np.array(known)[:, 1:],
        np.array(counts)[..., 1:],
    )
    radii = ZonnscanParams().radii[1:]
    print(
        f"\n{name}: {inputs} inputs, {seeds} seeds, {settings or 'default settings'},"
        f" {taken.sum(2).mean():,.0f} samples a sweep"
    )
    print("radius   resolvable  coverage mean  worst   others: bound holds   samples")
    for place, radius in enumerate(radii):
        cells, rest = share[resolvable[:, place], place], share[~resolvable[:, place], place]
        first = f"{cells.mean():13.3f} {cells.min():7.3f}" if len(cells) else f"{'-':>13} {'-':>7}"
        print(
            f"{radius:6.2f} {len(cells):12d} {first}"
            f" {f'{rest.min():.3f}' if len(rest) else '-':>20} {taken[..., place].mean():10.0f}"
        )
    cells = share[resolvable]
    print(
        f"all    {len(cells):12d} {cells.mean():13.3f} {cells.min():7.3f}; below .93:"
        f" {(cells < 0.93).sum()}",
        flush=True,
    )
    return cells.tolist()


def main() -> None:
    """Reads the sizes from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=100)
    parser.add_argument("--models", nargs="*", default=list(MODELS))
    parser.add_argument("--sampler", default="sobol")
    parser.add_argument(
        "--truth", type=int, default=16_384, help="samples of each of the sweeps behind the truth"
    )
    given = parser.parse_args()
    torch.set_num_threads(1)
    for name in given.models:
        measure(name, given.inputs, given.seeds, given.truth, sampler=given.sampler)


if __name__ == "__main__":
    main()
