"""The Outbox: the newest Step goes, older ones are forgotten, and nobody waits."""

from __future__ import annotations

import io
import threading
import time
from dataclasses import dataclass

import numpy as np
import pytest

from robgui.core.errors import WorkspaceError
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report
from robgui.core.execution.worker import frames
from robgui.core.execution.worker.frames import FrameError
from robgui.core.execution.worker.messages import read_report, report_frame
from robgui.core.execution.worker.outbox import Outbox
from tests.patience import wait_for


@dataclass(frozen=True)
class Count:
    value: int


def step(value: int) -> Report:
    return Report(RunState.RUNNING, step=Step(value, 100, Count(value)), done=value, total=100)


@pytest.fixture
def sent():
    return []


@pytest.fixture
def outbox(sent):
    return Outbox(lambda frame: sent.append(read_report(frame, Count)), 0.0)


def test_while_the_other_side_is_busy_only_the_newest_step_waits(outbox, sent):
    outbox.put(step(1))
    wait_for(lambda: sent)
    for value in range(2, 50):
        outbox.put(step(value))
    time.sleep(0.05)
    assert [report.step.result.value for report in sent if report.step] == [1]
    outbox.taken()
    wait_for(lambda: sent[-1].step is not None and sent[-1].step.result.value == 49)
    outbox.close(Report(RunState.DONE))
    assert [report.step.result.value for report in sent if report.step] == [1, 49]
    assert sent[-1].state is RunState.DONE


def test_how_far_it_is_is_told_although_the_result_must_wait(outbox, sent):
    outbox.put(step(1))
    wait_for(lambda: sent)
    outbox.put(step(7))
    wait_for(lambda: sent[-1].done == 7)
    assert sent[-1].step is None


def test_the_last_report_carries_the_step_that_was_not_sent_yet(outbox, sent):
    outbox.put(Report(RunState.RUNNING, device="cpu", versions={"a": "1"}))
    outbox.put(step(1))
    wait_for(lambda: any(report.step for report in sent))
    outbox.put(step(2))
    outbox.close(Report(RunState.CANCELLED))
    assert (sent[-1].state, sent[-1].step.result.value) == (RunState.CANCELLED, 2)
    assert "cpu" in {report.device for report in sent}


def test_putting_never_waits_for_a_slow_receiver():
    door = threading.Event()
    outbox = Outbox(lambda frame: door.wait(10), 0.0)
    began = time.monotonic()
    for value in range(1000):
        outbox.put(step(value))
    assert time.monotonic() - began < 1
    door.set()
    outbox.close(Report(RunState.DONE))


def test_a_pause_sends_the_newest_result_before_its_time(sent):
    outbox = Outbox(lambda frame: sent.append(read_report(frame, Count)), 60.0)
    outbox.put(step(1))
    wait_for(lambda: sent and sent[-1].step is not None)
    outbox.taken()
    outbox.put(step(3))
    wait_for(lambda: sent[-1].done == 3)
    assert sent[-1].step is None
    outbox.hurry()
    wait_for(lambda: sent[-1].step is not None and sent[-1].step.result.value == 3)
    outbox.close(Report(RunState.DONE))


def test_a_result_that_cannot_be_sent_is_told_as_a_problem(outbox):
    outbox.put(Report(RunState.RUNNING, step=Step(1, 2, Count(np.array([object()])))))
    wait_for(lambda: outbox.problem is not None)
    assert isinstance(outbox.problem, WorkspaceError)


@pytest.mark.parametrize("value", [object(), np.zeros(1000)], ids=["an object", "too large"])
def test_a_last_result_that_cannot_be_sent_fails_the_run_in_words(value, monkeypatch):
    monkeypatch.setattr(frames, "MOST_BODY", 1000)
    sent = []
    outbox = Outbox(lambda frame: sent.append(_through_a_pipe(frame)), 60.0)
    outbox.put(step(1))
    wait_for(lambda: sent)
    # Due only in a minute, so the last report carries it.
    outbox.taken()
    outbox.put(Report(RunState.RUNNING, step=Step(2, 2, Count(value))))
    outbox.close(Report(RunState.DONE))
    assert (sent[-1].state, sent[-1].step) == (RunState.FAILED, None)
    assert "cannot be stored" in sent[-1].error or "too large" in sent[-1].error


def test_a_result_too_large_to_be_sent_is_told_as_a_problem(monkeypatch):
    monkeypatch.setattr(frames, "MOST_BODY", 1000)
    outbox = Outbox(_through_a_pipe, 0.0)
    outbox.put(Report(RunState.RUNNING, step=Step(1, 2, Count(np.zeros(1000)))))
    wait_for(lambda: outbox.problem is not None)
    assert isinstance(outbox.problem, FrameError)


def _through_a_pipe(frame: frames.Frame) -> Report:
    """As a worker sends it: the size is checked when the frame is written."""
    pipe = io.BytesIO()
    frames.write_frame(pipe, frame)
    return read_report(frame, Count)


def test_what_a_step_keeps_for_going_on_outlives_the_steps_that_replace_it(sent):
    outbox = Outbox(lambda frame: sent.append(read_report(frame, Count, Count)), 0.0)
    outbox.put(step(1))
    wait_for(lambda: sent)
    kept = Step(2, 100, Count(2), kept=Count(2))
    outbox.put(Report(RunState.RUNNING, step=kept, done=2, total=100))
    outbox.put(step(3))
    outbox.close(Report(RunState.DONE))
    last = sent[-1].step
    assert (last.result, last.kept) == (Count(3), Count(2))
    assert sent[0].step.kept is None


def test_what_nobody_can_go_on_from_is_not_read(sent):
    frame = report_frame(Report(RunState.RUNNING, step=Step(1, 2, Count(1), kept=Count(1))))
    assert read_report(frame, Count).step.kept is None
    with pytest.raises(FrameError):
        read_report(frame, Count, Step)
