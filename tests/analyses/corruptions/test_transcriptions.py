"""Each corruption against a slow transcription of its published formula: pixel by pixel, with
NumPy, SciPy, Pillow and OpenCV, and the same random numbers.
"""

from __future__ import annotations

import colorsys
import io
import math
from collections.abc import Callable

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from scipy import ndimage

from robgui.analyses.corruptions.kinds import SEVERITIES, corrupt
from robgui.analyses.corruptions.params import NAMES

Picture = np.ndarray


class Draws:
    """The random numbers of one picture, in the order in which they are drawn."""

    def __init__(self, seed: int) -> None:
        self._own = torch.Generator().manual_seed(seed)

    def uniform(self, *shape: int) -> np.ndarray:
        return torch.rand(shape, generator=self._own).numpy().astype(np.float64)

    def normal(self, *shape: int) -> np.ndarray:
        return torch.randn(shape, generator=self._own).numpy().astype(np.float64)

    def integers(self, low: int, high: int, *shape: int) -> np.ndarray:
        return torch.randint(low, high, shape, generator=self._own).numpy()

    def poisson(self, means: Picture) -> np.ndarray:
        channels_first = torch.from_numpy(means.transpose(2, 0, 1).astype(np.float32))
        drawn = torch.poisson(channels_first.contiguous(), generator=self._own)
        return drawn.numpy().transpose(1, 2, 0)


def bell(x: np.ndarray, deviation: float, mode: str = "nearest", cut: float = 4) -> np.ndarray:
    """A Gaussian filter of each channel, as scikit-image calls SciPy."""
    if deviation == 0:
        return x
    if x.ndim == 2:
        return ndimage.gaussian_filter(x, deviation, mode=mode, truncate=cut)
    channels = [bell(x[..., at], deviation, mode, cut) for at in range(x.shape[2])]
    return np.stack(channels, -1)


def smeared(x: np.ndarray, reach: int, deviation: float, angle: float) -> np.ndarray:
    """ImageMagick's motion blur: ``2 reach + 1`` pixels along a line, the last one repeated."""
    height, width = x.shape[:2]
    weights = [math.exp(-(step**2) / (2 * deviation**2)) for step in range(2 * reach + 1)]
    rows, columns = np.indices((height, width))
    made = np.zeros_like(x)
    for step, weight in enumerate(weights):
        row = (rows + round(step * math.sin(angle))).clip(0, height - 1)
        column = (columns + round(step * math.cos(angle))).clip(0, width - 1)
        made += weight / sum(weights) * x[row, column]
    return made


def zoomed(x: np.ndarray, factor: float) -> np.ndarray:
    side = x.shape[0]
    inner = math.ceil(side / factor)
    top = (side - inner) // 2
    middle = np.ascontiguousarray(x[top : top + inner, top : top + inner])
    return cv2.resize(middle, (side, side), interpolation=cv2.INTER_LINEAR)


def cubic(t: float) -> float:
    """Keys's cubic with a = -0.75."""
    t, a = abs(t), -0.75
    if t <= 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0


def stretched(coarse: np.ndarray, side: int) -> np.ndarray:
    """Cubic, corner to corner."""
    grain = len(coarse)
    weights = np.zeros((side, grain))
    for at in range(side):
        where = at * (grain - 1) / (side - 1)
        for source in range(math.floor(where) - 1, math.floor(where) + 3):
            weights[at, min(max(source, 0), grain - 1)] += cubic(where - source)
    return weights @ coarse @ weights.T


def cloudy(side: int, decay: float, draws: Draws) -> np.ndarray:
    total, grain, strength = np.zeros((side, side)), 2, 1.0
    while grain <= 2 * side:
        total += strength * stretched(draws.uniform(1, 1, grain, grain)[0, 0], side)
        grain, strength = 2 * grain, strength / decay
    total -= total.min()
    return total / total.max()


def gaussian_noise(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.04, 0.06, 0.08, 0.09, 0.10] if small else [0.08, 0.12, 0.18, 0.26, 0.38])[s]
    return x + c * draws.normal(3, *x.shape[:2]).transpose(1, 2, 0)


