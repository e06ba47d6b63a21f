"""Trains the demo's MLP on with the findings of a guard suite: ``python retrain.py SUITE NEW.pt2``.

The inputs that the suite guards (originals and controls) are kept out of the training, so that
``robgui check SUITE --model NEW.pt2`` is a test of them. Of the findings it is none: the network
has seen them, so "fixed" says that it could learn them, and not that it has others like them right.
The package robgui must be importable.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import architectures
import files
import numpy as np
import torch
from torch import Tensor, nn

import robgui
from robgui.batch.guards import GuardSuite
from robgui.core.model.settings import write_side_file

HERE = Path(__file__).resolve().parent


def main() -> None:
    """Reads the suite, trains for some seconds, and writes the model with its side file."""
    parser = argparse.ArgumentParser(description="Trains a demo network on with its findings.")
    parser.add_argument("suite", type=Path, help="folder that 'robgui guard' or the window wrote")
    parser.add_argument("new", type=Path, help="the model to write (*.pt2)")
    parser.add_argument("--model", type=Path, default=HERE / "fashion_mlp.pt2", help="to start at")
    parser.add_argument("--data", type=Path, default=HERE / "fashion.npz", help="to rehearse")
    parser.add_argument("--epochs", type=int, default=8, help="times that all inputs are seen [8]")
    parser.add_argument("--weight", type=int, default=4, help="of a finding among the others [4]")
    parser.add_argument("--seed", type=int, default=0, help="the same one gives the same file [0]")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    old = robgui.load(options.model)
    suite = robgui.guard_suite(options.suite)
    found = [suite.input_for(case, old)[0] for case in suite.findings]
    classes = [suite.place_of(case.expected, old) for case in suite.findings]
    x, y = rehearsal(options.data, suite)
    module = architectures.mlp(len(old.labels))
    learned = zip(module.parameters(), old.backend.module.parameters(), strict=True)
    for weight, known in learned:
        weight.data.copy_(known)
    inputs = torch.from_numpy(np.stack([*x, *found * options.weight]))
    scaled = (inputs - torch.tensor(old.settings.mean)) / torch.tensor(old.settings.std)
    labels = torch.tensor([*y, *classes * options.weight])
    train_on(module, scaled, labels, options.epochs, options.seed)
    files.save_export(module, scaled[:2].clone(), options.new)
    write_side_file(options.new, old.settings)
    print(f"{options.new}: trained on {len(found)} findings and {len(x)} other inputs.")


def rehearsal(data: Path, suite: GuardSuite) -> tuple[list[np.ndarray], list[int]]:
    """The labelled inputs of the data that are not in the suite, so that nothing else is lost."""
    dataset = robgui.open_dataset(data)
    taken = {suite.input(case).tobytes() for case in suite.cases}
    every = dataset.array(range(len(dataset)), suite.shape)
    kept = [at for at, one in enumerate(every) if one.astype(np.float32).tobytes() not in taken]
    return [every[at] for at in kept], [int(dataset.labels[at]) for at in kept]


def train_on(module: nn.Module, x: Tensor, y: Tensor, epochs: int, seed: int) -> None:
    """A few rounds of Adam at a low rate."""
    generator = torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(module.parameters(), lr=2e-4)
    module.train()
    for _ in range(epochs):
        for rows in torch.randperm(len(x), generator=generator).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(module(x[rows]), y[rows]).backward()
            optimizer.step()
    module.eval()


if __name__ == "__main__":
    main()
