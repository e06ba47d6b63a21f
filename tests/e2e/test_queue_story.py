"""A person queues runs, puts them in another order, lets the inspection go first, and closes: what
waits is there next time.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
from PySide6.QtCore import Qt

from robgui.core.execution.run import Run, RunState
from robgui.core.workspace import Workspace
from robgui.core.workspace.queue import in_order, read_queue
from tests.e2e.steps import idle, load_demo, press
from tests.patience import LONGEST

LONG = {"samples": 1_000_000, "target_half_width": 0}
KILLED = """
import os, signal, sys
from pathlib import Path
from PySide6.QtCore import QTimer
from robgui import resources
from robgui.gui.app.app import application, open_window
from robgui.gui.state.library.opening import Opening

app = application()
window = open_window(Path(sys.argv[1]))
window.show()
store = window.store

def look():
    if store.analyses and store.library.model is not None and store.library.dataset is not None \
            and not store.busy and not store.runner.busy and store.history.workspace is not None:
        known = store.analyses["zonnscan"]
        params = known.params.parse({"samples": 1_000_000, "target_half_width": 0})
        for index in range(3):
            store.submit(store.next_run.build(known, params, (index,)))
    jobs = store.runner.executions
    if len(jobs) == 3 and jobs[0].newest is not None and not store.keeping.busy:
        if jobs[1].request.indices == (1,):
            store.runner.move(jobs[2:])
        else:
            os.kill(os.getpid(), signal.SIGKILL)

clock = QTimer(interval=50)
clock.timeout.connect(look)
clock.start()
def begin():
    store.library.load_dataset(resources.path("demo", "fashion.npz"))
    store.library.load_model(Opening(resources.path("demo", "fashion_mlp.pt2"), quiet=True))
QTimer.singleShot(500, begin)
app.exec()
"""


def states(window):
    return [row.state for row in window.runs.model.rows]


def queue_three(qtbot, window):
    """One that runs and two that wait, on three inputs."""
    store = window.store
    window.show_panel("zonnscan")
    window.run_pane.form().set_values(LONG)
    jobs = []
    for index in range(3):
        store.select(store.selection.replace(input=index))
        press(qtbot, window.run_pane.run)
        jobs.append(store.runner.executions[-1])
    qtbot.waitUntil(lambda: jobs[0].newest is not None)
    return jobs


def test_what_waits_when_the_window_is_closed_is_queued_next_time_and_can_be_started(
    qtbot, start, tmp_path
):
    window = start()
    load_demo(qtbot, window)
    running, second, third = queue_three(qtbot, window)
    window.runs.table.selectRow(2)
    qtbot.keyClick(window.runs.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    assert window.store.runner.executions == [running, third, second]
    waiting = {second.run_id, third.run_id}
    start.leave(window)
    with Workspace.open(tmp_path / "story.robgui") as workspace:
        stored = {run.id: run.state for run in workspace.runs()}
    assert stored == {running.run_id: RunState.CANCELLED} | dict.fromkeys(waiting, RunState.QUEUED)

    again = start()
    idle(qtbot, again)
    rows = again.runs.model.rows
    queued = [row for row in rows if row.state is RunState.QUEUED]
    assert [row.id for row in queued] == [third.run_id, second.run_id], "in the order chosen"
    assert all(isinstance(row, Run) for row in rows), "nothing starts by itself"
    again.runs.table.selectRow(rows.index(queued[0]))
    assert again.runs.buttons["rerun"].text() == "Start"
    press(qtbot, again.runs.buttons["rerun"])
    qtbot.waitUntil(lambda: again.store.runner.active is not None)
    job = again.store.runner.active
    qtbot.waitUntil(lambda: job.newest is not None)
    assert job.run_id == queued[0].id, "it goes on in its own row"


@pytest.mark.slow  # closing is tried in every run
def test_what_waits_begins_next_time_in_the_order_that_was_chosen(qtbot, start):
    window = start()
    load_demo(qtbot, window)
    _, second, third = queue_three(qtbot, window)
    window.runs.table.selectRow(2)
    qtbot.keyClick(window.runs.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
    start.leave(window)

    again = start()
    idle(qtbot, again)
    said = "2 runs wait since the program was last closed."
    qtbot.waitUntil(lambda: said in again.log.text.toPlainText())
    again.store.left.start_all()
    jobs = again.store.runner.executions
    assert [job.run_id for job in jobs] == [third.run_id, second.run_id]
    assert again.store.left.runs == []


@pytest.mark.slow  # closing is tried in every run
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="ends a process by a signal")
def test_what_waits_when_the_window_is_killed_is_queued_next_time(tmp_path):
    path = tmp_path / "killed.robgui"
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, str(path)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        timeout=LONGEST,
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL, ended.stderr.decode()[-2000:]
    with Workspace.open(path) as workspace:
        runs = workspace.runs()
        waiting = in_order(runs, read_queue(workspace))
    assert len(runs) == 3
    assert [run.request.indices for run in waiting] == [(2,), (1,)], "in the order chosen"


def test_the_inspection_can_go_before_what_waits(qtbot, start):
    window = start()
    load_demo(qtbot, window)
    store = window.store
    jobs = queue_three(qtbot, window)
    window.commands.inspect()
    overview = window.overview
    inspected = store.inspection.jobs
    assert store.runner.waits == [*jobs[1:], *inspected]
    assert "waiting for zoNNscan radius sweep and 2 runs more" in overview.left.words
    press(qtbot, overview.first)
    assert store.runner.waits == [*inspected, *jobs[1:]]
    assert "waiting for zoNNscan radius sweep, which was started before" in overview.left.words
    assert not overview.first.isVisible()
    store.inspection.stop()
    qtbot.waitUntil(lambda: not store.inspection.running)
    window.actions_["inspect_first"].trigger()
    assert store.runner.waits == [*store.inspection.jobs, *jobs[1:]]
