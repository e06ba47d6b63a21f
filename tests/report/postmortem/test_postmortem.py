"""A post-mortem says what is measured, ranks exactly, and leads from every sentence to a picture."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from robgui.cli import main
from robgui.core.execution.asking.models import Models
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.verdict import Quantity, Status, Verdict
from robgui.core.workspace import Workspace
from robgui.report.postmortem.facts import ToldRun
from robgui.report.postmortem.making import post_mortem
from robgui.report.postmortem.words import Cause, cause, paragraph
from tests.batch.guards import lights

#: Light from 0.6 on; means 0.78, 0.98, 0.04, 0.24, 0.62, 0.51 (labelled light, so wrong).
LEVELS = [200, 250, 10, 60, 158, 130]


@pytest.fixture
def workspace(tmp_path: Path):
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    made = lights.workspace(tmp_path, model, lights.write_data(tmp_path / "data", LEVELS))
    yield made
    made.close()


def facts_of(workspace: Workspace, number: int, seconds: float = 0.0):
    executor = Inline(LoadedCache(workspace=workspace))
    return post_mortem(workspace, number, Models().ask, executor, seconds=seconds)


def margin(level: int) -> float:
    """In closed form: the right class minus the other one."""
    mean = level / 255
    light = 1 / (1 + np.exp(-200 * (mean - 0.6)))
    right = light if level >= 128 else 1 - light
    return 2 * right - 1


def test_the_rank_is_that_of_the_closed_form(workspace):
    number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
    rank = facts_of(workspace, number).rank
    assert rank.margin == pytest.approx(margin(200), abs=1e-5)
    others = sorted(margin(level) for level in LEVELS[1:])
    np.testing.assert_allclose(np.sort(rank.others), others, atol=1e-5)
    assert rank.view().series[0].values.sum() == len(others)


def test_others_that_are_wrong_are_counted_beside_an_input_that_is_wrong_itself(workspace):
    found = facts_of(workspace, lights.add(workspace, 4, lights.uniform(0.59), "light", "dark"))
    others = np.array([-0.9, -0.2, 0.1, 0.8])
    for at, words in (
        (
            -0.95,
            "50.0 % of 4 other inputs of lights are answered wrongly too, 0 % by a wider margin",
        ),
        (0.3, "75.0 % of 4 other inputs of lights are decided more narrowly, counting the 50.0 %"),
    ):
        rank = replace(found.rank, margin=at, others=others, data="lights")
        texts = " ".join(one.text for one in paragraph(replace(found, rank=rank)))
        assert words in texts


def test_what_turns_an_answer_that_is_wrong_already_is_not_said_to_break_it(workspace):
    wrong = lights.add(workspace, 5, lights.uniform(130 / 255), "light", "dark")
    right = lights.add(workspace, 4, lights.uniform(0.59), "light", "dark")
    for number, lead in ((wrong, "On the wrong answer:"), (right, "It also breaks:")):
        found = facts_of(workspace, number)
        run = workspace.run(found.finding.run_id)
        told = ToldRun(run, "Feature game", Verdict(Status.FAILS, "3 pixels turn it."))
        texts = [sentence.text for sentence in paragraph(replace(found, runs=(told,)))]
        assert f"{lead} Feature game: 3 pixels turn it." in texts


def test_what_decides_nothing_is_told_as_known_and_not_as_undecided(workspace):
    found = facts_of(workspace, lights.add(workspace, 4, lights.uniform(0.59), "light", "dark"))
    run = workspace.run(found.finding.run_id)
    number = Quantity("Probability of failure", 0.1)
    runs = (
        ToldRun(run, "Attribution", Verdict(Status.UNKNOWN, "It rests on the left.")),
        ToldRun(run, "Last particle", Verdict(Status.UNKNOWN, "Too few samples.", number)),
    )
    texts = [sentence.text for sentence in paragraph(replace(found, runs=runs))]
    assert "Also known: Attribution: It rests on the left." in texts
    assert "Not decided: Last particle: Too few samples." in texts


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        (5, 130 / 255, Cause.LABEL),  # wrong as it is, and sure
        (4, 0.59, Cause.BRITTLE),  # right, and turned by a change of 0.03
        (0, 0.4, Cause.CHANGE),  # right, and turned by a change of 0.38
    ],
)
def test_the_likely_cause_follows_from_the_facts(workspace, place, value, expected):
    number = lights.add(workspace, place, lights.uniform(value), "light", "dark")
    found = facts_of(workspace, number)
    assert cause(found) is expected
    texts = [sentence.text for sentence in paragraph(found)]
    assert texts[0].startswith("old.onnx takes “light” for “dark”")
    assert any(text.startswith("Likely cause:") for text in texts)
    assert any(text.startswith("What to do:") for text in texts)


def test_an_input_that_few_others_are_narrower_than_is_close_to_the_boundary(tmp_path):
    model = lights.write_model(tmp_path / "old.onnx", 0.6)
    data = lights.write_data(tmp_path / "data", [154, *range(200, 250, 2)])
    with lights.workspace(tmp_path, model, data) as workspace:
        number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
        assert cause(facts_of(workspace, number)) is Cause.NARROW


def test_every_sentence_leads_to_a_picture_on_the_page(workspace, tmp_path):
    number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
    path = workspace.path
    workspace.close()
    page = tmp_path / "p.html"
    assert main(["postmortem", str(path), str(number), "--seconds", "20", "--html", str(page)]) == 0
    text = page.read_text(encoding="utf-8")
    links = re.findall(r'<a href="#([^"]+)">', text)
    assert len(links) >= 4 and all(f'id="{link}"' in text for link in links)
    assert "<script" not in text and str(tmp_path) not in text


def test_what_is_missing_is_run_once_and_what_is_there_is_used(workspace):
    number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
    before = len(workspace.runs())
    first = facts_of(workspace, number, seconds=30)
    ran = len(workspace.runs()) - before
    assert ran >= 1 and len(first.runs) >= 1
    again = facts_of(workspace, number, seconds=30)
    kept = {told.run.id for told in first.runs}
    assert kept <= {told.run.id for told in again.runs}


def test_without_time_nothing_is_run_and_that_is_said(workspace):
    number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
    before, began = len(workspace.runs()), time.monotonic()
    found = facts_of(workspace, number, seconds=0)
    assert len(workspace.runs()) == before and time.monotonic() - began < 20
    assert any("the time was over" in sentence for sentence in found.open)


def test_other_findings_of_the_same_confusion_are_counted(workspace):
    lights.add(workspace, 1, lights.uniform(0.55), "light", "dark")
    lights.add(workspace, 2, lights.uniform(0.65), "dark", "light")
    number = lights.add(workspace, 0, lights.uniform(0.59), "light", "dark")
    found = facts_of(workspace, number)
    assert len(found.alike) == 1
    assert any("1 other finding of this model" in one.text for one in paragraph(found))


def test_class_names_with_braces_are_only_words(workspace, tmp_path):
    model = lights.write_model(tmp_path / "braces.onnx", 0.6, ("{0}", "{change.x}"))
    folder = tmp_path / "other"
    folder.mkdir()
    data = lights.write_data(folder / "data", LEVELS)
    with lights.workspace(folder, model, data) as other:
        number = lights.add(other, 0, lights.uniform(0.59), "{change.x}", "{0}")
        texts = [sentence.text for sentence in paragraph(facts_of(other, number))]
    assert any("{change.x}" in text for text in texts)
