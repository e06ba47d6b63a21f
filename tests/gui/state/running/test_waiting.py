"""The queue of what has not begun: its order can be changed while others take from it."""

from __future__ import annotations

import threading
from types import SimpleNamespace

import pytest

from robgui.core.execution.run import RunState
from robgui.gui.state.running.waiting import Order, Waiting


def order(name, state=RunState.QUEUED):
    return Order(SimpleNamespace(name=name, state=state), None)


@pytest.fixture
def orders():
    return [order(name) for name in "abcd"]


@pytest.fixture
def queue(orders):
    made = Waiting()
    for one in orders:
        made.put(one)
    return made


def names(queue):
    return "".join(one.name for one in queue.executions)


@pytest.mark.parametrize(
    ("moved", "by", "after"),
    [
        ("c", -1, "acbd"),
        ("b", 1, "acbd"),
        ("a", -1, "abcd"),
        ("d", 1, "abcd"),
        ("d", -9, "dabc"),
        ("cd", None, "cdab"),
        ("db", None, "bdac"),
        ("x", -1, "abcd"),
    ],
)
def test_what_waits_moves_within_the_queue_and_never_out_of_it(queue, orders, moved, by, after):
    chosen = [one.execution for one in orders if one.execution.name in moved]
    assert queue.move(chosen, by) == (after != "abcd")
    assert names(queue) == after


def test_the_first_that_fits_is_taken_and_what_was_stopped_is_dropped(queue, orders):
    orders[0].execution.state = RunState.CANCELLED
    assert queue.take(lambda one: one.execution.name != "b") is orders[2]
    assert names(queue) == "bd"
    assert queue.take(lambda one: False) is None
    queue.put(order("z"), place=0)
    assert names(queue) == "zbd"


def test_each_is_taken_once_though_several_threads_take_and_move(orders):
    queue, taken = Waiting(), []
    for number in range(400):
        queue.put(order(number))

    def take():
        while (one := queue.take(lambda one: True)) is not None:
            taken.append(one.execution.name)
            queue.move(queue.executions[-1:])

    threads = [threading.Thread(target=take) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert sorted(taken) == list(range(400))
