"""Runs are logged from the File menu where a tracker is installed; else the entry says why not."""

from __future__ import annotations

import pytest

from robgui.core.dataset import open_dataset
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import build_request
from robgui.core.loading import load
from robgui.report.trackers.installed import TRACKERS, lacking
from tests.batch.guards import lights


def add_run(history, folder):
    """A run with its result in the workspace of the window."""
    model = load(lights.write_model(folder / "old.onnx", 0.6))
    data = open_dataset(lights.write_data(folder / "data", [10, 130, 150, 250]))
    request = build_request("accuracy", [model], data, {})
    execution = Execution(request, history.workspace)
    executor = Inline(LoadedCache(workspace=history.workspace))
    executor.submit(execution)
    while not execution.state.ended:
        executor.work(0.1)
    executor.close()


def test_an_entry_whose_tracker_is_missing_is_grey_and_says_what_to_install(window):
    missing = {tracker: why for tracker in TRACKERS if (why := lacking(tracker))}
    if not missing:
        pytest.skip("every tracker is installed")
    assert window.actions_.menus["File"].toolTipsVisible()
    for tracker, why in missing.items():
        action = window.actions_[f"log_{tracker}"]
        assert not action.isEnabled(), tracker
        assert action.toolTip() == why and "is not installed; install it" in why
        entry = window.actions_.entries[f"log_{tracker}"]
        assert entry.text == f"Log runs to {TRACKERS[tracker][0]}", "as the palette shows it"
        assert action.text().replace("&&", "&") == entry.text, "no letter of it is underlined"


def test_the_menu_logs_every_run_to_mlflow(window, qtbot, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow")
    store = (tmp_path / "store").as_uri()
    monkeypatch.setenv("MLFLOW_TRACKING_URI", store)
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    history = window.store.history
    assert not window.actions_["log_mlflow"].isEnabled(), "there is no run yet"
    add_run(history, tmp_path)
    history.refresh()
    qtbot.waitUntil(window.actions_["log_mlflow"].isEnabled)
    window.actions_["log_mlflow"].trigger()
    said = f"MLflow: 1 run logged: {store}"
    qtbot.waitUntil(lambda: said in window.toasts.sentences)
    client = mlflow.MlflowClient(store)
    logged = client.search_runs([client.get_experiment_by_name("robgui").experiment_id])
    assert len(logged) == 2, "the run and the report"
