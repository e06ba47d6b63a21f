"""Models that ran together: each has a row of the summary, with its own number where there is one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from robgui.analyses.semantic.maps.words import map_headline
from robgui.analyses.semantic.regions.volume_ratio_words import srvr_headline
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.execution.request import build_request
from robgui.core.headline import Headline
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from robgui.report import facts
from robgui.report.each import headlines, place
from robgui.report.html import write_html
from tests.analyses.zonnscan.models import small_mlp
from tests.inline import steps

QUICK = {
    "semantic_map": (map_headline, {"axes": ("rotation",), "step": {"rotation": 20.0}}),
    "srvr": (srvr_headline, {"axes": ("rotation",), "iterations": 6, "start_count": 2}),
}


@pytest.fixture
def models() -> list[Classifier]:
    made = [small_mlp((1, 12, 12), seed=seed) for seed in range(3)]
    return [Classifier.from_module(m._backend.module, (1, 12, 12), labels=m.labels, name=f"net {i}") for i, m in enumerate(made)]


@pytest.fixture
def image() -> Dataset:
    return from_arrays(np.random.default_rng(0).random((1, 1, 12, 12), np.float32), name="noise")


@pytest.mark.parametrize("analysis", QUICK)
def test_every_model_of_a_run_has_a_row_with_the_number_of_its_own(
    analysis: str, models: list[Classifier], image: Dataset, tmp_path: Path
) -> None:
    headline, params = QUICK[analysis]
    with Workspace.open(tmp_path / "three.robgui") as workspace:
        for _ in steps(build_request(analysis, models, image, params, indices=[0]), workspace, models, image):
            pass
        run = workspace.runs()[0]
        result = workspace.result(run.id)
        table = facts.summary([facts.chapter(workspace, run)])
        page = write_html(workspace, tmp_path / "report.html").read_text(encoding="utf-8")
    assert list(table) == ["net 0", "net 1", "net 2"] and "3 models" in page and page.count('<th scope="row">') == 3
    told = [cell.newest.headline for row in table.values() for cell in row if cell.newest is not None]
    if analysis == "srvr":
        expected = result.srvr
    else:
        expected = (result.tops == result.target[None, :, None, None]).mean((1, 2, 3))
        assert [one.status == "bad" for one in told] == [(result.traps.network == at).any() for at in range(3)]
    np.testing.assert_allclose([one.value for one in told if one is not None], expected)
    assert told[0] == headline(result) and len(set(expected)) > 1, "else this test shows nothing"


def test_a_number_of_all_models_together_says_so() -> None:
    one = Headline("Share", 0.5, "50 %", "low", "bad")
    assert headlines(lambda _: one, None, 1) == (one,)
    assert [h.text for h in headlines(lambda _: one, None, 2)] == ["50 %, in a run of 2 models"] * 2


def test_a_model_that_is_not_among_those_of_a_request_has_no_place(models: list[Classifier], image: Dataset) -> None:
    request = build_request("semantic_map", models[:2], image, {})
    assert [place(request, model.fingerprint) for model in models] == [0, 1, None]
