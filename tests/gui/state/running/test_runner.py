"""The Runner: order, pause, stop, errors, and a window that stays alive."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from robgui.core.errors import ModelError
from robgui.core.execution import registry
from robgui.core.execution.analysis import analysis, nothing
from robgui.core.execution.execution import Execution
from robgui.core.execution.inline import Inline
from robgui.core.execution.loaded_cache import LoadedCache
from robgui.core.execution.params.params import Params
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.verdict import Status, Verdict
from robgui.core.workspace import Workspace
from robgui.gui.state.running.carrier import Carrier
from robgui.gui.state.running.runner import Runner
from tests.core import tiny


@dataclass(frozen=True)
class Count:
    value: int


#: What each run of ``scripted`` does, by its seed.
SCRIPTS: list[Callable[[], Iterator[Step[Count]]]] = []


def scripted(classifier: object, dataset: object, params: Params) -> Iterator[Step[Count]]:
    yield from SCRIPTS[params.seed]()


def count(to: int, seconds: float = 0.002) -> Iterator[Step[Count]]:
    for i in range(to):
        time.sleep(seconds)
        yield Step(i + 1, to, Count(i + 1))


def said(result: Count, params: Params) -> Verdict:
    return Verdict(Status.UNKNOWN, f"{result.value}.")


@pytest.fixture(autouse=True)
def registered():
    registry.register(
        analysis(title="Scripted", question="", verdict=said, views=nothing, inputs="none")(
            scripted
        )
    )
    SCRIPTS.clear()
    yield
    registry.unregister("scripted")


@pytest.fixture(scope="module")
def model():
    return tiny.classifier()


@pytest.fixture
def runner(qtbot):
    made = Runner()
    yield made
    assert made.shutdown()


@pytest.fixture
def submit(runner, model):
    """Queues an Execution that does what a generator says."""

    def make(
        script: Callable[[], Iterator[Step[Count]]], workspace: Workspace | None = None
    ) -> Execution:
        SCRIPTS.append(script)
        request = build_request("scripted", [model], None, {"seed": len(SCRIPTS) - 1})
        execution = Execution(request, workspace)
        runner.submit(execution, LoadedCache(models=[model]))
        return execution

    return make


def test_the_last_step_is_shown_before_the_end_is_told(runner, submit, qtbot):
    seen = []
    runner.stepped.connect(lambda one: seen.append(one.newest.result.value))
    runner.changed.connect(lambda one: seen.append(one.state))
    for _ in range(5):
        seen.clear()
        submit(lambda: count(20))
        qtbot.waitUntil(lambda: RunState.DONE in seen)
        assert seen[-2:] == [20, RunState.DONE]


def test_a_run_that_ends_while_it_is_queued_is_told_like_any_other(
    runner, submit, qtbot, monkeypatch
):
    def at_once(carrier, order, place=None):
        here = Inline(order.shelf)
        here.submit(order.execution)
        while not order.execution.state.ended:
            here.work(1.0)

    monkeypatch.setattr(Carrier, "put", at_once)
    seen = []
    runner.stepped.connect(lambda one: seen.append((one, one.newest.result.value)))
    runner.changed.connect(lambda one: seen.append((one, one not in runner.executions)))
    run = submit(lambda: count(3))
    assert seen == [(run, False)], "who asks for a run can still begin to listen to its end"
    qtbot.waitUntil(lambda: not runner.busy)
    assert seen[1:] == [(run, 3), (run, True)]


def test_executions_run_one_after_another_in_order(runner, submit, qtbot):
    running: list[str] = []
    overlaps: list[str] = []

    def named(name: str) -> Iterator[Step[Count]]:
        running.append(name)
        overlaps.extend(running[:-1])
        yield from count(5)
        running.remove(name)

    ended: list[Execution] = []
    runner.changed.connect(lambda one: ended.append(one) if one.state is RunState.DONE else None)
    asked = [submit(lambda i=i: named(str(i))) for i in range(4)]
    qtbot.waitUntil(lambda: len(ended) == 4)
    assert ended == asked
    assert not overlaps


def test_stop_keeps_the_newest_step_and_closes_the_engine(runner, submit, qtbot):
    closed = threading.Event()

    def watched() -> Iterator[Step[Count]]:
        try:
            yield from count(100_000)
        finally:
            closed.set()

    stopped = submit(watched)
    qtbot.waitUntil(lambda: stopped.newest is not None and stopped.newest.done > 3)
    stopped.stop()
    qtbot.waitUntil(lambda: stopped.state is RunState.CANCELLED)
    assert stopped.newest.result.value >= 3
    assert stopped.verdict.sentence == f"Stopped early. {stopped.newest.result.value}."
    assert closed.is_set()
    qtbot.waitUntil(lambda: not runner.busy)


def test_a_paused_execution_makes_no_progress_and_goes_on_when_resumed(submit, qtbot):
    paused = submit(lambda: count(100_000))
    qtbot.waitUntil(lambda: paused.newest is not None)
    paused.pause()
    qtbot.wait(100)
    before, seconds = paused.newest.done, paused.seconds
    qtbot.wait(200)
    assert paused.newest.done == before
    assert paused.seconds == seconds
    paused.resume()
    qtbot.waitUntil(lambda: paused.newest.done > before)
    paused.stop()
    qtbot.waitUntil(lambda: paused.state is RunState.CANCELLED)


def test_a_paused_execution_can_be_stopped(submit, qtbot):
    paused = submit(lambda: count(100_000))
    qtbot.waitUntil(lambda: paused.newest is not None)
    paused.pause()
    paused.stop()
    qtbot.waitUntil(lambda: paused.state is RunState.CANCELLED)


def test_what_waits_and_is_stopped_never_starts(runner, submit, qtbot):
    started: list[bool] = []

    def second() -> Iterator[Step[Count]]:
        started.append(True)
        yield from count(1)

    first, waiting = submit(lambda: count(100_000)), submit(second)
    waiting.stop()
    first.stop()
    qtbot.waitUntil(lambda: not runner.busy)
    qtbot.waitUntil(lambda: runner.active is None and not runner.executions)
    assert waiting.state is RunState.CANCELLED
    assert not started


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (ModelError("m.onnx: broken."), "m.onnx: broken."),
        (RuntimeError("CUDA error: x"), "RuntimeError"),
    ],
)
def test_an_engine_that_raises_fails_with_its_sentence_and_the_next_one_runs(
    submit, qtbot, error, words
):
    def broken() -> Iterator[Step[Count]]:
        yield Step(1, 2, Count(1))
        raise error

    failed, next_one = submit(broken), submit(lambda: count(3))
    qtbot.waitUntil(lambda: next_one.state is RunState.DONE)
    assert failed.state is RunState.FAILED
    assert words in failed.error
    assert failed.newest.result.value == 1


def test_closing_leaves_what_waits_in_the_workspace_as_queued(qtbot, model, tmp_path):
    runner = Runner()
    SCRIPTS.extend([lambda: count(100_000), lambda: count(1)])
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        asked = [
            Execution(build_request("scripted", [model], None, {"seed": seed}), workspace)
            for seed in range(2)
        ]
        for execution in asked:
            runner.submit(execution, LoadedCache(models=[model]))
        qtbot.waitUntil(lambda: asked[0].newest is not None)
        assert runner.shutdown()
        states = [workspace.run(execution.run_id).state for execution in asked]
    assert states == [RunState.CANCELLED, RunState.QUEUED]


def test_the_event_loop_keeps_its_heartbeat_while_an_engine_computes(submit, qtbot):
    import torch
    from PySide6.QtCore import QTimer

    weights = torch.rand(512, 512)

    def busy() -> Iterator[Step[Count]]:
        for i in itertools.count():
            torch.rand(512, 512) @ weights
            yield Step(i, 10**9, Count(i))

    beats: list[float] = []
    clock = QTimer()
    clock.setInterval(5)
    clock.timeout.connect(lambda: beats.append(time.monotonic()))
    clock.start()

    def long_gap() -> float:
        """Seconds that nine of ten beats stay below."""
        beats.clear()
        qtbot.waitUntil(lambda: len(beats) > 100)
        gaps = sorted(b - a for a, b in itertools.pairwise(beats))
        return gaps[int(0.9 * len(gaps))]

    alone = long_gap()  # long where other programs take the processor
    working = submit(busy)
    qtbot.waitUntil(lambda: working.newest is not None)
    beside = long_gap()
    assert not working.state.ended
    working.stop()
    assert beside < 0.1 + 4 * alone
