"""The noise: its laws against closed forms, rejection sampling and a real JPEG codec."""

from __future__ import annotations

import io

import cv2
import numpy as np
import pytest
import torch
from PIL import Image
from scipy import integrate, stats
from scipy.fft import idctn
from torch import Tensor

from robgui.analyses.last_particle import LastParticleParams
from robgui.analyses.last_particle.noise.images import jpeg
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.noise.settings import prior_of
from robgui.analyses.last_particle.noise.sizes import fitted_size, fitted_sizes
from robgui.analyses.last_particle.particles.streams import Streams
from robgui.analyses.last_particle.words import noise_words
from robgui.core.dataset import from_arrays
from robgui.core.errors import ParamsError
from robgui.core.model.classifier import Classifier
from tests.analyses.last_particle.scores import Linear, examine

CPU = torch.device("cpu")
QUICK = {"samples": 0, "attack_steps": 0, "importance": 0}


def prior(noise: str, x: np.ndarray, eps: float, **given: object) -> Prior:
    images = x.ndim > 1
    classifier = Classifier.from_module(Linear(np.ones(x.size), 0.0), x.shape)
    data = from_arrays(x[None].astype(np.float32), kind="image" if images else "table")
    params = LastParticleParams(noise=noise, **given)
    return prior_of(classifier, data, params, torch.tensor(x[None]).float(), [0], (eps,))


def drawn(made: Prior, count: int, seed: int = 0) -> Tensor:
    """Plain samples ``(count, *shape)``."""
    streams = Streams(seed, CPU, made.spread)
    streams.open(0)
    pairs = torch.zeros(count, dtype=torch.int64, device=CPU)
    latent = streams.normal_inside([0], count, made.dim, made.inside(pairs))[0]
    return made.bind(pairs)(latent)


def rejected(x: np.ndarray, radius: float, count: int) -> np.ndarray:
    """Uniform in ball ∩ cube by rejection from the box around both."""
    random = np.random.default_rng(5)
    low, high = np.maximum(x - radius, 0), np.minimum(x + radius, 1)
    found = np.zeros((0, len(x)))
    while len(found) < count:
        points = random.uniform(low, high, (200_000, len(x)))
        found = np.concatenate([found, points[((points - x) ** 2).sum(1) <= radius**2]])
    return found[:count]


@pytest.mark.parametrize(
    ("x", "radius"),
    [
        ([0.0, 0.0, 1.0], 0.6),
        ([0.05, 0.9, 0.5, 0.3], 0.3),
        ([0.02, 0.5, 0.97, 0.1, 0.6], 0.8),
        ([0.5, 0.5], 0.69),
    ],
)
def test_ball_noise_is_uniform_in_what_of_the_ball_lies_in_the_cube(
    x: list[float], radius: float
) -> None:
    centre = np.array(x)
    ours = drawn(prior("ball", centre, radius), 20_000).numpy().astype(np.float64)
    theirs = rejected(centre, radius, 40_000)
    assert ours.min() >= 0 and ours.max() <= 1
    assert (((ours - centre) ** 2).sum(1) <= radius**2 * (1 + 1e-5)).all()
    tests = [stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in range(len(x))]
    length = [((points - centre) ** 2).sum(1) for points in (ours, theirs)]
    tests.append(stats.ks_2samp(*length).pvalue)
    tests.append(stats.ks_2samp(ours.sum(1), theirs.sum(1)).pvalue)
    assert min(tests) > 1e-4, tests


def test_moves_of_the_particles_leave_ball_noise_as_it_is() -> None:
    """Points moved as particles are, refused where they leave the ball, keep their law."""
    centre, radius = np.array([0.02, 0.9, 0.5]), 0.4
    made = prior("ball", centre, radius)
    pairs = torch.zeros(20_000, dtype=torch.int64, device=CPU)
    streams = Streams(3, CPU, 1.0)
    streams.open(0)
    inside = made.inside(pairs)
    assert inside is not None
    latent = streams.normal_inside([0], len(pairs), made.dim, inside)[0]
    for _ in range(30):
        moved = (latent + 0.7 * streams.normal([0], len(pairs), made.dim)[0]) / (1 + 0.7**2) ** 0.5
        latent = torch.where(inside(moved)[:, None], moved, latent)
    ours, theirs = made.bind(pairs)(latent).numpy(), rejected(centre, radius, 40_000)
    assert min(stats.ks_2samp(ours[:, i], theirs[:, i]).pvalue for i in range(3)) > 1e-4


