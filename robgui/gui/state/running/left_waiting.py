"""LeftWaiting: what an earlier session left in the queue, and its order for next time."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from robgui.core.text.words import count

if TYPE_CHECKING:
    from robgui.core.execution.execution import Execution
    from robgui.core.execution.run import Run
    from robgui.gui.state.background import Background
    from robgui.gui.state.history.history import History
    from robgui.gui.state.running.runner import Runner


class LeftWaiting(QObject):
    """Runs that waited when the program was last closed, in the order in which they were to begin.

    Args:
        history: The open workspace.
        runner: What waits now.
        keeping: Where the workspace is written.
        start: Queues a run that was left waiting.

    Signals:
        changed: There are others, or in another order.
        offered: ``(sentence, words, deed)``: what waits, and a button that starts it.
        started: The list of those that were started together.
    """

    changed = Signal()
    offered = Signal(str, str, object)
    started = Signal(list)

    def __init__(
        self,
        history: History,
        runner: Runner,
        keeping: Background,
        start: Callable[[Run], Execution | None],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._history = history
        self._runner = runner
        self._keeping = keeping
        self._start = start
        self._order: list[str] = []
        history.opened.connect(self._opened)
        runner.reordered.connect(self._keep)

    @property
    def runs(self) -> list[Run]:
        """Those that have not been started again, the next one first."""
        from robgui.core.workspace.queue import in_order

        # Those that were started again are in the queue now, not left over.
        live = {job.run_id for job in self._runner.executions}
        return [run for run in in_order(self._history.runs, self._order) if run.id not in live]

    def start_all(self) -> None:
        """Queues all of them in order."""
        jobs = [self._start(run) for run in self.runs]
        self.started.emit([job for job in jobs if job is not None])

    def move(self, run: Run, by: int) -> None:
        """Puts one ``by`` places later, or earlier if negative."""
        ids = [each.id for each in self.runs]
        place = ids.index(run.id)
        ids.insert(max(0, min(len(ids) - 1, place + by)), ids.pop(place))
        self._order = ids
        self._keep()
        self.changed.emit()

    def _opened(self) -> None:
        workspace = self._history.workspace
        assert workspace is not None
        from robgui.core.workspace.queue import read_queue

        # The new workspace's order is read in the background; the old one means nothing to it.
        self._order = []
        self._keeping.run(lambda: read_queue(workspace), self._take, key="queue order")

    def _take(self, order: list[str]) -> None:
        self._order = order
        self.changed.emit()
        if runs := self.runs:
            number = count(len(runs), "run")
            one = len(runs) == 1
            self.offered.emit(
                f"{number} {'waits' if one else 'wait'} since the program was last closed.",
                "Start it" if one else "Start them in their order",
                self.start_all,
            )

    def _keep(self) -> None:
        """Writes the order of what waits now, then of what was left.

        Ids come with the first writing of a run.
        """
        workspace = self._history.writable
        if workspace is None:
            return
        from robgui.core.workspace.queue import write_queue

        jobs, left = self._runner.waits, [run.id for run in self.runs]

        def write() -> None:
            write_queue(workspace, [*(job.run_id for job in jobs if job.run_id), *left])

        self._keeping.run(write)
