"""Weather: snow, frost, fog, glare and spatter on the lens."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from robgui.analyses.corruptions.kinds.kind import Corruption, Generators
from robgui.analyses.corruptions.kinds.smoothing import enlarged, streak
from robgui.analyses.corruptions.kinds.spatter import splashed, tinted
from robgui.core.model.randomness import HOST

#: Colour of ice: slightly blue.
_ICE = (0.88, 0.95, 1.0)
#: A needle is twice this part of the shorter side; its directions; spots where needles begin.
_NEEDLE, _DIRECTIONS, _SPOTS = 12, 8, 0.01
#: Weights of red, green and blue in what looks grey.
_GREY = (0.299, 0.587, 0.114)

Snow = tuple[float, float, float, float, int, float, float]


def _snow(x: Tensor, constant: Snow, generators: Generators) -> Tensor:
    """Streaks of flakes and their mirror image, on a paler picture."""
    kept = constant[-1]
    flakes = torch.stack([_flakes(x.shape[2:], constant, one) for one in generators])
    # Flakes and the same turned by 180 degrees, as published.
    layer = (flakes + flakes.flip(1, 2)).to(x)[:, None]
    # 1.5 and 0.5 as published; above 1 it is clipped with everything else.
    pale = torch.maximum(x, _grey(x) * 1.5 + 0.5)
    return kept * x + (1 - kept) * pale + layer


def _flakes(shape: torch.Size, constant: Snow, generator: torch.Generator) -> Tensor:
    """Bright spots of noise, enlarged and smeared downwards."""
    mean, deviation, factor, least, reach, width, _ = constant
    noise = mean + deviation * torch.randn((1, 1, *shape), generator=generator, device=HOST)
    layer = enlarged(noise, factor)[0, 0]
    layer = torch.where(layer < least, torch.zeros_like(layer), layer).clip(0, 1)
    turn = float(torch.rand((), generator=generator, device=HOST))
    # Between -135 and -45 degrees, as published.
    return streak(layer, reach, width, math.radians(90 * turn - 135))


def _grey(x: Tensor) -> Tensor:
    """How bright each pixel looks."""
    if x.shape[1] != len(_GREY):
        return x.mean(1, keepdim=True)
    return (x * torch.tensor(_GREY).to(x).view(1, -1, 1, 1)).sum(1, keepdim=True)


def _frost(x: Tensor, constant: tuple[float, float], generators: Generators) -> Tensor:
    """Ice over the dimmed picture."""
    kept, strength = constant
    ice = torch.stack([_ice(x.shape[2:], one) for one in generators]).to(x)
    return kept * x + strength * tinted(ice[:, None], _ICE, x.shape[1])


def _ice(shape: torch.Size, generator: torch.Generator) -> Tensor:
    """Ice in [0, 1]: needles in all directions, with rime between them.

    The published corruption uses six photographs of frost instead, which do not come with this
    program.
    """
    # In proportion to the picture, or needles of 224 pixels would fill one of 32.
    reach = max(2, min(shape) // _NEEDLE)
    needles = torch.zeros(shape, device=HOST)
    for angle in torch.rand(_DIRECTIONS, generator=generator, device=HOST).tolist():
        spots = torch.rand(shape, generator=generator, device=HOST) < _SPOTS
        needles += streak(spots.float(), reach, reach, math.tau * angle)
    rime = clouds(shape, 1.5, generator)
    return (0.7 * rime + 1.2 * needles / needles.max().clamp_min(1e-9)).clip(0, 1)


def _fog(x: Tensor, constant: tuple[float, float], generators: Generators) -> Tensor:
    """Clouds of all sizes over the picture, which is dimmed to make room."""
    strength, decay = constant
    drawn = torch.stack([clouds(x.shape[2:], decay, one) for one in generators]).to(x)
    # Dimmed to make room: the brightest pixel keeps its brightness.
    brightest = x.amax((1, 2, 3), keepdim=True)
    return (x + strength * drawn[:, None]) * brightest / (brightest + strength)


def clouds(shape: torch.Size, decay: float, generator: torch.Generator) -> Tensor:
    """Noise in [0, 1] whose strength falls by ``decay`` each time its grain halves."""
    height, width = shape
    total = torch.zeros((height, width), device=HOST)
    grain, strength = 2, 1.0
    # Octaves from 2 cells to the size of a pixel, each weaker by ``decay``.
    while grain <= 2 * max(height, width):
        coarse = torch.rand((1, 1, grain, grain), generator=generator, device=HOST)
        total += strength * functional.interpolate(
            coarse, (height, width), mode="bicubic", align_corners=True
        ).squeeze(0).squeeze(0)
        grain, strength = 2 * grain, strength / decay
    # Stretched to [0, 1], as the published plasma fractal is.
    total -= total.min()
    return total / total.max().clamp_min(1e-9)


def _brightness(x: Tensor, added: float, _: Generators) -> Tensor:
    """Raises the value in HSV, up to 1; the other two stay."""
    value = x.amax(1, keepdim=True)
    factor = (value + added).clip(0, 1) / value.clamp_min(1e-9)
    # A black pixel has no hue: it becomes grey.
    return torch.where(value > 0, x * factor, torch.full_like(x, min(1.0, added)))


# Constants of the reference implementation: ImageNet-C first, then CIFAR-10-C.
WEATHER: dict[str, Corruption] = {
    "snow": Corruption(
        "snow",
        "weather",
        (
            (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
            (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
            (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
            (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
            (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
        ),
        (
            (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
            (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
            (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
            (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
            (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
        ),
        _snow,
    ),
    "frost": Corruption(
        "frost",
        "weather",
        ((1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)),
        ((1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)),
        _frost,
    ),
    "fog": Corruption(
        "fog",
        "weather",
        ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
        ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
        _fog,
    ),
    "brightness": Corruption(
        "brighter",
        "weather",
        (0.1, 0.2, 0.3, 0.4, 0.5),
        (0.05, 0.1, 0.15, 0.2, 0.3),
        _brightness,
    ),
    "spatter": Corruption(
        "spatter",
        "weather",
        (
            (0.65, 0.3, 4, 0.69, 0.6, False),
            (0.65, 0.3, 3, 0.68, 0.6, False),
            (0.65, 0.3, 2, 0.68, 0.5, False),
            (0.65, 0.3, 1, 0.65, 1.5, True),
            (0.67, 0.4, 1, 0.65, 1.5, True),
        ),
        (
            (0.62, 0.1, 0.7, 0.7, 0.5, False),
            (0.65, 0.1, 0.8, 0.7, 0.5, False),
            (0.65, 0.3, 1, 0.69, 0.5, False),
            (0.65, 0.1, 0.7, 0.69, 0.6, True),
            (0.65, 0.1, 0.5, 0.68, 0.6, True),
        ),
        splashed,
    ),
}
