"""The mode "largest box" as a whole: what it finds on known scenes, says and draws."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from robgui.analyses.semantic.regions.box.box_test import needed
from robgui.analyses.semantic.regions.box.largest_box import FIRST_RISK
from robgui.analyses.semantic.regions.lost import lost_in, shown_region
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.regions.views import regions_views
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from robgui.core.view import Curves, Film
from tests.analyses.semantic.toy import (
    EVERYWHERE,
    FLAT,
    PLATEAU,
    open_toy,
    overlap,
    run,
    says,
    steps,
    toy_net,
    with_hole,
)

BOX = {"mode": "box", "target": "pot"}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_it_is_the_default_and_the_papers_regions_are_a_preset() -> None:
    assert RegionsParams().mode == "box"
    paper = RegionsParams.parse({"preset": "paper"})
    assert (paper.mode, paper.samples, paper.span) == ("robust", 256, "whole")
    assert RegionsParams.parse({"preset": "paper", "mode": "adversarial"}).mode == "adversarial"


def test_the_plateau_is_found_from_every_start_with_a_share_that_passes() -> None:
    starts = ((140, 40), (120, 30), (160, 50), (125, 45))
    result = run("semantic_regions", toy_net(FLAT), starts=starts, **BOX)
    assert result.method == ("box",) * 4 and result.converged.all() and not result.warnings
    sides = zip(result.low, result.high, strict=True)
    assert min(overlap(a, b, PLATEAU[:2]) for a, b in sides) >= 0.85
    assert (result.inside_most <= 0.01).all()
    # Each box has the evidence that it would need alone, counted in the box on show.
    assert (result.inside_total >= needed(0.01, FIRST_RISK * 0.05)).all()
    said = says("semantic_regions", result, **BOX)
    best = lost_in(result, shown_region(result, RegionsParams()))
    assert "with 95 % confidence it is lost at 1.0 % or less" in said.sentence
    assert said.number is not None and said.number.text.endswith("of the range")
    assert f"({best.lost} of {best.total:,})" in said.because[0]


def test_a_class_that_is_never_lost_holds_over_the_whole_range() -> None:
    said = says(
        "semantic_regions", run("semantic_regions", toy_net(EVERYWHERE, "net"), **BOX), **BOX
    )
    assert said.status is Status.HOLDS and "a box that fills 100 % of" in said.sentence
    assert said.sentence.startswith("net keeps “pot” at all ")


def test_a_hole_inside_is_left_out_of_the_box() -> None:
    result = run("semantic_regions", toy_net(with_hole), starts=((120, 30),), **BOX)
    assert result.inside_most[0] <= 0.01 and result.volume[0] > 0.02
    hole = np.array([150.0, 40.0])
    assert not ((result.low[0] < hole) & (hole < result.high[0])).all()


def test_a_start_without_the_class_stays_and_is_told() -> None:
    result = run("semantic_regions", toy_net(FLAT), starts=((300, 0), (140, 40)), **BOX)
    assert result.grown.tolist() == [False, True] and len(result.warnings) == 1
    said = says("semantic_regions", result, **BOX)
    assert said.status is Status.AT_RISK and "1 start is unfit" in said.because[0]
    nowhere = run("semantic_regions", toy_net(FLAT), starts=((300, 0),), **BOX)
    assert says("semantic_regions", nowhere, **BOX).status is Status.FAILS


def test_where_no_box_passes_the_verdict_says_so() -> None:
    """Every other tenth of a degree loses the class."""

    def striped(u: torch.Tensor) -> torch.Tensor:
        return torch.where((u[:, 0] * 10 % 2 < 1) | (u[:, 0] == 140), 0.9, 0.1)

    result = run("semantic_regions", toy_net(striped, "net"), starts=((140, 40),), **BOX)
    said = says("semantic_regions", result, **BOX)
    assert said.status in (Status.FAILS, Status.UNKNOWN) and result.volume[0] < 0.01
    assert "fills 100 %" not in said.sentence


def test_every_step_claims_nothing_before_the_test_and_the_film_grows() -> None:
    made = steps("semantic_regions", toy_net(FLAT), starts=((140, 40),), **BOX)
    params = RegionsParams.parse({"scene": "toy", **BOX})
    known = find("semantic_regions")
    for step in made[:-1]:
        said = known.verdict(step.result, params)
        assert said.status is not Status.HOLDS and step.done <= step.total
        assert known.views(step.result, params)
    result = made[-1].result
    film, *others = regions_views(result, params)
    assert isinstance(film, Film) and len(film.frames) >= 5
    widths = [frame.boxes[0].width for frame in film.frames]
    assert widths[0] < 5 < max(widths)
    assert not [view for view in others if isinstance(view, Curves)], "a box has no loss"


def test_the_batch_size_and_the_pauses_change_nothing() -> None:
    whole, parts = (run("semantic_regions", toy_net(FLAT), batch=batch, **BOX) for batch in (0, 7))
    np.testing.assert_array_equal(whole.low, parts.low)
    assert whole.model_calls == parts.model_calls


def test_it_asks_for_fewer_poses_than_growing_did() -> None:
    box, grown = (
        run("semantic_regions", toy_net(with_hole), target="pot", mode=mode)
        for mode in ("box", "robust")
    )
    assert box.model_calls < 0.6 * grown.model_calls


@pytest.mark.parametrize("axes", [("azimuth",), ("azimuth", "elevation", "light")])
def test_one_and_three_parameters_have_boxes_too(axes: tuple[str, ...]) -> None:
    result = run("semantic_regions", toy_net(FLAT), axes=axes, **BOX)
    params = RegionsParams(mode="box")
    assert (result.inside_most[result.grown] <= 0.01).all() and regions_views(result, params)
