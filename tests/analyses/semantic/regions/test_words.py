"""What regions say: the share of poses lost inside, with its bound, decides."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.stats import beta

from robgui.analyses.semantic.regions.lost import Lost, lost_in, shown_region
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.core.verdict import Status
from tests.analyses.semantic.toy import (
    EVERYWHERE,
    FLAT,
    open_toy,
    plateau,
    run,
    says,
    steps,
    toy_net,
    with_hole,
)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_the_poses_lost_inside_are_counted_after_the_growing() -> None:
    result = run(
        "semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),), samples=4000
    )
    for row in range(3):
        low, high = result.low[row], result.high[row]
        grid = np.stack(
            np.meshgrid(*(np.linspace(a, b, 200) for a, b in zip(low, high, strict=True))), -1
        ).reshape(-1, 2)
        # the rival has 0.9 (1 - f)
        lost = float((with_hole(torch.tensor(grid)) * 1.9 < 0.9).double().mean())
        inside = lost_in(result, row)
        assert (
            inside.total == 4000 and inside.share == pytest.approx(lost, abs=0.02) and lost > 0.02
        )


@pytest.mark.parametrize(("lost", "total"), [(0, 299), (21, 256), (255, 256), (256, 256)])
def test_the_upper_end_is_that_of_clopper_and_pearson_to_one_side(lost: int, total: int) -> None:
    expected = 1.0 if lost == total else float(beta.ppf(0.95, lost + 1, total - lost))
    assert Lost(lost, total).most == pytest.approx(expected, rel=1e-6)


def test_299_poses_without_a_failure_show_one_per_cent_and_256_do_not() -> None:
    assert Lost(0, 299).most <= 0.01 < Lost(0, 298).most
    assert Lost(0, 256).most > 0.01


def test_a_region_with_failures_inside_fails_and_states_their_share_with_its_bound() -> None:
    result = run("semantic_regions", toy_net(with_hole, "net"), target="pot", starts=((120, 30),))
    said = says("semantic_regions", result)
    best = lost_in(result, shown_region(result, RegionsParams()))
    assert best.lost > 3 and said.status is Status.FAILS
    assert (
        said.sentence.startswith("net loses “pot” at ")
        and "of the poses in its largest region" in said.sentence
    )
    assert said.because[0] == f"Poses inside that lose the class: {best.words}; allowed: 1 %."
    assert f"({best.lost} of 256), at most " in said.because[0]
    assert said.number is not None and (said.number.value, said.number.text) == (0.0, "none")
    assert "3 of 3 regions contain poses that lose the class" in said.because[1]


def test_few_failures_inside_are_a_risk_and_never_hold() -> None:
    result = run("semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),))
    assert says("semantic_regions", result, most_lost=0.5, enough=0.0).status is Status.AT_RISK


def test_a_large_region_without_a_failure_holds_when_the_samples_can_show_it() -> None:
    result = run(
        "semantic_regions",
        toy_net(EVERYWHERE, "net"),
        target="pot",
        starts=((140, 40),),
        samples=300,
    )
    said = says("semantic_regions", result)
    region = "a region that fills 100 % of azimuth × elevation"
    assert (
        said.status is Status.HOLDS
        and said.sentence == f"net keeps “pot” at all 300 poses drawn from {region}."
    )
    assert said.number is not None and (said.number.value, said.number.text) == (
        1.0,
        "100 % of the range",
    )
    assert not any("usual pose" in line for line in said.because), "it contains it"
    assert said.because[0].startswith(
        "Poses inside that lose the class: 0 % (0 of 300), at most 1.0 % with 95 % confidence"
    )
    few = run("semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),))
    open_ = says("semantic_regions", few)
    assert open_.status is Status.UNKNOWN and "draw more samples" in open_.because[0]
    assert says("semantic_regions", few, most_lost=0.02).status is Status.HOLDS


def test_a_small_region_is_no_success_even_without_a_failure_inside() -> None:
    sharp = plateau([(138.0, 142.0), (38.0, 42.0)], soft=0.02)
    result = run(
        "semantic_regions",
        toy_net(sharp),
        target="pot",
        starts=((140, 40),),
        methods="naive",
        samples=300,
        eta=0.002,
    )
    region = shown_region(result, RegionsParams())
    said = says("semantic_regions", result)
    assert (
        not lost_in(result, region).lost
        and result.volume[region] < 0.01
        and said.status is Status.AT_RISK
    )
    assert "fills only " in said.sentence and any(
        line.startswith("Just outside it becomes “other”") for line in said.because
    )
    usual = [axis.default for axis in result.axes]
    inside = ((result.low[region] <= usual) & (usual <= result.high[region])).all()
    assert inside != ("No region contains the usual pose." in said.because)


def test_a_clean_region_beside_others_with_failures_is_at_risk_and_is_the_one_spoken_of() -> None:
    both = lambda u: torch.maximum(with_hole(u), plateau([(240.0, 350.0), (0.0, 80.0)])(u))  # noqa: E731
    settings = {
        "target": "pot",
        "starts": ((130, 40), (290, 40)),
        "methods": "oir_b",
        "samples": 300,
    }
    result = run("semantic_regions", toy_net(both), iterations=12, **settings)
    said = says("semantic_regions", result, most_lost=0.5)
    assert lost_in(result, 0).lost and not lost_in(result, 1).lost
    assert shown_region(result, RegionsParams()) == 1 and said.status is Status.AT_RISK
    assert (
        said.number.value == pytest.approx(result.volume[1])
        and "but loses it inside others" in said.sentence
    )


def test_what_is_inside_is_unknown_until_it_has_been_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    made = steps(
        "semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), iterations=30
    )
    growing = next(step.result for step in made if step.result.trace.shape[1] > 20)
    said = says("semantic_regions", growing)
    assert said.status is Status.UNKNOWN and "has not been looked into yet" in said.sentence
    assert "what is inside is not counted" in said.scope and math.isnan(said.number.value)


def test_starts_that_do_not_see_the_class_are_a_failure() -> None:
    none = run("semantic_regions", toy_net(FLAT, "net"), target="pot", starts=((300, 0),))
    said = says("semantic_regions", none)
    assert said.status is Status.FAILS and said.sentence.startswith(
        "net does not see “pot” at the start, so no region grew."
    )
    assert said.because[0].startswith("1 start is unfit: Start 1")
    some = run(
        "semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), samples=300
    )
    assert says("semantic_regions", some).status is Status.HOLDS


def test_a_region_that_loses_the_class_is_a_failure_and_its_size_is_bad() -> None:
    settings = {"target": "pot", "mode": "adversarial", "starts": ((140, 40),)}
    result = run("semantic_regions", toy_net(lambda u: 1 - FLAT(u), "net"), **settings)
    said = says("semantic_regions", result, mode="adversarial")
    assert said.status is Status.FAILS and said.sentence.startswith("net loses “pot” at 9")
    assert said.number.better == "low" and said.number.value == pytest.approx(
        80 * 40 / 36000, rel=0.15
    )


def test_regions_that_had_not_ended_were_still_growing_when_stopped() -> None:
    result = run(
        "semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), iterations=3
    )
    fates = says("semantic_regions", result).because[-2]
    assert (
        fates
        == "3 regions: 0 never grew, 0 reached the end of the range, 3 still growing when stopped."
    )
