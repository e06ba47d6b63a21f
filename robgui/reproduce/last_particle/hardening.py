"""Small networks for tables, trained plainly, on adversarial examples or on noise (Table 3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from robgui.core.devices import default_device
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator, host_order

_BATCH = 64


@dataclass(frozen=True, slots=True)
class Defence:
    """What is done to the inputs while training.

    Attributes:
        kind: Nothing, one step along the gradient (Kurakin et al.), or noise (Pinot et al.).
        norm: In which norm ``eps`` measures.
        eps: How far inputs are moved.
    """

    kind: Literal["none", "adversarial", "noise"] = "none"
    norm: Literal["linf", "l2"] = "linf"
    eps: float = 0.0


def train_table(
    x: np.ndarray,
    y: np.ndarray,
    names: Sequence[str],
    *,
    hidden: Sequence[int],
    epochs: int,
    seed: int,
    defence: Defence | None = None,
    name: str = "MLP",
) -> Iterator[Step[Classifier]]:
    """Trains a ReLU network on rows ``(n, d)`` in [0, 1].

    The result of every Step is the network so far.

    Args:
        x: Rows.
        y: Their classes ``(n,)``.
        names: Class names.
        hidden: Sizes of the hidden layers.
        epochs: How often every row is seen.
        seed: Of the first weights, the order and the noise.
        defence: What is done to the rows; nothing without it.
        name: What to call the network.
    """
    device = default_device()
    rows, classes = (
        torch.from_numpy(x.astype(np.float32)).to(device),
        torch.from_numpy(y).to(device),
    )
    module = _fresh((x.shape[1], *hidden, len(names)), seed).to(device)
    optimiser = torch.optim.Adam(module.parameters(), lr=2e-3, weight_decay=1e-4)
    generator = host_generator(seed)
    pace = Pace(0.5)
    for done in range(1, epochs + 1):
        for chosen in torch.split(host_order(len(x), generator).to(device), _BATCH):
            module.requires_grad_(True)
            moved = _moved(module, rows[chosen], classes[chosen], defence or Defence(), generator)
            optimiser.zero_grad()
            torch.autograd.backward(nn.functional.cross_entropy(module(moved), classes[chosen]))
            optimiser.step()
        if pace.due() or done == epochs:
            yield Step(
                done,
                epochs,
                Classifier.from_module(module, x.shape[1:], names, name, output="logits"),
            )


def _fresh(sizes: Sequence[int], seed: int) -> nn.Sequential:
    """An untrained network; the global random state is unchanged."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [layer for a, b in pairwise(sizes) for layer in (nn.Linear(a, b), nn.ReLU())]
    return nn.Sequential(*layers[:-1])


def _moved(
    module: nn.Module, x: Tensor, y: Tensor, defence: Defence, generator: torch.Generator
) -> Tensor:
    """The training rows moved ``eps`` far, in the worst or a random direction, within [0, 1]."""
    if defence.kind == "none":
        return x
    if defence.kind == "adversarial":
        free = x.clone().requires_grad_()
        (direction,) = torch.autograd.grad(nn.functional.cross_entropy(module(free), y), free)
    else:
        direction = torch.randn(x.shape, generator=generator, device=HOST).to(x.device)
    if defence.norm == "l2":
        # Exactly eps far; a gradient of 0 stays 0 instead of becoming nan.
        direction = direction / direction.norm(dim=1, keepdim=True).clamp_min(1e-12)
    elif defence.kind == "adversarial":
        direction = direction.sign()
    else:
        # Uniform in the box, as the noise that is tested.
        direction = 2 * torch.rand(x.shape, generator=generator, device=HOST).to(x.device) - 1
    return (x + defence.eps * direction).clamp(0, 1)