def shot_noise(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([500, 250, 100, 75, 50] if small else [60, 25, 12, 5, 3])[s]
    return draws.poisson(x.astype(np.float32) * np.float32(c)) / c


def impulse_noise(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.01, 0.02, 0.03, 0.05, 0.07] if small else [0.03, 0.06, 0.09, 0.17, 0.27])[s]
    chance, made = draws.uniform(3, *x.shape[:2]).transpose(1, 2, 0), x.copy()
    made[chance < c / 2], made[chance > 1 - c / 2] = 0, 1
    return made


def speckle_noise(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.06, 0.1, 0.12, 0.16, 0.2] if small else [0.15, 0.2, 0.35, 0.45, 0.6])[s]
    return x + x * c * draws.normal(3, *x.shape[:2]).transpose(1, 2, 0)


def defocus_blur(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(0.3, 0.4), (0.4, 0.5), (0.5, 0.6), (1, 0.2), (1.5, 0.1)]
    radius, alias = (cifar if small else [(3, 0.1), (4, 0.5), (6, 0.5), (8, 0.5), (10, 0.5)])[s]
    reach = max(8, radius)
    steps = np.arange(-reach, reach + 1)
    disk = (steps[:, None] ** 2 + steps**2 <= radius**2).astype(np.float64)
    size = 3 if radius <= 8 else 5
    kernel = cv2.GaussianBlur(disk / disk.sum(), (size, size), sigmaX=alias)
    return cv2.filter2D(x, -1, kernel)


def glass_blur(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(0.05, 1, 1), (0.25, 1, 1), (0.4, 1, 1), (0.25, 1, 2), (0.4, 1, 2)]
    imagenet = [(0.7, 1, 2), (0.9, 2, 1), (1, 2, 3), (1.1, 3, 2), (1.5, 4, 2)]
    deviation, reach, rounds = (cifar if small else imagenet)[s]
    made = bell(x, deviation)
    height, width = x.shape[:2]
    offsets = draws.integers(-reach, reach, rounds, 2, height, width)
    for across, down in offsets:
        for row in range(height - reach, reach, -1):
            for column in range(width - reach, reach, -1):
                other = row + down[row, column], column + across[row, column]
                made[row, column], made[other] = made[other], made[row, column]  # views: a copy
    return bell(made, deviation)


def motion_blur(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(6, 1), (6, 1.5), (6, 2), (8, 2), (9, 2.5)]
    reach, deviation = (cifar if small else [(10, 3), (15, 5), (15, 8), (15, 12), (20, 15)])[s]
    return smeared(x, reach, deviation, math.radians(-45 + 90 * float(draws.uniform())))


