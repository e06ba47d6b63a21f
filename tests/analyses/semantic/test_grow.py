"""The directions against the derivatives of the exact losses, and the growing against known
plateaus.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from robgui.analyses.semantic import grow, growing
from robgui.analyses.semantic.regions import directions
from robgui.analyses.semantic.regions.params import METHODS
from robgui.analyses.semantic.regions.quadrature import Nodes
from robgui.core.errors import ParamsError
from tests.analyses.semantic.toy import HIGH, LOW, PLATEAU, STARTS, around_zero, overlap, plateau
from tests.guards import count_host_syncs, no_deviceless_factories

ALPHA, BETA, LAM = 0.05, 0.03, 0.1


class Multilinear:
    """f(u) = Σ over corners of the unit box of a weight times Π of u_k or 1 - u_k, with exact
    integrals.
    """

    def __init__(self, n: int, seed: int) -> None:
        self.weights = torch.rand(
            [2] * n, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
        )

    def __call__(self, u: Tensor) -> Tensor:
        n = self.weights.ndim
        value = torch.zeros(len(u), dtype=torch.float64)
        for corner in product((0, 1), repeat=n):
            part = torch.stack([u[:, k] if corner[k] else 1 - u[:, k] for k in range(n)]).prod(0)
            value = value + self.weights[corner] * part
        return value

    def integral(self, a: Tensor, b: Tensor) -> Tensor:
        """Over the box: multilinear, so its volume times the value at the centre."""
        return (b - a).prod() * self(((a + b) / 2)[None])[0]


def losses(f: Multilinear, alpha: float) -> dict[str, object]:
    """The exact losses of a and b; OIR_W with a small alpha instead of the limit."""

    def outer(a: Tensor, b: Tensor, by: float) -> Tensor:
        return f.integral(a - by / 2 * (b - a), b + by / 2 * (b - a))

    return {
        "naive": lambda a, b: -f.integral(a, b) + LAM / 2 * ((b - a) ** 2).sum(),
        "oir_b": lambda a, b: outer(a, b, ALPHA) - 2 * f.integral(a, b),
        "oir_w": lambda a, b: (
            BETA / alpha * (outer(a, b, alpha) - f.integral(a, b)) - f.integral(a, b)
        ),
    }


def ours(method: str, f, a: Tensor, b: Tensor, nodes: Nodes) -> tuple[Tensor, Tensor]:
    """The directions times the face areas: the gradient of the loss."""
    sides, centre = b - a, (a + b) / 2
    areas = (sides.prod() / sides)[None].numpy()

    def at(margin: float) -> Tensor:
        return centre + (1 + margin) * sides / 2 * (2 * torch.from_numpy(nodes.unit) - 1)

    inner = nodes.faces(f(at(0))[None].numpy())
    if method == "naive":
        by_a, by_b = directions.naive(*inner, sides[None].numpy(), areas, LAM)
    elif method == "oir_b":
        by_a, by_b = directions.oir_b(*inner, *nodes.faces(f(at(ALPHA))[None].numpy()), ALPHA)
    else:
        at_nodes = at(0).requires_grad_()
        (gradient,) = torch.autograd.grad(f(at_nodes).sum(), at_nodes)
        slope = (gradient * (at_nodes - centre)).sum(1).detach()
        by_a, by_b = directions.oir_w(*inner, *nodes.faces(slope[None].numpy()), BETA)
    return torch.from_numpy(by_a * areas)[0], torch.from_numpy(by_b * areas)[0]


def differences(loss, a: Tensor, b: Tensor, h: float = 1e-5) -> tuple[Tensor, Tensor]:
    """The derivative of a loss by every bound, by central differences."""
    unit = torch.eye(len(a), dtype=torch.float64)
    by_a = torch.stack([(loss(a + h * e, b) - loss(a - h * e, b)) / (2 * h) for e in unit])
    by_b = torch.stack([(loss(a, b + h * e) - loss(a, b - h * e)) / (2 * h) for e in unit])
    return by_a, by_b


def box(n: int, seed: int) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(100 + seed)
    a = torch.rand(n, generator=generator, dtype=torch.float64) * 0.4
    return a, a + 0.2 + 0.3 * torch.rand(n, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_direction_is_the_derivative_of_the_exact_loss_of_a_multilinear_score(
    n: int, method: str, seed: int
) -> None:
    f, (a, b) = Multilinear(n, seed), box(n, seed)
    exact = differences(losses(f, 1e-4)[method], a, b)
    for got, expected in zip(ours(method, f, a, b, Nodes.grid(n, 2)), exact, strict=True):
        assert torch.allclose(got, expected, atol=2e-5 if method == "oir_w" else 1e-8)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_direction_of_oir_w_is_the_derivative_of_the_loss_of_a_curved_score(n: int) -> None:
    """Its sums over other axes vanish on multilinear scores, so that only a curved one would
    show them exchanged.
    """

    def f(u: Tensor) -> Tensor:
        return torch.exp(
            -(u * torch.tensor([2.0, 3.0, 1.5], dtype=torch.float64)[:n]).sum(1)
        ) + 0.5 * torch.sin(3 * u).prod(1)

    fine = Nodes.grid(n, {1: 4001, 2: 401, 3: 41}[n])

    def loss(a: Tensor, b: Tensor) -> Tensor:
        values = f(a + (b - a) * torch.from_numpy(fine.unit))[None].numpy()
        return torch.from_numpy(
            directions.oir_w_loss(
                values @ fine.weight, *fine.faces(values), (b - a)[None].numpy(), BETA
            )
        )[0]

    a, b = box(n, 3)
    exact = differences(loss, a, b, 1e-4)
    for got, expected in zip(ours("oir_w", f, a, b, fine), exact, strict=True):
        assert torch.allclose(got, expected, rtol=2e-3, atol=2e-5)


def matrix_form(method: str, f, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """The formulas with the matrices M of the corners, as methods with G and s."""
    n, r = len(a), b - a
    m = torch.tensor(list(product((0, 1), repeat=n)), dtype=torch.float64).T
    mb, volume = 1 - m, r.prod() / 2**n
    corners = (a[:, None] + m * r[:, None]).T
    f_d = f(corners)
    if method == "naive":
        return 2 * volume / r * (mb @ f_d) - LAM * r, -2 * volume / r * (m @ f_d) + LAM * r
    if method == "oir_b":
        f_q = f((a[:, None] - ALPHA / 2 * r[:, None] + (1 + ALPHA) * m * r[:, None]).T)
        swell = (1 + ALPHA) ** (n - 1)
        mq, mbq = (
            swell * ((1 + ALPHA / 2) * m + ALPHA / 2 * mb),
            swell * ((1 + ALPHA / 2) * mb + ALPHA / 2 * m),
        )
        return 2 * volume / r * (2 * mb @ f_d - mbq @ f_q), 2 * volume / r * (
            -2 * m @ f_d + mq @ f_q
        )
    at = corners.clone().requires_grad_()
    (g,) = torch.autograd.grad(f(at).sum(), at)
    gamma = 2 - BETA * (2 * n - 1)
    sa = torch.stack(
        [
            sum(r[i] * (((mb[i] - m[i]) * mb[k]) @ g[:, i]) for i in range(n) if i != k) / r[k]
            + 0 * r[k]
            for k in range(n)
        ]
    )
    sb = torch.stack(
        [
            sum(r[i] * (((m[i] - mb[i]) * m[k]) @ g[:, i]) for i in range(n) if i != k) / r[k]
            + 0 * r[k]
            for k in range(n)
        ]
    )
    by_a = volume * ((gamma * mb - BETA * m) @ f_d / r + BETA * (mb * g.T).sum(1) + BETA * sa)
    by_b = volume * (-(gamma * m - BETA * mb) @ f_d / r + BETA * (m * g.T).sum(1) + BETA * sb)
    return by_a, by_b


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("method", METHODS)
def test_equal_weights_on_the_corners_give_the_matrix_formulas(n: int, method: str) -> None:
    def f(u: Tensor) -> Tensor:
        return torch.sin(u.sum(1) * 3) + u.prod(1) ** 2

    a, b = box(n, 5)
    for got, expected in zip(
        ours(method, f, a, b, Nodes.grid(n, 2)), matrix_form(method, f, a, b), strict=True
    ):
        assert torch.allclose(got, expected, atol=1e-12)


@pytest.mark.parametrize(("n", "soft", "least"), [(1, 1.0, 0.96), (2, 2.0, 0.93), (3, 2.0, 0.8)])
@pytest.mark.parametrize("method", METHODS)
def test_a_plateau_is_found_from_every_start(
    method: str, n: int, soft: float, least: float
) -> None:
    sides = PLATEAU[:n]
    grown = grow(plateau(sides, soft), [start[:n] for start in STARTS], LOW[:n], HIGH[:n], method)
    assert grown.converged.all() and not grown.hit_domain.any() and not grown.never_grew.any()
    assert min(overlap(a, b, sides) for a, b in zip(grown.low, grown.high, strict=True)) >= least
    if n < 3:
        assert np.ptp(grown.low, axis=0).max() <= 0.5 and np.ptp(grown.high, axis=0).max() <= 0.5
    volume = np.prod((grown.high - grown.low) / (np.array(HIGH) - LOW)[:n], axis=1)
    assert np.allclose(grown.volume, volume)


@pytest.mark.parametrize("method", METHODS)
def test_regions_can_be_rectangles(method: str) -> None:
    grown = grow(plateau([(40.0, 320.0), (30.0, 45.0)]), [180.0, 38.0], LOW[:2], HIGH[:2], method)
    assert overlap(grown.low[0], grown.high[0], [(40.0, 320.0), (30.0, 45.0)]) >= 0.85


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("method", METHODS)
def test_a_score_of_one_everywhere_fills_the_domain_and_a_score_of_zero_stays(
    method: str, n: int
) -> None:
    low, high = np.array(LOW)[:n], np.array(HIGH)[:n]
    corner = low + 0.03 * (high - low)
    full = grow(lambda u: torch.ones(len(u)), [corner, (low + high) / 2], low, high, method)
    assert (
        np.allclose(full.low, low)
        and np.allclose(full.high, high)
        and full.converged.all()
        and full.hit_domain.all()
    )
    assert np.allclose(full.volume, 1)
    empty = grow(lambda u: torch.zeros(len(u)), corner, low, high, method)
    assert (empty.high - empty.low <= 0.01 * (high - low) + 1e-9).all() and empty.never_grew.all()
    assert ((empty.low <= corner) & (corner <= empty.high)).all()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("start", [5.0, 350.0, 20.0])
def test_a_plateau_across_the_seam_of_a_periodic_axis_is_found_whole(
    method: str, start: float
) -> None:
    grown = grow(around_zero, [start], [0.0], [360.0], method, periodic=[True])
    low, high = grown.low[0, 0], grown.high[0, 0]
    turned = (low + 180) % 360 - 180
    assert turned == pytest.approx(-30, abs=3) and high - low == pytest.approx(60, abs=5)
    assert low <= start <= high and not grown.hit_domain[0]


def test_a_region_that_goes_all_the_way_round_stops_at_one_turn() -> None:
    def score(u: Tensor) -> Tensor:
        assert ((u[:, 0] >= 0) & (u[:, 0] <= 360)).all(), "points are given inside the range"
        return torch.ones(len(u))

    for method in METHODS:
        grown = grow(score, [300.0, 40.0], LOW[:2], HIGH[:2], method, periodic=[True, False])
        assert (
            grown.high[0, 0] - grown.low[0, 0] == pytest.approx(360)
            and grown.volume[0] == pytest.approx(1)
            and grown.converged.all()
        )


@pytest.mark.parametrize("method", METHODS)
def test_the_score_level_does_not_change_the_region(method: str) -> None:
    f = plateau(PLATEAU[:2], floor=0.0)
    sure, unsure = (
        grow(lambda u, s=s: s * f(u), STARTS[0][:2], LOW[:2], HIGH[:2], method) for s in (1.0, 0.3)
    )
    assert np.allclose(sure.low, unsure.low, atol=1e-6) and np.allclose(
        sure.high, unsure.high, atol=1e-6
    )


def test_a_start_where_the_class_is_not_seen_does_not_run_away_over_the_floor() -> None:
    grown = grow(plateau(PLATEAU[:2]), [[300.0, 0.0], STARTS[0][:2]], LOW[:2], HIGH[:2])
    assert grown.never_grew.tolist() == [True, False] and grown.start_score[0] < 0.1


def test_all_methods_and_starts_advance_in_one_call_of_the_score_per_step() -> None:
    f, calls = plateau(PLATEAU[:2]), []

    def score(u: Tensor) -> Tensor:
        calls.append(len(u))
        return f(u)

    *_, last = growing(score, [start[:2] for start in STARTS], LOW[:2], HIGH[:2])
    assert len(calls) == last.loss.shape[1] + 1 == last.trace.shape[1]
    assert calls[0] == 4 and calls[1] == 4 * (8 + 8 + 8 + 8 + 16)
    alone = {
        method: grow(f, [start[:2] for start in STARTS], LOW[:2], HIGH[:2], method)
        for method in METHODS
    }
    for place, (method, number) in enumerate(zip(last.method, last.start_number, strict=True)):
        assert np.allclose(last.low[place], alone[method].low[number]) and np.allclose(
            last.high[place], alone[method].high[number]
        )


def test_the_trace_begins_at_the_start_and_ends_at_the_bounds_and_the_loss_falls() -> None:
    *_, last = growing(plateau(PLATEAU[:2]), STARTS[0][:2], LOW[:2], HIGH[:2])
    width = np.array(HIGH[:2]) - LOW[:2]
    assert np.allclose(
        last.trace[:, 0], np.stack([last.start - 0.005 * width, last.start + 0.005 * width], 1)
    )
    assert np.allclose(last.trace[:, -1, 0], last.low) and np.allclose(
        last.trace[:, -1, 1], last.high
    )
    for row in last.loss:
        known = row[np.isfinite(row)]
        assert known[-1] == pytest.approx(known.min(), rel=0.02) and known[-1] < -0.02


def test_gradients_and_differences_find_the_same_region() -> None:
    f = plateau(PLATEAU[:2])

    def gradient(u: Tensor) -> Tensor:
        at = u.detach().requires_grad_()
        return torch.autograd.grad(f(at).sum(), at)[0]

    starts = [start[:2] for start in STARTS]
    exact, by_differences = (
        grow(f, starts, LOW[:2], HIGH[:2], "oir_w", gradient=g) for g in (gradient, None)
    )
    assert np.allclose(exact.low, by_differences.low, atol=1.0) and np.allclose(
        exact.high, by_differences.high, atol=1.0
    )
    *_, mixed = growing(f, starts, LOW[:2], HIGH[:2], gradient=gradient)
    white = [method == "oir_w" for method in mixed.method]
    assert np.allclose(mixed.low[white], exact.low)


@pytest.mark.parametrize("method", METHODS)
def test_with_the_published_steps_a_region_grows_exponentially_in_two_and_never_starts_in_three_dimensions(
    method: str,
) -> None:
    flat = grow(
        lambda u: torch.ones(len(u)),
        [180.0, 40.0],
        LOW[:2],
        HIGH[:2],
        method,
        preset="paper",
        lam=0.0,
        iterations=60,
    )
    sides = flat.trace[0, :, 1, 0] - flat.trace[0, :, 0, 0]
    ratios = sides[1:] / sides[:-1]
    assert np.allclose(ratios[:50], ratios[0], atol=1e-6) and ratios[0] > 1.05
    deep = grow(
        lambda u: torch.ones(len(u)),
        [180.0, 40.0, 50.0],
        LOW,
        HIGH,
        method,
        preset="paper",
        lam=0.0,
        iterations=200,
    )
    assert deep.never_grew[0] and deep.volume[0] < 1e-12


def test_with_the_published_steps_regions_are_squares_and_run_away_over_a_floor() -> None:
    f = plateau(PLATEAU[:2], soft=0.5)
    for method in ("oir_b", "oir_w"):
        grown = grow(f, [140.0, 40.0], LOW[:2], HIGH[:2], method, preset="paper", iterations=100)
        first = grown.trace[0, :100, 1] - grown.trace[0, :100, 0]
        assert np.allclose(first[:, 0], first[:, 1], rtol=1e-3)
        grown = grow(f, [140.0, 40.0], LOW[:2], HIGH[:2], method, preset="paper", iterations=300)
        assert (grown.high - grown.low).prod() > 1.5 * 80 * 40, (
            "the bounds do not stop at the plateau"
        )
        assert (grown.low >= LOW[:2]).all() and (grown.high <= HIGH[:2]).all()
        free = grow(
            f, [140.0, 40.0], LOW[:2], HIGH[:2], method, preset="paper", clip=False, iterations=340
        )
        assert (free.high > HIGH[:2]).any() and free.volume[0] <= 1 and np.isfinite(free.high).all()


def test_the_naive_penalty_of_the_paper_keeps_regions_small() -> None:
    grown = grow(
        lambda u: torch.ones(len(u)),
        [180.0],
        [0.0],
        [360.0],
        "naive",
        preset="paper",
        iterations=300,
    )
    assert grown.high[0, 0] - grown.low[0, 0] == pytest.approx(1 / 0.1, rel=1e-2), "f = lambda r"


@settings(max_examples=6, deadline=None)
@given(st.lists(st.floats(0.02, 0.98), min_size=2, max_size=2), st.integers(0, 1000))
def test_bounds_always_lie_in_the_range_around_their_start(share: list[float], seed: int) -> None:
    weights = (
        torch.randn(2, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64) / 30
    )
    low, high = np.array(LOW[:2]), np.array(HIGH[:2])
    start = low + np.array(share) * (high - low)
    for last in growing(
        lambda u: torch.sigmoid(4 * torch.sin(u @ weights).sum(1)), start, low, high, iterations=30
    ):
        assert (last.low <= start + 1e-9).all() and (last.high >= start - 1e-9).all()
        assert (last.low >= low - 1e-9).all() and (last.high <= high + 1e-9).all()


def test_every_tensor_is_made_on_a_named_device_and_the_host_waits_once_or_twice_a_step() -> None:
    f = plateau(PLATEAU[:2])
    starts = torch.tensor([start[:2] for start in STARTS], dtype=torch.float64, device="cpu")
    with no_deviceless_factories(), count_host_syncs() as syncs:
        grown = grow(f, starts, LOW[:2], HIGH[:2], "oir_w")
    assert syncs.total <= 2 * grown.loss.shape[1] + 20


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"method": "oir_x"}, "oir_x"),
        ({"starts": [400.0, 0.0]}, "outside"),
        ({"starts": [1.0]}, "as many numbers"),
        ({"low": [0.0, 100.0]}, "smaller to a larger"),
        ({"preset": "best"}, "preset"),
        ({"speed": 3}, "speed"),
        ({"method": "oir_w", "beta": 0.7}, "beta"),
        ({"score": lambda u: torch.ones(3)}, "one number"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(change: dict, words: str) -> None:
    given = {
        "score": plateau(PLATEAU[:2]),
        "starts": STARTS[0][:2],
        "low": LOW[:2],
        "high": HIGH[:2],
    } | change
    with pytest.raises(ParamsError, match=words):
        grow(**given)
