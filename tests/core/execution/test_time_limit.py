"""Time limits: what is computed by then is kept, and everybody is told."""

from __future__ import annotations

import time

import numpy as np
import pytest

import robgui
from robgui.core.execution import step
from robgui.core.execution.budget import clock
from robgui.core.execution.budget.time_limit import Deadline, within
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report
from robgui.core.execution.worker.messages import read_report, report_frame
from robgui.core.model.classifier import Classifier
from robgui.core.model.timing import times
from robgui.core.verdict import Status, Verdict
from tests.core import tiny


class Watch:
    """A clock that counts the processor time of this thread and what is slept, which takes no time:
    whatever else the machine does is not counted.
    """

    def __init__(self):
        self._slept = 0.0

    def monotonic(self):
        return time.thread_time() + self._slept

    perf_counter = monotonic

    def sleep(self, seconds):
        self._slept += seconds


@pytest.fixture
def watch(monkeypatch):
    made = Watch()
    # What an engine has spent, when its next Step is due, and how long a model takes.
    for module in (clock, step, times):
        monkeypatch.setattr(module, "time", made)
    return made


def slow_steps(watch, count, seconds, closed=None):
    try:
        for number in range(count):
            watch.sleep(seconds)
            yield Step(number + 1, count, number)
    finally:
        if closed is not None:
            closed.append(True)


def test_an_engine_is_ended_after_the_first_step_beyond_its_time_and_closed(watch):
    closed = []
    steps = list(within(slow_steps(watch, 100, 20, closed), 90))
    assert len(steps) == 5
    assert [step.cut for step in steps] == [False] * (len(steps) - 1) + [True]
    assert closed == [True]


def test_without_a_limit_every_step_comes_and_none_is_cut(watch):
    steps = list(within(slow_steps(watch, 5, 100), 0))
    assert [step.done for step in steps] == [1, 2, 3, 4, 5] and not any(s.cut for s in steps)


def test_a_run_that_ends_in_time_is_not_called_cut(watch):
    assert not any(step.cut for step in within(slow_steps(watch, 3, 30), 100))


def test_a_pause_does_not_count(watch):
    steps = within(slow_steps(watch, 4, 10), 300)
    next(steps)
    watch.sleep(500)
    assert [step.cut for step in steps] == [False, False, False]
    deadline = Deadline(300)
    counted = deadline.counted(slow_steps(watch, 3, 10))
    next(counted)
    watch.sleep(400)
    next(counted)
    assert not deadline.over and deadline.seconds == pytest.approx(20, abs=5)


def test_an_engine_that_plans_has_a_little_less_than_the_limit(watch):
    assert Deadline(100).left == pytest.approx(95, abs=0.1)
    assert Deadline().left == float("inf") and not Deadline().limited


def test_the_verdict_of_a_cut_run_says_so_first_for_every_model():
    each = Verdict(Status.HOLDS, "It holds.")
    said = Verdict(Status.HOLDS, "Both hold.", models=(each, each)).cut(60)
    assert said.sentence == "Cut at its time limit of 1 min 0 s. Both hold."
    assert all(one.sentence.startswith("Cut at") for one in said.models)


def test_a_cut_step_is_still_cut_when_a_worker_has_sent_it():
    result = tiny.TinyResult(np.zeros(2), np.zeros(2), 1)
    sent = report_frame(Report(RunState.RUNNING, Step(1, 2, result, "", cut=True)))
    assert read_report(sent, tiny.TinyResult).step.cut


def slowly(watch, seconds):
    """A black box that takes so long for each input."""

    def answer(x):
        watch.sleep(seconds * len(x))
        flat = np.asarray(x).reshape(len(x), -1)
        return np.stack([flat.mean(1), 1 - flat.mean(1), flat[:, 0]], 1) * 8

    return Classifier.from_callable(answer, (1, 12, 12), name="slow", output="logits")


LONG = {
    "zonnscan": {},
    "semantic_map": {},
    "semantic_regions": {},
    "semantic_regions robust": {"mode": "robust"},
    "feature_game": {"player": "nature", "max_calls": 100_000},
    "feature_game all": {"player": "all", "max_calls": 100_000},
    "last_particle": {},
    "last_particle_table": {},
    "zonnscan_populations": {"against": "rest"},
    "feature_game_batch": {},
    "pipeline_audit": {},
}


@pytest.mark.parametrize("name", LONG)
def test_every_engine_keeps_its_time_and_its_result_says_that_it_was_cut(watch, name):
    model, limit = slowly(watch, 0.02), 10.0
    rng = np.random.default_rng(0)
    analysis = name.partition(" ")[0]
    known = find(analysis)
    assert known.engine.function  # imported now, which is no computing
    # A table asks every input once before it tells anything: 6 s here, and 6 s for each round.
    inputs = rng.random((1 if known.inputs == "one" else 300, 1, 12, 12)).astype(np.float32)
    settings = {"max_seconds": limit, "batch": 16, **LONG[name]}
    going = robgui.steps(analysis, model, inputs, **settings)
    for _ in going:
        pass
    run = going.execution
    assert run.state is RunState.DONE
    assert run.seconds < 1.5 * limit, "a batch of a slow model may still end"
    assert run.newest is not None and run.newest.cut
    assert "Cut at its time limit of 10.0 s." in run.verdict.sentence
    assert len(known.views(run.newest.result, run.params)) > 0


def test_the_workspace_keeps_that_a_run_was_cut(tmp_path, watch):
    with robgui.Workspace.open(tmp_path / "a.robgui") as workspace:
        x = np.random.default_rng(0).random((1, 1, 12, 12)).astype(np.float32)
        robgui.run("semantic_map", slowly(watch, 0.02), x, workspace=workspace, max_seconds=2)
        (run,) = workspace.runs()
    assert run.state is RunState.DONE and run.verdict.sentence.startswith("Cut at its time limit")
