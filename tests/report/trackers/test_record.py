"""What is logged of a run: what it says, its numbers, its settings, and nothing of the user's."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import robgui
from robgui import resources
from robgui.cli import main
from robgui.core.experiment import experiments_in
from robgui.core.workspace import Workspace
from robgui.report.trackers.installed import TRACKERS, lacking, reason
from robgui.report.trackers.record import chosen, logged_params, record, whole_report


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A workspace with one run of the accuracy and one that failed."""
    made = tmp_path_factory.mktemp("log") / "w.robgui"
    words = ["run", "accuracy", "--model", str(resources.path("demo", "table_mlp.onnx"))]
    words += ["--data", str(resources.path("demo", "table.csv")), "--workspace", str(made)]
    assert main(words) in (0, 1)
    return made


def test_a_run_is_logged_with_what_it_says_its_numbers_and_its_settings(path, tmp_path):
    with Workspace.open(path, create=False) as workspace:
        (told,) = chosen(workspace, [])
        made = record(workspace, told, tmp_path)
    said = told.verdict
    assert made.numbers["accuracy/value"] == said.number.value
    assert made.numbers["accuracy/low"] <= said.number.value <= made.numbers["accuracy/high"]
    assert made.tags["sentence"] == said.sentence and made.tags["status"] == said.status.words
    assert made.tags["robgui.run"] == told.run.id
    assert made.params["model"] == "table_mlp.onnx" and made.params["sure"] == "0.9"
    picture, verdict = tmp_path / "picture.png", tmp_path / "verdict.json"
    assert set(made.files) == {picture, verdict, tmp_path / "numbers.csv"}
    assert experiments_in(picture)[0].run == told.run.id, "the picture carries its run"
    assert json.loads(verdict.read_text(encoding="utf-8"))["because"] == list(said.because)


def test_no_folder_of_the_user_is_logged(path, tmp_path):
    with Workspace.open(path, create=False) as workspace:
        (told,) = chosen(workspace, [])
        made = record(workspace, told, tmp_path)
        report = whole_report(workspace, tmp_path, [told])
    home = str(Path(robgui.__file__).parents[1])
    for one in (made, report):
        values = [one.name, *one.params.values(), *one.tags.values()]
        assert not [value for value in values if home in value]
    assert report.numbers and report.files[0].name == "report.html"


def test_files_in_settings_lose_their_folders_and_no_setting_hides_another(path):
    with Workspace.open(path, create=False) as workspace:
        (told,) = chosen(workspace, [])
    params = {"scene": ["/home/someone/secret project/part.obj", "cube"], "model": "best"}
    found = logged_params(told.run.request.model_copy(update={"params": params}))
    assert found["scene"] == '["part.obj", "cube"]'
    assert found["model"] == "table_mlp.onnx" and found["setting model"] == "best"


@pytest.mark.parametrize("tracker", list(TRACKERS))
def test_a_tracker_that_is_not_installed_is_one_sentence(path, capsys, monkeypatch, tracker):
    monkeypatch.setitem(sys.modules, tracker, None)
    monkeypatch.setattr("robgui.report.trackers.installed.find_spec", lambda name: None)
    assert lacking(tracker)
    assert main(["log", str(path), "--to", tracker]) == 2
    (said,) = capsys.readouterr().err.strip().splitlines()
    assert "is not installed; install it beside robgui with: pip install" in said


def test_a_run_that_is_not_there_is_a_sentence(path, capsys, monkeypatch):
    monkeypatch.setattr("robgui.cli.evidence.log.lacking", lambda name: "")
    assert main(["log", str(path), "--to", "mlflow", "--run", "none"]) == 2
    assert "has no run none" in capsys.readouterr().err


def test_what_a_tracker_says_is_cut_to_one_sentence():
    error = ValueError("The store is old. Please read the page.\nTraceback …")
    assert reason(error) == "The store is old" and reason(ValueError()) == "ValueError"
