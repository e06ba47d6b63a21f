from __future__ import annotations

import time

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QApplication, QMessageBox

from robgui.core.execution.execution import Execution
from robgui.core.execution.run import Run, RunState
from robgui.core.text.words import duration
from robgui.core.workspace.queue import read_queue
from robgui.gui.docks import Runs
from robgui.gui.docks.runs_items import RESULT, STATE, TIME
from robgui.gui.state.running.carrier import Carrier


@pytest.fixture
def runs(qtbot, filled):
    widget = Runs(filled)
    qtbot.addWidget(widget)
    widget.resize(900, 250)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def cell(runs, row, column):
    return runs.model.data(runs.model.index(row, column))


def finish(qtbot, store, request):
    job = store.submit(request)
    qtbot.waitUntil(
        lambda: any(run.id == job.run_id and run.state.ended for run in store.history.runs),
    )
    return job


def click(qtbot, runs, name):
    qtbot.mouseClick(runs.buttons[name], Qt.MouseButton.LeftButton)


def test_without_runs_it_says_what_to_do(runs):
    assert runs.stack.currentIndex() == 1
    assert "press Run" in runs.empty.text()
    assert not any(runs.allowed().values())


def test_a_run_that_ends_shows_its_verdict(qtbot, runs, filled, request_of):
    finish(qtbot, filled, request_of())
    assert runs.model.rowCount() == 1
    assert cell(runs, 0, STATE) == "done"
    assert cell(runs, 0, RESULT) == "? Counted to 4."


def test_steps_change_cells_and_never_rebuild_the_table(qtbot, runs, filled, request_of):
    # A minute of steps: what is left is said from two of a hundred on, and falls every second.
    job = filled.submit(request_of(steps=3000, pause=0.02))
    qtbot.waitUntil(lambda: job.seconds_left is not None and "left" in cell(runs, 0, RESULT))
    runs.table.selectRow(0)
    resets, changes = [], []
    runs.model.modelReset.connect(lambda: resets.append(1))
    runs.model.dataChanged.connect(lambda *_: changes.append(cell(runs, 0, RESULT)))
    qtbot.waitUntil(lambda: len(set(changes)) > 3)
    assert not job.state.ended
    assert resets == []
    assert "left" in changes[-1]
    assert runs.chosen is job
    job.stop()


def test_the_chosen_row_stays_chosen_when_its_job_becomes_history(qtbot, runs, filled, request_of):
    finish(qtbot, filled, request_of())
    job = filled.submit(request_of(steps=10, pause=0.02))
    qtbot.waitUntil(lambda: job.newest is not None)
    runs.table.selectRow(0)
    qtbot.waitUntil(
        lambda: (
            len(filled.history.runs) == 2 and all(run.state.ended for run in filled.history.runs)
        ),
    )
    qtbot.waitUntil(lambda: isinstance(runs.chosen, Run))
    assert runs.chosen.id == job.run_id


def test_stop_ends_the_chosen_job_and_keeps_what_it_had(qtbot, runs, filled, request_of):
    job = filled.submit(request_of(steps=1000, pause=0.02))
    qtbot.waitUntil(lambda: job.newest is not None)
    runs.table.selectRow(0)
    assert runs.buttons["stop"].isEnabled()
    click(qtbot, runs, "stop")
    qtbot.waitUntil(lambda: cell(runs, 0, STATE) == "stopped")
    qtbot.waitUntil(lambda: isinstance(runs.chosen, Run))
    assert runs.allowed() == {
        "show": True,
        "rerun": True,
        "stop": False,
        "copy": True,
        "delete": True,
        "up": False,
        "down": False,
    }


def test_a_queued_job_waits_in_words(qtbot, runs, filled, request_of):
    filled.submit(request_of(steps=1000, pause=0.02))
    second = filled.submit(request_of())
    assert cell(runs, 1, STATE) == "queued"
    assert cell(runs, 1, RESULT) == "waiting for its turn"
    assert cell(runs, 1, TIME) == ""
    assert isinstance(second, Execution)
    filled.runner.stop_all()


