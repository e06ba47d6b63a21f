"""Several runs at once, each in a real worker process of its own."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from robgui.core.execution.execution import Execution
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.cores import cores
from robgui.core.execution.worker.process import Place
from robgui.core.workspace import Workspace
from robgui.gui.app.worker_words import in_full, in_short
from robgui.gui.state.running.places import window_places
from robgui.gui.state.running.runner import Runner
from tests.core.execution.worker import foreign

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return foreign.write_files(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(scope="module")
def runner(qapp):
    """One for all tests, with two workers."""
    before = {name: os.environ.pop(name, None) for name in ("ROBGUI_INLINE", "OMP_NUM_THREADS")}
    made = Runner()
    made.arrange(window_places(2, "cpu", ["cpu"]), 1_500_000_000)
    made.start()
    yield made
    assert made.shutdown()
    os.environ.update({name: value for name, value in before.items() if value is not None})


@pytest.fixture
def submit(qtbot, runner, files, tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as workspace:

        def make(build, device="", **params):
            request = foreign.ask(files, build, **params)
            execution = Execution(request, workspace, trusted=foreign.trusted(files, build))
            runner.submit(execution, LoadedCache(), device=device)
            return execution

        yield make
        runner.stop_all()
        qtbot.waitUntil(lambda: not runner.busy)


LONG = {"samples": 1_000_000, "batch": 16}


def test_two_runs_compute_beside_each_other_and_the_third_waits(qtbot, runner, submit):
    one, two, three = (submit("good", **LONG) for _ in range(3))
    qtbot.waitUntil(lambda: one.newest is not None and two.newest is not None)
    assert [job.state for job in (one, two, three)] == [RunState.RUNNING] * 2 + [RunState.QUEUED]
    assert runner.waits == [three] and runner.at_work == [one, two]
    assert not runner.has_room
    seen = [job.newest.done for job in (one, two)]
    qtbot.waitUntil(
        lambda: all(job.newest.done > n for job, n in zip((one, two), seen, strict=True)),
    )
    assert len(set(runner.pids)) == 2
    doings = runner.doings
    assert [doing.execution for doing in doings] == [one, two]
    short, full = in_short(doings, {}), in_full(doings, {})
    assert re.fullmatch(r"1: zonnscan \S.* · 2: zonnscan \S.*", short), short
    assert all(f"process {pid}" in full for pid in runner.pids)
    assert full.count("foreign.safetensors") == 2
    one.stop()
    qtbot.waitUntil(lambda: three.newest is not None)
    assert (one.state, two.state) == (RunState.CANCELLED, RunState.RUNNING)


def test_each_has_half_of_the_threads(qtbot, runner, submit):
    half = max(1, cores() // 2)
    jobs = [submit("tells_threads", samples=512) for _ in range(2)]
    qtbot.waitUntil(lambda: all(job.state.ended for job in jobs))
    assert [job.state for job in jobs] == [RunState.DONE] * 2, [job.error for job in jobs]
    said = runner.carrier.workers.words
    assert set(re.findall(r"THREADS (\d+)", said)) == {str(half)}
    assert {doing.place for doing in runner.doings} == {Place("cpu", half)}


def test_a_model_that_never_answers_holds_up_its_own_worker_only(qtbot, runner, submit):
    stuck = submit("loops")
    qtbot.waitUntil(lambda: stuck.newest is not None)
    for _ in range(3):
        good = submit("good", samples=256)
        qtbot.waitUntil(lambda good=good: good.state.ended)
        assert (good.state, stuck.state) == (RunState.DONE, RunState.RUNNING)
    broken = submit("aborts")
    qtbot.waitUntil(lambda: broken.state.ended)
    assert broken.state is RunState.FAILED and "SIGABRT" in broken.error
    assert stuck.state is RunState.RUNNING
    stuck.stop()
    qtbot.waitUntil(lambda: stuck.state is RunState.CANCELLED)
    again = [submit("good", samples=256) for _ in range(2)]
    qtbot.waitUntil(lambda: all(job.state.ended for job in again))
    assert [job.state for job in again] == [RunState.DONE] * 2


@pytest.mark.slow  # starts several workers
def test_fewer_at_once_lets_what_runs_go_on_and_ends_its_worker_after_it(qtbot, runner, submit):
    jobs = [submit("good", **LONG) for _ in range(3)]
    qtbot.waitUntil(lambda: all(job.newest for job in jobs[:2]))
    runner.arrange([Place()], 1_400_000_000)
    qtbot.wait(1000)
    assert [job.state for job in jobs] == [RunState.RUNNING] * 2 + [RunState.QUEUED]
    jobs[0].stop()
    qtbot.waitUntil(lambda: jobs[0].state.ended)
    qtbot.wait(500)
    assert jobs[2].state is RunState.QUEUED, "one at once, and one still runs"
    jobs[1].stop()
    qtbot.waitUntil(lambda: jobs[2].newest is not None)
    qtbot.waitUntil(lambda: len(runner.pids) == 1)
    runner.stop_all()
    qtbot.waitUntil(lambda: not runner.busy)
    runner.arrange(window_places(2, "cpu", ["cpu"]), 1_500_000_000)
    qtbot.waitUntil(lambda: len(runner.pids) == 2)


@pytest.mark.slow  # starts several workers
def test_a_run_sent_to_another_device_computes_there_beside_the_first(qtbot, runner, submit, files):
    """``cpu:0`` stands for a second device: the same processor by another name."""
    runner.arrange(window_places(1, "cpu", ["cpu", "cpu:0"], "cpu:0"), 1_500_000_000)
    usual, waits = submit("good", **LONG), submit("good", **LONG)
    there, queued = submit("good", device="cpu:0", **LONG), submit("good", device="cpu:0", **LONG)
    qtbot.waitUntil(lambda: bool(usual.newest and there.newest))
    assert {doing.place.device: doing.execution for doing in runner.doings} == {
        "": usual,
        "cpu:0": there,
    }
    assert there.device == "cpu:0" and usual.device == "cpu"
    assert runner.waits == [waits, queued], "each waits for its own"
    usual.stop()
    qtbot.waitUntil(lambda: waits.newest is not None)
    assert there.state is RunState.RUNNING and queued.state is RunState.QUEUED
    runner.arrange(window_places(1, "cpu", ["cpu", "cpu:0"]), 1_500_000_000)
    for one in (there, waits):
        one.stop()
    qtbot.waitUntil(lambda: queued.newest is not None)
    assert queued.device == "cpu", "a device that has no worker any more strands nothing"
    runner.stop_all()
    qtbot.waitUntil(lambda: not runner.busy)
    runner.arrange(window_places(2, "cpu", ["cpu"]), 1_500_000_000)


def test_in_one_process_one_runs_at_a_time_whatever_was_asked(qtbot, monkeypatch):
    monkeypatch.setenv("ROBGUI_INLINE", "1")
    made = Runner()
    made.arrange([Place("cpu", 1)] * 2, 0)
    assert made.carrier.at_once == 1
    assert made.shutdown()
