"""What a map looks like: which class wins, how surely, and where the traps are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.views import class_order, map_views
from robgui.core.view import Bars, Curves, Images, Matrix, Table, difference
from tests.analyses.semantic.toy import (
    FLAT,
    GRID,
    open_toy,
    plateau,
    run,
    titled,
    toy_net,
    with_hole,
)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_the_map_is_coloured_by_the_class_on_top_and_its_confidence() -> None:
    result = run("semantic_map", toy_net(with_hole), target="pot", step=GRID)
    first = map_views(result, MapParams())[0]
    assert (
        isinstance(first, Matrix)
        and first.classes is not None
        and first.title == "Which class wins"
    )
    names = np.array(first.class_names)[first.classes]
    assert (names == np.array(result.labels)[result.tops[0, 0]]).all()
    best = np.maximum(result.scores[0, 0], 0.9 * (1 - result.scores[0, 0]))
    np.testing.assert_allclose(first.values, best, atol=1e-5)
    assert first.class_names[:2] == ("pot", "other"), (
        "the class that is named first, then its rival"
    )
    assert first.rect == (-6.0, -15.0, 360.0, 110.0) and first.x.title == "Azimuth (°)"


def test_a_trap_is_marked_where_it_is_in_a_ring_of_its_own() -> None:
    result = run(
        "semantic_map", toy_net(with_hole), target="pot", step={"azimuth": 6, "elevation": 6}
    )
    views = map_views(result, MapParams())
    ring, cross, usual = views[0].spots
    assert (ring.symbol, cross.symbol, cross.ink.role) == ("circle", "cross", "fails")
    assert (cross.x, cross.y) == tuple(result.traps.at[0]) == (
        ring.x,
        ring.y,
    ) and "seen as “other”" in cross.name
    assert usual.name == "usual pose"
    assert (usual.x, usual.y) == tuple(axis.default for axis in result.axes)
    table = titled(views, Table)["Traps, the worst first"]
    assert table.height == 1 and table.columns[3].cells == ("other",)
    images = titled(views, Images)["What the network sees at the traps"]
    assert images.pictures[0].chip == "other" and images.pictures[0].right is False


def test_rare_classes_share_the_last_colour() -> None:
    result = run("semantic_map", toy_net(FLAT), target="pot", step=GRID)
    labels = tuple(f"c{i}" for i in range(40))
    tops = np.arange(result.tops.size).reshape(result.tops.shape) % 40
    many = replace(result, labels=labels, tops=tops.astype(np.int32), target=np.array([39]))
    order, names = class_order(many)
    assert len(names) == 8 and names[0] == "c39" and names[-1] == "other classes" and order[39] == 0
    matrix = map_views(many, MapParams())[0]
    assert matrix.classes.max() == 7 and (matrix.classes[tops[0, 0] == 39] == 0).all()


def test_a_map_of_the_first_edition_shows_the_score_because_it_has_no_confidence() -> None:
    result = run("semantic_map", toy_net(FLAT), target="pot", step=GRID)
    old = replace(result, top_scores=np.zeros((0, 0, 0, 0)))
    first = map_views(old, MapParams())[0]
    assert first.classes is None and first.worst == "low"
    np.testing.assert_allclose(first.values, result.scores[0, 0])


def test_several_networks_have_a_map_each_in_the_same_colours_and_a_mean() -> None:
    nets = (toy_net(FLAT, "a"), toy_net(plateau([(200.0, 300.0), (0.0, 80.0)]), "b"))
    result = run("semantic_map", nets, target="pot", step=GRID)
    views = map_views(result, MapParams())
    maps = titled(views, Matrix)
    assert list(maps) == [
        "Which class wins: a",
        "Which class wins: b",
        "Score of the class, mean of all networks and shapes",
    ]
    assert maps["Which class wins: a"].class_names == maps["Which class wins: b"].class_names
    np.testing.assert_allclose(
        maps["Score of the class, mean of all networks and shapes"].values, result.score
    )
    assert titled(views, Table)["Networks"].columns[0].cells == ("a", "b")
    wins = titled(views, Bars)["How often each class wins"]
    assert [row.name for row in wins.series] == ["a", "b"]
    assert all(row.values.sum() == pytest.approx(1) for row in wins.series)


def test_several_shapes_have_the_mean_of_each_network_beside_the_mean_of_all() -> None:
    nets = (toy_net(FLAT, "a"), toy_net(with_hole, "b"))
    result = run("semantic_map", nets, scene=("toy", "second"), target="pot", step=GRID)
    maps = titled(map_views(result, MapParams()), Matrix)
    assert (
        "Which class wins: a, second" in maps
        and "Score of the class: b, mean of all shapes" in maps
    )


def test_one_parameter_is_a_curve_with_crosses_where_another_class_is_seen() -> None:
    result = run("semantic_map", toy_net(FLAT), axes="azimuth", target="pot", step=GRID)
    curves = map_views(result, MapParams())[0]
    assert isinstance(curves, Curves) and [level.at for level in curves.levels] == [0.2, 0.5]
    score, lost = curves.lines[:2]
    np.testing.assert_allclose(score.y, result.scores[0, 0, 0])
    assert (np.isfinite(lost.y) == (result.tops[0, 0, 0] != 1)).all() and not lost.line


def test_the_maps_of_two_networks_from_two_runs_can_be_subtracted() -> None:
    one, other = (
        run("semantic_map", toy_net(f), target="pot", step=GRID) for f in (FLAT, with_hole)
    )
    first, second = (
        titled(map_views(r, MapParams()), Matrix)["Score of the class"] for r in (one, other)
    )
    gap = difference(first, second)
    assert isinstance(gap, Matrix)
    np.testing.assert_allclose(gap.values, other.scores[0, 0] - one.scores[0, 0], atol=1e-6)
