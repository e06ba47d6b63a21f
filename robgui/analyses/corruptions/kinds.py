"""The kinds of corruption in five severities, as Hendrycks and Dietterich (2019) publish them.

Their constants for ImageNet (224 pixels) and for CIFAR-10 (32 pixels) differ; pictures with a
shorter side below 64 pixels take the second. Noise is drawn on the host from a seed of its own for
each picture: the same on every device and in every batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from robgui.core.model.randomness import HOST, host_generator

SEVERITIES = (1, 2, 3, 4, 5)
#: Pictures smaller than this take the constants of CIFAR-10.
SMALL = 64


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of corruption.

    Attributes:
        title: What it is called.
        group: Noise, blur, weather or digital.
        large: Its constants from severity 1 to 5 for large pictures.
        small: The same for small ones.
        apply: ``(x, constant, generators) -> x`` on pictures ``(n, c, h, w)`` in [0, 1]; one
            generator for each picture.
        on_host: Whether it is made on the host, so that it is best given pictures there.
    """

    title: str
    group: str
    large: tuple[Any, ...]
    small: tuple[Any, ...]
    apply: Callable[[Tensor, Any, list[torch.Generator]], Tensor]
    on_host: bool = False


def corrupt(x: Tensor, name: str, severity: int, seeds: list[int]) -> Tensor:
    """Pictures ``(n, c, h, w)`` in [0, 1] corrupted; ``seeds`` has one number for each."""
    kind = KINDS[name]
    constants = kind.small if min(x.shape[2:]) < SMALL else kind.large
    return kind.apply(x, constants[severity - 1], [host_generator(seed) for seed in seeds]).clip(
        0, 1
    )


def _normal(x: Tensor, generators: list[torch.Generator]) -> Tensor:
    drawn = [torch.randn(x.shape[1:], generator=one, device=HOST) for one in generators]
    return torch.stack(drawn).to(x)


def _uniform(x: Tensor, generators: list[torch.Generator]) -> Tensor:
    drawn = [torch.rand(x.shape[1:], generator=one, device=HOST) for one in generators]
    return torch.stack(drawn).to(x)


def _gaussian_noise(x: Tensor, deviation: float, generators: list[torch.Generator]) -> Tensor:
    return x + deviation * _normal(x, generators)


def _shot_noise(x: Tensor, photons: float, generators: list[torch.Generator]) -> Tensor:
    """Each value counts photons: Poisson with mean x times their number at white."""
    means = (x * photons).to(HOST)
    drawn = [
        torch.poisson(mean, generator=one) for mean, one in zip(means, generators, strict=True)
    ]
    return torch.stack(drawn).to(x) / photons


def _impulse_noise(x: Tensor, share: float, generators: list[torch.Generator]) -> Tensor:
    """A share of the values is set to black or white, one half each."""
    chance = _uniform(x, generators)
    x = torch.where(chance < share / 2, torch.zeros_like(x), x)
    return torch.where(chance > 1 - share / 2, torch.ones_like(x), x)


def _speckle_noise(x: Tensor, deviation: float, generators: list[torch.Generator]) -> Tensor:
    return x + x * deviation * _normal(x, generators)


def _filtered(x: Tensor, kernel: np.ndarray) -> Tensor:
    """Each channel filtered with ``kernel``, mirrored at the border."""
    weights = torch.from_numpy(kernel.astype(np.float32)).to(x)[None, None]
    rows, columns = (size // 2 for size in kernel.shape)
    flat = x.flatten(0, 1)[:, None]
    # mirroring cannot reach further than the picture does
    mode = "reflect" if rows < x.shape[2] and columns < x.shape[3] else "replicate"
    padded = functional.pad(flat, (columns, columns, rows, rows), mode=mode)
    return functional.conv2d(padded, weights).view_as(x)


def _disk(radius: float, smoothing: float) -> np.ndarray:
    """A disk with a soft edge, its sum 1."""
    reach = max(8, math.ceil(radius)) if radius <= 8 else math.ceil(radius)
    across, down = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1))
    disk = ((across**2 + down**2) <= radius**2).astype(np.float64)
    disk /= disk.sum()
    size = (3, 3) if radius <= 8 else (5, 5)
    return np.asarray(cv2.GaussianBlur(disk, size, sigmaX=smoothing))


