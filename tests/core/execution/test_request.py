from __future__ import annotations

import threading
import time

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.dataset import from_arrays, open_dataset
from robgui.core.errors import DataError, ModelError, ParamsError, WorkspaceError
from robgui.core.execution import drive as driving
from robgui.core.execution.request import Request, drive, reference
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import RunState, Workspace
from tests.core import tiny


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "a.robgui") as opened:
        yield opened


@pytest.fixture
def model() -> Classifier:
    return tiny.classifier()


@pytest.fixture
def data():
    return from_arrays(tiny.inputs())


def ask(model, data, **params) -> Request:
    return Request.build("tiny_confidence", [model], data, params)


def test_a_request_survives_json(model, data):
    request = Request.build("tiny-confidence", [model], data, {"radii": (0.0, 0.25)}, indices=np.array([1, 2]))
    assert Request.model_validate_json(request.model_dump_json()) == request
    assert request.analysis == "tiny_confidence"
    assert request.params["samples"] == 8


def test_a_wrong_setting_is_found_when_the_request_is_built(model, data):
    with pytest.raises(ParamsError, match="samples"):
        ask(model, data, samples=0)
    with pytest.raises(ParamsError, match="colour"):
        ask(model, data, colour=1)


def test_the_fingerprint_tells_what_matters_and_nothing_else(model, data):
    request = ask(model, data, samples=4)
    same = request.model_copy(update={"params": {"samples": 4}, "models": (request.models[0].model_copy(update={"path": "/elsewhere"}),)})
    assert same.fingerprint == request.fingerprint
    assert len(request.fingerprint) == 16
    others = [
        ask(model, data, samples=5),
        ask(tiny.classifier(1), data, samples=4),
        ask(model, from_arrays(tiny.inputs(6)), samples=4),
        request.model_copy(update={"indices": (0,)}),
        request.model_copy(update={"device": "cuda:1"}),
        request.model_copy(update={"autocast": True}),
    ]
    assert len({request.fingerprint, *(other.fingerprint for other in others)}) == 1 + len(others)
    assert request.model_copy(update={"device": "cuda:0"}).fingerprint == request.model_copy(update={"device": "cuda"}).fingerprint


def test_a_run_is_queued_then_running_then_done_with_everything_recorded(workspace, model, data):
    going = drive(ask(model, data), workspace, [model], data)
    assert workspace.run(going.run_id).state is RunState.QUEUED
    first = next(going)
    assert (first.done, first.total) == (1, 8)
    assert workspace.run(going.run_id).state is RunState.RUNNING
    steps = list(going)
    run = workspace.run(going.run_id)
    assert (run.state, run.done, run.total, run.device, run.error) == (RunState.DONE, 8, 8, "cpu", "")
    assert run.verdict == going.verdict == tiny.verdict(steps[-1].result, going.params)
    assert set(run.versions) == {"robgui", "torch", "numpy", "python"}
    assert run.seconds > 0
    np.testing.assert_array_equal(workspace.result(run.id).confidence, steps[-1].result.confidence)
    assert len(workspace.findings(run.id)) == 2
    assert next(going, None) is None


def test_only_the_chosen_inputs_are_seen(model, data):
    request = Request.build("tiny_confidence", [model], data, {"samples": 1, "radii": (0.0,)}, indices=[3])
    (step,) = drive(request, None, [model], data)
    expected = model.probs(tiny.inputs()[3:4]).max()
    assert step.result.confidence[0] == pytest.approx(float(expected))


def test_the_same_request_gives_the_same_result(model, data):
    one, two = (list(drive(ask(model, data, seed=3), None, [model], data))[-1].result for _ in range(2))
    np.testing.assert_array_equal(one.confidence, two.confidence)


def test_closing_keeps_the_newest_step_and_closes_the_engine(workspace, model, data):
    tiny.closed.clear()
    going = drive(ask(model, data), workspace, [model], data)
    for _ in range(3):
        next(going)
    going.close()
    going.close()
    run = workspace.run(going.run_id)
    assert (run.state, run.done, going.state) == (RunState.CANCELLED, 3, RunState.CANCELLED)
    assert workspace.result(run.id).drawn == 3
    assert run.verdict
    assert len(workspace.findings(run.id)) == 2
    assert tiny.closed == ["closed"]
    assert next(going, None) is None


