"""Execution: its state, its clock, what the workspace keeps of it, and what people ask of it."""

from __future__ import annotations

import itertools
import threading
import time
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.dataset import from_arrays, open_dataset
from robgui.core.errors import DataError, ModelError, ParamsError, Remedy, WorkspaceError
from robgui.core.execution import execution as executing
from robgui.core.execution import registry
from robgui.core.execution.budget import commits
from robgui.core.execution.budget.clock import Clock
from robgui.core.execution.budget.commits import CommitBudget
from robgui.core.execution.execution import Execution
from robgui.core.execution.executor import lost
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import build_request
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from robgui.core.workspace import RunState, Workspace
from tests.core import tiny
from tests.inline import steps


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


def ask(model, data, **params):
    return build_request("tiny_confidence", [model], data, params)


def test_a_run_is_queued_then_running_then_done_with_everything_recorded(workspace, model, data):
    going = steps(ask(model, data), workspace, [model], data)
    assert workspace.run(going.execution.run_id).state is RunState.QUEUED
    first = next(going)
    assert (first.done, first.total) == (1, 8)
    assert workspace.run(going.execution.run_id).state is RunState.RUNNING
    rest = list(going)
    run = workspace.run(going.execution.run_id)
    assert (run.state, run.done, run.total, run.device, run.error) == (
        RunState.DONE,
        8,
        8,
        "cpu",
        "",
    )
    assert (
        run.verdict
        == going.execution.verdict
        == tiny.verdict(rest[-1].result, going.execution.params)
    )
    assert set(run.versions) == {"robgui", "torch", "numpy", "python"}
    assert run.seconds > 0
    np.testing.assert_array_equal(workspace.result(run.id).confidence, rest[-1].result.confidence)
    assert len(workspace.findings(run.id)) == 2
    assert next(going, None) is None


def test_only_the_chosen_inputs_are_seen(model, data):
    request = build_request(
        "tiny_confidence", [model], data, {"samples": 1, "radii": (0.0,)}, indices=[3]
    )
    (step,) = steps(request, None, [model], data)
    expected = model.probs(tiny.inputs()[3:4]).max()
    assert step.result.confidence[0] == pytest.approx(float(expected))


def test_the_same_request_gives_the_same_result(model, data):
    one, two = (
        list(steps(ask(model, data, seed=3), None, [model], data))[-1].result for _ in range(2)
    )
    np.testing.assert_array_equal(one.confidence, two.confidence)


def test_closing_keeps_the_newest_step_and_closes_the_engine(workspace, model, data):
    tiny.closed.clear()
    going = steps(ask(model, data), workspace, [model], data)
    for _ in range(3):
        next(going)
    going.close()
    going.close()
    run = workspace.run(going.execution.run_id)
    assert (run.state, run.done, going.execution.state) == (
        RunState.CANCELLED,
        3,
        RunState.CANCELLED,
    )
    assert workspace.result(run.id).drawn == 3
    assert run.verdict
    assert len(workspace.findings(run.id)) == 2
    assert tiny.closed == ["closed"]
    assert next(going, None) is None


def test_closing_before_the_start_cancels_without_loading_anything(workspace, data):
    model = tiny.classifier()
    calls = model.calls
    going = steps(ask(model, data), workspace, [model], data)
    going.close()
    assert workspace.run(going.execution.run_id).state is RunState.CANCELLED
    assert model.calls == calls


def test_a_model_that_raises_fails_the_run_with_its_sentence_and_keeps_the_result(
    workspace, model, data
):
    going = steps(ask(model, data, fail_after=4), workspace, [model], data)
    with pytest.raises(ModelError, match="gave up"):
        list(going)
    run = workspace.run(going.execution.run_id)
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
    going = steps(ask(model, data), workspace, [model], data)
    with pytest.raises(ModelError):
        list(going)
    run = workspace.run(going.execution.run_id)
    assert run.state is RunState.FAILED
    assert "moody" in run.error
    assert "enough" in run.error
    assert "\n" not in run.error
    assert run.has_result


