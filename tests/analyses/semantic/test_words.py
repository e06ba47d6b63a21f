"""What maps, regions and the safe share say: a failure outweighs all, a share has its error."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from scipy.stats import beta

from robgui.analyses.semantic.params import MapParams, RegionsParams, SrvrParams
from robgui.analyses.semantic.regions.lost import Lost, lost_in, shown_region
from robgui.analyses.semantic.regions.volume_ratio_words import safe_share, winner
from robgui.core.execution.registry import find
from robgui.core.verdict import Status, Verdict
from tests.analyses.semantic.toy import FLAT, open_toy, plateau, run, steps, toy_net, with_hole

GRID = {"azimuth": 12, "elevation": 10}
EVERYWHERE = plateau([(-500.0, 900.0), (-500.0, 500.0)])


#: The class everywhere but in a hole at 150, 40.
def HOLED(u):
    return EVERYWHERE(u) * (1 - torch.exp(-(((u[:, 0] - 150) / 25) ** 2) - ((u[:, 1] - 40) / 25) ** 2))


PAPER = re.compile(r"OIR|SRVR|NSM|DSM|come to rest|converge|robust|adversarial")


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def says(name: str, result: object, **params: object) -> Verdict:
    known = find(name)
    return known.verdict(result, known.params.parse({"scene": "toy", **params}))


# --- maps -------------------------------------------------------------------------------------


def test_a_map_that_loses_the_class_fails_and_says_how_often_and_to_what() -> None:
    result = run("semantic_map", toy_net(FLAT, "net"), target="pot", step=GRID)
    said = says("semantic_map", result)
    share = float((result.tops == 1).mean())
    assert said.status is Status.FAILS and share < 0.2
    assert said.sentence.startswith("net keeps “pot” at ") and "most often to “other”" in said.sentence
    assert said.number is not None and said.number.value == pytest.approx(share) and said.number.better == "high"
    assert said.because[0].startswith(f"Lost at {(result.tops != 1).sum()} of {result.tops.size} poses")
    assert "Asked: kept at 80 %." in said.because[0] and said.because[-1] == f"{result.model_calls} model calls."


def test_a_map_with_a_few_lost_poses_is_at_risk_however_small_their_share() -> None:
    result = run("semantic_map", toy_net(plateau([(-500.0, 900.0), (-500.0, 80.0)])), target="pot", step=GRID)
    share = float((result.tops == 1).mean())
    assert 0.8 < share < 1 and says("semantic_map", result).status is Status.AT_RISK
    assert says("semantic_map", result, enough=0.0).status is Status.AT_RISK
    assert says("semantic_map", result, enough=1.0).status is Status.FAILS


def test_a_trap_that_loses_the_class_is_a_failure_and_the_sentence_says_where() -> None:
    result = run("semantic_map", toy_net(HOLED), target="pot", step=GRID)
    assert len(result.traps.score) == 1 and float((result.tops == 1).mean()) > 0.9
    said = says("semantic_map", result, enough=0.0)
    assert said.status is Status.FAILS and "azimuth 144°, elevation 40° it fails right inside" in said.sentence
    assert said.because[0].startswith("One trap at azimuth 144°, elevation 40°: score ")


def test_a_class_kept_at_every_pose_holds_only_when_all_of_them_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    made = steps("semantic_map", toy_net(EVERYWHERE), target="pot", step=GRID)
    early, whole = says("semantic_map", made[0].result), says("semantic_map", made[-1].result)
    assert early.status is Status.UNKNOWN and early.sentence.startswith("So far ")
    assert "computed, the rest shows coarser ones" in early.scope
    assert whole.status is Status.HOLDS and "at all 330 poses" in whole.sentence
    assert any("steps of 12° × 10°" in line and "between its points nothing" in line for line in whole.because)


def test_a_partial_map_counts_the_poses_that_are_computed_and_no_coarser_cell_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    result = steps("semantic_map", toy_net(FLAT), target="pot", step=GRID)[0].result
    computed = result.tops[result.computed]
    assert 0 < len(computed) < result.tops.size
    said = says("semantic_map", result)
    assert said.number is not None and said.number.value == pytest.approx(float((computed == 1).mean()))


def test_the_nearest_lost_pose_is_measured_from_the_usual_one() -> None:
    result = run("semantic_map", toy_net(FLAT), target="pot", step={"azimuth": 3, "elevation": 5})
    (line,) = [line for line in says("semantic_map", result).because if "nearest to the usual pose" in line]
    assert re.search(r"azimuth 99°, elevation 40°|azimuth 180°, elevation 40°|azimuth 183°, elevation 40°", line)


def test_the_first_of_several_networks_leads_the_sentence_and_each_has_a_verdict_of_its_own() -> None:
    nets = (toy_net(FLAT, "first"), toy_net(EVERYWHERE, "second"), toy_net(HOLED, "third"))
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
    assert re.search(r"n4 keeps “pot” at .* %, the other 3 at .* % \(n1\) to .* % \(n7\)\.$", said.sentence)


def test_a_mesh_whose_class_is_not_known_yet_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    result = run("semantic_map", toy_net(FLAT), step=GRID)
    known = find("semantic_map")
    unknown = {name: getattr(result, name) for name in result.__slots__} | {"target": np.array([-1])}
    said = known.verdict(known.result(**unknown), MapParams())
    assert said.status is Status.UNKNOWN and "not known yet" in said.sentence


# --- regions ----------------------------------------------------------------------------------


def test_the_poses_lost_inside_are_counted_after_the_growing() -> None:
    result = run("semantic_regions", toy_net(with_hole), target="pot", starts=((120, 30),), samples=4000)
    for row in range(3):
        low, high = result.low[row], result.high[row]
        grid = np.stack(np.meshgrid(*(np.linspace(a, b, 200) for a, b in zip(low, high, strict=True))), -1).reshape(-1, 2)
        lost = float((with_hole(torch.tensor(grid)) * 1.9 < 0.9).double().mean())  # the rival has 0.9 (1 - f)
        inside = lost_in(result, row)
        assert inside.total == 4000 and inside.share == pytest.approx(lost, abs=0.02) and lost > 0.02


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
    assert said.sentence.startswith("net loses “pot” at ") and "of the poses in its largest region" in said.sentence
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
    assert said.status is Status.HOLDS and said.sentence == f"net keeps “pot” at all 300 poses drawn from {region}."
    assert said.number is not None and (said.number.value, said.number.text) == (
        1.0,
        "100 % of the range",
    )
    assert said.because[0].startswith("Poses inside that lose the class: 0 % (0 of 300), at most 1.0 % with 95 % confidence")
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
    assert not lost_in(result, region).lost and result.volume[region] < 0.01 and said.status is Status.AT_RISK
    assert "fills only " in said.sentence and any(line.startswith("Just outside it becomes “other”") for line in said.because)


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
    assert said.number.value == pytest.approx(result.volume[1]) and "but loses it inside others" in said.sentence


def test_what_is_inside_is_unknown_until_it_has_been_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    made = steps("semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), iterations=30)
    growing = next(step.result for step in made if step.result.trace.shape[1] > 20)
    said = says("semantic_regions", growing)
    assert said.status is Status.UNKNOWN and "has not been looked into yet" in said.sentence
    assert "what is inside is not counted" in said.scope and math.isnan(said.number.value)


def test_starts_that_do_not_see_the_class_are_a_failure() -> None:
    none = run("semantic_regions", toy_net(FLAT, "net"), target="pot", starts=((300, 0),))
    said = says("semantic_regions", none)
    assert said.status is Status.FAILS and said.sentence.startswith("net does not see “pot” at any of 1 start")
    assert said.because[0].startswith("1 start is unfit: Start 1")
    some = run("semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), samples=300)
    assert says("semantic_regions", some).status is Status.HOLDS


def test_a_region_that_loses_the_class_is_a_failure_and_its_size_is_bad() -> None:
    settings = {"target": "pot", "mode": "adversarial", "starts": ((140, 40),)}
    result = run("semantic_regions", toy_net(lambda u: 1 - FLAT(u), "net"), **settings)
    said = says("semantic_regions", result, mode="adversarial")
    assert said.status is Status.FAILS and said.sentence.startswith("net loses “pot” at 9")
    assert said.number.better == "low" and said.number.value == pytest.approx(80 * 40 / 36000, rel=0.15)


def test_regions_that_had_not_ended_were_still_growing_when_stopped() -> None:
    result = run("semantic_regions", toy_net(EVERYWHERE), target="pot", starts=((140, 40),), iterations=3)
    fates = says("semantic_regions", result).because[-2]
    assert fates == "3 regions: 0 never grew, 0 reached the end of the range, 3 still growing when stopped."


# --- the safe share of the range --------------------------------------------------------------


def spread_net(side: float, name: str):
    """A plateau of this width around every start."""
    return toy_net(plateau([(180 - side, 180 + side), (-50.0, 150.0)]), name)


def test_the_share_states_its_error_and_a_small_one_is_never_good() -> None:
    result = run("srvr", toy_net(FLAT, "net"), target="pot", starts=((140, 40), (300, 0), (20, 20)))
    said, share = says("srvr", result), safe_share(result, 0)
    each = result.volume[0].mean(-1).ravel()
    half = 4.302652729749464 * each.std(ddof=1) / math.sqrt(3)  # Student's t with 2 degrees of freedom
    assert (share.low, share.high) == (0.0, pytest.approx(each.mean() + half)) and share.lost == 2
    assert said.status in (Status.FAILS, Status.AT_RISK) and "2 of 3 starts already lose the class" in said.sentence
    assert said.number.low == 0 and said.number.high == pytest.approx(share.high) and share.words in said.sentence
    tiny = run(
        "srvr",
        toy_net(plateau([(139.0, 141.0), (39.0, 41.0)], soft=0.5)),
        target="pot",
        starts=((140, 40), (140.2, 40.2)),
    )
    assert tiny.srvr[0] < 0.01 and says("srvr", tiny).status in (Status.FAILS, Status.AT_RISK)


def test_a_share_far_below_what_is_asked_with_lost_starts_fails() -> None:
    result = run("srvr", toy_net(FLAT), target="pot", starts=((140, 40), (300, 0)))
    assert says("srvr", result, enough=1.0).status is Status.FAILS


def test_a_large_share_does_not_hold_because_nobody_looked_inside() -> None:
    result = run("srvr", toy_net(EVERYWHERE), target="pot", starts=((140, 40), (300, 0)))
    said = says("srvr", result)
    assert said.status is Status.UNKNOWN and any("is not looked at here" in line for line in said.because)


def test_a_winner_is_named_only_beyond_the_error_of_the_difference() -> None:
    starts = ((150, 40), (180, 40), (210, 40))
    nets = (spread_net(40, "narrow"), spread_net(120, "wide"))
    clear = run("srvr", nets, target="pot", starts=starts)
    assert winner(clear) == 1
    assert says("srvr", clear).sentence.startswith("wide has the largest regions; ")
    mixed = (
        toy_net(plateau([(0.0, 100.0), (-50.0, 150.0)]), "left"),
        toy_net(plateau([(200.0, 320.0), (-50.0, 150.0)]), "right"),
    )
    unclear = run("srvr", mixed, target="pot", starts=((50, 40), (260, 40)))
    assert winner(unclear) == -1 and unclear.srvr[1] > unclear.srvr[0]
    assert says("srvr", unclear).sentence.startswith("The 2 networks cannot be told apart")
    alone = run("srvr", nets, target="pot", starts=((180, 40),))
    assert winner(alone) == -1, "one start has no error to be beyond"
    assert "(error not known)" in says("srvr", alone).sentence


def test_every_network_has_a_verdict_with_its_own_share() -> None:
    result = run(
        "srvr",
        (spread_net(40, "a"), spread_net(120, "b")),
        target="pot",
        starts=((150, 40), (210, 40)),
    )
    said = says("srvr", result)
    assert [one.number.value for one in said.models] == pytest.approx(result.srvr.tolist())
    assert "for a" in said.models[0].sentence and "for b" in said.models[1].sentence


def test_before_the_first_region_is_done_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.core.execution.analysis.Pace.due", lambda self: True)
    early = steps("srvr", (toy_net(FLAT, "a"), toy_net(FLAT, "b")), target="pot", iterations=3)[0].result
    said = says("srvr", early)
    assert said.status is Status.UNKNOWN and "No region has been grown yet" in said.sentence
    assert "0 of 24 regions done so far" in said.scope


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["robust", "adversarial"])
def test_no_word_of_the_paper_stands_in_what_is_said(mode: str) -> None:
    nets = (toy_net(with_hole, "a"), toy_net(EVERYWHERE, "b"))
    texts = [says("semantic_map", run("semantic_map", nets, target="pot", step=GRID)).text]
    regions = run("semantic_regions", nets[0], target="pot", mode=mode, start_count=2)
    texts.append(says("semantic_regions", regions, mode=mode).text)
    shares = run("srvr", nets, target="pot", mode=mode, start_count=2, iterations=20)
    texts.append(says("srvr", shares, mode=mode).text)
    for text in texts:
        assert not PAPER.search(text), text


def test_the_thresholds_are_settings_that_a_user_can_see() -> None:
    for params in (MapParams, RegionsParams, SrvrParams):
        extra = params.model_fields["enough"].json_schema_extra or {}
        assert not extra.get("rare")
    assert RegionsParams.model_fields["most_lost"].default == 0.01
