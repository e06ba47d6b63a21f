"""What DeepInspect costs: NAPVD against one Gram product, average bias, and the collection of
activations.

Run it alone on a quiet machine: ``python -m tests.bench.bench_deepinspect``. It prints figures and
asserts nothing. Times are those of the processor (user and system) with one thread, so that other
programs disturb them little. OpenBLAS reads its number of threads when it starts: set
``OPENBLAS_NUM_THREADS=1`` for the Gram products.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from robgui.analyses.deepinspect import DeepInspectParams, avg_bias, avg_cd, deepinspect, napvd
from robgui.analyses.deepinspect.counting.neurons import read
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.core.dataset import from_arrays
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier

NEURONS, CLASSES = 26_560, 1000


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """Shortest processor time of several calls."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def peak() -> str:
    """Most memory this process has had so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def kernels(repeats: int) -> None:
    """The kernels at the size of ResNet-50 on ImageNet."""
    rho = np.random.default_rng(0).random((NEURONS, CLASSES), dtype=np.float32)
    tensor = torch.from_numpy(rho)
    print(
        f"{NEURONS:,} neurons x {CLASSES:,} classes; rho itself {rho.nbytes / 1e6:.0f} MB; peak"
        f" memory before {peak()}"
    )
    gram = seconds(lambda: rho.T @ rho, repeats)
    torch_gram = seconds(lambda: tensor.T @ tensor, 2)
    ours = seconds(lambda: napvd(rho), repeats)
    print(
        f"  one Gram product {gram:.3f} s (numpy, which uses the symmetry), {torch_gram:.3f} s"
        " (torch)"
    )
    print(
        f"  NAPVD {ours:.3f} s = {ours / gram:.2f} x numpy's, {ours / torch_gram:.2f} x torch's;"
        f" peak memory {peak()}"
    )
    print(f"  NAPVD rms {seconds(lambda: napvd(rho, 'rms'), 2):.3f} s")
    distance = napvd(rho)
    for name in ("low", "paper", "none"):
        print(
            f"  average bias, third classes {name}:"
            f" {seconds(lambda name=name: avg_bias(distance, name), 1):.2f} s; {peak()}"
        )
    print(f"  average confusion disparity: {seconds(lambda: avg_cd(distance), 1):.2f} s; {peak()}")


class Block(nn.Module):
    """Two convolutions with a shortcut."""

    def __init__(self, before: int, after: int, stride: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(before, after, 3, stride, 1, bias=False)
        self.second = nn.Conv2d(after, after, 3, 1, 1, bias=False)
        self.norms = nn.ModuleList([nn.BatchNorm2d(after), nn.BatchNorm2d(after)])
        self.stride, self.extra = stride, after - before

    def forward(self, x: Tensor) -> Tensor:
        y = self.norms[1](self.second(torch.relu(self.norms[0](self.first(x)))))
        short = nn.functional.pad(
            x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, self.extra // 2, self.extra // 2)
        )
        return torch.relu(y + short)


def resnet20() -> Classifier:
    """A ResNet-20 for 32 x 32 images with random weights."""
    torch.manual_seed(0)
    widths = (
        [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
    )
    blocks = [Block(*each) for each in widths]
    start = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    net = nn.Sequential(*start, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    return Classifier.from_module(net, (3, 32, 32), name="ResNet-20", output="logits")


def collection(classifier: Classifier, count: int, repeats: int) -> None:
    """Collecting activations, and the whole engine, against the bare forward pass on the same
    inputs, in turn.
    """
    x = np.random.default_rng(0).random((count, *classifier.shape), dtype=np.float32)
    dataset = from_arrays(x, np.arange(count) % classifier.classes, kind="image")
    inputs = torch.from_numpy(x)

    def bare() -> None:
        classifier.infer(inputs)

    def collect() -> None:
        tally = InspectionSums(classifier, dataset, (0.5,))
        for reading in read(classifier, dataset, batch=0, last_layer=False):
            tally.add(reading)

    def engine() -> None:
        for _ in deepinspect(classifier, dataset, DeepInspectParams()):
            pass

    bare()
    times = np.array(
        [[seconds(work, 1) for work in (bare, collect, engine)] for _ in range(repeats)]
    )
    best = times.min(0)
    print(
        f"{classifier.name}, {count:,} inputs: bare {best[0]:.2f} s, collecting {best[1]:.2f} s,"
        f" engine {best[2]:.2f} s"
    )
    for place, name in (
        (1, "collecting, with reading the data"),
        (2, "engine, with live matrices"),
    ):
        print(
            f"  {name}: best over best {best[place] / best[0]:.3f}, median ratio"
            f" {np.median(times[:, place] / times[:, 0]):.3f}"
        )
    print(f"  peak memory {peak()}")


def main() -> None:
    """Prints all figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--model",
        type=Path,
        help="a model of images to collect activations from, instead of a random ResNet-20",
    )
    parser.add_argument("--only", choices=("kernels", "collection"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"load {' '.join(map(str, np.round(os.getloadavg(), 1)))}")
    if options.only != "kernels":
        collection(
            load(options.model) if options.model else resnet20(), options.inputs, options.repeats
        )
    if options.only != "collection":
        kernels(options.repeats)


if __name__ == "__main__":
    main()
