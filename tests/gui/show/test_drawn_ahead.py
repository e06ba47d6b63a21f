"""Pictures of finished runs are drawn in another process while nothing runs."""

from __future__ import annotations

import numpy as np
import pytest

import robgui
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import analyses
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.workspace import Workspace
from robgui.gui.show.drawn_ahead import DrawnAhead
from robgui.gui.state.store import Store
from robgui.report import ahead
from robgui.report.kept import KEPT
from robgui.report.shelf import Shelf
from robgui.report.writing import drawings


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield
    KEPT.clear()


def with_a_run(path):
    """A workspace with one sweep."""
    model = robgui.Classifier.from_callable(lambda x: x, (2,), ("a", "b"), name="net")
    data = from_arrays(np.array([[0.2, 0.8]]), name="one")
    params = {"samples": 16, "radii": (0.0, 0.5)}
    result = robgui.run("zonnscan", model, data, **params)
    request = build_request("zonnscan", [model], data, params, indices=[0])
    with Workspace.open(path) as workspace:
        run = workspace.add_run(request, RunState.RUNNING)
        known = analyses()["zonnscan"]
        verdict = known.verdict(result, known.params.parse(params))
        step = Step(1, 1, result)
        workspace.update_run(run.id, state=RunState.DONE, step=step, verdict=verdict)


def test_what_was_drawn_ahead_is_not_drawn_again(monkeypatch, tmp_path):
    with_a_run(tmp_path / "w.robgui")
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        process = ahead.begin(workspace.path)  # while this process may write it
        assert process.wait(600) == 0 and list(Shelf().folder.iterdir())
        KEPT.clear()
        KEPT.use_shelf()
        monkeypatch.setattr("robgui.report.pictures.draw_png", None)  # whoever draws now fails
        light, dark = (len(draw()) for draw in drawings(workspace))
        assert light > 1 and dark >= 1


def test_it_begins_when_nothing_runs_and_ends_when_something_does(qtbot, tmp_path):
    with_a_run(tmp_path / "w.robgui")
    store = Store()
    with qtbot.waitSignal(store.history.opened):
        store.open_workspace(tmp_path / "w.robgui")
    drawn = DrawnAhead(store, rest=10)
    store.job_changed.emit(None)
    qtbot.waitUntil(lambda: drawn.process is not None)
    first = drawn.process
    store.job_changed.emit(None)
    assert drawn.process is None and first.poll() is not None
    drawn.close()
    assert store.shutdown()
