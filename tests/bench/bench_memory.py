"""Peak memory of every analysis at its defaults on a network of 25 million parameters, 1,000 classes
and 224 pixels.

    python -m tests.bench.bench_memory [--seconds 20] [--only zonnscan,deepinspect]

Each analysis runs in a process of its own with a time limit: the largest batch comes early, and what
grows with the inputs is what is kept of them. The network has random weights, which cost as much as
trained ones; the inputs are labelled as it sees them. An analysis that compares models gets two.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys

import numpy as np

#: Blocks and width of each stage, as in a ResNet-50.
_STAGES = ((3, 64), (4, 128), (6, 256), (3, 512))
_INPUTS, _SHAPE = 64, (3, 224, 224)


def network(seed: int = 0):
    """A residual network of bottlenecks."""
    import torch
    from torch import nn

    class Block(nn.Module):
        def __init__(self, before: int, width: int, stride: int) -> None:
            super().__init__()
            after = 4 * width
            self.body = nn.Sequential(
                *(nn.Conv2d(before, width, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()),
                *(nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)),
                *(nn.ReLU(), nn.Conv2d(width, after, 1, bias=False), nn.BatchNorm2d(after)),
            )
            self.beside = nn.Identity()
            if stride > 1 or before != after:
                self.beside = nn.Sequential(
                    nn.Conv2d(before, after, 1, stride, bias=False), nn.BatchNorm2d(after)
                )

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.relu(self.body(x) + self.beside(x))

    torch.manual_seed(seed)
    layers: list[nn.Module] = [
        nn.Conv2d(3, 64, 7, 2, 3, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        nn.MaxPool2d(3, 2, 1),
    ]
    before = 64
    for stage, (blocks, width) in enumerate(_STAGES):
        for place in range(blocks):
            layers.append(Block(before, width, 2 if stage and not place else 1))
            before = 4 * width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, 1000)]
    return nn.Sequential(*layers).eval()


def one(name: str, seconds: float) -> None:
    """Runs one analysis here and prints what it took."""
    import robgui
    from robgui.core.dataset import from_arrays
    from robgui.core.execution.registry import find
    from robgui.core.model.classifier import Classifier

    module = network()
    parameters = sum(weights.numel() for weights in module.parameters())
    classifier = Classifier.from_module(module, _SHAPE, name="25 million")
    random = np.random.default_rng(0)
    x = random.random((_INPUTS, *_SHAPE), dtype=np.float32)
    known = find(name)
    given = x if known.inputs == "many" else x[:1]
    labels = classifier.infer(given, 1).argmax(1).cpu().numpy()
    models = [classifier]
    if known.takes(known.params.parse({})).fewest_models > 1:
        models.append(Classifier.from_module(network(1), _SHAPE, name="another 25 million"))
    before = _peak()
    dataset = from_arrays(given, labels)
    going = robgui.steps(name, models, dataset, max_seconds=seconds)
    said = ""
    try:
        for _ in going:
            pass
    except robgui.RobguiError as error:
        said = f"; {error}"
    print(
        f"{name}: {_peak():,.0f} MB at most, {before:,.0f} MB before ({parameters / 1e6:.1f} million"
        f" parameters, {classifier.calls:,} calls){said}",
        flush=True,
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Prints a line for each analysis."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--only", default="")
    parser.add_argument("--here", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.here:
        one(given.here, given.seconds)
        return
    from robgui.core.execution.registry import analyses

    for name in given.only.split(",") if given.only else analyses():
        command = [sys.executable, "-m", "tests.bench.bench_memory", "--here", name]
        subprocess.run([*command, "--seconds", str(given.seconds)], check=False)


if __name__ == "__main__":
    main()
