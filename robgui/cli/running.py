"""An analysis from start to end, with progress, Ctrl-C and a result in JSON."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import INTERRUPTED
from robgui.cli.opening import asking, open_data, open_model
from robgui.cli.printing import print_json, print_line
from robgui.cli.progress import ProgressLine
from robgui.cli.signals import deaf
from robgui.core.codec import readable
from robgui.core.errors import ModelError, RobguiError
from robgui.core.execution.asking.held import open_held
from robgui.core.execution.budget.cost import Estimate, estimate
from robgui.core.execution.choice import one_executor
from robgui.core.execution.execution import Execution
from robgui.core.execution.export import Origin
from robgui.core.execution.request import Request, build_request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.execution.worker.terms import Terms
from robgui.core.workspace import Workspace
from robgui.core.workspace.export import write_document

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.cli.run import Wish
    from robgui.core.model.card import ModelCard
    from robgui.core.verdict import Verdict

#: Seconds between two checks of progress.
_LOOK_SECONDS = 0.1
#: A run that may take longer than this many seconds is announced.
_WORTH_SAYING = 30.0
_ADVICE = " With --max-seconds 60 it ends after a minute with what is known by then."


def run_analysis(wish: Wish) -> int:
    """Runs the analysis in a worker process; returns the exit code."""
    progress = ProgressLine(wish.known.title)
    with ExitStack() as stack:
        place, workspace = wish.given.workspace, None
        if place is not None and Path(place).exists():  # A damaged one is refused at once.
            workspace = stack.enter_context(Workspace.open(place))
        executor = one_executor(Terms(notice=progress.say))
        stack.callback(executor.close)
        request, models, cost = _request(wish, executor, progress)
        if wish.given.dry_run:
            progress.close()
            print_line(cost_line(wish.known.title, cost))
            return 0
        if cost is not None and cost.longest > _WORTH_SAYING:
            progress.say(cost_line(wish.known.title, cost))
        # Made only now: a run that was refused leaves no empty workspace behind.
        if place is not None and workspace is None:
            workspace = stack.enter_context(Workspace.open(place))
        trusted = frozenset(model.ran for model in models if model.ran)
        execution = Execution(request, workspace, trusted=trusted)
        code = _carry_out(execution, executor, wish.out, progress)
        if wish.export is not None:
            origin = _origin(wish, models[0], request, executor)
            progress.say(_export(wish, wish.export, execution, origin))
        return code


def _origin(wish: Wish, model: ModelCard, request: Request, executor: Executor) -> Origin:
    """What the run was about, for an export."""
    ask = asking(executor)
    data = open_held(Path(wish.given.data), wish.options, ask)
    return Origin(model, data if request.indices is None else data.subset(request.indices), ask)


def _export(wish: Wish, place: Path, execution: Execution, origin: Origin) -> str:
    """Writes the inputs made by the run; says what is where."""
    assert wish.known.export is not None
    if execution.newest is None:
        return "There is no result yet, so nothing was exported."
    return wish.known.export.write(execution.newest.result, wish.params, origin, place)


def _request(
    wish: Wish, executor: Executor, progress: ProgressLine
) -> tuple[Request, list[ModelCard], Estimate | None]:
    """The request of the command line, its models, and its cost.

    Models and data are opened for it.
    """
    given, picked = wish.given, wish.picked
    models = [
        open_model(executor, model, given, wish.settings, progress.say) for model in given.model
    ]
    data = None
    if given.data is not None:
        data = open_data(executor, given.data, wish.options, progress.say, given.select)
        if picked is None:
            picked = data.chosen
    request = build_request(
        wish.known,
        [model.reference() for model in models],
        None if data is None else data.reference,
        wish.params,
        indices=picked,
        how=(given.select or "") if wish.picked is None else "",
        total=None if data is None else data.inputs,
        device=models[0].device,
        autocast=models[0].autocast,
    )
    inputs = 0 if data is None else data.inputs
    cost = estimate(wish.known, wish.params, models, inputs if picked is None else len(picked))
    return request, models, cost


def cost_line(title: str, cost: Estimate | None) -> str:
    """What a run will cost, for people."""
    if cost is None:
        return f"{title}: the cost is unknown."
    if cost.limit or cost.longest <= _WORTH_SAYING:
        advice = ""
    else:
        advice = _ADVICE
    return f"{title}: {cost.words}.{advice}"


def _carry_out(
    execution: Execution, executor: Executor, out: Path | None, progress: ProgressLine
) -> int:
    executor.submit(execution)
    try:
        _watch(execution, executor, progress)
    except KeyboardInterrupt:
        with deaf():
            # And waited for: the worker still has to hand over its newest Step.
            execution.stop()
            _watch(execution, executor, progress)
    progress.close()
    with deaf():  # What has been computed is now written, whatever the user presses.
        if execution.newest is not None:
            _write(execution, out)
            if out is not None:
                progress.say(f"Wrote {out}.")
    if lost := _left_out(execution, executor):
        progress.say(f"Left out: {lost}")
    if execution.state is RunState.FAILED:
        raise execution.problem or ModelError(execution.error)
    _tell(execution, progress)
    if execution.state is RunState.CANCELLED:
        return INTERRUPTED
    return 0


def _watch(execution: Execution, executor: Executor, progress: ProgressLine) -> None:
    """Waits for the end and shows progress."""
    while not execution.state.ended:
        executor.work(_LOOK_SECONDS)
        if execution.done:
            progress.show(Step(execution.done, execution.total, None))


def _left_out(execution: Execution, executor: Executor) -> str:
    """What could not be read of the data; empty if their process was lost."""
    data = execution.request.dataset
    # An error without an exception is a lost process, which would be started again just to be
    # asked.
    if data is None or (execution.error and execution.problem is None):
        return ""
    return str(executor.ask("left_out", data=data.fingerprint))


def _tell(execution: Execution, progress: ProgressLine) -> None:
    if execution.state is RunState.CANCELLED:
        if execution.newest is not None:
            kept = "the result so far is kept"
        else:
            kept = "there is no result yet"
        progress.say(f"robgui: interrupted; {kept}")
        if execution.error and execution.problem is None:
            progress.say(execution.error)
    if (verdict := _said(execution)) is not None:
        progress.say(f"{verdict.status.sign} {verdict.status.words}. {verdict.text}")


def _said(execution: Execution) -> Verdict | None:
    """The run's verdict, given everything its workspace knows about the same model and input."""
    said, workspace = execution.verdict, execution.workspace
    if said is None or workspace is None:
        return said
    return workspace.evidence().shown(said, execution.request, execution.run_id or "")