def test_ctrl_c_cancels_and_keeps_the_result(workspace, model, data, monkeypatch):
    going = steps(ask(model, data), workspace, [model], data)
    next(going)

    def interrupt(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(model, "infer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        next(going)
    run = workspace.run(going.execution.run_id)
    assert (run.state, run.done) == (RunState.CANCELLED, 1)
    assert "interrupted" in run.error


def test_partial_results_are_committed_on_the_way_and_not_at_every_step(
    workspace, model, data, monkeypatch
):
    monkeypatch.setattr(executing, "COMMIT_SECONDS", 0.05)
    commits: list[int] = []
    update = workspace.update_run

    def count(run_id, **changes):
        if changes.get("step") is not None:
            commits.append(changes["step"].done)
        update(run_id, **changes)

    monkeypatch.setattr(workspace, "update_run", count)
    going = steps(ask(model, data, samples=200), workspace, [model], data)
    for step in going:
        time.sleep(0.002)
        if commits:
            assert workspace.run(going.execution.run_id).done == commits[-1] <= step.done
            assert workspace.result(going.execution.run_id).drawn == commits[-1]
    assert 2 <= len(commits) < 100
    assert commits[-1] == 200


def work_hard(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


@pytest.mark.parametrize(
    "delay",
    [lambda place: time.sleep(0.2), lambda place: work_hard(0.3 if place == 2 else 0)],
    ids=["a disk that is slow", "what the first result loads"],
)
def test_what_holds_up_a_commit_does_not_make_the_next_stored_result_old(
    workspace, model, data, monkeypatch, delay
):
    monkeypatch.setattr(executing, "COMMIT_SECONDS", 0.05)
    commits: list[tuple[float, float]] = []
    update = workspace.update_run

    def slow(run_id, **changes):
        began = time.monotonic()
        delay(len(commits))
        commits.append((began, time.monotonic()))
        update(run_id, **changes)

    monkeypatch.setattr(workspace, "update_run", slow)
    going = steps(ask(model, data, samples=100_000), workspace, [model], data)
    end = time.monotonic() + 30
    while len(commits) < 5 and time.monotonic() < end:
        next(going)
    going.close()
    waits = [later[0] - sooner[1] for sooner, later in itertools.pairwise(commits)]
    assert len(waits) >= 4 and max(waits) < 1.5, "one delay is no ten times as long a wait"


def test_a_result_that_is_dear_each_time_is_stored_less_often(workspace, model, data, monkeypatch):
    monkeypatch.setattr(executing, "COMMIT_SECONDS", 0.0)
    commits: list[float] = []
    update = workspace.update_run

    def dear(run_id, **changes):
        work_hard(0.05)
        commits.append(time.monotonic())
        update(run_id, **changes)

    monkeypatch.setattr(workspace, "update_run", dear)
    going = steps(ask(model, data, samples=100_000), workspace, [model], data)
    end = time.monotonic() + 2
    while time.monotonic() < end:
        next(going)
    going.close()
    assert 3 <= len(commits) <= 8


def test_a_paused_run_leaves_the_workspace_free_and_counts_no_time(workspace, model, data):
    execution = Execution(ask(model, data, samples=100_000), workspace)
    inline = Inline(LoadedCache(models=[model], datasets=[data]))
    inline.submit(execution)
    inline.work(0.2)
    execution.pause()
    inline.work(0.01)
    run, before = workspace.run(execution.run_id), execution.seconds
    assert (run.state, run.done) == (RunState.PAUSED, execution.newest.done)
    other = threading.Thread(target=workspace.values.set, args=("layout", 1))
    other.start()
    other.join(5)
    assert not other.is_alive()
    inline.work(0.2)
    assert (execution.seconds, execution.newest.done) == (before, run.done)
    execution.resume()
    inline.work(0.1)
    assert workspace.run(run.id).state is RunState.RUNNING
    assert execution.newest.done > run.done
    execution.stop()
    inline.work(1)
    assert workspace.run(run.id).state is RunState.CANCELLED


def test_a_summary_that_raises_fails_the_run_but_keeps_the_result(
    workspace, model, data, monkeypatch
):
    going = steps(ask(model, data, samples=2), workspace, [model], data)
    broken = replace(going.execution.analysis, findings=lambda result, params: 1 / 0)
    monkeypatch.setattr(going.execution, "analysis", broken)
    with pytest.raises(ZeroDivisionError):
        list(going)
    run = workspace.run(going.execution.run_id)
    assert run.state is RunState.FAILED
    assert "ZeroDivisionError" in run.error
    assert workspace.result(run.id).drawn == 2


def test_a_full_disk_fails_the_run_with_that_sentence(workspace, model, data, monkeypatch):
    monkeypatch.setattr(executing, "COMMIT_SECONDS", 0.0)
    monkeypatch.setattr(commits, "COMMIT_SHARE", 1e9)
    going = steps(ask(model, data, keep=True), workspace, [model], data)
    next(going)
    ((pages,),) = workspace.database.rows("PRAGMA page_count")
    workspace.database.rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(WorkspaceError, match="disk is full"):
        list(going)
    assert going.execution.newest is not None
    workspace.database.rows("PRAGMA max_page_count = 1000000")
    assert workspace.result(going.execution.run_id).drawn >= 1


def test_a_read_only_workspace_refuses_to_run(workspace, model, data):
    with (
        Workspace.open(workspace.path) as second,
        pytest.raises(WorkspaceError, match="another window"),
    ):
        steps(ask(model, data), second, [model], data)


def test_too_many_models_and_missing_abilities_are_said_in_words(data):
    def black_box(x):
        return np.stack([np.asarray(x).sum(1), np.zeros(len(x))], 1)

    one, blind = tiny.classifier(), Classifier.from_callable(black_box, (3,))
    with pytest.raises(ParamsError, match="takes one model"):
        list(steps(build_request("tiny_confidence", [one, one], data, {}), None, [one], data))
    with pytest.raises(ModelError, match="gradients"):
        list(steps(build_request("tiny_pair", [one, blind], data, {}), None, [one, blind], data))
    (step,) = steps(build_request("tiny_pair", [one, one], data, {}), None, [one, one], data)
    assert step.result.confidence[0] == 1


def test_data_that_do_not_fit_are_said_in_words(workspace, model):
    wide = from_arrays(np.zeros((2, 5), np.float32))
    going = steps(ask(model, wide), workspace, [model], wide)
    with pytest.raises(DataError):
        next(going)
    assert workspace.run(going.execution.run_id).state is RunState.FAILED


def test_models_and_data_are_loaded_found_again_and_checked(workspace, tmp_path):
    from robgui.core.loading import load

    torch.export.save(
        torch.export.export(
            tiny.network(), (torch.zeros(2, 3),), dynamic_shapes=({0: torch.export.Dim("n")},)
        ),
        tmp_path / "m.pt2",
    )
    np.savez(tmp_path / "d.npz", inputs=tiny.inputs())
    model, data = load(tmp_path / "m.pt2"), open_dataset(tmp_path / "d.npz")
    request = build_request("tiny_confidence", [model], data, {"samples": 2})
    expected = list(steps(request, None, [model], data))[-1].result
    np.testing.assert_array_equal(
        list(steps(request, workspace))[-1].result.confidence, expected.confidence
    )

    (tmp_path / "m.pt2").rename(tmp_path / "moved.pt2")
    with pytest.raises(ModelError, match="no longer at"):
        list(steps(request, workspace))
    workspace.files.relink(model.fingerprint, tmp_path / "moved.pt2")
    workspace_runs = len(workspace.runs())
    with pytest.raises(ModelError, match="no longer at"):
        list(steps(request, None))
    relinked = [
        known
        for known in workspace.files.references("model")
        if known.fingerprint == model.fingerprint
    ]
    assert [known.path for known in relinked] == [str(tmp_path / "moved.pt2")]
    np.testing.assert_array_equal(
        list(steps(request, workspace))[-1].result.confidence, expected.confidence
    )
    assert len(workspace.runs()) == workspace_runs + 1

    np.savez(tmp_path / "d.npz", inputs=tiny.inputs() / 2)
    with pytest.raises(DataError, match="has changed"):
        list(steps(request, workspace))


def test_what_lived_in_memory_only_is_said_to_be_gone(workspace, model, data):
    with pytest.raises((ModelError, DataError), match="in memory only"):
        list(steps(ask(model, data), workspace))


def test_inputs_that_are_missing_are_an_error_with_a_remedy(model):
    with pytest.raises(DataError, match="needs inputs") as found:
        list(steps(build_request("tiny_confidence", [model], None, {}), None, [model]))
    assert found.value.remedy is Remedy.OPEN_INPUTS


def test_a_stop_before_the_start_never_computes_and_can_be_withdrawn(workspace, model, data):
    execution = Execution(ask(model, data), workspace)
    execution.enlist()
    assert workspace.run(execution.run_id).state is RunState.QUEUED
    execution.stop()
    assert (execution.state, execution.claim()) == (RunState.CANCELLED, False)
    execution.withdraw()
    assert workspace.runs() == []


def test_a_queued_run_is_queued_after_a_restart_and_goes_on_in_its_own_row(tmp_path, model, data):
    with Workspace.open(tmp_path / "w.robgui") as first:
        waiting, broken_off = Execution(ask(model, data), first), Execution(ask(model, data), first)
        waiting.enlist()
        broken_off.claim()
        broken_off.take(Report(RunState.RUNNING))
    with Workspace.open(tmp_path / "w.robgui") as second:
        assert second.run(waiting.run_id).state is RunState.QUEUED
        assert second.run(broken_off.run_id).state is RunState.CANCELLED
        inline = Inline(LoadedCache(models=[model], datasets=[data]))
        again = Execution(second.run(waiting.run_id).request, second, run_id=waiting.run_id)
        inline.submit(again)
        while not again.state.ended:
            inline.work(10)
        assert second.run(waiting.run_id).state is RunState.DONE
        assert len(second.runs()) == 2


def test_a_lost_worker_makes_it_wait_again_until_it_was_tried_often_enough(workspace, model, data):
    execution = Execution(ask(model, data), workspace)
    for attempt in range(2):
        assert execution.claim()
        execution.take(Report(RunState.RUNNING, done=1, total=4))
        execution.take(lost(execution, "its worker is gone", 2))
        expected = (RunState.QUEUED, RunState.FAILED)[attempt]
        assert (execution.state, workspace.run(execution.run_id).state) == (expected, expected)
    assert execution.error == "It was begun twice and never ended: its worker is gone."


def test_time_left_is_what_the_share_done_says(model, data):
    execution = Execution(ask(model, data))
    execution.claim()
    assert execution.seconds_left is None
    execution.take(Report(RunState.RUNNING, done=25, total=100))
    execution.clock = Clock(10.0)
    assert execution.seconds_left == pytest.approx(30, rel=0.01)


def test_the_verdict_is_that_of_the_newest_step_and_says_when_it_was_stopped_early(model, data):
    going = steps(ask(model, data), None, [model], data)
    first = next(going)
    assert going.execution.verdict == tiny.verdict(first.result, going.execution.params)
    second = next(going)
    assert going.execution.verdict == tiny.verdict(second.result, going.execution.params)
    going.close()
    assert going.execution.verdict == tiny.verdict(second.result, going.execution.params).stopped()


def test_the_verdict_of_a_run_that_failed_half_way_says_so_and_holds_nothing(model, data):
    going = steps(ask(model, data), None, [model], data)
    said = tiny.verdict(next(going).result, going.execution.params)
    going.execution.end(RunState.FAILED, "It broke.")
    failed = going.execution.verdict
    assert failed == said.failed() and failed.sentence.startswith("The run failed before its end.")
    holds = replace(said, status=Status.HOLDS)
    assert holds.failed().status is Status.UNKNOWN
    seen = replace(said, status=Status.FAILS, models=(holds,))
    assert seen.failed().status is Status.FAILS, "a failure that was seen stays one"
    assert seen.failed().models[0].status is Status.UNKNOWN


def test_commits_of_many_executions_share_one_tenth_of_the_time(monkeypatch):
    clock = [0.0]
    monkeypatch.setattr(executing.time, "monotonic", lambda: clock[0])
    budget = CommitBudget()
    assert budget.free
    budget.spend(0.5)
    clock[0] = 4.9
    assert not budget.free
    clock[0] = 5.0
    assert budget.free


def test_an_engine_that_cannot_clean_up_fails_its_run_but_keeps_the_result(workspace, model, data):
    going = steps(ask(model, data), workspace, [model], data)

    def stubborn(classifier, dataset, params):
        try:
            yield Step(1, 2, tiny.TinyResult(np.zeros(1), np.zeros(1), 1))
            yield Step(2, 2, tiny.TinyResult(np.zeros(1), np.zeros(1), 2))
        finally:
            raise OSError("the lid is stuck")

    known = registry.find("tiny_confidence")
    object.__setattr__(known, "engine", stubborn)
    try:
        next(going)
        with pytest.raises(OSError, match="stuck"):
            going.close()
    finally:
        object.__setattr__(known, "engine", tiny.tiny_confidence)
    run = workspace.run(going.execution.run_id)
    assert (run.state, run.has_result) == (RunState.FAILED, True)
    assert "the lid is stuck" in run.error
