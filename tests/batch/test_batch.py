from __future__ import annotations

import os
import signal
from dataclasses import replace

import pytest

from robgui.batch import Batch, Place, Plan, local_workers
from robgui.batch.batch import BatchEntry, Progress
from robgui.core.errors import WorkspaceError
from robgui.core.evidence import Evidence
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.verdict import Status, Verdict
from robgui.core.workspace import Workspace
from tests.batch import small

CPU = Place("cpu", 1)


@pytest.mark.slow  # sixty requests in three processes
def test_sixty_requests_on_two_workers_are_those_of_one_process_bit_for_bit(
    files, tmp_path, workspace
):
    plan = small.plan(files, small.MANY)
    assert len(plan.requests) == 63
    with Workspace.open(tmp_path / "alone.robgui") as alone:
        # nothing split
        whole = replace(
            plan, requests=tuple(type(each)(each.request, each.title) for each in plan.requests)
        )
        assert set(small.states(small.run(whole, alone, Inline(LoadedCache("cpu"))))) == {"done"}
        progress = small.run(plan, workspace, local_workers([CPU, CPU]))
        assert set(small.states(progress)) == {"done"}
        assert (progress.share, progress.ended) == (1.0, 63)
        small.assert_same(small.results(alone), small.results(workspace))
        verdicts = [
            {run.request.fingerprint: run.verdict for run in each.runs()}
            for each in (alone, workspace)
        ]
        assert verdicts[0] == verdicts[1]
        assert len(alone.findings()) == len(workspace.findings())


def test_a_request_whose_worker_is_killed_is_tried_once_more_and_then_fails(files, workspace):
    plan = small.plan(files, small.LONG.format(samples=500_000, seeds=[0, 1]))
    executor = local_workers([CPU])
    killed: dict[int, int] = {}
    for progress in Batch(plan, workspace, executor):
        for entry in progress.entries:
            if (
                entry.state is RunState.RUNNING
                and killed.get(entry.number, 0) < entry.attempts <= entry.number + 1
            ):
                killed[entry.number] = entry.attempts
                (pid,) = executor.pids
                os.kill(pid, signal.SIGKILL)
    assert killed == {0: 1, 1: 2}
    first, second = progress.entries
    assert (first.state, first.attempts) == (RunState.DONE, 2)
    assert (second.state, second.attempts) == (RunState.FAILED, 2)
    assert (
        second.error
        == "It was begun twice and never ended: its worker process was ended by signal 9 (SIGKILL),"
        " perhaps because memory ran out."
    )
    assert {run.state for run in workspace.runs()} == {RunState.DONE, RunState.FAILED}
    assert len(workspace.runs()) == 2


def test_a_stop_keeps_the_newest_result_and_begins_nothing_new(files, workspace):
    plan = small.plan(files, small.LONG.format(samples=900_000, seeds=[0, 1, 2]))
    batch = Batch(plan, workspace, Inline(LoadedCache("cpu")))
    for progress in batch:
        if progress.entries[0].done:
            batch.stop()
    assert small.states(progress) == ["cancelled", "queued", "queued"]
    (run,) = workspace.runs()
    assert (run.state, run.has_result) == (RunState.CANCELLED, True)
    assert run.verdict.text.startswith("Stopped early. ")
    assert 0 < run.done < run.total
    assert next(batch, None) is None


def test_a_part_that_fails_fails_its_request_alone(files, workspace):
    text = (
        '[[analyses]]\nname = "zonnscan_populations"\nparams = { samples = 32 }\nmodels ='
        ' ["net_0*"]\nshards = 3\n'
    )
    plan = small.plan(files, text)
    (good,) = plan.requests
    bad = type(good)(good.request.model_copy(update={"indices": (0, 99)}), "bad", good.parts)
    progress = small.run(replace(plan, requests=(bad, good)), workspace, Inline(LoadedCache("cpu")))
    assert small.states(progress) == ["failed", "done"]
    assert "there is no item 99" in progress.entries[0].error


def test_a_read_only_workspace_is_refused_before_anything_is_computed(files, tmp_path, workspace):
    with (
        Workspace.open(workspace.path) as second,
        pytest.raises(WorkspaceError, match="Nothing can be recorded"),
    ):
        Batch(Plan(()), second, Inline(LoadedCache("cpu")))


def test_an_empty_plan_ends_at_once(workspace):
    (progress,) = Batch(Plan(()), workspace, Inline(LoadedCache("cpu")))
    assert (progress.entries, progress.share) == ((), 1.0)


def test_a_stop_between_two_parts_ends_their_request_too(files, workspace):
    text = (
        '[[analyses]]\nname = "zonnscan_populations"\nparams = { samples = 32 }\nmodels ='
        ' ["net_0*"]\nshards = 3\n'
    )
    batch = Batch(small.plan(files, text), workspace, Inline(LoadedCache("cpu")))
    while batch.go_on() and not batch.entries[0].done:
        pass
    batch.close()
    assert [entry.state for entry in batch.entries] == [RunState.CANCELLED]
    assert [run.state for run in workspace.runs()] == [RunState.CANCELLED]


def test_what_an_earlier_sitting_left_queued_goes_on_in_its_own_run(files, workspace):
    plan = small.plan(
        files,
        '[[analyses]]\nname = "zonnscan"\nindex = "0:2"\nparams = { samples = 64 }\nmodels ='
        ' ["net_1*"]\n',
    )
    waiting = workspace.add_run(plan.requests[1].request)
    progress = small.run(plan, workspace, Inline(LoadedCache("cpu")))
    assert small.states(progress) == ["done", "done"]
    assert progress.entries[1].run_id == waiting.id
    assert [run.state for run in workspace.runs()] == [RunState.DONE] * 2


def test_the_summary_of_a_batch_tells_of_a_failure_that_another_run_has_seen():
    models = (Reference(kind="model", name="m", fingerprint="m"),)
    data = Reference(kind="dataset", name="d", fingerprint="d")
    asked = Request(analysis="last_particle", models=models, dataset=data, indices=(1,))
    other = asked.model_copy(update={"analysis": "feature_game"})
    held = Verdict(Status.HOLDS, "Noise does not change it.")
    fails = Verdict(Status.FAILS, "9 pixels change it.")
    entries = (BatchEntry(0, asked, "a", RunState.DONE, run_id="a", verdict=held),)
    seen = Run("b", other, RunState.DONE, 0.0, verdict=fails)
    shown = Progress(entries, 1.0, 1.0, None).beside(Evidence([seen])).entries[0].verdict
    assert shown.status is Status.AT_RISK and "9 pixels" in shown.sentence