def _write(execution: Execution, out: Path | None) -> None:
    """Writes the JSON document to the file, with an NPZ beside it, or to stdout.

    On stdout large arrays are given by shape only.
    """
    assert execution.newest is not None
    verdict = _said(execution)
    fields = {
        "analysis": execution.analysis.name,
        "state": execution.state,
        "status": None if verdict is None else verdict.status,
        "verdict": "" if verdict is None else verdict.text,
        "error": execution.error,
        "done": execution.newest.done,
        "total": execution.newest.total,
        "seconds": round(execution.seconds, 3),
        "device": execution.device,
        "versions": execution.versions,
        "request": execution.request,
        "fingerprint": execution.request.fingerprint,
        "findings": [
            {"kind": f.kind, "title": f.title, "severity": f.severity, "detail": f.detail}
            for f in execution.findings
        ],
        "result": execution.newest.result,
    }
    if out is None:
        print_json(readable(fields)[0])
        return
    try:
        write_document(fields, out)
    except OSError as error:
        raise RobguiError(
            f"The result cannot be written to {out} ({error.strerror}); {_elsewhere(fields)}."
        ) from error


def _elsewhere(fields: dict[str, Any]) -> str:
    """Writes the result into a fresh temporary folder instead; says where."""
    try:
        place = (
            Path(tempfile.mkdtemp(prefix="robgui-"))
            / f"{fields['analysis']}-{fields['fingerprint']}.json"
        )
        write_document(fields, place)
    except OSError:  # No place at all: the sentence about the first one says why.
        return "choose another place with --out"
    return f"it lies in {place} instead"