def test_ball_noise_of_an_image_lies_in_the_cube_and_fills_the_ball() -> None:
    """784 values, most of them black: squared lengths of a uniform point are near the radius."""
    random = np.random.default_rng(0)
    x = np.where(random.random((1, 28, 28)) < 0.7, 0.0, random.random((1, 28, 28)))
    points = drawn(prior("ball", x, 6.0), 200).numpy().astype(np.float64)
    assert points.min() >= 0 and points.max() <= 1
    lengths = np.sqrt(((points - x) ** 2).sum((1, 2, 3)))
    # in d dimensions r (1 - 1/d) is the mean where nothing is cut; cutting makes it shorter by less
    assert lengths.max() <= 6.0001 and 5.97 < lengths.mean() < 6


def test_the_probability_under_ball_noise_is_that_of_rejection_sampling() -> None:
    centre, radius, weights = np.array([0.05, 0.9, 0.5, 0.3]), 0.3, np.array([1.0, -1, 0.5, 0.2])
    bias = -float(centre @ weights) - 0.38
    points = rejected(centre, radius, 400_000)
    truth = float((points @ weights + bias > 0).mean())
    classifier = Classifier.from_module(Linear(weights, bias), (4,))
    result = examine(
        classifier, centre, noise="ball", eps=radius, replicas=40, critical=1e-9, **QUICK
    )
    assert 1e-4 < truth < 0.1 and result.p_low < truth < result.p_high


def test_smooth_noise_fails_as_often_as_its_covariance_says() -> None:
    size, eps, width = 6, 0.02, 1.5
    weights = np.random.default_rng(1).normal(size=size * size) + 0.5
    place = np.arange(size)
    rows = np.exp(-((place[:, None] - place) ** 2) / (2 * width**2))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    blur = np.kron(rows, rows)
    deviation = eps * float(np.sqrt(weights @ blur @ blur.T @ weights))
    bias = -0.5 * weights.sum() - stats.norm.isf(1e-4) * deviation
    classifier = Classifier.from_module(Linear(weights, bias), (1, size, size))
    x = np.full((1, size, size), 0.5)
    result = examine(
        classifier, x, noise="smooth", eps=eps, blur=width, replicas=40, critical=1e-9, **QUICK
    )
    assert result.p_low < 1e-4 < result.p_high
    made = drawn(prior("smooth", x, eps, blur=width), 4000).numpy()
    np.testing.assert_allclose(made.std(0), eps, rtol=0.06)


def test_light_fails_as_often_as_two_normal_numbers_say() -> None:
    x, weights = np.array([[[0.2, 0.4], [0.5, 0.7]]]), np.array([-1.0, 0.5, 0.2, 2.0])
    eps, flat = 0.05, x.ravel()
    gap = 0.35
    bias = -float(flat @ weights) - gap

    def height(contrast: float, shift: float) -> float:
        moved = flat.mean() + (flat - flat.mean()) * np.exp(eps * contrast) + eps * shift
        return float(moved @ weights + bias)

    def tail(contrast: float) -> float:
        """The shift from which on it fails: the height rises evenly with it."""
        slope = eps * weights.sum()
        return float(stats.norm.sf(-height(contrast, 0) / slope) * stats.norm.pdf(contrast))

    truth = integrate.quad(tail, -8, 8)[0]
    classifier = Classifier.from_module(Linear(weights, bias), (1, 2, 2))
    result = examine(classifier, x, noise="light", eps=eps, replicas=40, critical=1e-12, **QUICK)
    assert truth < 1e-4 and result.p_low < truth < result.p_high


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("quality", [10, 50, 90])
def test_jpeg_noise_is_what_a_jpeg_file_loses(channels: int, quality: int) -> None:
    random = np.random.default_rng(2)
    rough = random.random((20, 27, channels))
    picture = (255 * cv2.GaussianBlur(rough, (0, 0), 2).reshape(rough.shape)).round()
    picture = np.clip(picture * 1.4 - 50, 0, 255).astype(np.uint8)
    options = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, 0x111111]
    _, coded = cv2.imencode(".jpg", picture[..., ::-1] if channels == 3 else picture, options)
    theirs = cv2.imdecode(coded, cv2.IMREAD_UNCHANGED).reshape(picture.shape)
    theirs = theirs[..., ::-1] if channels == 3 else theirs
    x = torch.from_numpy(picture.astype(np.float32) / 255).permute(2, 0, 1)[None]
    ours = 255 * jpeg(x, torch.tensor([float(quality)], device=CPU))[0].permute(1, 2, 0).numpy()
    lost = np.abs(theirs.astype(float) - picture).mean()
    assert np.abs(ours - theirs).mean() < 0.4 * lost + 0.5  # rounding of tables and colours


