"""What software does to pictures: contrast, warping, coarse pixels, compression, colours."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from robgui.analyses.corruptions.kinds.kind import SMALL, Corruption, Generators
from robgui.analyses.corruptions.kinds.smoothing import smooth
from robgui.core.model.randomness import HOST

#: The published fractions refer to 244 pixels for pictures of 224.
_SHARES_OF = 244 / 224


def _contrast(x: Tensor, factor: float, _: Generators) -> Tensor:
    # Of each channel of each picture, as published: the hue of the average stays.
    means = x.mean((2, 3), keepdim=True)
    return (x - means) * factor + means


def _elastic(x: Tensor, constant: tuple[float, float, float], generators: Generators) -> Tensor:
    """Sheared a little, then stretched here and squeezed there."""
    side = min(x.shape[2:])
    scale = side if side < SMALL else side * _SHARES_OF
    strength, width, shift = (share * scale for share in constant)
    sheared, bent = [], []
    for one in generators:
        sheared.append(_sheared(x.shape[2:], shift, one))
        bent.append(_bent(x.shape[2:], strength, width, one))
    x = _sampled(x, torch.stack(sheared), repeated=False)
    return _sampled(x, torch.stack(bent), repeated=True)


def _sheared(shape: torch.Size, shift: float, generator: torch.Generator) -> Tensor:
    """``(h, w, 2)`` where each pixel comes from, column and row, after a random shear.

    Three points of the picture are moved by up to ``shift`` each way.
    """
    middle = np.array([shape[1] // 2, shape[0] // 2])
    reach = min(shape) // 3
    # Three points fix an affine map.
    before = middle + reach * np.array([[1, 1], [1, -1], [-1, -1]])
    moved = (2 * torch.rand((3, 2), generator=generator, device=HOST).double().numpy() - 1) * shift
    ones = np.ones((3, 1))
    # Rows (column, row, 1) of a moved point times this give where it was.
    back = np.linalg.solve(np.hstack([before + moved, ones]), before)
    row, column = np.mgrid[: shape[0], : shape[1]]
    whole = np.stack([column, row, np.ones(tuple(shape))], -1)
    return torch.from_numpy(whole @ back)


def _bent(shape: torch.Size, strength: float, width: float, generator: torch.Generator) -> Tensor:
    """``(h, w, 2)`` column and row each pixel comes from; neighbours move together."""
    drawn = 2 * torch.rand((2, *shape), generator=generator, device=HOST).double() - 1
    if strength:
        # Cut after 3 deviations, as the reference implementation does.
        offsets = smooth(drawn, width, "mirror", reach=3) * strength
    else:
        offsets = 0 * drawn
    row, column = torch.meshgrid(
        *(torch.arange(size, device=HOST) for size in shape), indexing="ij"
    )
    return torch.stack([column + offsets[0], row + offsets[1]], -1)


def _sampled(x: Tensor, places: Tensor, repeated: bool) -> Tensor:
    """Pictures read at ``(n, h, w, 2)`` places, mirrored at the border.

    With its pixels once, or repeated.
    """
    height, width = x.shape[2:]
    sizes = torch.tensor([width, height], device=HOST, dtype=places.dtype)
    if repeated:
        grid = (2 * places + 1) / sizes - 1
    else:
        # Mirroring about the centre of the border pixel (OpenCV's reflect-101) needs aligned
        # corners; about its edge (SciPy's reflect) it must not have them.
        grid = 2 * places / (sizes - 1).clamp_min(1) - 1
    return functional.grid_sample(
        x, grid.to(x), mode="bilinear", padding_mode="reflection", align_corners=not repeated
    )


def _pixelate(x: Tensor, factor: float, _: Generators) -> Tensor:
    """Made smaller by the mean over boxes, then larger by repeating pixels."""
    rows, columns = (_coarse(size, max(1, int(size * factor))) for size in x.shape[2:])
    return rows.to(x) @ x @ columns.to(x).T


@lru_cache(maxsize=32)
def _coarse(size: int, fewer: int) -> Tensor:
    """``(size, size)`` what each pixel along one side is made of."""
    return _boxes(fewer, size) @ _boxes(size, fewer)


def _boxes(before: int, after: int) -> Tensor:
    """``(after, before)`` means of the pixels whose centres lie within a pixel of the other grid.

    As Pillow does; where none does, the nearest.
    """
    reach = max(1.0, before / after) / 2
    # Pixel centres of the coarser grid, in pixels of the finer one.
    middle = (np.arange(after)[:, None] + 0.5) * before / after
    # (after, before).
    gap = np.arange(before) + 0.5 - middle
    inside = ((gap > -reach) & (gap <= reach)).astype(np.float64)
    return torch.from_numpy(inside / inside.sum(1, keepdims=True))


def _jpeg(x: Tensor, quality: int, _: Generators) -> Tensor:
    """Written as JPEG and read again."""
    made = []
    for picture in _bytes(x):
        written = cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, quality])[1]
        made.append(np.asarray(cv2.imdecode(written, cv2.IMREAD_UNCHANGED)))
    return _floats(made, x)


def _saturate(x: Tensor, constant: tuple[float, float], _: Generators) -> Tensor:
    """Scales and shifts the saturation in HSV; hue and value stay.

    A grey pixel has hue 0: it turns red where something is added. Pictures without three channels
    have no colours and stay as they are.
    """
    if x.shape[1] != 3:
        return x
    factor, added = constant
    value, least = x.amax(1, keepdim=True), x.amin(1, keepdim=True)
    spread = value - least
    saturation = spread / value.clamp_min(1e-9)
    wanted = (saturation * factor + added).clip(0, 1)
    below = (value - x) / spread.clamp_min(1e-9)
    # A grey pixel has no hue; OpenCV's hue 0 is red.
    red = torch.tensor([0.0, 1.0, 1.0]).to(x).view(1, 3, 1, 1).expand_as(x)
    return value - value * wanted * torch.where(spread > 0, below, red)


def _bytes(x: Tensor) -> list[np.ndarray]:
    """Pictures in OpenCV's form: blue first if there are three channels."""
    pixels = (x.to(HOST) * 255).round().to(torch.uint8).permute(0, 2, 3, 1).numpy()
    # Reversed channels: OpenCV's order is blue, green, red. One channel stays as it is.
    return [np.ascontiguousarray(one[..., ::-1]) for one in pixels]


