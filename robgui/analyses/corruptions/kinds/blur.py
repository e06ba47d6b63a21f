"""Blur: lenses out of focus, glass, motion."""

from __future__ import annotations

import math

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from robgui.analyses.corruptions.kinds.kind import Corruption, Generators
from robgui.analyses.corruptions.kinds.smoothing import enlarged, smooth, streak
from robgui.core.model.randomness import HOST


def _disk(radius: float, smoothing: float) -> np.ndarray:
    """A disk with a soft edge that sums to 1."""
    # At least 17 pixels wide, as in the reference implementation: the soft edge needs the room.
    reach = max(8, math.ceil(radius))
    across, down = np.meshgrid(np.arange(-reach, reach + 1), np.arange(-reach, reach + 1))
    disk = ((across**2 + down**2) <= radius**2).astype(np.float64)
    disk /= disk.sum()
    # As in the reference implementation.
    size = (3, 3) if radius <= 8 else (5, 5)
    return np.asarray(cv2.GaussianBlur(disk, size, sigmaX=smoothing))


def _defocus(x: Tensor, constant: tuple[float, float], _: Generators) -> Tensor:
    """Each channel filtered with a disk, mirrored at the border."""
    kernel = _disk(*constant)
    weights = torch.from_numpy(kernel.astype(np.float32)).to(x)[None, None]
    reach = len(kernel) // 2
    # Channels as a batch of single-channel pictures (n c, 1, h, w): one kernel serves all.
    flat = x.flatten(0, 1)[:, None]
    # Mirroring cannot reach further than the picture does.
    if reach < min(x.shape[2:]):
        mode = "reflect"
    else:
        mode = "replicate"
    padded = functional.pad(flat, (reach,) * 4, mode=mode)
    return functional.conv2d(padded, weights).view_as(x)


def _glass(x: Tensor, constant: tuple[float, int, int], generators: Generators) -> Tensor:
    """Each pixel swaps with a neighbour, between two weak blurs."""
    deviation, reach, rounds = constant
    x = smooth(x, deviation)
    drawn = [_neighbours(x.shape[2:], reach, rounds, one) for one in generators]
    # (rounds, n, h w): each round reads what the one before has moved.
    for sources in torch.stack(drawn, 1):
        index = sources.to(x.device)[:, None].expand(-1, x.shape[1], -1)
        x = x.flatten(2).gather(2, index).view_as(x)
    return smooth(x, deviation)


def _neighbours(shape: torch.Size, reach: int, rounds: int, generator: torch.Generator) -> Tensor:
    """``(rounds, h w)`` the place that each pixel gets its colour from.

    The published code walks the pixels from last to first, and each takes the colour its neighbour
    has by then. So a neighbour further on passes on what it took itself.
    """
    height, width = shape
    offsets = torch.randint(
        -reach, reach, (rounds, 2, height, width), generator=generator, device=HOST
    )
    place = torch.arange(height * width, device=HOST).view(height, width)
    row, column = place // width, place % width
    # Pixels near the border stay: the published loops leave them out.
    moved = (row > reach) & (row <= height - reach) & (column > reach) & (column <= width - reach)
    taken = torch.where(moved, place + offsets[:, 1] * width + offsets[:, 0], place).flatten(1)
    # The published loop runs backwards and in place, so a pixel may take a colour that was itself
    # taken a moment before. Following these chains gives the same result for all pixels at once.
    later = (taken > place.flatten()) & moved.flatten()[taken]
    while bool(later.any()):
        # What was taken from a pixel further on is what that one has taken.
        onward, still = taken.gather(1, taken), later.gather(1, taken)
        taken = torch.where(later, onward, taken)
        later = later & still
    return taken


def _gaussian(x: Tensor, deviation: float, _: Generators) -> Tensor:
    return smooth(x, deviation)


def _motion(x: Tensor, constant: tuple[int, float], generators: Generators) -> Tensor:
    """Along a line at an angle within 45°."""
    blurred = []
    for picture, one in zip(x, generators, strict=True):
        # Uniform within 45 degrees to either side.
        angle = math.radians(90 * float(torch.rand((), generator=one, device=HOST)) - 45)
        # Picture by picture: each has an angle of its own.
        blurred.append(streak(picture, *constant, angle))
    return torch.stack(blurred)


def _zoom(x: Tensor, constant: tuple[float, float], _: Generators) -> Tensor:
    """The mean of the picture and its enlargements about the middle."""
    furthest, step = constant
    # ``np.arange`` with a float step, as published: the number of factors depends on it.
    factors = np.arange(1, furthest, step)
    total = x.clone()
    for factor in factors:
        total += enlarged(x, float(factor))
    return total / (len(factors) + 1)


# Constants of the reference implementation: ImageNet-C first, then CIFAR-10-C.
BLUR: dict[str, Corruption] = {
    "defocus_blur": Corruption(
        "out of focus",
        "blur",
        ((3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)),
        ((0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)),
        _defocus,
    ),
    "glass_blur": Corruption(
        "glass blur",
        "blur",
        ((0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)),
        ((0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)),
        _glass,
    ),
    "motion_blur": Corruption(
        "motion blur",
        "blur",
        ((10, 3), (15, 5), (15, 8), (15, 12), (20, 15)),
        ((6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)),
        _motion,
    ),
    "zoom_blur": Corruption(
        "zoom blur",
        "blur",
        ((1.11, 0.01), (1.16, 0.01), (1.21, 0.02), (1.26, 0.02), (1.31, 0.03)),
        ((1.06, 0.01), (1.11, 0.01), (1.16, 0.01), (1.21, 0.01), (1.26, 0.01)),
        _zoom,
    ),
    "gaussian_blur": Corruption(
        "Gaussian blur", "blur", (1, 2, 3, 4, 6), (0.4, 0.6, 0.7, 0.8, 1.0), _gaussian
    ),
}
