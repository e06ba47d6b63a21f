"""Three small networks of the kinds that papers compare, trained on the spot with fixed seeds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.dataset import Dataset
from robgui.core.devices import default_device
from robgui.core.errors import DataError
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import host_generator, host_order

Shape = tuple[int, ...]
_BATCH = 128


def mlp(shape: Shape, classes: int) -> nn.Module:
    """Two hidden layers of 512, the multi-layer perceptron of the Keras examples.

    ``(n, *shape)`` -> ``(n, classes)``.
    """
    hidden = 512
    return nn.Sequential(
        *(nn.Flatten(), nn.Linear(math.prod(shape), hidden), nn.ReLU()),
        *(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes)),
    )


def cnn(shape: Shape, classes: int) -> nn.Module:
    """Two convolutions, each halved by pooling, and one hidden layer.

    ``(n, c, h, w)`` -> ``(n, classes)``.
    """
    channels, height, width = shape
    return nn.Sequential(
        *(nn.Conv2d(channels, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),
        *(
            nn.Flatten(),
            nn.Linear(32 * (height // 4) * (width // 4), 128),
            nn.ReLU(),
            nn.Linear(128, classes),
        ),
    )


class IdentityRNN(nn.Module):
    """A rectified RNN over pixel rows that starts as the identity (Le et al., 2015)."""

    def __init__(self, shape: Shape, classes: int, hidden: int = 100) -> None:
        super().__init__()
        channels, _, width = shape
        self.memory = nn.RNN(channels * width, hidden, nonlinearity="relu", batch_first=True)
        # As an identity the memory neither fades nor explodes before anything is learnt.
        nn.init.eye_(self.memory.get_parameter("weight_hh_l0"))
        nn.init.zeros_(self.memory.get_parameter("bias_hh_l0"))
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        """``(n, c, h, w)`` -> ``(n, classes)``."""
        # (n, h, c w): a row of the picture is a step.
        steps, _ = self.memory(x.transpose(1, 2).flatten(2))
        scores: Tensor = self.head(steps[:, -1])
        return scores


#: What a network is called -> what makes it from the shape of an input and the number of classes.
NETWORKS: dict[str, Callable[[Shape, int], nn.Module]] = {
    "MLP": mlp,
    "CNN": cnn,
    "RNN": IdentityRNN,
}


def train(
    name: str, dataset: Dataset, *, epochs: int, seed: int, most: int | None = None
) -> Iterator[Step[Classifier]]:
    """Trains a network on labelled images with Adam.

    The result of every Step is the network so far.

    Args:
        name: One of NETWORKS.
        dataset: Images with a label each.
        epochs: How often every image is seen.
        seed: Of the first weights and of the order of the images.
        most: Use this many images only.
    """
    x, y, classes = _examples(dataset, most)
    module = _fresh(name, tuple(x.shape[1:]), classes, seed)
    optimiser = torch.optim.Adam(module.parameters(), lr=1e-3)
    generator = host_generator(seed)
    # Drawn on the host, so a GPU trains on the same batches.
    orders = [host_order(len(x), generator) for _ in range(epochs)]
    batches = [rows for order in orders for rows in torch.split(order, _BATCH)]
    pace = Pace(0.5)
    for done, rows in enumerate(batches, 1):
        # Again in every step: the Classifier of the last Step may have
        # frozen the module it was given.
        module.requires_grad_(True)
        optimiser.zero_grad()
        device = default_device()
        torch.autograd.backward(
            nn.functional.cross_entropy(module(x[rows].to(device)), y[rows].to(device))
        )
        nn.utils.clip_grad_norm_(module.parameters(), 1.0)
        optimiser.step()
        if pace.due() or done == len(batches):
            yield Step(
                done,
                len(batches),
                Classifier.from_module(module, x.shape[1:], dataset.names, name, output="logits"),
            )


def _fresh(name: str, shape: Shape, classes: int, seed: int) -> nn.Module:
    """An untrained network whose weights depend only on the seed.

    The global random state is unchanged.
    """
    # torch initialises layers from its global generator only.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return NETWORKS[name](shape, classes).to(default_device())


def _examples(dataset: Dataset, most: int | None) -> tuple[Tensor, Tensor, int]:
    """Images ``(n, c, h, w)``, classes ``(n,)`` and how many classes there are."""
    if dataset.kind != "image" or dataset.labels is None:
        raise DataError(
            f"{dataset.name} holds no images with labels to train on; give models with --models."
        )
    chosen = np.flatnonzero(dataset.labels >= 0)[:most]
    classes = len(dataset.names) or int(dataset.labels.max(initial=-1)) + 1
    if classes < 2 or not len(chosen):
        raise DataError(
            f"{dataset.name} has labels of fewer than two classes; a classifier cannot be trained"
            " on it."
        )
    return (
        torch.from_numpy(dataset.array(chosen)),
        torch.from_numpy(dataset.labels[chosen]),
        classes,
    )
