"""Workers: real processes with real models that loop, crash, eat memory, sleep and talk."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest

from robgui.core.errors import ModelError, ParamsError, TrustError
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Inline
from robgui.core.execution.registry import unregister
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.process import Place
from robgui.core.execution.worker.terms import Terms
from robgui.core.execution.worker.workers import Workers
from tests.core.execution.worker import foreign
from tests.core.execution.worker.runs import (
    assert_next_run_works,
    misbehave,
    run,
    seconds_to_stop,
    wait,
)
from tests.patience import wait_for

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


def gone(pid):
    return (
        not Path(f"/proc/{pid}").exists() or Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z"
    )


def test_a_worker_gives_the_result_of_this_process_bit_for_bit(workers, files, workspace):
    here, there = (
        Execution(foreign.ask(files, "good"), trusted=foreign.trusted(files, "good")),
        run(workers, files, "good", workspace),
    )
    inline = Inline()
    inline.submit(here)
    while not here.state.ended:
        inline.work(1)
    wait(workers, there)
    assert (
        (there.state, there.verdict) == (here.state, here.verdict) == (RunState.DONE, here.verdict)
    )
    stored, kept = workspace.run(there.run_id), workspace.result(there.run_id)
    assert (stored.device, set(stored.versions)) == ("cpu", {"robgui", "torch", "numpy", "python"})
    for result in (there.newest.result, kept):
        np.testing.assert_array_equal(result.index, here.newest.result.index)
    assert len(there.findings) == len(here.findings) == len(workspace.findings())


@pytest.mark.parametrize(
    "build", ["loops", "loops_in_torch", pytest.param("sleeps", marks=pytest.mark.slow)]
)
def test_a_model_that_never_answers_is_stopped_within_three_seconds_and_its_result_kept(
    workers, files, workspace, build
):
    execution = misbehave(workers, files, build, workspace)
    pid = workers.pids[0]
    assert seconds_to_stop(workers, execution) < 3
    wait_for(lambda: gone(pid), "the end of the process")
    assert (execution.state, execution.error) == (
        RunState.CANCELLED,
        "It did not stop within 2 s, so its worker process was ended; the result so far is kept.",
    )
    stored = workspace.run(execution.run_id)
    assert (stored.state, stored.has_result, stored.error) == (
        RunState.CANCELLED,
        True,
        execution.error,
    )
    assert stored.verdict.sentence.startswith("Stopped early. ")
    assert_next_run_works(workers, files)


def test_a_stop_is_heard_after_the_present_batch_however_rare_the_steps_are(files):
    from tests.core.execution.worker import rare_steps

    name = rare_steps.__name__
    workers = Workers([Place("cpu", 1)], Terms(pace=0.0, imports=(name,)))
    try:
        for _ in range(2):  # the first stop is no stop of the second run
            request = foreign.ask(files, "good").model_copy(
                update={"analysis": "rare_steps", "params": {}, "indices": None, "dataset": None}
            )
            execution = Execution(request, trusted=foreign.trusted(files, "good"))
            workers.submit(execution)
            wait(workers, execution, lambda: execution.newest is not None)  # noqa: B023
            assert seconds_to_stop(workers, execution) < 1
            assert (execution.state, execution.error) == (RunState.CANCELLED, "")
            assert execution.newest.done > 1, "the Step of the batch that was under way"
    finally:
        workers.close()
        unregister("rare_steps")


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("aborts", "Its worker process was ended by signal 6 (SIGABRT)"),
        ("exits", "Its worker process ended by itself with exit code 7"),
        ("eats", "memory"),
        ("raises", "ZeroDivisionError"),
        ("says_goodbye", "SystemExit"),
    ],
)
def test_a_model_that_breaks_fails_its_run_only_with_one_sentence(
    workers, files, workspace, build, words
):
    execution = run(workers, files, build, workspace)
    wait(workers, execution)
    assert execution.state is RunState.FAILED
    assert words in execution.error
    assert "\n" not in execution.error
    kept = workspace.result(execution.run_id) is not None  # a Step on its way dies with the process
    assert kept == ("the result so far is kept" in execution.error) or build not in (
        "aborts",
        "exits",
    )
    assert_next_run_works(workers, files)


def test_a_model_that_prints_without_end_neither_blocks_nor_fills_anything(workers, files):
    execution = run(workers, files, "talks", samples=64)
    wait(workers, execution)
    assert execution.state is RunState.DONE


def test_a_result_is_in_the_workspace_after_two_seconds_although_the_model_is_silent(
    workers, files, workspace
):
    execution = run(workers, files, "sleeps", workspace)
    wait(workers, execution, lambda: execution.newest is not None)
    end = time.monotonic() + 2.5
    wait(workers, execution, lambda: time.monotonic() > end)
    assert workspace.run(execution.run_id).done == execution.newest.done
    execution.stop()
    wait(workers, execution)


def test_a_run_that_cannot_be_stored_any_more_tells_the_next_one_nothing(workers, files, workspace):
    endless = {"samples": 1_000_000, "target_half_width": 0.0}
    execution = run(workers, files, "good", workspace, **endless)
    wait(workers, execution, lambda: execution.newest is not None)
    workspace.delete_run(execution.run_id)
    wait(workers, execution)
    assert execution.state is RunState.FAILED and "has been deleted" in execution.error
    good = run(workers, files, "good")
    wait(workers, good)
    assert good.state is RunState.DONE
    assert good.newest.result.samples.max() < endless["samples"], (
        "its own Steps, not the last run's"
    )


def test_what_a_model_has_started_ends_with_it_where_it_can_start_anything(workers, files):
    execution = misbehave(workers, files, "starts_another")
    group = workers.pids[0]
    started = [
        int(each.name)
        for each in Path("/proc").iterdir()
        if each.name.isdigit() and _group(each.name) == group
    ]
    started.remove(group)
    assert bool(started) != ("Seccomp:\t2" in Path(f"/proc/{group}/status").read_text())
    execution.stop()
    wait(workers, execution)
    wait_for(lambda: all(gone(pid) for pid in started), "their end")


def _group(pid):
    try:
        return os.getpgid(int(pid))
    except ProcessLookupError:
        return 0


def test_pause_and_resume_reach_the_worker(workers, files, workspace):
    execution = run(workers, files, "good", workspace, samples=1_000_000)
    wait(workers, execution, lambda: execution.newest is not None)
    execution.pause()
    end = time.monotonic() + 0.5
    wait(workers, execution, lambda: time.monotonic() > end)
    assert workspace.run(execution.run_id).state is RunState.PAUSED
    before, seconds = execution.done, execution.seconds
    end = time.monotonic() + 0.5
    wait(workers, execution, lambda: time.monotonic() > end)
    assert (execution.done, execution.seconds) == (before, seconds)
    execution.resume()
    wait(workers, execution, lambda: execution.done > before)
    assert seconds_to_stop(workers, execution) < 2, "asked politely, it stops by itself"
    assert (execution.state, execution.error) == (RunState.CANCELLED, "")


def test_a_killed_worker_is_tried_again_as_often_as_it_is_to_be(files):
    workers = Workers([Place("cpu", 1)], Terms(attempts=2))
    try:
        execution = run(workers, files, "good", samples=1_000_000)
        for _ in range(2):
            wait(workers, execution, lambda: execution.state is RunState.RUNNING)
            os.kill(workers.pids[0], signal.SIGKILL)
            wait(workers, execution, lambda: execution.state is RunState.QUEUED)
            if not execution.state.ended:
                workers.submit(execution)
        assert (
            execution.error
            == "It was begun twice and never ended: its worker process was ended by signal 9"
            " (SIGKILL), perhaps because memory ran out."
        )
    finally:
        workers.close()


@pytest.mark.slow  # asking/test_service.py has the same of questions
def test_a_model_that_has_cost_two_processes_is_not_loaded_again_unasked(workers, files):
    for _ in range(2):
        execution = run(workers, files, "aborts_at_once")
        wait(workers, execution)
        assert execution.state is RunState.FAILED
    assert not workers.warm(execution.request)
    assert workers.warm(foreign.ask(files, "good"), foreign.trusted(files, "good"))


def test_loading_a_model_that_hangs_can_be_stopped_too(workers, files):
    assert_next_run_works(workers, files)
    before = workers.words.count("MISCHIEF")  # of other tests' models in the same process
    execution = run(workers, files, "loops_at_once")
    wait(workers, execution, lambda: workers.words.count("MISCHIEF") > before)
    assert not execution.state.ended and execution.newest is None
    assert seconds_to_stop(workers, execution) < 3
    assert execution.state is RunState.CANCELLED
    assert_next_run_works(workers, files)


def test_an_endless_torchscript_model_is_stopped(workers, files, tmp_path):
    card = None
    path = foreign.endless_script(tmp_path)
    card = workers.ask(
        "model", path=str(path), trust=True, device="cpu", autocast=False, settings={"shape": (3,)}
    )
    request = foreign.ask(files, "good").model_copy(update={"models": (card.reference(),)})
    execution = Execution(request, trusted=frozenset({card.ran} - {""}))
    workers.submit(execution)
    end = time.monotonic() + 2
    wait(workers, execution, lambda: time.monotonic() > end)
    assert seconds_to_stop(workers, execution) < 3
    assert execution.state is RunState.CANCELLED
    assert execution.newest is not None


def test_questions_are_answered_and_refusals_keep_their_kind(workers, files):
    values = {"trust": False, "device": "cpu", "autocast": False}
    with pytest.raises(ModelError, match="nowhere"):
        workers.ask("model", path=str(files / "nowhere.onnx"), settings={}, **values)
    settings = {"architecture": "foreign.py:good", "shape": (3,)}
    with pytest.raises(TrustError):
        workers.ask("model", path=str(files / "foreign.safetensors"), settings=settings, **values)
    with pytest.raises(ParamsError, match="no device 'tpu'"):
        workers.ask(
            "model",
            path=str(files / "foreign.safetensors"),
            settings=settings,
            **{**values, "device": "tpu"},
        )
    card = workers.ask(
        "model",
        path=str(files / "foreign.safetensors"),
        settings=settings,
        **{**values, "trust": True},
    )
    assert (card.name, card.shape, card.classes, card.kind) == (
        "foreign.safetensors",
        (3,),
        4,
        "table",
    )
    assert card.fingerprint == foreign.ask(files, "good").models[0].fingerprint
    data = workers.ask("data", path=str(files / "data.npz"), options={}, query="index<2")
    assert (data.inputs, data.chosen) == (5, [0, 1])
    trial = workers.ask("trial", model=card.fingerprint, data=data.reference.fingerprint)
    assert (trial.inputs, len(trial.answers)) == (5, 5)


def test_a_question_about_a_model_that_aborts_is_one_sentence(workers, files):
    settings = {"architecture": "foreign.py:aborts_at_once", "shape": (3,)}
    values = {"trust": True, "device": "cpu", "autocast": False, "settings": settings}
    with pytest.raises(ModelError, match=r"signal 6 \(SIGABRT\)"):
        workers.ask("model", path=str(files / "foreign.safetensors"), **values)
    assert_next_run_works(workers, files)


@pytest.mark.cold_workers
def test_a_worker_knows_no_display_and_no_secret(workers, files, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":99")
    monkeypatch.setenv("SECRET_TOKEN", "hush")
    fresh = Workers([Place("cpu", 1)])
    try:
        fresh.start()
        told = Path(f"/proc/{fresh.pid}/environ").read_bytes()
    finally:
        fresh.close()
    assert b"DISPLAY" not in told and b"hush" not in told and b"PATH=" in told


@pytest.mark.cold_workers
@pytest.mark.slow  # starts and ends workers many times
def test_workers_leave_no_thread_and_no_descriptor_behind(files):
    import threading

    def counted():
        return threading.active_count(), len(list(Path("/proc/self/fd").iterdir()))

    first = Workers([Place("cpu", 1)])
    first.start()
    first.close()
    time.sleep(0.5)
    before = counted()
    for _ in range(5):
        again = Workers([Place("cpu", 1)])
        again.start()
        again.close()
    wait_for(lambda: counted() <= before, "threads and descriptors to go")
