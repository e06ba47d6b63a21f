"""What the safe share says: its error always, a winner only beyond it."""

from __future__ import annotations

import math

import pytest

from robgui.analyses.semantic.volume_ratio.words import safe_share, winner
from robgui.core.verdict import Status
from tests.analyses.semantic.toy import (
    EVERYWHERE,
    FLAT,
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


def spread_net(side: float, name: str):
    """A plateau of this width around every start."""
    return toy_net(plateau([(180 - side, 180 + side), (-50.0, 150.0)]), name)


def test_the_share_states_its_error_and_a_small_one_is_never_good() -> None:
    result = run("srvr", toy_net(FLAT, "net"), target="pot", starts=((140, 40), (300, 0), (20, 20)))
    said, share = says("srvr", result), safe_share(result, 0)
    each = result.volume[0].mean(-1).ravel()
    # Student's t with 2 degrees of freedom
    half = 4.302652729749464 * each.std(ddof=1) / math.sqrt(3)
    assert (share.low, share.high) == (0.0, pytest.approx(each.mean() + half)) and share.lost == 2
    assert (
        said.status in (Status.FAILS, Status.AT_RISK)
        and "2 of 3 starts already lose the class" in said.sentence
    )
    assert (
        said.number.low == 0
        and said.number.high == pytest.approx(share.high)
        and share.words in said.sentence
    )
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
    assert said.status is Status.UNKNOWN and any(
        "is not looked at here" in line for line in said.because
    )


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
    assert says("srvr", unclear).sentence.endswith("the 2 networks cannot be told apart.")
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
    assert [one.sentence[:2] for one in said.models] == ["a:", "b:"]


def test_before_the_first_region_is_done_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    early = steps("srvr", (toy_net(FLAT, "a"), toy_net(FLAT, "b")), target="pot", iterations=3)[
        0
    ].result
    said = says("srvr", early)
    assert said.status is Status.UNKNOWN and "No region has been grown yet" in said.sentence
    assert "0 of 24 regions done so far" in said.scope


def test_starts_lie_where_every_network_sees_the_class() -> None:
    """The paper's starts miss the plateau; those of the program do not."""
    nets = (toy_net(FLAT, "a"), toy_net(plateau([(130.0, 220.0), (20.0, 60.0)]), "b"))
    paper = run("srvr", nets, target="pot", begin="range")
    inside = run("srvr", nets, target="pot", begin="class")
    assert paper.bad_starts.sum() > 0 and inside.bad_starts.sum() == 0
    assert inside.starts.shape == paper.starts.shape == (4, 2)
    assert (inside.srvr > paper.srvr).all()
    said = says("srvr", inside)
    assert "around a pose that it gets right" in said.models[0].sentence
    assert inside.model_calls > 0 and (inside.start_top1 == 1).all()