def test_closing_before_the_start_cancels_without_loading_anything(workspace, data):
    model = tiny.classifier()
    calls = model.calls
    going = drive(ask(model, data), workspace, [model], data)
    going.close()
    assert workspace.run(going.run_id).state is RunState.CANCELLED
    assert model.calls == calls


def test_a_model_that_raises_fails_the_run_with_its_sentence_and_keeps_the_result(workspace, model, data):
    going = drive(ask(model, data, fail_after=4), workspace, [model], data)
    with pytest.raises(ModelError, match="gave up"):
        list(going)
    run = workspace.run(going.run_id)
    assert (run.state, run.error, run.done) == (RunState.FAILED, "The tiny model gave up.", 4)
    assert workspace.result(run.id).drawn == 4
    assert next(going, None) is None


def test_a_real_network_that_raises_in_the_middle_is_one_sentence(workspace, data):
    class Moody(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.calls = nn.Linear(3, 4), 0

        def forward(self, x):
            self.calls += 1
            if self.calls > 5:
                raise ValueError("enough\nof this")
            return self.layer(x)

    model = Classifier.from_module(Moody(), (3,), name="moody")
    going = drive(ask(model, data), workspace, [model], data)
    with pytest.raises(ModelError):
        list(going)
    run = workspace.run(going.run_id)
    assert run.state is RunState.FAILED
    assert "moody" in run.error
    assert "enough" in run.error
    assert "\n" not in run.error
    assert run.has_result


def test_ctrl_c_cancels_and_keeps_the_result(workspace, model, data, monkeypatch):
    going = drive(ask(model, data), workspace, [model], data)
    next(going)

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "infer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        next(going)
    run = workspace.run(going.run_id)
    assert (run.state, run.done) == (RunState.CANCELLED, 1)
    assert "interrupted" in run.error


def test_partial_results_are_committed_on_the_way_and_not_at_every_step(workspace, model, data, monkeypatch):
    monkeypatch.setattr(driving, "COMMIT_SECONDS", 0.05)
    commits: list[int] = []
    update = workspace.update_run

    def count(run_id, **changes):
        if changes.get("step") is not None:
            commits.append(changes["step"].done)
        update(run_id, **changes)

    monkeypatch.setattr(workspace, "update_run", count)
    going = drive(ask(model, data, samples=200), workspace, [model], data)
    for step in going:
        time.sleep(0.002)
        if commits:
            assert workspace.run(going.run_id).done == commits[-1] <= step.done
            assert workspace.result(going.run_id).drawn == commits[-1]
    assert 2 <= len(commits) < 100
    assert commits[-1] == 200


def test_a_paused_run_leaves_the_workspace_free_and_counts_no_time(workspace, model, data):
    going = drive(ask(model, data), workspace, [model], data)
    next(going)
    going.pause()
    run = workspace.run(going.run_id)
    assert (run.state, run.done) == (RunState.PAUSED, 1)
    before = going.seconds
    other = threading.Thread(target=workspace.set_setting, args=("layout", 1))
    other.start()
    other.join(5)
    assert not other.is_alive()
    time.sleep(0.05)
    next(going)
    assert workspace.run(going.run_id).state is RunState.RUNNING
    assert going.seconds - before < 0.05
    assert len(list(going)) == 6
    assert workspace.run(going.run_id).state is RunState.DONE


def test_a_summary_that_raises_fails_the_run_but_keeps_the_result(workspace, model, data, monkeypatch):
    going = drive(ask(model, data, samples=2), workspace, [model], data)
    broken = type(going.analysis)(**{**vars(going.analysis), "findings": lambda result, params: 1 / 0})
    monkeypatch.setattr(going, "analysis", broken)
    with pytest.raises(ZeroDivisionError):
        list(going)
    run = workspace.run(going.run_id)
    assert run.state is RunState.FAILED
    assert "ZeroDivisionError" in run.error
    assert workspace.result(run.id).drawn == 2


def test_a_full_disk_fails_the_run_with_that_sentence(workspace, model, data, monkeypatch):
    monkeypatch.setattr(driving, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(driving, "_COMMIT_SHARE", 1e9)
    going = drive(ask(model, data, keep=True), workspace, [model], data)
    next(going)
    connection = workspace._database._open_connection()
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages}").fetchall()
    with pytest.raises(WorkspaceError, match="disk is full"):
        list(going)
    assert going.newest is not None
    connection.execute("PRAGMA max_page_count = 1000000").fetchall()
    assert workspace.result(going.run_id).drawn >= 1


def test_a_read_only_workspace_refuses_to_run(workspace, model, data):
    with Workspace.open(workspace.path) as second, pytest.raises(WorkspaceError, match="another window"):
        drive(ask(model, data), second, [model], data)


def test_too_many_models_and_missing_abilities_are_said_in_words(data):
    def black_box(x):
        return np.stack([np.asarray(x).sum(1), np.zeros(len(x))], 1)

    one, blind = tiny.classifier(), Classifier.from_callable(black_box, (3,))
    with pytest.raises(ParamsError, match="takes one model"):
        list(drive(ask(one, data), None, [one, one], data))
    with pytest.raises(ModelError, match="gradients"):
        list(drive(Request.build("tiny_pair", [one, blind], data, {}), None, [one, blind], data))
    (step,) = drive(Request.build("tiny_pair", [one, one], data, {}), None, [one, one], data)
    assert step.result.confidence[0] == 1


def test_data_that_do_not_fit_are_said_in_words(workspace, model):
    wide = from_arrays(np.zeros((2, 5), np.float32))
    going = drive(ask(model, wide), workspace, [model], wide)
    with pytest.raises(DataError):
        next(going)
    assert workspace.run(going.run_id).state is RunState.FAILED


def test_models_and_data_are_loaded_found_again_and_checked(workspace, tmp_path):
    from robgui.core.loading import load

    torch.export.save(
        torch.export.export(tiny.network(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)), tmp_path / "m.pt2"
    )
    np.savez(tmp_path / "d.npz", inputs=tiny.inputs())
    model, data = load(tmp_path / "m.pt2"), open_dataset(tmp_path / "d.npz")
    request = Request.build("tiny_confidence", [model], data, {"samples": 2})
    expected = list(drive(request, None, [model], data))[-1].result
    np.testing.assert_array_equal(list(drive(request, workspace))[-1].result.confidence, expected.confidence)

    (tmp_path / "m.pt2").rename(tmp_path / "moved.pt2")
    with pytest.raises(ModelError, match="no longer at"):
        list(drive(request, workspace))
    workspace.relink(model.fingerprint, tmp_path / "moved.pt2")
    workspace_runs = len(workspace.runs())
    with pytest.raises(ModelError, match="no longer at"):
        list(drive(request, None))
    relinked = [known for known in workspace.references("model") if known.fingerprint == model.fingerprint]
    assert [known.path for known in relinked] == [str(tmp_path / "moved.pt2")]
    np.testing.assert_array_equal(list(drive(request, workspace))[-1].result.confidence, expected.confidence)
    assert len(workspace.runs()) == workspace_runs + 1

    np.savez(tmp_path / "d.npz", inputs=tiny.inputs() / 2)
    with pytest.raises(DataError, match="has changed"):
        list(drive(request, workspace))


def test_what_lived_in_memory_only_is_said_to_be_gone(workspace, model, data):
    with pytest.raises((ModelError, DataError), match="in memory only"):
        list(drive(ask(model, data), workspace))


def test_a_reference_holds_what_loading_needs(model, data):
    known = reference(model)
    assert (known.kind, known.path, known.fingerprint) == ("model", "", model.fingerprint)
    assert known.options["shape"] == [3]
    assert reference(data).kind == "dataset"
