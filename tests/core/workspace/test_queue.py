"""The order of waiting runs, in a file that may come from anyone."""

from __future__ import annotations

import pytest

from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.core.workspace.queue import in_order, read_queue, write_queue


@pytest.fixture
def workspace(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as opened:
        yield opened


def test_the_chosen_order_survives_and_later_runs_come_last(workspace):
    a, b, c, d = (workspace.add_run(Request(analysis="any")).id for _ in range(4))
    write_queue(workspace, [c, a, b])
    workspace.update_run(a, state=RunState.DONE)
    path = workspace.path
    workspace.close()
    with Workspace.open(path) as again:
        assert [run.id for run in in_order(again.runs(), read_queue(again))] == [c, b, d]


@pytest.mark.parametrize("stored", [None, 3, "abc", {"a": 1}, [1, None, ["x"]]])
def test_an_order_that_is_none_leaves_the_runs_as_they_were_asked_for(workspace, stored):
    first, second = (workspace.add_run(Request(analysis="any")).id for _ in range(2))
    workspace.values.set("queue", stored)
    assert read_queue(workspace) == []
    assert [run.id for run in in_order(workspace.runs(), read_queue(workspace))] == [first, second]
