"""Maps that follow the border of the class: nearly the same map for a fraction of the cells."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.semantic.maps.grid import along_borders
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from tests.analyses.semantic.toy import FLAT, open_toy, run, says, toy_net

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