def _floats(pictures: list[np.ndarray], x: Tensor) -> Tensor:
    stacked = np.stack([one.reshape(*x.shape[2:], -1)[..., ::-1] for one in pictures])
    return torch.from_numpy(stacked.astype(np.float32) / 255).permute(0, 3, 1, 2).to(x)


# Constants of the reference implementation: ImageNet-C first, then CIFAR-10-C.
DIGITAL: dict[str, Corruption] = {
    "contrast": Corruption(
        "less contrast",
        "digital",
        (0.4, 0.3, 0.2, 0.1, 0.05),
        (0.75, 0.5, 0.4, 0.3, 0.15),
        _contrast,
    ),
    "elastic": Corruption(
        "warping",
        "digital",
        ((2, 0.7, 0.1), (2, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02), (0.12, 0.01, 0.02)),
        (
            (0, 0, 0.08),
            (0.05, 0.2, 0.07),
            (0.08, 0.06, 0.06),
            (0.1, 0.04, 0.05),
            (0.1, 0.03, 0.03),
        ),
        _elastic,
    ),
    "pixelate": Corruption(
        "coarse pixels",
        "digital",
        (0.6, 0.5, 0.4, 0.3, 0.25),
        (0.95, 0.9, 0.85, 0.75, 0.65),
        _pixelate,
    ),
    "jpeg": Corruption(
        "JPEG", "digital", (25, 18, 15, 10, 7), (80, 65, 58, 50, 40), _jpeg, on_host=True
    ),
    "saturate": Corruption(
        "saturation",
        "digital",
        ((0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)),
        ((0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)),
        _saturate,
    ),
}
