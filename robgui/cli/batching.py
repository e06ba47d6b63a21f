"""A suite from start to end, with progress, gates, JUnit XML and Ctrl-C."""

from __future__ import annotations

import argparse
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from robgui.batch import summary
from robgui.batch.batch import Batch, Progress
from robgui.batch.gates import Gate, GateOutcome, judge
from robgui.batch.plan import Plan
from robgui.batch.planning import plan_with
from robgui.batch.suite import Suite, read_suite, suite_path
from robgui.cli import GATE_FAILED, INTERRUPTED
from robgui.cli import progress as bar
from robgui.cli.printing import print_json, print_line
from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.registry import find
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.files import write_whole
from robgui.core.text.words import count
from robgui.core.workspace import Workspace

if TYPE_CHECKING:
    from robgui.core.execution.executor import Executor


def run_suite(given: argparse.Namespace, report: Path | None) -> int:
    """Runs the suite; returns the exit code.

    Args:
        given: The options of the command.
        report: Where JUnit XML goes.
    """
    suite = read_suite(suite_path(given.suite))
    gates = _gates(suite, given.fail_on)
    shown = bar.ProgressLine("Opening models and data")
    executor, device = _executor(given, suite)
    try:
        plan = plan_with(
            executor,
            suite,
            device,
            trust=given.trust,
            imports=tuple(given.import_module),
            costs=given.dry_run,
        )
        if given.dry_run:
            return _list(plan)
        with Workspace.open(_workspace(given, suite)) as workspace:
            going = Batch(plan, workspace, executor)
            picture = _carry_out(going, shown)
            stopped = picture.count(RunState.QUEUED) + picture.count(RunState.CANCELLED) > 0
            if stopped:
                # Requests that were never run would break every gate, which says nothing about the
                # models.
                outcomes = []
            else:
                outcomes = judge(gates, picture.entries, workspace)
            picture = picture.beside(workspace.evidence())
    finally:
        executor.close()
    _tell(given, suite, plan, picture, outcomes, report, shown)
    if stopped:
        return INTERRUPTED
    if summary.passed(picture, outcomes):
        return 0
    return GATE_FAILED


def _carry_out(going: Batch, shown: bar.ProgressLine) -> Progress:
    """Iterates the batch; Ctrl-C stops it in good order, a second one at once."""
    picture = going.progress()
    failed: set[int] = set()
    with _signals(going, shown):
        for picture in going:
            # All entries only when a failure was added: this comes ten times a second.
            for entry in picture.entries if picture.count(RunState.FAILED) > len(failed) else ():
                if entry.state is RunState.FAILED and entry.number not in failed:
                    failed.add(entry.number)
                    shown.say(f"Failed: {entry.title}: {entry.error}")
            shown.title = f"{picture.ended:,} of {count(len(picture.entries), 'request')}"
            # The bar counts whole units; a thousandth is finer than it can draw.
            shown.show(Step(round(1000 * picture.share), 1000, None))
    shown.close()
    return picture


@contextmanager
def _signals(going: Batch, shown: bar.ProgressLine) -> Iterator[None]:
    presses = 0

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal presses
        # A handler must not raise here: it may run inside a write to the workspace.
        presses += 1
        going.stop(at_once=presses > 1)
        if presses == 1:
            shown.say("robgui: stopping; what is done is kept (press Ctrl-C again not to wait)")

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _executor(given: argparse.Namespace, suite: Suite) -> tuple[Executor, str]:
    """What carries the suite out, and the kind of device it has."""
    wanted = given.device or suite.device
    if given.cluster is not None:
        from robgui.batch.cluster import Cluster

        cluster = Cluster(given.cluster, wanted, imports=tuple(given.import_module))
        return cluster, cluster.device
    from robgui.batch.places import local_places, local_workers

    places = local_places(wanted, given.workers)
    workers = local_workers(places, tuple(given.import_module))
    workers.start(1 if given.dry_run else len(places))  # The first one plans while others start.
    return workers, places[0].device.partition(":")[0]


def _gates(suite: Suite, texts: Sequence[str]) -> list[Gate]:
    try:
        gates = [Gate.parse(text) for text in (*suite.fail_on, *texts)]
    except ParamsError as error:
        raise ParamsError(f"{suite.path}: fail_on: {error}" if not texts else str(error)) from error
    asked = {find(table.name).name for table in suite.analyses}
    for gate in gates:
        if gate.analysis not in asked:
            raise ParamsError(
                f"The gate {gate.text!r}: {suite.path} runs no {gate.analysis}; it runs:"
                f" {', '.join(sorted(asked))}."
            )
    return gates


def _workspace(given: argparse.Namespace, suite: Suite) -> Path:
    if given.workspace:
        return Path(given.workspace)
    return suite.runs


def _list(plan: Plan) -> int:
    for planned in plan.requests:
        if planned.parts:
            parts = f" in {len(planned.parts)} parts"
        else:
            parts = ""
        if planned.cost:
            cost = f": {planned.cost}"
        else:
            cost = ""
        print_line(f"{planned.request.fingerprint}  {planned.title}{parts}{cost}")
    for why in plan.left_out:
        print_line(f"left out: {why}")
    return 0


def _tell(
    given: argparse.Namespace,
    suite: Suite,
    plan: Plan,
    picture: Progress,
    outcomes: list[GateOutcome],
    report: Path | None,
    shown: bar.ProgressLine,
) -> None:
    for line in summary.sentences(picture, outcomes, plan.left_out):
        shown.say(line)
    if report is not None:
        try:
            write_whole(report, summary.junit(suite.path.stem, picture, outcomes))
        except OSError as error:
            raise RobguiError(
                f"The report cannot be written to {report} ({error.strerror}); choose another"
                " place."
            ) from error
    if given.json:
        print_json(
            summary.document(picture, outcomes, plan.left_out, _workspace(given, suite).absolute())
        )
