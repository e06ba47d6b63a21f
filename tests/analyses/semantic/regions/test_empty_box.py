"""Boxes without known lost poses, and one test for a ladder of boxes."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.semantic.regions.box.box_test import Ladder, needed
from robgui.analyses.semantic.regions.box.company import FEWEST, Company
from robgui.analyses.semantic.regions.box.empty_box import APART, EmptyBox
from robgui.analyses.semantic.regions.box.rung import Rung, drawn_in_all
from robgui.analyses.semantic.regions.domain import Domain

MOST_LOST, RISK = 0.01, 0.05


def domain(n: int, wraps: bool = False) -> Domain:
    return Domain.of(np.zeros(n), np.ones(n), [wraps] * n, shares=True, clip=True)


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_box_holds_no_lost_pose_and_cannot_be_widened(n: int, wraps: bool) -> None:
    random = np.random.default_rng(n)
    seed, lost = random.random(n), random.random((60, n))
    lost = lost[(np.abs(lost - seed) > 4 * APART).all(1)]
    box = EmptyBox(seed, domain(n, wraps)).largest(lost, random)
    low, high = seed - box.down, seed + box.up
    around = [lost + shift for shift in np.ndindex(*[3] * n)] if wraps else [lost]
    images = np.concatenate(around) - (1 if wraps else 0)
    assert not ((images >= low) & (images <= high)).all(1).any()
    assert (box.sides <= 1 + 1e-9).all() and (box.down >= 0).all() and (box.up >= 0).all()
    wider = images[((images > low - 2 * APART) & (images < high + 2 * APART)).all(1)]
    ends = (low <= APART) & (high >= 1 - APART)
    assert len(wider) or ends.all()


def test_a_circle_is_opened_at_the_lost_pose() -> None:
    empty = EmptyBox(np.array([0.2]), domain(1, wraps=True))
    box = empty.largest(np.array([[0.3]]), np.random.default_rng(0))
    assert box.sides[0] == pytest.approx(1 - 2 * APART) and box.up[0] == pytest.approx(0.1 - APART)


def test_a_box_is_only_left_for_one_that_is_far_larger() -> None:
    empty, random = EmptyBox(np.array([0.5, 0.5]), domain(2)), np.random.default_rng(0)
    first = empty.largest(np.array([[0.6, 0.5]]), random)
    again = empty.largest(np.array([[0.6, 0.5], [0.45, 0.1]]), random, first)
    assert again.volume <= first.volume
    assert again.volume >= 0.5 * empty.largest(np.array([[0.6, 0.5], [0.45, 0.1]]), random).volume


def test_a_ladder_claims_a_box_that_loses_too_much_no_more_often_than_its_risk() -> None:
    """Poses are lost in a rim that all but the smallest boxes reach into."""
    rungs = [Rung(np.array([0.0]), np.array([high])) for high in (1.0, 0.98, 0.96, 0.94)]
    claims = 0
    for seed in range(300):
        random = np.random.default_rng(seed)
        ladder = Ladder(rungs, MOST_LOST, RISK)
        while not ladder.won and not ladder.given_up:
            points = rungs[ladder.drawn_in].high * random.random((32, 1))
            ladder.add(points, (points[:, 0] > 0.9) & (random.random(32) < 0.25), ladder.drawn_in)
        # from the second rung down: 0.08, 0.06, 0.04 of the length, a quarter of it lost
        claims += ladder.won and 0.25 * (1 - 0.9 / rungs[ladder.top].high[0]) > MOST_LOST
    assert claims <= RISK * 300, claims


def test_a_clean_ladder_claims_its_largest_box() -> None:
    rungs = [Rung(np.zeros(2), np.full(2, side)) for side in (1.0, 0.95, 0.9)]
    ladder, random = Ladder(rungs, MOST_LOST, RISK), np.random.default_rng(0)
    while not ladder.won:
        points = rungs[ladder.drawn_in].high * random.random((32, 2))
        ladder.add(points, np.zeros(32, dtype=bool), ladder.drawn_in)
    assert ladder.top == 0 and ladder.reached and ladder.total[0] < 600


def claimed_of(lows: tuple[float, ...], share: float, seed: int) -> tuple[list[Ladder], int]:
    """Ladders of one box of a third of the range each, tested by one stream in which a pose is lost
    by chance; those that won, and the poses drawn.
    """
    random, company, drawn = np.random.default_rng(seed), Company(len(lows)), 0
    for low in lows:
        rung = Rung(np.array([low]), np.array([low + 1 / 3]), np.array([1.0]))
        Ladder([rung], MOST_LOST, RISK, company)
    ladders, won = company.ladders, []
    while any(not ladder.over for ladder in ladders):
        for ladder in ladders:
            if company.asks(ladder):
                points = company.draw(random)
                gone = random.random(len(points)) < share
                company.add(points, (1.0 - gone, gone.astype(np.int64)), gone)
                drawn += len(points)
            if not ladder.over and (ladder.won or ladder.given_up):
                won += [ladder] * ladder.won
                ladder.over = True
    return won, drawn


def test_boxes_on_each_other_are_tested_by_the_same_poses_and_boxes_apart_by_their_own() -> None:
    alone = claimed_of((0.2,), 0.0, 0)[1]
    same = claimed_of((0.2,) * 4, 0.0, 0)
    apart = claimed_of((0.0, 0.4), 0.0, 0)
    # Counted around the seam, both are the same box.
    around = claimed_of((-0.2, 0.8), 0.0, 0)
    assert (len(same[0]), len(apart[0]), len(around[0])) == (4, 2, 2)
    assert alone == same[1] == around[1] == needed(MOST_LOST, RISK)
    assert 2 * alone <= apart[1] <= 2 * alone + FEWEST


@pytest.mark.parametrize(
    "lows",
    [
        pytest.param((0.2,) * 4, marks=pytest.mark.slow),
        (0.0, 0.1, 0.2, 0.3),
        pytest.param((0.0, 0.05, 0.6, 0.9), marks=pytest.mark.slow),
    ],
)
def test_boxes_tested_by_the_same_poses_are_claimed_falsely_no_more_often_than_the_risk(
    lows: tuple[float, ...],
) -> None:
    false = sum(bool(claimed_of(lows, 0.0105, seed)[0]) for seed in range(200))
    assert 0 < false <= RISK * 200, false


def test_poses_for_several_boxes_are_even_in_their_union() -> None:
    boxes = [
        Rung(np.zeros(2), np.array([0.6, 1.0])),
        Rung(np.array([0.4, 0.0]), np.ones(2)),
        Rung(np.array([0.5, 0.5]), np.array([0.6, 0.6])),
    ]
    points, held = drawn_in_all(boxes, 40_000, np.random.default_rng(0))
    assert (held == np.stack([box.holds(points) for box in boxes])).all()
    counts = np.histogramdd(points, bins=10, range=[(0, 1)] * 2)[0]
    # 100 equal cells: chi-square of 99 degrees of freedom.
    assert ((counts - 400) ** 2 / 400).sum() < 99 + 4 * np.sqrt(2 * 99)


def test_a_lost_pose_drawn_for_another_box_is_told_by_all_that_hold_it() -> None:
    company = Company(2)
    first, second = (
        Ladder([Rung(np.zeros(1), np.ones(1))], MOST_LOST, RISK, company) for _ in range(2)
    )
    second.over = True
    points = company.draw(np.random.default_rng(0))
    gone = np.arange(len(points)) < 2
    company.add(points, (1.0 - gone, gone.astype(np.int64)), gone)
    assert len(first.drawn.points) == len(points) and int(first.lost[0]) == 2
    np.testing.assert_array_equal(second.drawn.points, points[:2])
    assert int(second.total[0]) == 0, "it has stopped"


def company_of(shares: tuple[float, ...], seed: int) -> list[Ladder]:
    """Ladders of one box each, tested together where a share of the poses is lost by chance."""
    random, company = np.random.default_rng(seed), Company(len(shares))
    box = Rung(np.zeros(1), np.ones(1))
    ladders = [Ladder([box], MOST_LOST, RISK, company) for _ in shares]
    won = []
    while any(not ladder.over for ladder in ladders):
        for ladder, share in zip(ladders, shares, strict=True):
            if not (ladder.over or ladder.reached or ladder.given_up):
                ladder.add(random.random((8, 1)), random.random(8) < share, 0)
            if not ladder.over and (ladder.won or ladder.given_up):
                won += [ladder] * ladder.won
                ladder.over = True
    return won


@pytest.mark.parametrize(
    "shares",
    [
        pytest.param((0.0105,) * 4, marks=pytest.mark.slow),
        pytest.param((0.0105, 0.0, 0.0, 0.0), marks=pytest.mark.slow),
        (0.0105, 0.0105, 0.0, 0.3),
    ],
)
def test_ladders_that_share_a_risk_claim_any_falsely_no_more_often_than_that(
    shares: tuple[float, ...],
) -> None:
    good = sum(share < MOST_LOST for share in shares)
    false = sum(len(company_of(shares, seed)) > good for seed in range(200))
    assert false <= RISK * 200, false


def test_ladders_that_all_pass_need_no_more_than_one_alone() -> None:
    alone, together = company_of((0.0,), 0), company_of((0.0,) * 4, 0)
    assert len(together) == 4
    assert {int(one.total[0]) for one in together} == {int(alone[0].total[0])} == {336}


def test_a_ladder_that_fails_makes_the_others_need_twice_the_evidence() -> None:
    others = company_of((0.0, 0.5, 0.0), 0)
    assert len(others) == 2
    # ln 2 more at ln(0.999 / 0.99) for each pose
    assert {int(one.total[0]) for one in others} == {408}
