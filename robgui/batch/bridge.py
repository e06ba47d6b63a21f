"""Bridge: a local process that has a Ray cluster compute what the window asks for.

It behaves like a worker, so a run on a cluster is drawn, paused and stopped like any other. It
computes nothing itself and loads no model. It may use the network and takes from the cluster
whatever Ray brings, so its user must trust the cluster. The window takes frames from it, as from
every worker, and nothing else.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NoReturn

from robgui.batch.cluster import Cluster
from robgui.core.errors import RobguiError
from robgui.core.execution.execution import Execution
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.task import Report
from robgui.core.execution.worker.child import Channel, Worker, connect
from robgui.core.execution.worker.confinement import kernel
from robgui.core.execution.worker.frames import Frame
from robgui.core.execution.worker.messages import read_task, report_frame
from robgui.core.execution.worker.outbox import Outbox

#: Seconds between two results of a run on their way from the cluster.
_PACE_SECONDS = 0.1
#: Seconds between two checks of the cluster and the window.
_SLICE = 0.05
#: Results that may wait on a node: once they are full, as in a pause, it stops computing.
_AHEAD = 4


def main() -> NoReturn:
    """The life of the process."""
    if sys.platform == "linux":
        kernel.end_with_parent(signal.SIGKILL)
    reached = connect()
    if reached is not None:
        channel, hello = reached
        made = Bridge(channel, hello["cluster"])
        channel.send(Frame({"ready": True, "held": []}))
        made.serve()
        made.close()
    os._exit(0)


class Bridge(Worker):
    """Takes one message after another; its tasks are computed by the cluster.

    Args:
        channel: To the window.
        address: Of the cluster, see Cluster.
    """

    def __init__(self, channel: Channel, address: str) -> None:
        super().__init__(channel, "")
        self._address = address
        self._cluster: Cluster | None = None
        try:
            self._reach()
        except RobguiError as error:
            self._notice(str(error))

    def close(self) -> None:
        """Lets go of the cluster; one that was started here ends."""
        if self._cluster is not None:
            self._cluster.close()

    def _reach(self) -> Cluster:
        """The cluster, connected; one that is gone is looked for again."""
        if self._cluster is not None and not self._cluster.alive:
            self._cluster.close()
            self._cluster = None
        if self._cluster is None:
            self._cluster = Cluster(self._address, pace=_PACE_SECONDS, ahead=_AHEAD)
        return self._cluster

    def _warm(self, frame: Frame) -> None:
        """Loads nothing: models belong in confined processes and on the cluster."""
        # Answered at once, or the window would wait for a preload that never comes.
        self._channel.send(Frame({"warm": True}))

    def _reports(self, frame: Frame, outbox: Outbox) -> Iterator[Report]:
        """The reports of a task; if its node is lost it restarts on another one."""
        cluster = self._reach()
        there = read_task(frame).at(cluster.device)
        execution = Execution(
            there.request, part=there.part, trusted=there.trusted, data=there.data
        )
        told = _Told(execution, self._address)
        try:
            while not execution.state.ended:
                self._go_on(execution, cluster)
                if (report := told.news()) is not None and not report.state.ended:
                    yield report
                if not execution.stop_asked and not self._may_go_on(outbox):
                    execution.stop()
        finally:
            # Also when the window is gone: a task on the cluster must not outlive its run.
            cluster.drop(execution)
        yield told.report()

    def _go_on(self, execution: Execution, cluster: Cluster) -> None:
        """Lets the cluster compute for a moment; says so if a node is lost."""
        before = execution.state
        if before is RunState.QUEUED and not cluster.holds(execution):
            cluster.submit(execution)
        cluster.work(_SLICE)
        # Said as it happens: the picture stays, and the run starts over.
        if execution.state is RunState.QUEUED and before is RunState.RUNNING:
            self._channel.send(report_frame(_lost(execution)))


def _lost(execution: Execution) -> Report:
    if execution.error:
        why = f" ({execution.error})"
    else:
        why = ""
    words = f"A node of the cluster was lost{why}, so this starts over on another one."
    return Report(RunState.QUEUED, error=words)


class _Told:
    """What is new about an Execution since the last report."""

    def __init__(self, execution: Execution, address: str) -> None:
        self._execution = execution
        self._address = address
        self._step: Step[Any] | None = None
        self._rest: tuple[object, ...] = (RunState.QUEUED, 0, "")

    def news(self) -> Report | None:
        """A report of what runs, if there is anything new."""
        one = self._execution
        step, rest = one.newest, (one.state, one.done, one.device)
        # Identity, not equality: a Step is replaced, never changed.
        fresh = step is not self._step
        if one.state is RunState.QUEUED or not (fresh or rest != self._rest):
            return None
        self._step, self._rest = step, rest
        report = self.report()
        if fresh:
            return report
        return replace(report, step=None)

    def report(self) -> Report:
        """How it stands."""
        one = self._execution
        return Report(
            state=one.state,
            step=one.newest,
            done=one.done,
            total=one.total,
            calls=one.calls,
            device=f"{one.device}, Ray cluster {self._address}" if one.device else "",
            versions=one.versions,
            error=one.error,
            details=one.details,
        )