@pytest.mark.parametrize("how", ["enter", "double click", "button"])
def test_a_stored_run_is_drawn_again(qtbot, runs, filled, request_of, how):
    finish(qtbot, filled, request_of())
    runs.table.selectRow(0)
    with qtbot.waitSignal(filled.history.result_shown) as shown:
        if how == "enter":
            qtbot.keyClick(runs.table, Qt.Key.Key_Return)
        elif how == "button":
            click(qtbot, runs, "show")
        else:
            place = runs.table.visualRect(runs.model.index(0, RESULT)).center()
            qtbot.mouseClick(runs.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
            qtbot.mouseDClick(runs.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    run, result = shown.args
    assert (run.id, result.value) == (filled.history.runs[0].id, 4.0)
    assert filled.selection.run == run.id


def test_run_again_submits_the_same_request(qtbot, runs, filled, request_of):
    finish(qtbot, filled, request_of(steps=3))
    runs.table.selectRow(0)
    click(qtbot, runs, "rerun")
    qtbot.waitUntil(lambda: [run.state for run in filled.history.runs] == [RunState.DONE] * 2)
    assert filled.history.runs[0].request == filled.history.runs[1].request


def test_the_command_line_is_put_on_the_clipboard(qtbot, runs, filled, request_of):
    finish(qtbot, filled, request_of(steps=3))
    runs.table.selectRow(0)
    with qtbot.waitSignal(filled.said):
        click(qtbot, runs, "copy")
    assert QApplication.clipboard().text().startswith("robgui run count-up ")


def test_a_run_that_fails_while_it_is_queued_is_told_once(qtbot, filled, request_of, monkeypatch):
    put = Carrier.put

    def put_and_wait(carrier, order, place=None):
        put(carrier, order, place)
        assert wait_for(lambda: order.execution.state.ended)

    monkeypatch.setattr(Carrier, "put", put_and_wait)
    told = []
    filled.said.connect(lambda level, sentence, details: told.append(level))
    finish(qtbot, filled, request_of(pause=-1.0))
    qtbot.waitUntil(lambda: not filled.runner.busy)
    assert told == ["error"]


def wait_for(condition, seconds=10.0):
    """Waits without an event loop; whether it came true in time."""
    until = time.monotonic() + seconds
    while not condition() and time.monotonic() < until:
        time.sleep(0.002)
    return condition()


@pytest.mark.parametrize(("answer", "left"), [("Delete", 0), ("Keep", 1)])
def test_deleting_asks_first(qtbot, runs, filled, request_of, answer, left):
    finish(qtbot, filled, request_of())
    runs.table.selectRow(0)

    def press():
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox)
        assert box.defaultButton().text() == "Keep"
        next(button for button in box.buttons() if button.text() == answer).click()

    QTimer.singleShot(100, press)
    click(qtbot, runs, "delete")
    qtbot.waitUntil(lambda: not (filled.busy or filled.keeping.busy))
    assert runs.model.rowCount() == left


def test_a_failed_run_says_why(qtbot, runs, filled, request_of, monkeypatch):
    def broken(classifier, dataset, params):
        raise ValueError("a wheel came off")
        yield

    object.__setattr__(filled.analyses["count_up"], "engine", broken)
    finish(qtbot, filled, request_of())
    assert cell(runs, 0, STATE) == "failed"
    assert "a wheel came off" in cell(runs, 0, RESULT)
    assert not runs.allowed()["show"]


def test_a_run_left_waiting_is_listed_as_queued_after_a_restart_and_can_be_started(
    qtbot, runs, filled, request_of
):
    filled.history.workspace.add_run(request_of(steps=3))
    filled.history.refresh()
    qtbot.waitUntil(lambda: runs.model.rowCount() == 1)
    runs.table.selectRow(0)
    assert (cell(runs, 0, STATE), runs.buttons["rerun"].text(), runs.buttons["delete"].text()) == (
        "queued",
        "Start",
        "Remove",
    )
    assert "start or remove" in cell(runs, 0, RESULT)
    click(qtbot, runs, "rerun")
    qtbot.waitUntil(lambda: [run.state for run in filled.history.runs] == [RunState.DONE])
    assert runs.buttons["rerun"].text() == "Run again"


def test_runs_left_waiting_can_be_put_in_another_order_which_is_kept(
    qtbot, runs, filled, request_of
):
    workspace = filled.history.workspace
    first, second, third = (workspace.add_run(request_of(steps=n)).id for n in (2, 3, 4))
    filled.history.refresh()
    qtbot.waitUntil(lambda: runs.model.rowCount() == 3)
    assert [row.id for row in runs.model.rows] == [first, second, third], "the next one first"
    runs.table.selectRow(2)
    assert (runs.allowed()["up"], runs.allowed()["down"]) == (True, False)
    click(qtbot, runs, "up")
    assert [row.id for row in runs.model.rows] == [first, third, second]
    assert runs.chosen.id == third
    runs.table.selectRow(0)
    qtbot.keyClick(runs.table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    qtbot.waitUntil(lambda: not filled.keeping.busy)
    assert read_queue(workspace) == [third, first, second]
    filled.left.start_all()
    assert [job.run_id for job in filled.runner.executions] == [third, first, second]
    qtbot.waitUntil(lambda: not filled.runner.busy)


def test_what_is_put_first_into_the_queue_stays_first(qtbot, filled, request_of):
    running = filled.submit(request_of(steps=1000, pause=0.02))
    qtbot.waitUntil(lambda: running.newest is not None)
    last = filled.submit(request_of(steps=3))
    first = filled.submit(request_of(steps=2), place=0)
    qtbot.waitUntil(lambda: not filled.keeping.busy)
    assert read_queue(filled.history.workspace) == [first.run_id, last.run_id]
    filled.runner.stop_all()
    qtbot.waitUntil(lambda: not filled.runner.busy)


def test_a_run_left_waiting_can_be_removed(qtbot, runs, filled, request_of):
    filled.history.workspace.add_run(request_of())
    filled.history.refresh()
    qtbot.waitUntil(lambda: runs.model.rowCount() == 1)
    runs.table.selectRow(0)
    click(qtbot, runs, "delete")
    qtbot.waitUntil(lambda: runs.model.rowCount() == 0)
    assert filled.history.workspace.runs() == []


def test_what_waits_is_in_the_workspace_at_once_and_gone_when_it_is_stopped(
    qtbot, runs, filled, request_of
):
    filled.submit(request_of(steps=1000, pause=0.02))
    second = filled.submit(request_of())
    stored = filled.history.workspace.runs
    qtbot.waitUntil(
        lambda: [run.state for run in stored()] == [RunState.QUEUED, RunState.RUNNING],
    )
    second.stop()
    qtbot.waitUntil(lambda: [run.state for run in stored()] == [RunState.RUNNING])
    filled.runner.stop_all()
    qtbot.waitUntil(
        lambda: [cell(runs, row, STATE) for row in range(runs.model.rowCount())] == ["stopped"],
    )


@pytest.mark.parametrize("how", ["buttons", "keys", "menu"])
def test_what_waits_begins_in_the_order_the_user_puts_it_in(qtbot, runs, filled, request_of, how):
    begun = []
    filled.job_changed.connect(
        lambda job: begun.append(job) if job.state is RunState.RUNNING else None
    )
    first = filled.submit(request_of(steps=1000, pause=0.02))
    second, third, fourth = (filled.submit(request_of(steps=n, pause=0.1)) for n in (2, 3, 4))
    qtbot.waitUntil(lambda: first.newest is not None)
    runs.table.selectRow(1)
    assert (runs.allowed()["up"], runs.allowed()["down"]) == (False, True)
    runs.table.selectRow(3)
    assert (runs.allowed()["up"], runs.allowed()["down"]) == (True, False)
    for _ in range(2):
        if how == "buttons":
            click(qtbot, runs, "up")
        elif how == "keys":
            qtbot.keyClick(runs.table, Qt.Key.Key_Up, Qt.KeyboardModifier.AltModifier)
        else:
            runs.move_chosen(-1)
    assert runs.model.rows[:4] == [first, fourth, second, third]
    assert runs.chosen is fourth, "the moved one stays chosen"
    runs.table.selectRow(2)
    click(qtbot, runs, "down")
    assert filled.runner.waits == [fourth, third, second]
    runs.table.selectRow(0)
    assert not runs.allowed()["up"] and not runs.allowed()["down"], "what runs does not move"
    first.stop()
    qtbot.waitUntil(lambda: not filled.runner.busy)
    assert [job for job in begun if job is not first] == [fourth, third, second]


def test_a_time_of_minutes_is_whole(runs):
    words = duration(59 * 60 + 59)
    assert runs.table.columnWidth(TIME) > runs.fontMetrics().horizontalAdvance(words) + 8
