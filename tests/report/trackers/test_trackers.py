"""Real trackers where they are installed: what was logged is read back from their own stores."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from robgui import resources
from robgui.cli import main
from robgui.core.workspace import Workspace

ROOT = Path(__file__).parents[3]


@pytest.fixture
def path(tmp_path):
    """A workspace with two runs."""
    made = tmp_path / "w.robgui"
    model, data = (str(resources.path("demo", one)) for one in ("table_mlp.onnx", "table.csv"))
    for words in (["accuracy"], ["zonnscan", "--index", "3", "--set", "samples=256"]):
        given = ["--model", model, "--data", data, "--workspace", str(made)]
        assert main(["run", *words, *given]) in (0, 1)
    return made


def log(path, tracker, folder, **environment):
    """As a user does, in a process and a folder of its own."""
    return subprocess.run(
        [sys.executable, "-m", "robgui", "log", str(path), "--to", tracker],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def runs_of(path):
    with Workspace.open(path, create=False) as workspace:
        return {run.id: run for run in workspace.runs()}


def test_mlflow_has_every_run_with_its_numbers_settings_words_and_files(
    path, tmp_path, monkeypatch
):
    mlflow = pytest.importorskip("mlflow")
    store = (tmp_path / "store").as_uri()
    told = {"MLFLOW_TRACKING_URI": store, "MLFLOW_ALLOW_FILE_STORE": "true"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    done = log(path, "mlflow", tmp_path, **told)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == f"MLflow: 2 runs logged: {store}"
    client = mlflow.MlflowClient(store)
    experiment = client.get_experiment_by_name("robgui").experiment_id
    logged = client.search_runs([experiment])
    by_run = {one.data.tags.get("robgui.run"): one for one in logged}
    known = runs_of(path)
    assert set(by_run) == {*known, None}
    for number, run in known.items():
        found = by_run[number]
        assert found.info.status == "FINISHED"
        assert found.data.tags["sentence"] == run.verdict.sentence
        value = found.data.metrics[f"{run.request.analysis}/value"]
        assert value == pytest.approx(run.verdict.number.value)
        assert found.data.params["seed"] == str(run.request.params["seed"])
        files = {one.path for one in client.list_artifacts(found.info.run_id)}
        assert files == {"picture.png", "numbers.csv", "verdict.json"}
    report = client.list_artifacts(by_run[None].info.run_id)
    assert [one.path for one in report] == ["report.html"]
    again = log(path, "mlflow", tmp_path, **told)
    assert "0 runs logged, 2 logged before" in again.stdout
    assert len(client.search_runs([experiment])) == len(logged)


def test_a_store_that_mlflow_cannot_reach_is_one_sentence(path, tmp_path):
    pytest.importorskip("mlflow")
    done = log(path, "mlflow", tmp_path, MLFLOW_TRACKING_URI="nothing://here")
    assert done.returncode == 2, done.stdout
    assert done.stderr.strip().splitlines()[-1].startswith("robgui: MLflow does not take it (")


def test_wandb_keeps_every_run_on_this_machine(path, tmp_path, monkeypatch):
    pytest.importorskip("wandb")
    monkeypatch.delenv("WANDB_MODE", raising=False)
    machine = "machine-of-the-user"
    done = log(path, "wandb", tmp_path, WANDB_DIR=str(tmp_path), WANDB_HOST=machine)
    assert done.returncode == 0, done.stderr
    assert "2 runs logged" in done.stdout and "'wandb sync' sends them" in done.stdout
    folders = sorted((tmp_path / "wandb").glob("offline-run-*"))
    assert len(folders) == 3
    for number, run in runs_of(path).items():
        (folder,) = [one for one in folders if one.name.endswith(number)]
        files = {one.name for one in (folder / "files").iterdir() if one.is_file()}
        assert {"picture.png", "numbers.csv", "verdict.json"} <= files
        kept = next(folder.glob("run-*.wandb")).read_bytes()
        assert run.verdict.sentence[:40].encode() in kept or run.request.analysis.encode() in kept
        assert machine.encode() not in kept, "the name of the machine is nobody's business"
