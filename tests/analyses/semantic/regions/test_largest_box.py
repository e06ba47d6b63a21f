"""The largest box against scenes whose share of lost poses is known."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from robgui.analyses.semantic.regions.box.box_test import at_most, evidence, needed
from robgui.analyses.semantic.regions.box.largest_box import LargestBox
from tests.analyses.semantic.regions.growing import (
    MOST_LOST,
    RISK,
    Loses,
    corner,
    disc,
    found,
    found_together,
)

SEEDS = 100


def disc_share(box: LargestBox) -> float:
    """Lost share of a box, by exact chords of the disc at many heights."""
    heights = np.linspace(box.low[1], box.high[1], 4001)
    half = np.sqrt(np.maximum(0.3**2 - (heights - 0.5) ** 2, 0))
    chord = np.minimum(box.high[0], 0.5 + half) - np.maximum(box.low[0], 0.5 - half)
    return float(1 - np.maximum(chord, 0).mean() / (box.high[0] - box.low[0]))


def corner_share(box: LargestBox) -> float:
    """Lost share of a box: what lies beyond x + y = 1, a triangle cut twice at most."""

    def beyond(x: float, y: float) -> float:
        return max(0.0, x + y - 1) ** 2 / 2

    (a, c), (b, d) = box.low, box.high
    area = beyond(b, d) - beyond(a, d) - beyond(b, c) + beyond(a, c)
    return float(area / ((b - a) * (d - c)))


@pytest.mark.parametrize("runs", [20, pytest.param(SEEDS, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("loses", "share", "start", "least"),
    [
        pytest.param(disc, disc_share, (0.5, 0.5), 0.1, id="disc"),
        pytest.param(
            *(corner, corner_share, (0.3, 0.4), 0.15), id="corner", marks=pytest.mark.slow
        ),
    ],
)
def test_the_claim_about_the_inside_is_false_in_at_most_five_per_cent_of_the_runs(
    loses: Loses,
    share: Callable[[LargestBox], float],
    start: tuple[float, ...],
    least: float,
    runs: int,
) -> None:
    boxes = [found(loses, start, seed) for seed in range(runs)]
    claimed = [box for box, _ in boxes if box.most <= MOST_LOST]
    false = sum(share(box) > MOST_LOST for box in claimed)
    volumes = [float((box.high - box.low).prod()) for box in claimed]
    assert len(claimed) >= 0.95 * runs and false <= 0.05 * runs, (len(claimed), false)
    assert np.median(volumes) >= least, np.median(volumes)
    assert np.mean([calls for _, calls in boxes]) <= 900


@pytest.mark.parametrize("runs", [8, pytest.param(30, marks=pytest.mark.slow)])
def test_four_boxes_of_one_run_are_all_true_in_ninety_five_per_cent_of_the_runs(runs: int) -> None:
    starts, false = ((0.5, 0.5), (0.4, 0.6), (0.55, 0.4), (0.6, 0.6)), 0
    for seed in range(runs):
        boxes, calls = found_together(disc, starts, seed)
        claimed = [box for box in boxes if box.most <= MOST_LOST]
        false += any(disc_share(box) > MOST_LOST for box in claimed)
        assert len(claimed) >= 3 and calls < 6000
    assert false <= 0.05 * runs + 1, false


def test_where_every_box_loses_too_much_hardly_any_claim_is_made() -> None:
    """Poses are lost by chance a little more often than allowed, wherever the box is."""
    claims = 0
    for seed in range(SEEDS):
        chance = np.random.default_rng(10_000 + seed)
        box, _ = found(lambda points, c=chance: c.random(len(points)) < 0.0105, (0.5, 0.5), seed)
        claims += box.most <= MOST_LOST
    assert claims <= 0.05 * SEEDS, claims


@pytest.mark.parametrize("wraps", [False, True])
def test_a_class_that_is_never_lost_fills_the_whole_range(wraps: bool) -> None:
    box, calls = found(lambda points: np.zeros(len(points), bool), (0.2, 0.9, 0.5), 0, wraps)
    assert (box.high - box.low).prod() == pytest.approx(1) and box.most <= MOST_LOST
    assert calls < 2000


def test_a_box_goes_round_where_the_range_does() -> None:
    """The class is lost from 0.4 to 0.6 only; the start lies near the seam."""
    box, _ = found(lambda points: (points[:, 0] > 0.4) & (points[:, 0] < 0.6), (0.95,), 1, True)
    assert box.high[0] - box.low[0] == pytest.approx(0.8, abs=0.03) and box.high[0] > 1


def test_a_thin_hole_in_the_box_is_cut_away() -> None:
    def slit(points: np.ndarray) -> np.ndarray:
        return np.abs(points[:, 0] - 0.7) < 0.02

    box, _ = found(slit, (0.4, 0.5), 3)
    assert box.most <= MOST_LOST and box.high[0] < 0.69 and (box.high - box.low).prod() > 0.6


def test_the_test_of_a_share_may_be_looked_at_after_every_pose() -> None:
    draws = np.random.default_rng(0).random((2000, 3000)) < MOST_LOST
    lost = draws.cumsum(1)
    totals = np.arange(1, 3001)
    kept = np.log((1 - MOST_LOST / 10) / (1 - MOST_LOST))
    ever = (-lost * np.log(10) + (totals - lost) * kept >= -np.log(RISK)).any(1)
    assert ever.mean() <= RISK + 3 * np.sqrt(RISK * (1 - RISK) / 2000)
    assert evidence(3, 100, MOST_LOST) == pytest.approx(-3 * np.log(10) + 97 * kept)


def test_the_bound_is_the_smallest_share_that_is_ruled_out() -> None:
    clean = needed(MOST_LOST, RISK)
    assert clean == 332 and at_most(0, clean, RISK) == pytest.approx(MOST_LOST, rel=3e-3)
    assert at_most(1, clean, RISK) > 1.1 * MOST_LOST
    assert at_most(1, clean + 255, RISK) == pytest.approx(MOST_LOST, rel=3e-3)
    assert at_most(5, 5, RISK) == pytest.approx(1)
