"""The Runner: order, pause, stop, errors, and a window that stays alive."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from robgui.core.errors import ModelError
from robgui.core.execution.analysis import Step
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.gui.state.runner import Job, Runner


class CountingDrive:
    """A Drive over any generator, without a workspace."""

    run_id = None
    findings = ()

    def __init__(self, steps: Iterator[Step[int]]) -> None:
        self._steps = steps
        self.closed = threading.Event()

    def __iter__(self) -> Iterator[Step[int]]:
        return self._steps

    def pause(self) -> None:
        pass

    def close(self) -> None:
        self.closed.set()


def count(to: int, seconds: float = 0.002) -> Iterator[Step[int]]:
    for i in range(to):
        time.sleep(seconds)
        yield Step(i + 1, to, i + 1)


def job(steps: Callable[[], Iterator[Step[int]]]) -> Job:
    return Job(Request(analysis="zonnscan"), lambda: CountingDrive(steps()))


@pytest.fixture
def runner(qtbot):
    made = Runner()
    yield made
    assert made.shutdown()


def test_the_last_step_is_shown_before_the_end_is_told(runner, qtbot):
    seen = []
    runner.stepped.connect(lambda j: seen.append(j.step.result))
    runner.changed.connect(lambda j: seen.append(j.state))
    for _ in range(5):
        seen.clear()
        runner.submit(job(lambda: count(20)))
        qtbot.waitUntil(lambda: RunState.DONE in seen, timeout=5000)
        assert seen[-2:] == [20, RunState.DONE]


def test_jobs_run_one_after_another_in_order(runner, qtbot):
    running: list[str] = []
    overlaps: list[str] = []

    def named(name: str) -> Iterator[Step[int]]:
        running.append(name)
        overlaps.extend(running[:-1])
        yield from count(5)
        running.remove(name)

    order: list[int] = []
    jobs = [job(lambda i=i: named(str(i))) for i in range(4)]
    runner.changed.connect(lambda j: order.append(jobs.index(j)) if j.state is RunState.DONE else None)
    for item in jobs:
        runner.submit(item)
    qtbot.waitUntil(lambda: len(order) == 4, timeout=5000)
    assert order == [0, 1, 2, 3]
    assert not overlaps


def test_stop_keeps_the_newest_step_and_closes_the_engine(runner, qtbot):
    stopped = job(lambda: count(100_000))
    runner.submit(stopped)
    qtbot.waitUntil(lambda: stopped.step is not None and stopped.step.done > 3, timeout=5000)
    stopped.stop()
    qtbot.waitUntil(lambda: stopped.state is RunState.CANCELLED, timeout=2000)
    assert stopped.step.result >= 3
    assert not runner.busy


def test_a_paused_job_makes_no_progress_and_goes_on_when_resumed(runner, qtbot):
    paused = job(lambda: count(100_000))
    runner.submit(paused)
    qtbot.waitUntil(lambda: paused.step is not None, timeout=5000)
    paused.pause()
    qtbot.wait(100)
    before, seconds = paused.mailbox.done, paused.seconds
    qtbot.wait(200)
    assert paused.mailbox.done == before
    assert paused.seconds == seconds
    paused.resume()
    qtbot.waitUntil(lambda: paused.mailbox.done > before, timeout=2000)
    paused.stop()
    qtbot.waitUntil(lambda: paused.state is RunState.CANCELLED, timeout=2000)


def test_a_paused_job_can_be_stopped(runner, qtbot):
    paused = job(lambda: count(100_000))
    runner.submit(paused)
    qtbot.waitUntil(lambda: paused.step is not None, timeout=5000)
    paused.pause()
    paused.stop()
    qtbot.waitUntil(lambda: paused.state is RunState.CANCELLED, timeout=2000)


def test_a_queued_job_that_is_stopped_never_starts(runner, qtbot):
    started: list[bool] = []

    def second() -> Iterator[Step[int]]:
        started.append(True)
        yield from count(1)

    first, waiting = job(lambda: count(100_000)), job(second)
    runner.submit(first)
    runner.submit(waiting)
    waiting.stop()
    first.stop()
    qtbot.waitUntil(lambda: not runner.busy, timeout=2000)
    qtbot.wait(100)
    assert waiting.state is RunState.CANCELLED
    assert not started


@pytest.mark.parametrize(
    ("error", "words"), [(ModelError("m.onnx: broken."), "m.onnx: broken."), (RuntimeError("CUDA error: x"), "RuntimeError")]
)
def test_an_engine_that_raises_fails_with_its_sentence_and_the_next_job_runs(runner, qtbot, error, words):
    def broken() -> Iterator[Step[int]]:
        yield Step(1, 2, 1)
        raise error

    failed, next_one = job(broken), job(lambda: count(3))
    runner.submit(failed)
    runner.submit(next_one)
    qtbot.waitUntil(lambda: next_one.state is RunState.DONE, timeout=5000)
    assert failed.state is RunState.FAILED
    assert words in failed.error
    assert failed.step.result == 1


def test_time_left_is_what_the_share_done_says():
    timed = job(lambda: count(1))
    assert timed.seconds_left is None
    timed.begun = time.monotonic() - 10
    timed.step = Step(25, 100, 0)
    assert timed.seconds_left == pytest.approx(30, rel=0.01)


def test_the_event_loop_keeps_its_heartbeat_while_an_engine_computes(runner, qtbot):
    import torch
    from PySide6.QtCore import QTimer

    weights = torch.rand(512, 512)

    def busy() -> Iterator[Step[int]]:
        for i in range(10_000):
            torch.rand(512, 512) @ weights
            yield Step(i, 10_000, i)

    beats: list[float] = []
    clock = QTimer()
    clock.setInterval(5)
    clock.timeout.connect(lambda: beats.append(time.monotonic()))
    clock.start()
    working = job(busy)
    runner.submit(working)
    qtbot.wait(1500)
    working.stop()
    gaps = sorted(b - a for a, b in itertools.pairwise(beats))
    assert len(beats) > 50
    assert gaps[int(0.9 * len(gaps))] < 0.1
