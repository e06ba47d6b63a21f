"""What a map says: a pose that loses the class outweighs every share."""

from __future__ import annotations

import re

import numpy as np
import pytest

from robgui.analyses.semantic.maps.params import MapParams
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from tests.analyses.semantic.toy import (
    EVERYWHERE,
    FLAT,
    GRID,
    holed,
    open_toy,
    plateau,
    run,
    says,
    steps,
    toy_net,
)


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def test_a_map_that_loses_the_class_fails_and_says_how_often_and_to_what() -> None:
    result = run("semantic_map", toy_net(FLAT, "net"), target="pot", step=GRID)
    said = says("semantic_map", result)
    share = float((result.tops == 1).mean())
    assert said.status is Status.FAILS and share < 0.2
    assert (
        said.sentence.startswith("net keeps “pot” at ") and "most often to “other”" in said.sentence
    )
    assert (
        said.number is not None
        and said.number.value == pytest.approx(share)
        and said.number.better == "high"
    )
    assert said.because[0].startswith(
        f"Lost at {(result.tops != 1).sum()} of {result.tops.size} poses"
    )
    assert (
        "Asked: kept at 80 %." in said.because[0]
        and said.because[-1] == f"{result.model_calls} model calls."
    )


def test_a_map_with_a_few_lost_poses_is_at_risk_however_small_their_share() -> None:
    result = run(
        "semantic_map", toy_net(plateau([(-500.0, 900.0), (-500.0, 80.0)])), target="pot", step=GRID
    )
    share = float((result.tops == 1).mean())
    assert 0.8 < share < 1 and says("semantic_map", result).status is Status.AT_RISK
    assert says("semantic_map", result, enough=0.0).status is Status.AT_RISK
    assert says("semantic_map", result, enough=1.0).status is Status.FAILS


def test_a_trap_that_loses_the_class_is_a_failure_and_the_sentence_says_where() -> None:
    result = run("semantic_map", toy_net(holed), target="pot", step=GRID)
    assert len(result.traps.score) == 1 and float((result.tops == 1).mean()) > 0.9
    said = says("semantic_map", result, enough=0.0)
    assert (
        said.status is Status.FAILS
        and "azimuth 144°, elevation 40° it fails right inside" in said.sentence
    )
    assert said.because[0].startswith("One trap at azimuth 144°, elevation 40°: score ")


def test_a_class_kept_at_every_pose_holds_only_when_all_of_them_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    made = steps("semantic_map", toy_net(EVERYWHERE), target="pot", step=GRID)
    early, whole = says("semantic_map", made[0].result), says("semantic_map", made[-1].result)
    assert early.status is Status.UNKNOWN and early.sentence.startswith("So far ")
    assert "computed, the rest shows coarser ones" in early.scope
    assert whole.status is Status.HOLDS and "at all 330 poses" in whole.sentence
    assert any(
        "steps of 12° × 10°" in line and "between its points nothing" in line
        for line in whole.because
    )


def test_a_partial_map_counts_the_poses_that_are_computed_and_no_coarser_cell_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    result = steps("semantic_map", toy_net(FLAT), target="pot", step=GRID)[0].result
    computed = result.tops[result.computed]
    assert 0 < len(computed) < result.tops.size
    said = says("semantic_map", result)
    assert said.number is not None and said.number.value == pytest.approx(
        float((computed == 1).mean())
    )
    lost = int((computed != 1).sum())
    assert said.because[0].startswith(f"Lost at {lost} of {len(computed)} computed poses")


def test_the_nearest_lost_pose_is_measured_from_the_usual_one() -> None:
    result = run("semantic_map", toy_net(FLAT), target="pot", step={"azimuth": 3, "elevation": 5})
    (line,) = [
        line for line in says("semantic_map", result).because if "nearest to the usual pose" in line
    ]
    assert re.search(
        r"azimuth 99°, elevation 40°|azimuth 180°, elevation 40°|azimuth 183°, elevation 40°", line
    )


def test_the_first_of_several_networks_leads_the_sentence_and_each_has_a_verdict_of_its_own() -> (
    None
):
    nets = (toy_net(FLAT, "first"), toy_net(EVERYWHERE, "second"), toy_net(holed, "third"))
    result = run("semantic_map", nets, target="pot", step=GRID)
    said = says("semantic_map", result)
    shares = (result.tops == 1).mean((1, 2, 3))
    assert re.match(
        r"Of the poses of azimuth × elevation, first keeps “pot” at .*, second at 100 %, third at ",
        said.sentence,
    )
    assert [one.status for one in said.models] == [Status.FAILS, Status.HOLDS, Status.FAILS]
    assert [one.number.value for one in said.models] == pytest.approx(shares.tolist())
    assert all(name in one.sentence for name, one in zip(result.networks, said.models, strict=True))
    assert said.status is Status.FAILS and said.number.value == pytest.approx(shares.min())
    assert said.of(1) == said.models[1]


def test_many_networks_are_summed_up_by_the_best_and_the_worst() -> None:
    nets = tuple(toy_net(plateau([(0.0, 40.0 * k), (-50.0, 150.0)]), f"n{k}") for k in (4, 1, 2, 7))
    said = says("semantic_map", run("semantic_map", nets, target="pot", step=GRID))
    assert re.search(
        r"n4 keeps “pot” at .* %, the other 3 at .* % \(n1\) to .* % \(n7\)\.$", said.sentence
    )


def test_a_mesh_whose_class_is_not_known_yet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("semantic_map", toy_net(FLAT), step=GRID)
    known = find("semantic_map")
    unknown = {name: getattr(result, name) for name in result.__slots__} | {
        "target": np.array([-1])
    }
    said = known.verdict(known.result(**unknown), MapParams())
    assert said.status is Status.UNKNOWN and "not known yet" in said.sentence
