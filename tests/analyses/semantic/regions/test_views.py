"""What regions look like: growing over the map, with what is lost inside."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from robgui.analyses.semantic.regions.lost import lost_in
from robgui.analyses.semantic.regions.params import METHOD_WORDS, METHODS, RegionsParams
from robgui.analyses.semantic.regions.views import MOST_FRAMES, fate, region_pictures, regions_views
from robgui.core.view import Bars, Boxes, Curves, Film, Table
from tests.analyses.semantic.toy import FLAT, open_toy, run, steps, titled, toy_net, with_hole


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_the_growing_is_a_film_of_boxes_over_the_map_with_its_steps() -> None:
    result = run("semantic_regions", toy_net(FLAT), target="pot", starts=((140, 40), (120, 30)))
    film = regions_views(result, RegionsParams())[0]
    assert isinstance(film, Film) and 10 < len(film.frames) <= MOST_FRAMES + 1
    steps_done = result.trace.shape[1] - 1
    assert (
        film.steps[0] == f"step 0 of {steps_done}"
        and film.steps[-1] == f"step {steps_done} of {steps_done}"
    )
    first, last = film.frames[0], film.frames[-1]
    assert isinstance(last, Boxes) and last.behind is not None and last.behind is first.behind
    np.testing.assert_allclose(last.behind.values, result.map_score)
    ends = [(box.x, box.y, box.x + box.width, box.y + box.height) for box in last.boxes]
    np.testing.assert_allclose(ends, np.hstack([result.low, result.high]), atol=1e-4)
    assert max(box.width for box in first.boxes) < 5 < min(box.width for box in last.boxes)
    assert {box.name for box in last.boxes} == {METHOD_WORDS[method] for method in METHODS}
    assert [(spot.x, spot.y) for spot in last.spots] == [(140, 40), (120, 30)]


def test_a_region_across_the_seam_is_two_boxes() -> None:
    around = lambda u: 0.02 + 0.98 * torch.sigmoid((30 - ((u[:, 0] + 180) % 360 - 180).abs()) / 2)  # noqa: E731
    result = run(
        "semantic_regions", toy_net(around), target="pot", starts=((0, 40),), methods="naive"
    )
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
        assert (
            len(last.lanes) == 3 and last.x.title == "Azimuth (°)" and isinstance(views[1], Curves)
        )
        assert last.lanes[-1] == "naive 1", "the first region stands on top"
    else:
        assert last.lanes == ("Light", "Elevation", "Azimuth") and "azimuth 0° to 360°" in last.note
    for box in last.boxes:
        assert (
            box.y >= 0
            and box.y + box.height <= len(last.lanes)
            and int(box.y) == int(box.y + box.height - 1e-9)
        )


def test_what_is_lost_inside_is_drawn_with_its_upper_bound_and_what_is_allowed() -> None:
    result = run("semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),))
    views = regions_views(result, RegionsParams(most_lost=0.03))
    bars = titled(views, Bars)["What is lost inside"]
    (row,) = bars.series
    inside = [lost_in(result, region) for region in range(3)]
    assert row.values.tolist() == [one.share for one in inside] and row.high.tolist() == [
        one.most for one in inside
    ]
    assert bars.levels[0].at == 0.03 and row.ink.role == "fails"
    table = titled(views, Table)["Regions"]
    columns = {column.name: column for column in table.columns}
    assert columns["Poses lost"].cells == tuple(one.lost for one in inside)
    assert columns["At most (95 %)"].cells == tuple(one.most for one in inside)
    bounds = titled(views, Table)["Scores and bounds"]
    assert {"Azimuth from", "Elevation to"} <= {column.name for column in bounds.columns}


def test_before_any_region_the_film_is_the_map_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
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


def test_a_pane_without_pictures_promises_none_to_a_run_that_was_stopped():
    begun = next(iter(steps("semantic_regions", toy_net(FLAT), target="pot", starts=((140, 40),))))
    assert "stopped before has none" in region_pictures(begun.result, -1).note


def test_a_pane_says_that_no_region_grew_and_what_to_do():
    none = run("semantic_regions", toy_net(FLAT), target="pot", starts=((300, 0),))
    for row in (-1, 0):
        assert region_pictures(none, row).note.startswith("No region grew. Choose a start")