def zoom_blur(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    far = ([1.06, 1.11, 1.16, 1.21, 1.26] if small else [1.11, 1.16, 1.21, 1.26, 1.31])[s]
    step = ([0.01] * 5 if small else [0.01, 0.01, 0.02, 0.02, 0.03])[s]
    factors = np.arange(1, far, step)
    return (x + sum(zoomed(x, factor) for factor in factors)) / (len(factors) + 1)


def gaussian_blur(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    return bell(x, ([0.4, 0.6, 0.7, 0.8, 1] if small else [1, 2, 3, 4, 6])[s])


def snow(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [
        (0.1, 0.2, 1, 0.6, 8, 3, 0.95),
        (0.1, 0.2, 1, 0.5, 10, 4, 0.9),
        (0.15, 0.3, 1.75, 0.55, 10, 4, 0.9),
        (0.25, 0.3, 2.25, 0.6, 12, 6, 0.85),
        (0.3, 0.3, 1.25, 0.65, 14, 12, 0.8),
    ]
    imagenet = [
        (0.1, 0.3, 3, 0.5, 10, 4, 0.8),
        (0.2, 0.3, 2, 0.5, 12, 4, 0.7),
        (0.55, 0.3, 4, 0.9, 12, 8, 0.7),
        (0.55, 0.3, 4.5, 0.85, 12, 8, 0.65),
        (0.55, 0.3, 2.5, 0.85, 12, 12, 0.55),
    ]
    c = (cifar if small else imagenet)[s]
    layer = zoomed(c[0] + c[1] * draws.normal(1, 1, *x.shape[:2])[0, 0], c[2])
    layer[layer < c[3]] = 0
    angle = math.radians(-135 + 90 * float(draws.uniform()))
    layer = smeared(layer.clip(0, 1), c[4], c[5], angle)[..., None]
    grey = cv2.cvtColor(x.astype(np.float32), cv2.COLOR_RGB2GRAY)[..., None]
    x = c[6] * x + (1 - c[6]) * np.maximum(x, grey * 1.5 + 0.5)
    return x + layer + np.rot90(layer, k=2)


def frost(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(1, 0.2), (1, 0.3), (0.9, 0.4), (0.85, 0.4), (0.75, 0.45)]
    c = (cifar if small else [(1, 0.4), (0.8, 0.6), (0.7, 0.7), (0.65, 0.7), (0.6, 0.75)])[s]
    side = len(x)
    needles = np.zeros((side, side))
    reach = max(2, side // 12)
    for turn in draws.uniform(8):
        spots = (draws.uniform(side, side) < 0.01).astype(np.float64)
        needles += smeared(spots, reach, reach, 2 * math.pi * turn)
    ice = (0.7 * cloudy(side, 1.5, draws) + 1.2 * needles / needles.max()).clip(0, 1)
    return c[0] * x + c[1] * ice[..., None] * np.array([0.88, 0.95, 1.0])


def fog(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(0.2, 3), (0.5, 3), (0.75, 2.5), (1, 2), (1.5, 1.75)]
    c = (cifar if small else [(1.5, 2), (2, 2), (2.5, 1.7), (2.5, 1.5), (3, 1.4)])[s]
    return (x + c[0] * cloudy(len(x), c[1], draws)[..., None]) * x.max() / (x.max() + c[0])


def brightness(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.05, 0.1, 0.15, 0.2, 0.3] if small else [0.1, 0.2, 0.3, 0.4, 0.5])[s]

    def brighter(pixel: np.ndarray) -> tuple[float, float, float]:
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb(hue, saturation, min(1.0, value + c))

    return np.apply_along_axis(brighter, 2, x)


def spatter(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [
        (0.62, 0.1, 0.7, 0.7, 0.5, 0),
        (0.65, 0.1, 0.8, 0.7, 0.5, 0),
        (0.65, 0.3, 1, 0.69, 0.5, 0),
        (0.65, 0.1, 0.7, 0.69, 0.6, 1),
        (0.65, 0.1, 0.5, 0.68, 0.6, 1),
    ]
    imagenet = [
        (0.65, 0.3, 4, 0.69, 0.6, 0),
        (0.65, 0.3, 3, 0.68, 0.6, 0),
        (0.65, 0.3, 2, 0.68, 0.5, 0),
        (0.65, 0.3, 1, 0.65, 1.5, 1),
        (0.67, 0.4, 1, 0.65, 1.5, 1),
    ]
    c = (cifar if small else imagenet)[s]
    liquid = bell(c[0] + c[1] * draws.normal(*x.shape[:2]), c[2])
    liquid[liquid < c[3]] = 0
    if c[5]:
        mud = bell(np.where(liquid > c[3], 1.0, 0.0), c[4])
        mud[mud < 0.8] = 0
        return x * (1 - mud[..., None]) + mud[..., None] * np.array([63, 42, 20]) / 255
    drops = (liquid.clip(0, 1) * 255).astype(np.uint8)
    far = cv2.distanceTransform(255 - cv2.Canny(drops, 50, 150), cv2.DIST_L2, 5)
    far = cv2.threshold(far, 20, 20, cv2.THRESH_TRUNC)[1]
    far = cv2.equalizeHist(cv2.blur(far, (3, 3)).astype(np.uint8))
    far = cv2.filter2D(far, cv2.CV_8U, np.array([[-2, -1, 0], [-1, 1, 1], [0, 1, 2]]))
    water = drops * cv2.blur(far, (3, 3)).astype(np.float64)
    if water.max() > 0:
        water /= water.max()
    return x + c[4] * water[..., None] * np.array([175, 238, 238]) / 255


def contrast(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.75, 0.5, 0.4, 0.3, 0.15] if small else [0.4, 0.3, 0.2, 0.1, 0.05])[s]
    means = x.mean((0, 1), keepdims=True)
    return (x - means) * c + means


def elastic(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    side = len(x)
    cifar = [(0, 0, 0.08), (0.05, 0.2, 0.07), (0.08, 0.06, 0.06), (0.1, 0.04, 0.05)]
    cifar += [(0.1, 0.03, 0.03)]
    imagenet = [(2, 0.7, 0.1), (2, 0.08, 0.2), (0.05, 0.01, 0.02), (0.07, 0.01, 0.02)]
    imagenet += [(0.12, 0.01, 0.02)]
    scale = side if small else side * 244 / 224
    c = [share * scale for share in (cifar if small else imagenet)[s]]
    middle, reach = side // 2, side // 3
    far, near = middle + reach, middle - reach
    before = np.float32([[far, far], [far, near], [near, near]])
    after = (before + c[2] * (2 * draws.uniform(3, 2) - 1)).astype(np.float32)
    back = cv2.invertAffineTransform(cv2.getAffineTransform(before, after))
    row, column = np.mgrid[:side, :side].astype(np.float64)
    places = np.einsum("ij,jhw->ihw", back, np.stack([column, row, np.ones_like(row)]))
    sheared = [
        ndimage.map_coordinates(x[..., at], places[::-1], order=1, mode="mirror") for at in range(3)
    ]
    across, down = (
        bell(one, c[1], "reflect", 3) * c[0] for one in 2 * draws.uniform(2, side, side) - 1
    )
    bent = [
        ndimage.map_coordinates(one, [row + down, column + across], order=1, mode="reflect")
        for one in sheared
    ]  # fmt: skip
    return np.stack(bent, -1)


def pixelate(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    c = ([0.95, 0.9, 0.85, 0.75, 0.65] if small else [0.6, 0.5, 0.4, 0.3, 0.25])[s]
    side = len(x)
    picture = Image.fromarray((x * 255).round().astype(np.uint8))
    coarse = picture.resize((int(side * c), int(side * c)), Image.Resampling.BOX)
    return np.asarray(coarse.resize((side, side), Image.Resampling.BOX)) / 255


def jpeg(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    file = io.BytesIO()
    quality = ([80, 65, 58, 50, 40] if small else [25, 18, 15, 10, 7])[s]
    Image.fromarray((x * 255).round().astype(np.uint8)).save(file, "JPEG", quality=quality)
    return np.asarray(Image.open(file)) / 255


def saturate(x: Picture, s: int, small: bool, draws: Draws) -> Picture:
    cifar = [(0.3, 0), (0.1, 0), (1.5, 0), (2, 0.1), (2.5, 0.2)]
    factor, more = (cifar if small else [(0.3, 0), (0.1, 0), (2, 0), (5, 0.1), (20, 0.2)])[s]

    def stronger(pixel: np.ndarray) -> tuple[float, float, float]:
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        return colorsys.hsv_to_rgb(hue, min(1.0, saturation * factor + more), value)

    return np.apply_along_axis(stronger, 2, x)


TRANSCRIBED: dict[str, Callable[[Picture, int, bool, Draws], Picture]] = {
    name: globals()[name] for name in NAMES
}
#: Largest difference of a value, where it is not rounding alone, and why.
APART = {
    "shot_noise": 1e-5,
    "zoom_blur": 2e-3,  # OpenCV rounds the weights of a resized picture
    "snow": 3e-3,  # the same
    "pixelate": 1.6 / 255,  # Pillow rounds twice
    "jpeg": 0.07,  # two libraries decode
}


def sample(side: int) -> torch.Tensor:
    """A picture with large and small parts, a black and a grey one among them."""
    generator = np.random.default_rng(side)
    coarse = generator.random((6, 6, 3)).astype(np.float32)
    picture = cv2.resize(coarse, (side, side), interpolation=cv2.INTER_CUBIC).clip(0, 1)
    picture[: side // 5, : side // 5] = 0
    picture[-side // 5 :, : side // 5] = 0.5
    return torch.from_numpy(picture.transpose(2, 0, 1)[None]).float()


@pytest.mark.parametrize("side", [28, 32, 72])
@pytest.mark.parametrize("name", NAMES)
def test_a_corruption_is_its_published_formula(name, side):
    x = sample(side)
    slow = x[0].numpy().transpose(1, 2, 0).astype(np.float64)
    for severity in SEVERITIES:
        made = corrupt(x, name, severity, [severity])[0].numpy().transpose(1, 2, 0)
        wanted = TRANSCRIBED[name](slow.copy(), severity - 1, side < 64, Draws(severity)).clip(0, 1)
        gap = np.abs(made - wanted)
        assert gap.max() <= APART.get(name, 2e-4), (severity, gap.max(), gap.mean())
