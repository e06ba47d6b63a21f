"""What single latent points become under each noise: bounds, padding, rounding, the way back."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import special, stats
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams
from robgui.analyses.last_particle.noise.ball import CutBall, truncated
from robgui.analyses.last_particle.noise.priors import Prior
from robgui.analyses.last_particle.noise.settings import prior_of
from robgui.analyses.last_particle.noise.sizes import fitted_size, fitted_sizes
from robgui.core.dataset import from_arrays
from robgui.core.errors import ParamsError
from robgui.core.model.classifier import Classifier

CPU = torch.device("cpu")


class Mean(nn.Module):
    """Two scores of any input."""

    def forward(self, x: Tensor) -> Tensor:
        height = x.flatten(1).mean(1)
        return torch.stack([-height, height], 1)


def prior(noise: str, x: np.ndarray, eps: float, *, length: int = 0, **given: object) -> Prior:
    kind = "sequence" if x.ndim == 2 else "table"
    classifier = Classifier.from_module(
        Mean(), x.shape, kind=kind, low=(0.0,), high=(10.0,), output="logits"
    )
    data = from_arrays(x[None].astype(np.float32), kind=kind)
    if length:
        data.lengths = lambda indices=None: np.array([length])  # type: ignore[method-assign]
    params = LastParticleParams(noise=noise, **given)
    return prior_of(classifier, data, params, torch.tensor(x[None]).float(), [0], (eps,))


def made(prior: Prior, latent: object, *, fresh: bool = False) -> np.ndarray:
    z = torch.tensor(np.atleast_2d(latent), dtype=torch.float32, device=CPU)
    return prior.bind(torch.zeros(len(z), dtype=torch.int64, device=CPU), fresh=fresh)(z).numpy()


X = np.array([0.02, 0.5, 0.99])


@pytest.mark.parametrize("fresh", [False, True])
def test_the_box_reaches_from_bound_to_bound(fresh: bool) -> None:
    low, high = np.maximum(X - 0.1, 0), np.minimum(X + 0.1, 1)
    found = made(prior("box", X, 0.1), [[-9] * 3, [0] * 3, [9] * 3], fresh=fresh)
    np.testing.assert_allclose(found, [low, (low + high) / 2, high], atol=1e-6)


def test_clipped_noise_is_centred_on_the_input() -> None:
    found = made(prior("clip", X, 0.1), [[-9] * 3, [0] * 3, [9] * 3])
    np.testing.assert_allclose(found, np.clip([X - 0.1, X, X + 0.1], 0, 1), atol=1e-6)


def test_noise_in_a_ball_divides_by_the_length_of_the_whole_latent_point() -> None:
    x, z = np.full(3, 0.5), np.array([1.0, -2.0, 0.5, 3.0, 1.5])
    noise = prior("l2", x, 0.3)
    np.testing.assert_allclose(made(noise, z)[0], x + 0.3 * z[:3] / np.linalg.norm(z), atol=1e-6)
    # For gradients the length is the usual one, √(d + 2).
    np.testing.assert_allclose(
        made(noise, z / 2, fresh=True)[0], x + 0.3 * z[:3] / 2 / np.sqrt(5), atol=1e-6
    )


def test_a_latent_point_leads_back_to_the_input_it_was_found_for() -> None:
    noise = prior("box", np.full(3, 0.5), 0.1)
    wanted = torch.tensor([[0.43, 0.5, 0.58]], device=CPU)
    latent = noise.latent_of(wanted, torch.zeros(1, dtype=torch.int64, device=CPU))
    assert latent is not None
    np.testing.assert_allclose(made(noise, latent.numpy()), wanted.numpy(), atol=1e-5)


def test_inputs_settle_within_the_bounds() -> None:
    pair = torch.zeros(1, dtype=torch.int64, device=CPU)
    outside = torch.tensor([[-0.2, 0.4, 1.3]], device=CPU)
    found = prior("box", X, 0.1).settled(outside, pair).numpy()
    np.testing.assert_allclose(found, [[0, 0.4, 1]], atol=1e-6)
    free = prior("gaussian", X, 0.1).settled(outside, pair).numpy()
    np.testing.assert_allclose(free, outside.numpy())


def test_one_bound_of_gaussian_noise_is_enough() -> None:
    low = made(prior("gaussian", X, 1.0, lower=(2.0,)), [[-9] * 3, [9] * 3])
    np.testing.assert_allclose(low, [[0.2] * 3, [1] * 3], atol=1e-6)


@pytest.mark.parametrize("name", ["0", "4", "age"])
def test_a_feature_that_is_not_there_is_refused(name: str) -> None:
    with pytest.raises(ParamsError, match="there is no feature"):
        prior("box", X, 0.1, rounded=(name,))


@pytest.mark.parametrize("length", [1, 2, 3])
def test_the_padding_repeats_the_last_real_point_after_rounding(length: int) -> None:
    x = np.linspace(0.3, 0.7, 8).reshape(4, 2)
    noise = prior("box", x, 0.2, length=length, rounded=("1",))
    z = np.random.default_rng(3).normal(0, 0.7, 8)
    found = made(noise, z)[0]
    plain = made(prior("box", x, 0.2), z)[0]
    plain[:, 0] = np.round(10 * plain[:, 0]) / 10
    np.testing.assert_allclose(found[:length], plain[:length], atol=1e-6)
    np.testing.assert_allclose(found[length:], plain[[length - 1] * (4 - length)], atol=1e-6)
    *_, free = noise.limits(torch.zeros(1, dtype=torch.int64, device=CPU))
    assert free[0, :, 0].tolist() == [1.0] * length + [0.0] * (4 - length)


@pytest.mark.parametrize("length", [4, 9])
def test_a_sequence_as_long_as_the_model_takes_has_no_padding(length: int) -> None:
    x = np.linspace(0.3, 0.7, 8).reshape(4, 2)
    z = np.random.default_rng(3).normal(0, 0.7, 8)
    found = made(prior("box", x, 0.2, length=length), z)
    np.testing.assert_array_equal(found, made(prior("box", x, 0.2), z))


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 2.0), (-8.0, 3.0), (-3.0, 8.0), (-9.0, 9.0), (0.0, 9.0), (-9.0, 0.0)]
)
def test_truncated_normal_numbers_have_the_law_of_scipy(low: float, high: float) -> None:
    shares = np.linspace(0.001, 0.999, 999)
    z = torch.tensor(special.ndtri(shares), device=CPU)
    ends = (torch.full_like(z, end) for end in (low, high))
    found = np.sort(truncated(z, *ends).numpy())
    # A fold at 0 takes each value from both sides, so it meets the law only between neighbours.
    np.testing.assert_allclose(stats.truncnorm(low, high).cdf(found), shares, atol=2e-3)


def test_points_of_a_ball_far_larger_than_the_bounds_fill_the_bounds() -> None:
    ends = torch.full((1, 50), 0.1, device=CPU)
    ball = CutBall(-ends, 0.5 * ends)
    pairs = torch.zeros(4000, dtype=torch.int64, device=CPU)
    source = torch.Generator(CPU).manual_seed(1)
    latent = torch.randn((4000, 52), generator=source, device=CPU)
    assert ball.inside(pairs)(latent).all()
    points = ball.offsets(pairs)(latent)
    assert stats.kstest(points[:, 7].numpy(), stats.uniform(-0.1, 0.15).cdf).pvalue > 1e-3


@pytest.mark.parametrize("noise", ["box", "clip", "gaussian", "l2", "smooth", "light", "jpeg"])
def test_the_sizes_of_a_table_rise_and_have_the_usual_one_among_them(noise: str) -> None:
    sizes = fitted_sizes(noise, "image", 784)
    assert list(sizes) == sorted(set(sizes)) and fitted_size(noise, "image", 784) in sizes
