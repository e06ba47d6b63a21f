"""What it costs that certificates allow for rounding and are tried on the model; is any false?

Run it alone on a quiet machine: ``python -m tests.bench.bench_bounds``. It prints figures and
asserts nothing.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch

from robgui import resources
from robgui.bounds import bounds, certificate, certify
from robgui.core.dataset import align, open_dataset
from robgui.core.loading import load
from tests.bounds import raw_units
from tests.bounds.cells import ensembles, false_certificates

#: Model, data, radius, inputs.
MODELS = (
    ("table_mlp.onnx", "table.csv", 0.01, 48),
    ("table_forest.skops", "table.csv", 0.01, 48),
    ("fashion_mlp.pt2", "fashion.npz", 0.005, 48),
    ("fashion_cnn.safetensors", "fashion.npz", 0.002, 4),
)
TURNS = 5


def cost() -> None:
    """Processor time of bare proofs, of those that allow for rounding, and of those tried too."""
    for model, data, eps, inputs in MODELS:
        classifier = load(resources.path("demo", model), device="cpu")
        dataset = align(classifier, open_dataset(resources.path("demo", data)))
        x = torch.from_numpy(classifier.encode(dataset.array(range(inputs), classifier.shape)))
        labels = classifier.infer(x).argmax(1)
        certified = int(certify(classifier, x, labels, eps).certified.sum())
        ways = (_bare, _untried, _whole)
        prove = partial(certify, classifier, x, labels, eps)
        seconds = np.array([[_seconds(way, prove) for way in ways] for _ in range(TURNS)])
        bare, rounded, tried = np.median(seconds, 0) * 1e3
        told = (
            f"{model}: {certified} of {inputs} certified at {eps:g}",
            f"bare proof {bare / inputs:.2f} ms an input",
            f"with rounding {rounded / bare:.2f} ×",
            f"tried too {tried / bare:.2f} ×",
            f"the trial {(tried - rounded) / certified:.2f} ms per proven input",
        )
        print("; ".join(told), flush=True)


Way = Callable[[], object]


def _seconds(way: Callable[[Way], None], prove: Way) -> float:
    began = time.process_time()
    way(prove)
    return time.process_time() - began


def _whole(prove: Way) -> None:
    prove()


def _untried(prove: Way) -> None:
    with _replaced(certificate, compare=_nothing, compare_trees=_nothing, attack=_nothing):
        prove()


def _bare(prove: Way) -> None:
    with _replaced(bounds, roundings=lambda *args: None):
        _untried(prove)


def _nothing(*args: object) -> Iterator[None]:
    return iter(())


@contextmanager
def _replaced(module: object, **names: object) -> Iterator[None]:
    kept = {name: getattr(module, name) for name in names}
    for name, value in names.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in kept.items():
            setattr(module, name, value)


def trees(boxes: int, seeds: int) -> None:
    """False certificates of tree ensembles, counted exactly: in every cell of the plane."""
    total = np.zeros(2, dtype=int)
    for seed in range(seeds):
        for classifier in ensembles((2, 6, 10, 20), seed):
            total += false_certificates(classifier, boxes, seed)
    print(f"trees: {total[0]:,} certified, {total[1]} of them false in some cell", flush=True)


def raw(networks: int, inputs: int) -> None:
    """Class changes at the largest certified radius, with features of 8,000 to 10,000."""
    total = np.sum([raw_units.search(seed, inputs) for seed in range(networks)], axis=0)
    told = f"{total[0]:,} inputs searched at the largest certified radius, {total[1]} change class"
    print(f"raw units: {told}", flush=True)


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=("cost", "trees", "raw"))
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    jobs = {"cost": cost, "trees": partial(trees, 1200, 3), "raw": partial(raw, 100, 202)}
    for name, job in jobs.items():
        if options.only in (None, name):
            job()


if __name__ == "__main__":
    main()
