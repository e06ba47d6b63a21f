"""Trains the convolutional network on which the feature game is measured: 600,810 parameters,
over 99 % on MNIST.

``python -m tests.bench.studies.train_mnist_cnn FOLDER_OF_IDX_FILES mnist_cnn.safetensors`` takes a few
minutes on two cores. The network is that of the Keras example which the paper tested: two
convolutions of 32, pooling, 128 hidden units.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from robgui.core.dataset import Dataset, open_dataset
from robgui.core.model.classifier import Classifier

SHAPE = (1, 28, 28)
BATCH = 128


def network() -> nn.Module:
    """``(n, 1, 28, 28)`` -> ``(n, 10)``."""
    convolutions = [
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 32, 3),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Dropout(0.25),
    ]
    return nn.Sequential(
        *convolutions,
        nn.Flatten(),
        nn.Linear(32 * 144, 128),
        nn.ReLU(),
        nn.Dropout(0.5),
        nn.Linear(128, 10),
    )


def classifier_of(path: str | Path) -> Classifier:
    """The trained network as a Classifier."""
    module = network()
    module.load_state_dict(load_file(path))
    return Classifier.from_module(
        module, SHAPE, [str(digit) for digit in range(10)], "MNIST CNN", output="logits"
    )


def train(data: str | Path, epochs: int, seed: int = 0) -> nn.Module:
    """Adam with a learning rate that falls to zero."""
    torch.manual_seed(seed)
    x, y = tensors(open_dataset(data, split="train"))
    module = network().train()
    steps = epochs * -(-len(x) // BATCH)
    optimiser = torch.optim.Adam(module.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 3e-3, total_steps=steps)
    for epoch in range(epochs):
        began = time.perf_counter()
        for rows in torch.randperm(len(x)).split(BATCH):
            optimiser.zero_grad()
            nn.functional.cross_entropy(module(x[rows]), y[rows]).backward()
            optimiser.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {epochs}: {time.perf_counter() - began:.0f} s", flush=True)
    return module.eval()


def accuracy(module: nn.Module, dataset: Dataset) -> float:
    """Share of the images that the network gets right."""
    x, y = tensors(dataset)
    with torch.inference_mode():
        answers = torch.cat([module(part).argmax(1) for part in x.split(1000)])
    return float((answers == y).float().mean())


def tensors(dataset: Dataset) -> tuple[Tensor, Tensor]:
    """Images ``(n, 1, 28, 28)`` in [0, 1] and their classes."""
    return torch.from_numpy(dataset.array()), torch.from_numpy(
        np.asarray(dataset.labels, dtype=np.int64)
    )


def main() -> None:
    """Trains, measures and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", help="folder of the MNIST IDX files")
    parser.add_argument("out", help="safetensors file to write")
    parser.add_argument("--epochs", type=int, default=8)
    options = parser.parse_args()
    module = train(options.data, options.epochs)
    save_file(module.state_dict(), options.out)
    size = sum(parameter.numel() for parameter in module.parameters())
    print(
        f"{size:,} parameters, test accuracy {accuracy(module, open_dataset(options.data)):.4f},"
        f" written to {options.out}"
    )


if __name__ == "__main__":
    main()
