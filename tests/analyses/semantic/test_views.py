"""The views of all three analyses: there at every Step, and quickly."""

from __future__ import annotations

import time

import pytest

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.views import map_views
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.regions.views import regions_views
from robgui.core.codec import decode, encode
from robgui.core.execution.registry import find
from robgui.core.view import Views
from tests.analyses.semantic.toy import GRID, open_toy, run, steps, toy_net, with_hole


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


@pytest.mark.parametrize(
    ("name", "most"), [("semantic_map", 2), ("semantic_regions", 3), ("srvr", 3)]
)
@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_step_has_its_views_and_they_survive_the_codec(
    name, most, count, monkeypatch: pytest.MonkeyPatch
) -> None:
    axes = ("azimuth", "elevation", "light")[: min(count, most)]
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    known = find(name)
    extra = {
        "semantic_map": {"step": GRID},
        "semantic_regions": {"iterations": 3, "start_count": 1},
        "srvr": {"iterations": 3},
    }
    for step in steps(name, toy_net(with_hole), axes=axes, **extra[name]):
        views = tuple(known.views(step.result, known.params()))
        again = decode(Views, *encode(Views(views)))
        assert [type(view) for view in again.views] == [type(view) for view in views]
        assert views[0].title


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
