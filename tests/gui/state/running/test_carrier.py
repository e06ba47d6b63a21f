"""The window's runs in a real worker process: whatever a model does, Stop works and the window lives."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer

from robgui.core.execution.execution import Execution
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.process import Place
from robgui.core.workspace import Workspace
from robgui.gui.state.running.runner import Runner
from tests.core.execution.worker import foreign
from tests.patience import Stopwatch
from tests.stress.seen import misbehaves

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return foreign.write_files(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(scope="module")
def runner(qapp):
    """One for all tests, so that what one model leaves behind would show in the next."""
    before = os.environ.pop("ROBGUI_INLINE", None)
    made = Runner()
    made.arrange([Place()], 1_500_000_000)
    made.start()
    yield made
    assert made.shutdown()
    if before is not None:
        os.environ["ROBGUI_INLINE"] = before


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as opened:
        yield opened


@pytest.fixture
def submit(qtbot, runner, files, workspace):
    def make(build, **params):
        request = foreign.ask(files, build, **params)
        execution = Execution(request, workspace, trusted=foreign.trusted(files, build))
        runner.submit(execution, LoadedCache())
        return execution

    return make


def ended(qtbot, execution):
    qtbot.waitUntil(lambda: execution.state.ended)


def assert_next_run_works(qtbot, runner, submit):
    good = submit("good", samples=256)
    ended(qtbot, good)
    assert (good.state, good.error) == (RunState.DONE, "")
    qtbot.waitUntil(lambda: not runner.executions)


class Heartbeat:
    """How long the event loop was away at most, while this process had the processor."""

    def __init__(self) -> None:
        self._beats: list[float] = []
        self._timer = QTimer(interval=10)
        self._timer.timeout.connect(lambda: self._beats.append(time.process_time()))
        self._timer.start()

    def longest_gap(self) -> float:
        self._timer.stop()
        return max(b - a for a, b in itertools.pairwise(self._beats))


@pytest.mark.parametrize(
    "build",
    [
        "loops",
        pytest.param("loops_in_torch", marks=pytest.mark.slow),
        pytest.param("sleeps", marks=pytest.mark.slow),
    ],
)
def test_stop_works_within_three_seconds_on_a_model_that_never_answers_and_the_window_lives(
    qtbot, runner, submit, workspace, build
):
    stuck = submit(build)
    qtbot.waitUntil(lambda: stuck.newest is not None and misbehaves(runner.pids))
    heart = Heartbeat()
    with Stopwatch() as watch:
        stuck.stop()
        ended(qtbot, stuck)
    assert watch.seconds < 3
    assert heart.longest_gap() < 0.2
    stored = workspace.run(stuck.run_id)
    assert (stored.state, stored.has_result) == (RunState.CANCELLED, True)
    assert_next_run_works(qtbot, runner, submit)


@pytest.mark.parametrize(
    ("build", "words"),
    [
        ("aborts", "SIGABRT"),
        # The tests of the worker see the exit code and the lack of memory too.
        pytest.param("exits", "exit code 7", marks=pytest.mark.slow),
        pytest.param("eats", "memory", marks=pytest.mark.slow),
    ],
)
def test_a_model_that_breaks_its_process_fails_its_run_only(
    qtbot, runner, submit, workspace, build, words
):
    told = []
    runner.changed.connect(told.append)
    broken = submit(build)
    ended(qtbot, broken)
    assert (broken.state, words in broken.error) == (RunState.FAILED, True)
    kept = workspace.run(broken.run_id).has_result  # a Step on its way dies with the process
    assert kept == (broken.newest is not None)
    assert_next_run_works(qtbot, runner, submit)
    runner.changed.disconnect(told.append)
    assert broken in told


def test_a_model_that_prints_without_end_is_stopped_at_once(qtbot, runner, submit):
    talking = submit("talks")
    qtbot.waitUntil(lambda: talking.newest is not None)
    with Stopwatch() as watch:
        talking.stop()
        ended(qtbot, talking)
    assert watch.seconds < 3
    assert talking.state is RunState.CANCELLED
    assert_next_run_works(qtbot, runner, submit)


def test_the_run_is_computed_in_another_process_and_drawn_as_it_goes(qtbot, runner, submit):
    seen = []

    def watch(execution):
        seen.append(execution.newest.done)

    runner.stepped.connect(watch)
    long = submit("good", samples=400_000)
    qtbot.waitUntil(lambda: len(set(seen)) >= 3)
    runner.stepped.disconnect(watch)
    long.stop()
    ended(qtbot, long)
    assert seen == sorted(seen)
    assert long.versions["python"]


def test_what_waits_behind_a_model_that_never_answers_runs_after_it(qtbot, runner, submit):
    stuck, waiting = submit("sleeps"), submit("good", samples=256)
    qtbot.waitUntil(lambda: stuck.newest is not None)
    assert waiting.state is RunState.QUEUED
    stuck.stop()
    ended(qtbot, waiting)
    assert (stuck.state, waiting.state) == (RunState.CANCELLED, RunState.DONE)


@pytest.mark.slow  # the worker's own tests stop a model that never loads
def test_a_run_whose_model_is_never_loaded_in_its_process_can_be_stopped(
    qtbot, runner, files, submit
):
    (files / foreign.HANG).touch()
    request = foreign.ask(files, "hangs_in_warming")
    runner.warm(request, foreign.trusted(files, "hangs_in_warming"))
    qtbot.wait(1000)  # so that loading ahead comes first
    stuck = submit("hangs_in_warming")
    qtbot.waitUntil(lambda: runner.active is stuck)
    with Stopwatch() as watch:
        stuck.stop()
        ended(qtbot, stuck)
    (files / foreign.HANG).unlink()
    assert watch.seconds < 3
    assert_next_run_works(qtbot, runner, submit)