def _defocus(x: Tensor, constant: tuple[float, float], _: list[torch.Generator]) -> Tensor:
    return _filtered(x, _disk(*constant))


def _gaussian_blur(x: Tensor, deviation: float, _: list[torch.Generator]) -> Tensor:
    reach = math.ceil(4 * deviation)
    line = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * deviation**2))
    line /= line.sum()
    return _filtered(_filtered(x, line[None]), line[:, None])


def _motion(x: Tensor, constant: tuple[int, float], generators: list[torch.Generator]) -> Tensor:
    """Along a line at an angle within 45°, weighted like half a bell."""
    reach, deviation = constant
    blurred = []
    for picture, one in zip(x, generators, strict=True):
        angle = math.radians(90 * float(torch.rand((), generator=one, device=HOST)) - 45)
        blurred.append(_filtered(picture[None], _streak(reach, deviation, angle)))
    return torch.cat(blurred)


def _streak(reach: int, deviation: float, angle: float) -> np.ndarray:
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    for step in range(2 * reach + 1):
        column = reach + round(step * math.cos(angle))
        row = reach + round(step * math.sin(angle))
        if 0 <= row < len(kernel) and 0 <= column < len(kernel):
            kernel[row, column] += math.exp(-(step**2) / (2 * deviation**2))
    return np.asarray(kernel / kernel.sum())


def _zoom(x: Tensor, constant: tuple[float, float], _: list[torch.Generator]) -> Tensor:
    """The mean of the picture and its enlargements about the middle."""
    furthest, step = constant
    factors = np.arange(1, furthest, step)
    total = x.clone()
    for factor in factors:
        total += _enlarged(x, float(factor))
    return total / (len(factors) + 1)


def _enlarged(x: Tensor, factor: float) -> Tensor:
    height, width = x.shape[2:]
    inner = math.ceil(height / factor), math.ceil(width / factor)
    top, left = (height - inner[0]) // 2, (width - inner[1]) // 2
    middle = x[:, :, top : top + inner[0], left : left + inner[1]]
    return functional.interpolate(middle, (height, width), mode="bilinear", align_corners=False)


def _fog(x: Tensor, constant: tuple[float, float], generators: list[torch.Generator]) -> Tensor:
    """Clouds of all sizes laid over the picture, which is dimmed to make room."""
    strength, decay = constant
    clouds = torch.stack([_clouds(x.shape[2:], decay, one) for one in generators]).to(x)
    brightest = x.amax((1, 2, 3), keepdim=True)
    return (x + strength * clouds[:, None]) * brightest / (brightest + strength)


def _clouds(shape: torch.Size, decay: float, generator: torch.Generator) -> Tensor:
    """Noise in [0, 1] whose strength falls by ``decay`` each time its grain halves."""
    height, width = shape
    total = torch.zeros((height, width), device=HOST)
    grain, strength = 2, 1.0
    while grain <= 2 * max(height, width):
        coarse = torch.rand((1, 1, grain, grain), generator=generator, device=HOST)
        total += strength * functional.interpolate(
            coarse, (height, width), mode="bicubic", align_corners=True
        ).squeeze(0).squeeze(0)
        grain, strength = 2 * grain, strength / decay
    total -= total.min()
    return total / total.max().clamp_min(1e-9)


def _brightness(x: Tensor, added: float, _: list[torch.Generator]) -> Tensor:
    """The value of hue, saturation and value grows, up to 1; the other two stay."""
    value = x.amax(1, keepdim=True)
    factor = (value + added).clip(0, 1) / value.clamp_min(1e-9)
    # a black pixel has no hue: it becomes grey
    return torch.where(value > 0, x * factor, torch.full_like(x, min(1.0, added)))


