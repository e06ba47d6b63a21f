"""The demo's networks: factories of untrained modules, normalised inputs in, logits out."""

from __future__ import annotations

from torch import Tensor, nn


def mlp(classes: int = 10) -> nn.Module:
    """Fashion-MNIST, two hidden layers: ``(n, 1, 28, 28)`` -> ``(n, classes)``."""
    return nn.Sequential(
        nn.Flatten(),
        nn.Linear(784, 256),
        nn.ReLU(),
        nn.Linear(256, 128),
        nn.ReLU(),
        nn.Linear(128, classes),
    )


def cnn(classes: int = 10) -> nn.Module:
    """Fashion-MNIST, three convolutions: ``(n, 1, 28, 28)`` -> ``(n, classes)``."""
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(576, 128),
        nn.ReLU(),
        nn.Dropout(0.2),
        nn.Linear(128, classes),
    )


class RowReader(nn.Module):
    """Reads an image from top to bottom, one row of pixels a step."""

    def __init__(self, width: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.memory = nn.GRU(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, classes)

    def forward(self, x: Tensor) -> Tensor:
        """``(n, 1, h, width)`` -> ``(n, classes)``."""
        steps, _ = self.memory(x.squeeze(1))
        return self.head(steps[:, -1])


def rnn(classes: int = 10) -> nn.Module:
    """Fashion-MNIST, a GRU over the rows: ``(n, 1, 28, 28)`` -> ``(n, classes)``."""
    return RowReader(width=28, hidden=128, classes=classes)


class Strongest(nn.Module):
    """Keeps the strongest answer of each channel, wherever it is in the image."""

    def forward(self, x: Tensor) -> Tensor:
        """``(n, c, h, w)`` -> ``(n, c)``."""
        return x.amax((2, 3))


def traffic(classes: int = 3) -> nn.Module:
    """Traffic lights, four convolutions: ``(n, 3, 112, 112)`` -> ``(n, classes)``."""
    return nn.Sequential(
        nn.Conv2d(3, 16, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(16, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(24, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 48, 3, padding=1),
        nn.ReLU(),
        Strongest(),
        nn.Linear(48, 48),
        nn.ReLU(),
        nn.Linear(48, classes),
    )


def table(features: int = 30, classes: int = 2) -> nn.Module:
    """Table rows, two hidden layers: ``(n, features)`` -> ``(n, classes)``."""
    return nn.Sequential(
        nn.Linear(features, 32),
        nn.ReLU(),
        nn.Linear(32, 16),
        nn.ReLU(),
        nn.Linear(16, classes),
    )
