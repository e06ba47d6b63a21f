"""What the safe share looks like: bars with their intervals."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.semantic.regions.params import METHOD_WORDS, METHODS
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.analyses.semantic.volume_ratio.views import srvr_views
from robgui.core.view import Bars, Boxes, Table, difference
from tests.analyses.semantic.toy import FLAT, open_toy, plateau, run, titled, toy_net, with_hole


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_the_share_of_one_network_is_drawn_by_way_to_grow_and_can_be_subtracted_from_another() -> (
    None
):
    one, other = (
        run("srvr", toy_net(f, n), target="pot", starts=((140, 40), (120, 30)))
        for f, n in ((FLAT, "a"), (with_hole, "b"))
    )
    first, second = (srvr_views(result, SrvrParams())[0] for result in (one, other))
    assert (
        first.names == ("mean", *(METHOD_WORDS[way] for way in METHODS))
        and first.levels[0].name == "enough"
    )
    np.testing.assert_allclose(first.series[0].values, [one.srvr[0], *one.by_method[0]])
    assert np.isfinite(first.series[0].low[0]) and np.isnan(first.series[0].low[1:]).all()
    gap = difference(first, second)
    assert isinstance(gap, Bars) and gap.series[0].values[0] == pytest.approx(
        other.srvr[0] - one.srvr[0]
    )


def test_several_networks_stand_beside_each_other_with_their_intervals() -> None:
    nets = (toy_net(FLAT, "a"), toy_net(plateau([(60.0, 280.0), (0.0, 80.0)]), "b"))
    result = run("srvr", nets, scene=("toy", "second"), target="pot", starts=((140, 40), (300, 0)))
    views = srvr_views(result, SrvrParams())
    bars, where = views[0], views[-1]
    assert bars.names == ("a", "b") and len(bars.series) == 1
    ways = titled(views, Bars)["By way to grow"]
    assert ways.names == ("a", "b") and len(ways.series) == 3
    np.testing.assert_allclose(bars.series[0].values, result.srvr)
    table = titled(views, Table)["Networks"]
    lost = next(column for column in table.columns if column.name == "Starts lost")
    assert lost.cells == (2, 2)
    assert isinstance(where, Boxes) and [spot.symbol for spot in where.spots] == ["circle", "cross"]
    assert len(where.boxes) == 3, "the start that loses the class has no region"
    shapes = titled(views, Table)["Share of the range for every shape"]
    assert shapes.columns[0].cells == ("toy", "second")
