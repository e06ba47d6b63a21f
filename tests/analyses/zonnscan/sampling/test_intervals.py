"""The law of the samples and the honesty of the intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult
from robgui.analyses.zonnscan.sampling.clouds import zone_cloud
from robgui.analyses.zonnscan.sampling.intervals import (
    FEWEST,
    clopper_pearson_arrays,
    half_widths,
    intervals,
    shares,
)
from robgui.analyses.zonnscan.sampling.points import (
    SOBOL_REPLICATES,
    base_points,
    block_size,
    round_ends,
    stretches,
)
from robgui.analyses.zonnscan.sampling.scan import Scan
from robgui.analyses.zonnscan.sampling.tally import Counts, Tally
from robgui.analyses.zonnscan.sampling.zones import EVERY, BoxCloud, linf_corners
from robgui.analyses.zonnscan.sweep import Sweep
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import exact_index, linear, sweep
from tests.bench.studies.coverage_zonnscan import NOW, recorded, stopped, subject

CPU = torch.device("cpu")
ZONES = torch.arange(4)
SAMPLERS = ("sobol", "antithetic", "plain")


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_a_zone_at_the_border_of_the_cube_is_uniform_and_never_clipped(sampler: str) -> None:
    x, radius = torch.tensor([[0.0, 0.05, 0.5, 0.98, 1.0]]), 0.2
    cloud, _, _ = zone_cloud(
        "linf", x, torch.tensor([radius]), sampler=sampler, samples=4096, seed=0
    )
    samples = cloud.block(0, 4096, torch.tensor([0])).at(torch.tensor([0]))[0].numpy()
    for i, centre in enumerate(x[0].tolist()):
        low, high = max(0.0, centre - radius), min(1.0, centre + radius)
        assert stats.kstest(samples[:, i], stats.uniform(low, high - low).cdf).pvalue > 1e-3
        assert (
            len(np.unique(samples[:, i])) > 3900
            and low <= samples[:, i].min()
            and samples[:, i].max() <= high
        )


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_any_stretch_can_be_drawn_alone(sampler: str) -> None:
    first, _, _ = base_points(sampler, 7, 1024, 5, CPU)
    second, _, _ = base_points(sampler, 7, 1024, 5, CPU)
    whole = [first.draw(start, stop) for round_ in stretches(1024, 256) for start, stop in round_]
    assert torch.equal(second.draw(640, 768), whole[-3]) and sum(map(len, whole)) == 1024


def test_replicates_of_sobol_points_are_different_and_each_is_balanced() -> None:
    points, _, _ = base_points("sobol", 3, 1024, 0, CPU)
    u = points.draw(0, 64 * SOBOL_REPLICATES).reshape(64, SOBOL_REPLICATES, 3)
    assert not torch.equal(u[:, 0], u[:, 1])
    cells = (u * 64).long()
    for lane in range(SOBOL_REPLICATES):
        for dimension in range(3):
            assert len(torch.unique(cells[:, lane, dimension])) == 64


@pytest.mark.parametrize("cap", [1, 31, 32, 33, 1000, 10_000])
def test_stretches_cover_every_sample_once(cap: int) -> None:
    pairs = [pair for round_ in stretches(cap, 256) for pair in round_]
    assert [start for start, _ in pairs] == [0, *(stop for _, stop in pairs[:-1])] and pairs[-1][
        1
    ] == cap


def test_a_block_holds_a_bounded_amount_of_numbers() -> None:
    assert block_size(1) == 1024 and block_size(784) == 1024 and block_size(150_528) == 32


MODELS = (([5.0, -3.5], 4.0, (0.3, 0.6)), ([12.0], -5.0, (0.3,)), ([6.0, -9.0], 1.0, (0.1, 0.4)))
RADII = (0.025, 0.05, 0.3, 1.0)


@cache
def points_of(sampler: str, dimensions: int, samples: int, repetitions: int) -> list[Any]:
    """The points of every seed, which models of one size share."""
    return [base_points(sampler, dimensions, samples, seed, CPU)[0] for seed in range(repetitions)]


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("samples", [128, pytest.param(512, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("weights", "bias", "x"),
    [MODELS[0], pytest.param(*MODELS[1], marks=pytest.mark.slow), MODELS[2]],
)
def test_the_interval_holds_the_truth_in_93_to_97_of_100_cases(
    sampler: str, samples: int, weights: list[float], bias: float, x: tuple[float, ...]
) -> None:
    """All seeds at once: every repetition is a zone.

    Constant outputs are left out, where 3/n stands in on purpose.
    """
    repetitions, classifier = 2000, linear(weights, bias)
    low, high = linf_corners(torch.tensor([x]), torch.tensor(RADII)[:, None])
    exact = np.array(
        [exact_index(weights, bias, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    )
    points = points_of(sampler, len(x), samples, repetitions)
    inside = torch.cat(
        [BoxCloud.between(low, high, drawn).block(0, samples, ZONES).at(ZONES) for drawn in points]
    )
    zones = torch.arange(len(inside))
    tally = Tally(len(zones), 2, points[0].lanes, samples, torch.zeros((1, 2)), multi_label=False)
    tally.add(zones.tolist(), zones, 0, classifier.infer(inside.flatten(0, 1)))
    counts = tally.counts()
    held = np.abs(counts.index - np.tile(exact, repetitions)) <= half_widths(counts)
    share = held.reshape(repetitions, -1).mean(0)
    assert (share >= 0.93).all() and (share <= 0.97).all(), share


@pytest.mark.parametrize("seeds", [100, pytest.param(400, marks=pytest.mark.slow)])
def test_the_interval_of_a_sweep_that_stops_by_itself_holds_the_truth_in_95_of_100_cases(
    seeds: int,
) -> None:
    """With a look after every round; on a smooth model it holds more often than it promises."""
    weights, bias, x = MODELS[2]
    radii = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0)
    low, high = linf_corners(torch.tensor([x]), torch.tensor(radii)[:, None])
    exact = np.array(
        [exact_index(weights, bias, a, b) for a, b in zip(low.tolist(), high.tolist(), strict=True)]
    )
    classifier = linear(weights, bias)
    results = [
        scanned(classifier, x, radii=radii, samples=8192, seed=seed, target_half_width=0.02)
        for seed in range(seeds)
    ]
    held = np.mean([(r.ci_low <= exact) & (exact <= r.ci_high) for r in results], axis=0)
    assert (held >= 0.95).all(), held


#: A boundary that a sweep at r = 0.3 crosses within a twentieth of its width: most entropies are 0,
#: a few are not.
SHARP = ([200.0], -80.0, (0.3,))


@pytest.mark.parametrize("sampler", ["antithetic", "plain"])
@pytest.mark.parametrize(("weights", "bias", "x"), [MODELS[2], SHARP])
def test_the_interval_of_zones_that_stop_by_themselves_holds_the_truth_in_95_of_100_cases(
    sampler: str, weights: list[float], bias: float, x: tuple[float, ...]
) -> None:
    """Every repetition is an input of its own at r = 0.3 and has points of its own, so that all
    can run as one scan.
    """
    repetitions, cap, radius = 2000, 2048, 0.3
    low, high = (corner[0].tolist() for corner in linf_corners(torch.tensor([x]), radius))
    classifier, cloud = (
        linear(weights, bias),
        _OwnPoints(sampler, torch.tensor(low), torch.tensor(high), repetitions),
    )
    tally = Tally(repetitions, 2, cloud.lanes, cap, torch.eye(2)[:1], multi_label=False)
    for _ in Scan(classifier, cloud, tally, cap=cap, target=0.02):
        continue
    counts = tally.counts()
    ends = intervals(counts)
    exact = exact_index(weights, bias, low, high)
    held = (ends[0] <= exact) & (exact <= ends[1])
    assert held.mean() >= 0.95 and len(np.unique(counts.samples)) > 1, held.mean()


class _OwnPoints:
    """The same box again and again, each time with points of its own, which comes down to many
    seeds at once.
    """

    block_size = 512

    def __init__(
        self, sampler: str, low: torch.Tensor, high: torch.Tensor, repetitions: int
    ) -> None:
        self.lanes = 2 if sampler == "antithetic" else 1
        self._low, self._width, self._repetitions = low, high - low, repetitions

    def block(self, start: int, stop: int, zones: torch.Tensor) -> _OwnBlock:
        shape = (self._repetitions, (stop - start) // self.lanes, self.lanes, len(self._low))
        u = torch.rand(shape, generator=torch.Generator().manual_seed(start))
        u[:, :, 1:] = 1 - u[:, :, :1]
        return _OwnBlock(self._low + self._width * u.flatten(1, 2))


class _OwnBlock:
    def __init__(self, samples: torch.Tensor) -> None:
        self._samples = samples

    def prepare(self) -> Iterator[None]:
        return iter(())

    def at(
        self, zones: torch.Tensor, rows: slice = EVERY, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        return self._samples[zones, rows]


@pytest.mark.parametrize(
    ("sampler", "seeds"),
    [
        ("sobol", 100),
        *(pytest.param(each, 250, marks=pytest.mark.slow) for each in SAMPLERS),
    ],
)
def test_at_the_default_settings_the_interval_holds_the_truth_near_sharp_boundaries_too(
    sampler: str, seeds: int
) -> None:
    """Most entropies are 0 there and a few make up the mean.

    Early stop included, radii whose mean can be told at all.
    """
    weights, bias, x = [400.0, -280.0], -40.0, (0.3, 0.6)
    radii = (0.1, 0.3, 0.5, 1.0)
    truth = sweep(
        linear(weights, bias),
        x,
        radii=radii,
        samples=262_144,
        target_half_width=0,
        seed=999,
        sampler="sobol",
    ).index
    settings = {"radii": radii, "sampler": sampler}
    results = [scanned(linear(weights, bias), x, seed=seed, **settings) for seed in range(seeds)]
    held = np.mean([(r.ci_low <= truth) & (truth <= r.ci_high) for r in results], axis=0)
    assert (truth[1:] > 0.01).all() and (held >= 0.93).all(), (truth, held)


def scanned(classifier: Classifier, x: tuple[float, ...], **settings: object) -> ZonnscanResult:
    """A sweep without the searches for a change of class, which have no part in the interval."""
    data = from_arrays(np.asarray([x], dtype=np.float32))
    sampled = Sweep(classifier, data, ZonnscanParams.model_validate(settings))
    for _ in sampled.scan:
        continue
    return sampled.step().result


def counts_of(samples: int, mean: float, lanes: int = 1, spread: float = 0.0) -> Counts:
    """Counts of one zone whose samples have this mean and spread."""
    rows = samples // lanes
    square = np.array([rows * (mean**2 + spread**2)])
    nothing = np.zeros((1, 2))
    return Counts(
        np.array([samples]),
        np.full((1, lanes), mean * rows),
        square,
        np.array([0.0]),
        nothing,
        nothing,
        np.zeros(1),
    )


def test_a_mean_that_the_samples_cannot_tell_from_zero_has_an_interval_from_zero() -> None:
    low, high = intervals(counts_of(1024, 1e-7, SOBOL_REPLICATES))
    assert low == 0 and high == pytest.approx(np.log(40) / 1024)
    low, high = intervals(counts_of(1024, 0.02, SOBOL_REPLICATES))
    assert low == pytest.approx(0.02 - np.log(40) / 3072)
    assert high == pytest.approx(0.02 + 0.75 * np.log(40) / 1024)


def test_rare_values_widen_the_interval_most_to_the_side_where_they_stand() -> None:
    low, high = intervals(counts_of(1024, 0.98, SOBOL_REPLICATES))
    assert 0.98 - low == pytest.approx(0.75 * np.log(40) / 1024)
    assert high - 0.98 == pytest.approx(np.log(40) / 3072)


@pytest.mark.parametrize("share", [0.0004, 0.003, 0.01, 0.03, 0.2])
def test_the_interval_of_a_share_holds_it_where_that_interval_made_the_zone_stop(
    share: float,
) -> None:
    cap, runs = 1024, 4000
    ends = np.array(list(round_ends(cap)))
    draws = np.random.default_rng(1).random((runs, cap)) < share
    hits = draws.cumsum(1)[:, ends - 1].astype(float)
    going, held = np.ones(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for look, samples in enumerate(ends):
        counts = counts_of(samples, 0.0)
        low, high = shares(
            replace(counts, samples=np.full(runs, samples), crossed=hits[:, look]), cap, stops=True
        )
        stops = going & (samples >= FEWEST) & ((high - low <= 0.02) | (samples == cap))
        held[stops] = ((low <= share) & (share <= high))[stops]
        going &= ~stops
    assert not going.any() and held.mean() >= 0.95, held.mean()


@pytest.mark.parametrize(
    "sampler",
    ["antithetic", *(pytest.param(each, marks=pytest.mark.slow) for each in ("sobol", "plain"))],
)
def test_the_interval_of_a_share_holds_it_where_both_sides_of_the_input_are_alike(
    sampler: str,
) -> None:
    """Mirrored samples say the same there, so pairs are worth no more than one sample each."""

    def beyond(x: torch.Tensor) -> torch.Tensor:
        margin = ((x[:, 0] - 0.5).abs() - 0.45) * 1000
        return torch.stack([-margin, margin], 1)

    model = Classifier.from_callable(beyond, (1,), ("in", "out"))
    settings = {"radii": (0.5,), "sampler": sampler}
    results = [scanned(model, (0.5,), seed=seed, **settings) for seed in range(120)]
    held = np.mean([r.crossing_low[0] <= 0.1 <= r.crossing_high[0] for r in results])
    assert held >= 0.91, held


def test_a_radius_is_not_done_when_its_share_of_changes_is_not_known_closely() -> None:
    """A sharp boundary: the uncertainty is about 0 at once, the share of changes is not."""
    sharp = linear([4000.0], -1320.0)
    loose = sweep(sharp, [0.5], radii=(0.2,), target_share=0)
    closely = sweep(sharp, [0.5], radii=(0.2,))
    assert loose.samples[0] < closely.samples[0] == 1024
    surely = sweep(linear([40.0], 40.0), [0.5], radii=(0.2,))
    assert surely.samples[0] < 1024 and surely.crossing_high[0] <= 0.02


def test_a_zone_goes_on_until_its_samples_could_tell_the_target() -> None:
    result = sweep(Classifier.from_module(Constant([9.0, 0.0]), (2,)), [0.3, 0.3], radii=(0.1, 0.5))
    assert (result.samples == 448).all() and (result.ci_high - result.ci_low <= 0.01).all()
    settings = {"radii": (0.1,), "target_half_width": 0.1, "target_share": 0.1}
    assert (sweep(linear([0.5], 0.0), [0.3], **settings).samples == FEWEST).all()


def test_clopper_pearson_is_exact_at_both_ends_and_between() -> None:
    low, high = clopper_pearson_arrays(np.array([0, 5, 10, 0]), np.array([10, 10, 10, 0]))
    for i, hits in enumerate((0, 5, 10)):
        exact = stats.binomtest(hits, 10).proportion_ci(0.95, method="exact")
        assert (low[i], high[i]) == pytest.approx((exact.low, exact.high))
    assert (low[3], high[3]) == (0, 1)


def test_a_sweep_that_stops_early_is_a_beginning_of_one_that_does_not() -> None:
    """What the measured coverage rests on: it reads the stop off the rounds of a whole sweep."""
    model, inputs = subject("sharp_2d")
    whole = Sweep(model, inputs[1], ZonnscanParams(target_half_width=0, added=0))
    rounds = {key: value[None] for key, value in recorded(whole).items() if key != "n"}
    record = {"n": np.array(list(round_ends(1024))), **rounds}
    low, high, share_low, share_high, samples, index = stopped(record, 0, NOW)
    early = Sweep(model, inputs[1], ZonnscanParams(added=0))
    for _ in early.scan:
        continue
    result = early.step().result
    np.testing.assert_array_equal(result.samples[1:], samples)
    assert samples.min() < 1024
    for field, value in (
        ("index", index),
        ("ci_low", low),
        ("ci_high", high),
        ("crossing_low", share_low),
        ("crossing_high", share_high),
    ):
        np.testing.assert_array_equal(getattr(result, field)[1:], value, err_msg=field)
