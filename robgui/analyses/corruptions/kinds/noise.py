"""Noise of sensors: in the dark, of light itself, of broken pixels."""

from __future__ import annotations

import torch
from torch import Tensor

from robgui.analyses.corruptions.kinds.kind import Corruption, Generators
from robgui.core.model.randomness import HOST


def _normal(x: Tensor, generators: Generators) -> Tensor:
    # One generator per picture, so its noise does not depend on the rest of the batch.
    drawn = [torch.randn(x.shape[1:], generator=one, device=HOST) for one in generators]
    return torch.stack(drawn).to(x)


def _uniform(x: Tensor, generators: Generators) -> Tensor:
    drawn = [torch.rand(x.shape[1:], generator=one, device=HOST) for one in generators]
    return torch.stack(drawn).to(x)


def _gaussian(x: Tensor, deviation: float, generators: Generators) -> Tensor:
    return x + deviation * _normal(x, generators)


def _shot(x: Tensor, photons: float, generators: Generators) -> Tensor:
    """Each value counts photons: Poisson with mean x times their number at white."""
    # On the host, because a Poisson draw on a GPU would be another one.
    means = (x * photons).to(HOST)
    drawn = [
        torch.poisson(mean, generator=one) for mean, one in zip(means, generators, strict=True)
    ]
    return torch.stack(drawn).to(x) / photons


def _impulse(x: Tensor, share: float, generators: Generators) -> Tensor:
    """A share of the values is set to black or white, one half each."""
    chance = _uniform(x, generators)
    # One uniform number decides both: black below share/2, white above 1 - share/2.
    x = torch.where(chance < share / 2, torch.zeros_like(x), x)
    return torch.where(chance > 1 - share / 2, torch.ones_like(x), x)


def _speckle(x: Tensor, deviation: float, generators: Generators) -> Tensor:
    return x + x * deviation * _normal(x, generators)


# Constants of the reference implementation: ImageNet-C first, then CIFAR-10-C.
NOISE: dict[str, Corruption] = {
    "gaussian_noise": Corruption(
        "Gaussian noise",
        "noise",
        (0.08, 0.12, 0.18, 0.26, 0.38),
        (0.04, 0.06, 0.08, 0.09, 0.10),
        _gaussian,
    ),
    "shot_noise": Corruption(
        "shot noise", "noise", (60, 25, 12, 5, 3), (500, 250, 100, 75, 50), _shot, on_host=True
    ),
    "impulse_noise": Corruption(
        "impulse noise",
        "noise",
        (0.03, 0.06, 0.09, 0.17, 0.27),
        (0.01, 0.02, 0.03, 0.05, 0.07),
        _impulse,
    ),
    "speckle_noise": Corruption(
        "speckle noise",
        "noise",
        (0.15, 0.2, 0.35, 0.45, 0.6),
        (0.06, 0.1, 0.12, 0.16, 0.2),
        _speckle,
    ),
}
