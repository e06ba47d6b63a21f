"""The words of all three analyses: none of the paper's, and thresholds that can be seen."""

from __future__ import annotations

import re

import pytest

from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from tests.analyses.semantic.toy import EVERYWHERE, GRID, open_toy, run, says, toy_net, with_hole

PAPER = re.compile(r"OIR|SRVR|NSM|DSM|come to rest|converge|robust|adversarial")


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


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
