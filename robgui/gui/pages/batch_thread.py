"""BatchThread: the thread on which the window carries out a suite."""

from __future__ import annotations

import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QThread

from robgui.core.errors import RobguiError, sentence

if TYPE_CHECKING:
    from robgui.batch import Batch, Progress
    from robgui.core.workspace import Workspace


class BatchThread(QThread):
    """Opens, plans and carries out a suite; the window polls ``picture``.

    Attributes:
        picture: The newest state of the whole, None before the first.
        error: One sentence when it could not go on; empty otherwise.
        details: The traceback of an unexpected error.
        note: What it is doing before the first picture.
    """

    def __init__(self, suite: Path, workspace: Workspace, workers: int, cluster: str) -> None:
        super().__init__()
        self._suite, self._workspace, self._workers, self._cluster = (
            suite,
            workspace,
            workers,
            cluster,
        )
        self._batch: Batch | None = None
        # An event and not a flag of the batch: there is no batch until models and data are open.
        self._stop = threading.Event()
        self.picture: Progress | None = None
        self.error = self.details = ""
        self.note = "Opening models and data …"

    def run(self) -> None:
        """The whole batch, on this thread."""
        try:
            self._carry_out()
        except RobguiError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001 - shown with its traceback, never lost
            self.error, self.details = (
                f"{sentence(error)} See the log for details.",
                traceback.format_exc(),
            )

    @property
    def stopping(self) -> bool:
        """Whether it has been told to stop."""
        return self._stop.is_set()

    def stop(self) -> None:
        """Ends it in good order: what is done is kept."""
        self._stop.set()
        if self._batch is not None:
            self._batch.stop()

    def _carry_out(self) -> None:
        from robgui.batch import Batch, local_places, local_workers, plan_with, read_suite
        from robgui.core.execution.executor import Executor

        suite = read_suite(self._suite)
        executor: Executor
        if self._cluster:
            from robgui.batch.cluster import Cluster

            self.note = f"Connecting to the cluster {self._cluster} …"
            cluster = Cluster(self._cluster, suite.device)
            executor, device = cluster, cluster.device
        else:
            places = local_places(suite.device, self._workers)
            executor, device = local_workers(places), places[0].device.partition(":")[0]
        try:
            plan = plan_with(executor, suite, device)
            self._batch = Batch(plan, self._workspace, executor)
            # Stop may have been pressed while models were opened, before there was a batch.
            if self._stop.is_set():
                self._batch.stop()
            for picture in self._batch:
                self.picture = picture
        finally:
            # Also after an error: worker processes would outlive the window that started them.
            executor.close()
