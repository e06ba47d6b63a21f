"""What maps, regions and the safe share look like: complete at every Step, the class drawn."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from robgui.analyses.semantic.maps.views import class_order, map_views
from robgui.analyses.semantic.params import METHOD_WORDS, MapParams, RegionsParams, SrvrParams
from robgui.analyses.semantic.regions.lost import lost_in
from robgui.analyses.semantic.regions.views import MOST_FRAMES, fate, regions_views
from robgui.analyses.semantic.regions.volume_ratio_views import srvr_views
from robgui.core.codec import decode, encode
from robgui.core.execution.registry import find
from robgui.core.view import Bars, Boxes, Curves, Film, Images, Matrix, Table, Views, difference
from tests.analyses.semantic.toy import FLAT, open_toy, plateau, run, steps, toy_net, with_hole

GRID = {"azimuth": 12, "elevation": 10}


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def titled(views, kind):
    return {view.title: view for view in views if isinstance(view, kind)}


@pytest.mark.parametrize(("name", "most"), [("semantic_map", 2), ("semantic_regions", 3), ("srvr", 3)])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_step_has_its_views_and_they_survive_the_codec(name, most, count, monkeypatch: pytest.MonkeyPatch) -> None:
    axes = ("azimuth", "elevation", "light")[: min(count, most)]
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    known = find(name)
    extra = {"step": GRID} if name == "semantic_map" else {"iterations": 3}
    for step in steps(name, toy_net(with_hole), axes=axes, **extra):
        views = tuple(known.views(step.result, known.params()))
        again = decode(Views, *encode(Views(views)))
        assert [type(view) for view in again.views] == [type(view) for view in views] and views[0].title


# --- maps -------------------------------------------------------------------------------------


def test_the_map_is_coloured_by_the_class_on_top_and_its_confidence() -> None:
    result = run("semantic_map", toy_net(with_hole), target="pot", step=GRID)
    first = map_views(result, MapParams())[0]
    assert isinstance(first, Matrix) and first.classes is not None and first.title == "Which class wins"
    names = np.array(first.class_names)[first.classes]
    assert (names == np.array(result.labels)[result.tops[0, 0]]).all()
    best = np.maximum(result.scores[0, 0], 0.9 * (1 - result.scores[0, 0]))
    np.testing.assert_allclose(first.values, best, atol=1e-5)
    assert first.class_names[:2] == ("pot", "other"), "the class that is named first, then its rival"
    assert first.rect == (-6.0, -15.0, 360.0, 110.0) and first.x.title == "Azimuth (°)"


def test_a_trap_is_marked_where_it_is_in_a_ring_of_its_own() -> None:
    result = run("semantic_map", toy_net(with_hole), target="pot", step={"azimuth": 6, "elevation": 6})
    views = map_views(result, MapParams())
    ring, cross = views[0].spots
    assert (ring.symbol, cross.symbol, cross.ink.role) == ("circle", "cross", "fails")
    assert (cross.x, cross.y) == tuple(result.traps.at[0]) == (
        ring.x,
        ring.y,
    ) and "seen as “other”" in cross.name
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
    np.testing.assert_allclose(maps["Score of the class, mean of all networks and shapes"].values, result.score)
    assert titled(views, Table)["Networks"].columns[0].cells == ("a", "b")
    wins = titled(views, Bars)["How often each class wins"]
    assert [row.name for row in wins.series] == ["a", "b"]
    assert all(row.values.sum() == pytest.approx(1) for row in wins.series)


def test_several_shapes_have_the_mean_of_each_network_beside_the_mean_of_all() -> None:
    nets = (toy_net(FLAT, "a"), toy_net(with_hole, "b"))
    result = run("semantic_map", nets, scene=("toy", "second"), target="pot", step=GRID)
    maps = titled(map_views(result, MapParams()), Matrix)
    assert "Which class wins: a, second" in maps and "Score of the class: b, mean of all shapes" in maps


def test_one_parameter_is_a_curve_with_crosses_where_another_class_is_seen() -> None:
    result = run("semantic_map", toy_net(FLAT), axes="azimuth", target="pot", step=GRID)
    curves = map_views(result, MapParams())[0]
    assert isinstance(curves, Curves) and [level.at for level in curves.levels] == [0.2, 0.5]
    score, lost = curves.lines[:2]
    np.testing.assert_allclose(score.y, result.scores[0, 0, 0])
    assert (np.isfinite(lost.y) == (result.tops[0, 0, 0] != 1)).all() and not lost.line


def test_the_maps_of_two_networks_from_two_runs_can_be_subtracted() -> None:
    one, other = (run("semantic_map", toy_net(f), target="pot", step=GRID) for f in (FLAT, with_hole))
    first, second = (titled(map_views(r, MapParams()), Matrix)["Score of the class"] for r in (one, other))
    gap = difference(first, second)
    assert isinstance(gap, Matrix)
    np.testing.assert_allclose(gap.values, other.scores[0, 0] - one.scores[0, 0], atol=1e-6)


# --- regions ----------------------------------------------------------------------------------


def test_the_growing_is_a_film_of_boxes_over_the_map_with_its_steps() -> None:
    result = run("semantic_regions", toy_net(FLAT), target="pot", starts=((140, 40), (120, 30)))
    film = regions_views(result, RegionsParams())[0]
    assert isinstance(film, Film) and 10 < len(film.frames) <= MOST_FRAMES + 1
    steps_done = result.trace.shape[1] - 1
    assert film.steps[0] == f"step 0 of {steps_done}" and film.steps[-1] == f"step {steps_done} of {steps_done}"
    first, last = film.frames[0], film.frames[-1]
    assert isinstance(last, Boxes) and last.behind is not None and last.behind is first.behind
    np.testing.assert_allclose(last.behind.values, result.map_score)
    ends = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in last.boxes]
    np.testing.assert_allclose(ends, np.hstack([result.low, result.high]), atol=1e-4)
    assert max(box.width for box in first.boxes) < 5 < min(box.width for box in last.boxes)
    assert {box.name for box in last.boxes} == set(METHOD_WORDS.values())
    assert [(spot.x, spot.y) for spot in last.spots] == [(140, 40), (120, 30)]


def test_a_region_across_the_seam_is_two_boxes() -> None:
    around = lambda u: 0.02 + 0.98 * torch.sigmoid((30 - ((u[:, 0] + 180) % 360 - 180).abs()) / 2)  # noqa: E731
    result = run("semantic_regions", toy_net(around), target="pot", starts=((0, 40),), methods="naive")
    last = regions_views(result, RegionsParams())[0].frames[-1]
    assert len(last.boxes) == 2 and {box.x for box in last.boxes} >= {0.0}
    assert max(box.x + box.width for box in last.boxes) == pytest.approx(360)


@pytest.mark.parametrize("axes", [("azimuth",), ("azimuth", "elevation", "light")])
def test_one_or_many_parameters_are_bars_in_lanes(axes: tuple[str, ...]) -> None:
    starts = ((140.0, 40.0, 0.5)[: len(axes)],)
    result = run("semantic_regions", toy_net(FLAT), axes=axes, target="pot", starts=starts)
    views = regions_views(result, RegionsParams())
    last = views[0].frames[-1]
    if len(axes) == 1:
        assert len(last.lanes) == 3 and last.x.title == "Azimuth (°)" and isinstance(views[1], Curves)
        assert last.lanes[-1] == "1 naive", "the first region stands on top"
    else:
        assert last.lanes == ("Light", "Elevation", "Azimuth") and "azimuth 0° to 360°" in last.note
    for box in last.boxes:
        assert box.y >= 0 and box.y + box.height <= len(last.lanes) and int(box.y) == int(box.y + box.height - 1e-9)


def test_what_is_lost_inside_is_drawn_with_its_upper_bound_and_what_is_allowed() -> None:
    result = run("semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),))
    views = regions_views(result, RegionsParams(most_lost=0.03))
    bars = titled(views, Bars)["What is lost inside"]
    (row,) = bars.series
    inside = [lost_in(result, region) for region in range(3)]
    assert row.values.tolist() == [one.share for one in inside] and row.high.tolist() == [one.most for one in inside]
    assert bars.levels[0].at == 0.03 and row.ink.role == "fails"
    table = titled(views, Table)["Regions"]
    columns = {column.name: column for column in table.columns}
    assert columns["Poses lost"].cells == tuple(one.lost for one in inside)
    assert columns["At most (95 %)"].cells == tuple(one.most for one in inside)
    bounds = titled(views, Table)["Scores and bounds"]
    assert {"Azimuth from", "Elevation to"} <= {column.name for column in bounds.columns}


def test_before_any_region_the_film_is_the_map_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    early = steps("semantic_regions", toy_net(FLAT), target="pot", iterations=1)[0].result
    (film,) = regions_views(early, RegionsParams())
    assert film.steps == ("looking where the class holds",) and not film.frames[0].boxes
    assert film.frames[0].behind is not None


def test_the_fate_of_a_region_is_said_in_words() -> None:
    starts = ((140, 40), (300, 0))
    result = run(
        "semantic_regions",
        toy_net(FLAT),
        target="pot",
        starts=starts,
        methods="naive",
        iterations=4,
    )
    assert [fate(result, row) for row in range(2)] == [
        "still growing when stopped",
        "start does not fit",
    ]


# --- the safe share ---------------------------------------------------------------------------


def test_the_share_of_one_network_is_drawn_by_way_to_grow_and_can_be_subtracted_from_another() -> None:
    one, other = (run("srvr", toy_net(f, n), target="pot", starts=((140, 40), (120, 30))) for f, n in ((FLAT, "a"), (with_hole, "b")))
    first, second = (srvr_views(result, SrvrParams())[0] for result in (one, other))
    assert first.names == ("mean", *METHOD_WORDS.values()) and first.levels[0].name == "enough"
    np.testing.assert_allclose(first.series[0].values, [one.srvr[0], *one.by_method[0]])
    assert np.isfinite(first.series[0].low[0]) and np.isnan(first.series[0].low[1:]).all()
    gap = difference(first, second)
    assert isinstance(gap, Bars) and gap.series[0].values[0] == pytest.approx(other.srvr[0] - one.srvr[0])


def test_several_networks_stand_beside_each_other_with_their_intervals() -> None:
    nets = (toy_net(FLAT, "a"), toy_net(plateau([(60.0, 280.0), (0.0, 80.0)]), "b"))
    result = run("srvr", nets, scene=("toy", "second"), target="pot", starts=((140, 40), (300, 0)))
    views = srvr_views(result, SrvrParams())
    bars, where = views[0], views[-1]
    assert bars.names == ("a", "b") and len(bars.series) == 4
    np.testing.assert_allclose(bars.series[0].values, result.srvr)
    table = titled(views, Table)["Networks"]
    lost = next(column for column in table.columns if column.name == "Starts lost")
    assert lost.cells == (2, 2)
    assert isinstance(where, Boxes) and [spot.symbol for spot in where.spots] == ["circle", "cross"]
    assert len(where.boxes) == 3, "the start that loses the class has no region"
    shapes = titled(views, Table)["Share of the range for every shape"]
    assert shapes.columns[0].cells == ("toy", "second")


def test_the_views_of_a_usual_result_are_made_within_ten_milliseconds() -> None:
    regions = run("semantic_regions", toy_net(with_hole), target="pot", start_count=4)
    whole = run("semantic_map", toy_net(with_hole), target="pot")
    for make, result, params in (
        (regions_views, regions, RegionsParams()),
        (map_views, whole, MapParams()),
    ):
        least = float("inf")
        for _ in range(20):
            begin = time.perf_counter()
            make(result, params)
            least = min(least, time.perf_counter() - begin)
        assert least < 0.010
