"""Each corruption does what its formula says, written down a second time."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
import torch
from PIL import Image

from robgui.analyses.corruptions.kinds import KINDS, SEVERITIES, corrupt
from robgui.analyses.corruptions.params import NAMES


def picture(side: int = 96, n: int = 2) -> torch.Tensor:
    generator = np.random.default_rng(0)
    coarse = generator.random((n, 8, 8, 3)).astype(np.float32)
    large = [cv2.resize(one, (side, side), interpolation=cv2.INTER_CUBIC) for one in coarse]
    return torch.from_numpy(np.stack(large).transpose(0, 3, 1, 2).clip(0, 1)).float()


def made(name: str, severity: int, side: int = 96, n: int = 2) -> tuple[torch.Tensor, torch.Tensor]:
    x = picture(side, n)
    return x, corrupt(x, name, severity, list(range(n)))


def test_every_name_of_the_settings_is_a_kind():
    assert tuple(KINDS) == NAMES


#: Kinds whose published constants are not weaker or stronger, but different: colours fade before
#: they glow, large waves come before small ones, glass is shaken more but less often, snow falls in
#: larger flakes, fog gets finer instead of thicker.
UNGRADED = {
    "saturate": (),
    "elastic": (),
    "glass_blur": (0, 4),
    "snow": (0, 4),
    "spatter": (0, 4),
    "fog": (0, 1, 2, 4),
}


def unlike(x: torch.Tensor, y: torch.Tensor) -> float:
    """The share of a picture that is not there any more, whatever its contrast; on average."""
    pairs = zip(x.flatten(1).numpy(), y.flatten(1).numpy(), strict=True)
    return float(np.mean([1 - np.corrcoef(before, after)[0, 1] ** 2 for before, after in pairs]))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", [28, 96])
def test_a_picture_stays_one_and_a_stronger_corruption_changes_more(name, side):
    fine = torch.rand(12, 3, side, side, generator=torch.Generator().manual_seed(0))
    x = 0.8 * picture(side, 12) + 0.2 * fine
    changes = []
    for severity in SEVERITIES:
        y = corrupt(x, name, severity, list(range(12)))
        assert y.shape == x.shape and y.dtype == x.dtype
        assert float(y.min()) >= 0 and float(y.max()) <= 1
        moved = float((y - x).pow(2).mean())
        assert moved > 0
        changes.append(unlike(x, y) if name in ("frost", "fog", "snow") else moved)
    graded = [changes[at] for at in UNGRADED.get(name, range(5))]
    assert graded == sorted(graded), changes


@pytest.mark.parametrize("name", NAMES)
def test_neither_the_batch_nor_the_order_changes_a_picture(name):
    x = picture(n=3)
    together = corrupt(x, name, 3, [5, 6, 7])
    alone = corrupt(x[[2, 1]], name, 3, [7, 6])
    torch.testing.assert_close(alone, together[[2, 1]], rtol=0, atol=1e-6)
    grey = corrupt(x[:, :1], name, 2, [5, 6, 7])
    assert grey.shape == (3, 1, 96, 96)


@pytest.mark.parametrize(
    ("name", "deviations"),
    [
        ("gaussian_noise", (0.08, 0.12, 0.18, 0.26, 0.38)),
        ("speckle_noise", (0.075, 0.1, 0.175, 0.225, 0.3)),
        ("shot_noise", tuple((0.5 / photons) ** 0.5 for photons in (60, 25, 12, 5, 3))),
    ],
)
def test_noise_on_grey_has_the_published_strength(name, deviations):
    x = torch.full((1, 3, 200, 200), 0.5)
    for severity, deviation in zip(SEVERITIES, deviations, strict=True):
        kind = KINDS[name]
        generator = torch.Generator().manual_seed(1)
        y = kind.apply(x, kind.large[severity - 1], [generator])
        assert float((y - x).std()) == pytest.approx(deviation, rel=0.02)
        assert float((y - x).mean()) == pytest.approx(0, abs=0.01)


def test_impulses_are_black_and_white_in_equal_shares():
    x = torch.full((1, 3, 200, 200), 0.5)
    y = corrupt(x, "impulse_noise", 5, [0])
    assert float((y == 0).float().mean()) == pytest.approx(0.135, abs=0.005)
    assert float((y == 1).float().mean()) == pytest.approx(0.135, abs=0.005)


def test_contrast_and_brightness_follow_their_formulas():
    x, y = made("contrast", 3)
    expected = (x.numpy() - x.numpy().mean((2, 3), keepdims=True)) * 0.2
    np.testing.assert_allclose(
        y, (expected + x.numpy().mean((2, 3), keepdims=True)).clip(0, 1), atol=1e-5
    )
    x, y = made("brightness", 2)
    for before, after in zip(x.numpy(), y.numpy(), strict=True):
        first = cv2.cvtColor(before.transpose(1, 2, 0), cv2.COLOR_RGB2HSV)
        first[..., 2] = (first[..., 2] + 0.2).clip(0, 1)
        wanted = cv2.cvtColor(first, cv2.COLOR_HSV2RGB)
        np.testing.assert_allclose(after.transpose(1, 2, 0), wanted, atol=2e-3)


def test_jpeg_is_what_a_file_of_that_quality_holds():
    x, y = made("jpeg", 4)
    pixels = (x[0].numpy() * 255).round().astype(np.uint8).transpose(1, 2, 0)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=10)
    wanted = np.asarray(Image.open(file)).astype(np.float32) / 255
    gap = np.abs(y[0].numpy().transpose(1, 2, 0) - wanted)
    assert gap.mean() < 0.01, "two libraries may round, not differ"


def test_coarse_pixels_are_means_of_blocks():
    x = picture(96)
    y = corrupt(x, "pixelate", 2, [0, 1])
    blocks = x.unfold(2, 2, 2).unfold(3, 2, 2).mean((4, 5))
    torch.testing.assert_close(y[:, :, ::2, ::2], blocks, rtol=0, atol=1.01 / 255)
    torch.testing.assert_close(y[:, :, ::2], y[:, :, 1::2])


def test_blur_kernels_keep_the_brightness_and_are_as_wide_as_published():
    x = torch.zeros(1, 1, 129, 129)
    x[0, 0, 64, 64] = 1
    rows = torch.arange(129) - 64.0
    for name, wanted in (("gaussian_blur", 3.0), ("defocus_blur", 6.0 / 2)):
        y = corrupt(x, name, 3, [0])
        assert float(y.sum()) == pytest.approx(1, rel=1e-3)
        width = float((y[0, 0].sum(1) * rows**2).sum().sqrt())
        assert width == pytest.approx(wanted, rel=0.06), name
    streak = corrupt(x, "motion_blur", 5, [0])
    assert float(streak.sum()) == pytest.approx(1, rel=1e-3)


def test_zoom_blur_is_the_mean_of_enlargements():
    x, y = made("zoom_blur", 1, n=1)
    total, parts = x[0].numpy().transpose(1, 2, 0).astype(np.float64), 1
    for factor in np.arange(1, 1.11, 0.01):
        inner = int(np.ceil(96 / factor))
        top = (96 - inner) // 2
        middle = x[0].numpy().transpose(1, 2, 0)[top : top + inner, top : top + inner]
        total = total + cv2.resize(middle, (96, 96), interpolation=cv2.INTER_LINEAR)
        parts += 1
    np.testing.assert_allclose(y[0].numpy().transpose(1, 2, 0), total / parts, atol=2e-3)


def test_fog_brightens_dark_pictures_and_is_cloudy():
    x = torch.full((1, 3, 96, 96), 0.3)
    y = corrupt(x, "fog", 1, [4])
    assert float(y.std()) > 0.02
    # (x + 1.5 clouds) max / (max + 1.5), clouds from 0 to 1
    assert float(y.min()) == pytest.approx(0.3 * 0.3 / 1.8, abs=1e-3)
    assert float(y.max()) == pytest.approx(1.8 * 0.3 / 1.8, abs=1e-3)