def _tables(quality: int) -> np.ndarray:
    """Quantisation of luminance and chrominance ``(2, 64)``, as Pillow writes it into a file."""
    file = io.BytesIO()
    Image.new("RGB", (8, 8)).save(file, "JPEG", quality=quality, subsampling=0)
    written = Image.open(file).quantization
    return np.array([written[0], written[1]], dtype=np.float64)


@pytest.mark.parametrize(("quality", "height"), [(25, 70), (50, 70), (50, 50), (50, 30), (100, 13)])
@pytest.mark.parametrize("colour", [0, 1, 2])
def test_every_step_of_jpeg_noise_is_that_of_the_standard(
    colour: int, quality: int, height: int
) -> None:
    steps = _tables(quality)[min(colour, 1)]
    waves = idctn(np.eye(64).reshape(64, 8, 8), axes=(1, 2), norm="ortho")
    whole = np.maximum(1, height // (steps * np.abs(waves).max((1, 2)))) * steps
    levels = np.zeros((64, 3, 8, 8))
    levels[:, 0] = 128
    levels[:, colour] += whole[:, None, None] * waves
    weights = ((0.299, 0.587, 0.114), (-0.168736, -0.331264, 0.5), (0.5, -0.418688, -0.081312))
    rgb = np.einsum("ck,nkhw->nchw", np.linalg.inv(weights), levels)
    x = torch.tensor(rgb / 255, dtype=torch.float64, device=CPU)
    kept = 255 * jpeg(x, torch.full((64,), float(quality), device=CPU)).numpy()
    # Whole steps of one frequency are kept exactly, up to the rounding of pixels.
    lost = np.abs(kept - rgb).max((1, 2, 3))
    assert (lost <= 0.5 + 1e-3).all(), np.flatnonzero(lost > 0.5 + 1e-3)


def test_jpeg_noise_draws_qualities_down_to_the_size() -> None:
    x = np.random.default_rng(0).random((1, 16, 16))
    made = prior("jpeg", x, 0.9)
    worst = jpeg(torch.tensor(x[None]).float(), torch.tensor([10.0], device=CPU))
    pairs = torch.zeros(2, dtype=torch.int64, device=CPU)
    low, high = made.bind(pairs)(torch.tensor([[9.0], [-9.0]], device=CPU))
    assert torch.equal(low, worst[0])
    assert (high - torch.tensor(x)).abs().max() < 3 / 255


def test_noise_of_images_is_refused_for_a_table() -> None:
    with pytest.raises(ParamsError, match="this is noise of images, and"):
        prior("smooth", np.array([0.5, 0.5]), 0.1)


def test_whole_numbers_of_an_image_are_the_levels_of_a_picture_file() -> None:
    x = np.full((1, 4, 4), 100 / 255)
    points = drawn(prior("box", x, 0.1, rounded=("1",)), 50).numpy()
    levels = 255 * points
    np.testing.assert_allclose(levels, levels.round(), atol=1e-3)
    assert len(np.unique(levels.round())) > 20


def test_sizes_fit_the_data_and_the_noise() -> None:
    assert fitted_size("box", "image", 784) == 0.1 and fitted_size("box", "table", 8) == 0.05
    images, tables = fitted_sizes("box", "image", 784), fitted_sizes("box", "table", 8)
    assert images[0] == 0.01 and images[-1] == 0.4
    assert sum(size < 0.2 for size in tables) >= 6
    # the same mean square as uniform noise: eps² / 3 a value, r² / (d + 2) in a ball
    assert fitted_size("l2", "image", 784) == pytest.approx(0.1 * (786 / 3) ** 0.5, rel=0.05)


def test_without_a_size_the_fitted_one_is_used_and_told() -> None:
    classifier = Classifier.from_module(Linear(np.ones(4), -9.0), (4,))
    result = examine(classifier, np.full(4, 0.5), replicas=1, **QUICK)
    assert result.eps == 0.05


def test_l2_noise_is_called_what_it_is() -> None:
    assert noise_words("l2", 6) == (
        "uniform noise in an l2 ball of radius 6 (then clipped to the range)"
    )
    assert "lies within the range" in noise_words("ball", 6)
    assert noise_words("jpeg", 0.9) == "JPEG compression down to quality 10"
