"""Waiting: the Executions that have not begun, in the order in which they will."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.loaded_cache import LoadedCache


@dataclass(frozen=True, slots=True)
class Order:
    """An Execution to carry out.

    Attributes:
        execution: What.
        shelf: What is loaded in this process.
        cluster: The address of the Ray cluster that is to compute it; empty for this machine.
        device: The device of this machine that it was sent to; empty for any.
    """

    execution: Execution
    shelf: LoadedCache
    cluster: str = ""
    device: str = ""


class Waiting:
    """A queue whose order can be changed; every method may be called from any thread."""

    def __init__(self) -> None:
        self._orders: list[Order] = []
        self._news = threading.Condition()

    @property
    def executions(self) -> list[Execution]:
        """Those that wait, the next one first."""
        with self._news:
            self._drop_stopped()
            return [order.execution for order in self._orders]

    def put(self, order: Order, place: int | None = None) -> None:
        """Adds an order, at the end or at a ``place``."""
        with self._news:
            self._drop_stopped()
            self._orders.insert(len(self._orders) if place is None else place, order)
            self._news.notify_all()

    def take(self, fits: Callable[[Order], bool]) -> Order | None:
        """The first that fits, which waits no longer; those that were stopped are dropped."""
        with self._news:
            self._drop_stopped()
            found = next((one for one in self._orders if fits(one)), None)
            if found is not None:
                self._orders.remove(found)
            return found

    def move(self, executions: list[Execution], by: int | None = None) -> bool:
        """Puts some ``by`` places later (earlier if negative), or before all others.

        Those that no longer wait are left out. False when nothing changes.
        """
        with self._news:
            self._drop_stopped()
            before = list(self._orders)
            # In their order in the queue, not in that of the selection.
            moved = [one for one in before if one.execution in executions]
            rest = [one for one in before if one.execution not in executions]
            if not moved:
                return False
            if by is None:
                place = 0
            else:
                place = max(0, before.index(moved[0]) + by)
            self._orders = [*rest[:place], *moved, *rest[place:]]
            return self._orders != before

    def wait(self, seconds: float) -> None:
        """Waits for something new, at most this long."""
        with self._news:
            self._news.wait(seconds)

    def wake(self) -> None:
        """Ends a wait."""
        with self._news:
            self._news.notify_all()

    def _drop_stopped(self) -> None:
        # An Execution that is stopped knows of no queue; it is dropped when somebody looks.
        self._orders = [one for one in self._orders if not one.execution.state.ended]
