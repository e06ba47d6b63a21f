"""Maps that follow the border of the class: nearly the same map for a fraction of the cells."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.semantic.maps.grid import along_borders
from robgui.analyses.semantic.maps.survival import survival
from robgui.analyses.semantic.maps.views import map_details, score_map, winner_map
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from robgui.core.view import Bars
from robgui.core.view.colours import GUESSED, class_pixels
from tests.analyses.semantic.toy import FLAT, open_toy, run, says, toy_net, with_hole

FINE = {"step": {"azimuth": 3.0, "elevation": 1.0}, "target": "pot"}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_the_border_is_found_with_a_quarter_of_the_cells_as_a_full_map_has_it() -> None:
    whole = run("semantic_map", toy_net(FLAT), **FINE)
    followed = run("semantic_map", toy_net(FLAT), cells="borders", **FINE)
    full, seen = (result.tops[0, 0] == result.target[0] for result in (whole, followed))
    assert (full & seen).sum() / (full | seen).sum() >= 0.99
    assert followed.model_calls <= whole.model_calls / 4
    assert followed.computed.mean() <= 0.25


def test_its_share_is_of_all_poses_and_not_of_those_along_the_border() -> None:
    whole = run("semantic_map", toy_net(FLAT), **FINE)
    followed = run("semantic_map", toy_net(FLAT), cells="borders", **FINE)
    exact = says("semantic_map", whole, **FINE).number.value
    assert says("semantic_map", followed, cells="borders", **FINE).number.value == pytest.approx(
        exact, abs=0.005
    )


def test_a_map_of_the_border_never_claims_that_every_pose_holds() -> None:
    everywhere = {**FINE, "ranges": {"azimuth": (130.0, 150.0), "elevation": (35.0, 45.0)}}
    settings = {**everywhere, "step": {"azimuth": 0.5, "elevation": 0.5}}
    result = run("semantic_map", toy_net(FLAT), cells="borders", **settings)
    said = says("semantic_map", result, cells="borders", **settings)
    assert said.status is Status.UNKNOWN and "computed, the rest shows coarser ones" in said.scope


def test_cells_beside_another_class_are_next_and_known_ones_are_not() -> None:
    tops = np.zeros((6, 6), dtype=int)
    tops[:, 3:] = 1
    known = np.zeros((6, 6), dtype=bool)
    assert {tuple(cell) for cell in along_borders(tops, known, 1).cells} == {
        (row, column) for row in range(6) for column in (2, 3)
    }
    known[:, 2] = True
    assert {cell[1] for cell in along_borders(tops, known, 1).cells.tolist()} == {3}


def test_following_a_border_is_not_split_into_parts() -> None:
    known = find("semantic_map")
    assert len(known.shards.split(known.params.parse({"cells": "borders"}), 1, 8)) == 1


def test_cells_that_were_not_computed_are_marked_in_the_picture_and_named_below_it() -> None:
    followed = run("semantic_map", toy_net(FLAT), cells="borders", **FINE)
    drawn = winner_map(followed, 0, 0)
    np.testing.assert_array_equal(drawn.guessed, ~followed.computed[0, 0])
    pixels = class_pixels(drawn, dark=False)
    assert set(pixels[..., 3][followed.computed[0, 0]]) == {255}
    assert set(pixels[..., 3][~followed.computed[0, 0]]) == {GUESSED}
    for view in (drawn, score_map(followed, 0, 0)):
        assert "were not computed and show a coarser one" in view.note
        np.testing.assert_array_equal(view.guessed, ~followed.computed[0, 0])
    whole = run("semantic_map", toy_net(FLAT), **FINE)
    assert score_map(whole, -1, -1).guessed is None
    assert winner_map(whole, 0, 0).guessed is None and "coarser" not in score_map(whole, 0, 0).note


def test_shares_and_means_of_a_map_of_the_border_are_those_of_the_whole_range() -> None:
    whole = run("semantic_map", toy_net(FLAT), **FINE)
    followed = run("semantic_map", toy_net(FLAT), cells="borders", **FINE)
    exact, found = (survival(result, 0).mean for result in (whole, followed))
    assert found == pytest.approx(exact, abs=0.02)
    bars = [
        next(view for view in map_details(result) if isinstance(view, Bars))
        for result in (whole, followed)
    ]
    shares = [dict(zip(bar.names, bar.series[0].values, strict=True)) for bar in bars]
    assert shares[1] == pytest.approx(shares[0], abs=0.01)


def test_a_trap_is_named_only_where_a_cell_was_computed() -> None:
    followed = run("semantic_map", toy_net(with_hole), cells="borders", **FINE)
    for at in followed.traps.at:
        column, row = np.abs(followed.x - at[0]).argmin(), np.abs(followed.y - at[1]).argmin()
        assert followed.computed[0, 0, row, column]
    assert len(followed.traps.at)