def _contrast(x: Tensor, factor: float, _: list[torch.Generator]) -> Tensor:
    means = x.mean((2, 3), keepdim=True)
    return (x - means) * factor + means


def _pixelate(x: Tensor, factor: float, _: list[torch.Generator]) -> Tensor:
    """Made smaller by the mean over areas, then larger by repeating pixels."""
    height, width = x.shape[2:]
    size = max(1, int(height * factor)), max(1, int(width * factor))
    made = []
    for picture in _bytes(x):
        small = cv2.resize(picture, size[::-1], interpolation=cv2.INTER_AREA)
        made.append(cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST))
    return _floats(made, x)


def _jpeg(x: Tensor, quality: int, _: list[torch.Generator]) -> Tensor:
    """Written as JPEG and read again."""
    made = []
    for picture in _bytes(x):
        written = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        made.append(np.asarray(cv2.imdecode(written, cv2.IMREAD_UNCHANGED)))
    return _floats(made, x)


def _bytes(x: Tensor) -> list[np.ndarray]:
    """Pictures as OpenCV takes them: blue first where there are three channels."""
    pixels = (x.to(HOST) * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    return [np.ascontiguousarray(one[..., ::-1]) for one in pixels]


def _floats(pictures: list[np.ndarray], x: Tensor) -> Tensor:
    stacked = np.stack([one.reshape(*x.shape[2:], -1)[..., ::-1] for one in pictures])
    return torch.from_numpy(stacked.astype(np.float32) / 255).permute(0, 3, 1, 2).to(x)


KINDS: dict[str, Kind] = {
    "gaussian_noise": Kind(
        "Gaussian noise",
        "noise",
        (0.08, 0.12, 0.18, 0.26, 0.38),
        (0.04, 0.06, 0.08, 0.09, 0.10),
        _gaussian_noise,
    ),
    "shot_noise": Kind(
        "shot noise", "noise", (60, 25, 12, 5, 3), (500, 250, 100, 75, 50), _shot_noise, True
    ),
    "impulse_noise": Kind(
        "impulse noise",
        "noise",
        (0.03, 0.06, 0.09, 0.17, 0.27),
        (0.01, 0.02, 0.03, 0.05, 0.07),
        _impulse_noise,
    ),
    "speckle_noise": Kind(
        "speckle noise",
        "noise",
        (0.15, 0.2, 0.35, 0.45, 0.6),
        (0.06, 0.1, 0.12, 0.16, 0.2),
        _speckle_noise,
    ),
    "defocus_blur": Kind(
        "out of focus",
        "blur",
        ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
        ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
        _defocus,
    ),
    "gaussian_blur": Kind(
        "Gaussian blur", "blur", (1, 2, 3, 4, 6), (0.4, 0.6, 0.7, 0.8, 1.0), _gaussian_blur
    ),
    "motion_blur": Kind(
        "motion blur",
        "blur",
        ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
        ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
        _motion,
    ),
    "zoom_blur": Kind(
        "zoom blur",
        "blur",
        ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
        ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
        _zoom,
    ),
    "fog": Kind(
        "fog",
        "weather",
        ((1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)),
        ((0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)),
        _fog,
    ),
    "brightness": Kind(
        "brighter",
        "weather",
        (0.1, 0.2, 0.3, 0.4, 0.5),
        (0.05, 0.1, 0.15, 0.2, 0.3),
        _brightness,
    ),
    "contrast": Kind(
        "less contrast",
        "digital",
        (0.4, 0.3, 0.2, 0.1, 0.05),
        (0.75, 0.5, 0.4, 0.3, 0.15),
        _contrast,
    ),
    "pixelate": Kind(
        "coarse pixels",
        "digital",
        (0.6, 0.5, 0.4, 0.3, 0.25),
        (0.95, 0.9, 0.85, 0.75, 0.65),
        _pixelate,
        on_host=True,
    ),
    "jpeg": Kind("JPEG", "digital", (25, 18, 15, 10, 7), (80, 65, 58, 50, 40), _jpeg, True),
}
