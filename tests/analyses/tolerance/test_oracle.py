"""The attack beside others: projected gradient descent with restarts, written down again step by
step, and foolbox where it is installed. Neither finds much smaller changes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui import resources
from robgui.analyses.tolerance.engine import tolerance
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.core.dataset import open_dataset
from robgui.core.loading import load

INPUTS, LARGEST, RESTARTS, STEPS = 6, 0.25, 3, 25


class Normalised(nn.Module):
    """The network of the demo behind the normalisation that its side file names."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, x: Tensor) -> Tensor:
        return self.module((x - 0.286) / 0.353)


@pytest.fixture(scope="module")
def bare() -> nn.Module:
    """The same weights, without anything of this program around them."""
    from safetensors.torch import load_file

    layers = [nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Conv2d(32, 64, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    layers += [nn.Flatten(), nn.Linear(576, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10)]
    module = nn.Sequential(*layers)
    module.load_state_dict(load_file(str(resources.path("demo", "fashion_cnn.safetensors"))))
    return Normalised(module).eval()


@pytest.fixture(scope="module")
def ours() -> tuple[np.ndarray, np.ndarray, Tensor]:
    """Sizes that turn each input, its class, and the inputs."""
    model = load(resources.path("demo", "fashion_cnn.safetensors"), trust=True, device="cpu")
    data = open_dataset(resources.path("demo", "fashion.npz")).subset(range(60))
    settings = ToleranceParams(most=9, largest=LARGEST, prove=False, hold=0.01)
    *_, last = tolerance((model,), data, settings)
    result = last.result
    rows = np.flatnonzero(~result.wrong[0])[:INPUTS]
    x = torch.from_numpy(data.array(result.places[rows].tolist(), (1, 28, 28))).float()
    return result.broken[0][rows], model.infer(x).argmax(1).cpu().numpy(), x


def smallest(turns: Callable[[Tensor], Tensor], count: int) -> np.ndarray:
    """By bisection, the smallest size at which each input is turned; inf where the largest does
    not.
    """
    low, high = torch.zeros(count), torch.full((count,), LARGEST)
    found = turns(high)
    for _ in range(6):
        middle = (low + high) / 2
        turned = turns(middle)
        low, high = torch.where(turned, low, middle), torch.where(turned, middle, high)
    return torch.where(found, high, torch.inf).numpy()


def descended(module: nn.Module, x: Tensor, labels: Tensor, sizes: Tensor) -> Tensor:
    """Madry and others, 2018: steps by the sign of the slope of the loss, back into the box; from
    the input and from random places. Whether any step turned the class.
    """
    generator = torch.Generator().manual_seed(0)
    reach = sizes.view(-1, 1, 1, 1)
    turned = torch.zeros(len(x), dtype=torch.bool)
    for restart in range(RESTARTS):
        noise = torch.rand(x.shape, generator=generator) * 2 - 1
        point = (x + (reach * noise if restart else 0 * noise)).clamp(0, 1)
        for _ in range(STEPS):
            point = point.detach().requires_grad_()
            scores = module(point)
            turned |= scores.argmax(1) != labels
            loss = nn.functional.cross_entropy(scores, labels, reduction="sum")
            (slope,) = torch.autograd.grad(loss, point)
            moved = point.detach() + 2.5 * reach / STEPS * slope.sign()
            point = torch.minimum(torch.maximum(moved, x - reach), x + reach).clamp(0, 1)
        turned |= module(point).argmax(1) != labels
    return turned


def compare(own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """What the attack of this program needs, as a multiple of what another needs."""
    assert (np.isfinite(own) | ~np.isfinite(other)).all(), "it turns whatever the other turns"
    both = np.isfinite(own) & np.isfinite(other)
    assert both.sum() >= 5
    return own[both] / other[both]


def test_descent_with_restarts_finds_no_much_smaller_change(bare, ours):
    own, labels, x = ours
    wanted = torch.from_numpy(labels)
    assert torch.equal(bare(x).argmax(1), wanted), "the same network"
    slow = smallest(lambda sizes: descended(bare, x, wanted, sizes), len(x))
    ratio = compare(own, slow)
    assert np.median(ratio) <= 1.02 and ratio.max() <= 1.1, ratio


def test_foolbox_finds_no_much_smaller_change(bare, ours):
    foolbox = pytest.importorskip("foolbox")
    own, labels, x = ours
    model = foolbox.PyTorchModel(bare, bounds=(0, 1), device="cpu")
    attack = foolbox.attacks.LinfPGD(steps=STEPS, rel_stepsize=2.5 / STEPS).repeat(RESTARTS)
    sizes = (LARGEST * 0.93 ** np.arange(60)).tolist()
    torch.manual_seed(0)
    _, _, turned = attack(model, x, torch.from_numpy(labels), epsilons=sizes)
    reached = np.where(turned.numpy(), np.array(sizes)[:, None], np.inf).min(0)
    ratio = compare(own, reached)
    print(f"foolbox {foolbox.__version__}: ratio median {np.median(ratio):.3f}", ratio.round(3))
    assert np.median(ratio) <= 1.02 and ratio.max() <= 1.1, ratio
