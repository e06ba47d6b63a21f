"""``robgui run``: an analysis from start to end, with progress, Ctrl-C and a result in JSON."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import INTERRUPTED, Parser
from robgui.cli.files import settings_in, writable
from robgui.cli.opening import data_options, model_settings, open_data, open_model
from robgui.cli.options import add_params, values_of
from robgui.cli.places import add_model_options
from robgui.cli.printing import print_json
from robgui.cli.progress import Progress
from robgui.cli.signals import deaf
from robgui.core.codec import readable
from robgui.core.errors import ModelError, ParamsError, RobguiError
from robgui.core.execution.analysis import Analysis, Params, Step
from robgui.core.execution.choice import one_executor
from robgui.core.execution.execution import Execution
from robgui.core.execution.params_text import indices
from robgui.core.execution.registry import analyses, find
from robgui.core.execution.request import Request, build_request
from robgui.core.execution.run import RunState
from robgui.core.execution.worker.slot import Terms
from robgui.core.workspace import Workspace
from robgui.core.workspace.export import write_document

if TYPE_CHECKING:
    from robgui.cli.opening import Executor
    from robgui.core.verdict import Verdict

#: Seconds between two looks at how far it is.
_LOOK_SECONDS = 0.1


def run(words: list[str]) -> int:
    """Runs the analysis named first; returns the exit code."""
    if not words or words[0].startswith("-"):
        _overview().parse_args(words)
    progress = Progress("")
    executor = one_executor(
        Terms(notice=progress.say)
    )  # it starts while this process is still importing
    try:
        return _run(words, executor, progress)
    finally:
        executor.close()


def _run(words: list[str], executor: Executor, progress: Progress) -> int:
    known = find(words[0])
    progress.title = known.title
    given = _parser(known).parse_args(words[1:])
    stored = settings_in(given.params, known) if given.params is not None else {}
    params = known.params.parse({**stored, **values_of(given, known.params)})
    out = _checked(given.out)
    request, trusted = _request(known, params, given, executor, progress)
    if given.workspace is None:
        return _carry_out(Execution(request, trusted=trusted), executor, out, progress)
    with Workspace.open(given.workspace) as workspace:
        return _carry_out(Execution(request, workspace, trusted=trusted), executor, out, progress)


def _request(
    known: Analysis,
    params: Params,
    given: argparse.Namespace,
    executor: Executor,
    progress: Progress,
) -> tuple[Request, frozenset[str]]:
    """What the command line asks for, and the code that it lets run.

    Models and data are opened for it.
    """
    settings, options = model_settings(given), data_options(given)
    picked = None if given.index is None else indices("--index", given.index)
    models = [open_model(executor, model, given, settings, progress.say) for model in given.model]
    data = None
    if given.data is not None:
        data = open_data(executor, given.data, options, progress.say, given.select)
        picked = data.chosen if picked is None else picked
    request = build_request(
        known,
        [model.reference() for model in models],
        None if data is None else data.reference,
        params,
        indices=picked,
        device=models[0].device,
        autocast=models[0].autocast,
    )
    return request, frozenset(model.ran for model in models if model.ran)


def _carry_out(
    execution: Execution, executor: Executor, out: Path | None, progress: Progress
) -> int:
    executor.submit(execution)
    try:
        _watch(execution, executor, progress)
    except KeyboardInterrupt:
        with deaf():
            execution.stop()
            _watch(execution, executor, progress)
    progress.close()
    with deaf():  # what has been computed is now written, whatever the user presses
        if execution.newest is not None:
            _write(execution, out)
    if lost := _left_out(execution, executor):
        progress.say(f"Left out: {lost}")
    if execution.state is RunState.FAILED:
        raise execution.problem or ModelError(execution.error)
    _tell(execution, progress)
    return INTERRUPTED if execution.state is RunState.CANCELLED else 0


def _watch(execution: Execution, executor: Executor, progress: Progress) -> None:
    """Waits for the end, and shows how far it is."""
    while not execution.state.ended:
        executor.work(_LOOK_SECONDS)
        if execution.done:
            progress.show(Step(execution.done, execution.total, None))


def _left_out(execution: Execution, executor: Executor) -> str:
    """What could not be read of the data; nothing when their process was lost."""
    data = execution.request.dataset
    if data is None or (execution.error and execution.problem is None):
        return ""
    return str(executor.ask("left_out", data=data.fingerprint))


def _tell(execution: Execution, progress: Progress) -> None:
    if execution.state is RunState.CANCELLED:
        kept = (
            "the result so far is kept"
            if execution.newest is not None
            else "there is no result yet"
        )
        progress.say(f"robgui: interrupted; {kept}")
        if execution.error and execution.problem is None:
            progress.say(execution.error)
    if (verdict := _said(execution)) is not None:
        progress.say(f"{verdict.status.sign} {verdict.status.words}. {verdict.text}")


def _said(execution: Execution) -> Verdict | None:
    """What the run says, beside all that its workspace knows of the same model and input."""
    said, workspace = execution.verdict, execution.workspace
    if said is None or workspace is None:
        return said
    return workspace.evidence().shown(said, execution.request, execution.run_id or "")


def _write(execution: Execution, out: Path | None) -> None:
    """The JSON document to the file (with an NPZ beside it) or to stdout (large arrays by shape
    only).
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
    """Writes the result into a fresh folder for temporary files instead; says where it lies."""
    try:
        place = (
            Path(tempfile.mkdtemp(prefix="robgui-"))
            / f"{fields['analysis']}-{fields['fingerprint']}.json"
        )
        write_document(fields, place)
    except OSError:  # there is no place at all: the sentence about the first one says why
        return "choose another place with --out"
    return f"it lies in {place} instead"


def _checked(out: str | None) -> Path | None:
    """The place of the result, found wanting before the work and not after it."""
    if out is not None and Path(out).suffix == ".npz":
        raise ParamsError(
            f"--out {out}: the result is JSON, and .npz is for the arrays beside it; name a .json"
            " file."
        )
    return writable("--out", out)


def _overview() -> argparse.ArgumentParser:
    names = "\n".join(
        f"  {name.replace('_', '-'):<22} {known.question}" for name, known in analyses().items()
    )
    parser = Parser(
        prog="robgui run",
        description="Runs an analysis and writes its result as JSON.",
        epilog=f"analyses:\n{names}\n\n'robgui run ANALYSIS --help' lists its settings.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("analysis")
    return parser


def _parser(known: Analysis) -> argparse.ArgumentParser:
    parser = Parser(
        prog=f"robgui run {known.name.replace('_', '-')}",
        description=f"{known.title}: {known.question}",
        allow_abbrev=False,
    )
    several = " (repeat for several)" if known.several_models else ""
    parser.add_argument(
        "--model", action="append", required=True, metavar="FILE", help=f"the model{several}"
    )
    parser.add_argument(
        "--data", metavar="PATH", help="the inputs: images, a folder, IDX, NPZ, NPY, CSV or JSON"
    )
    which = parser.add_mutually_exclusive_group()
    which.add_argument(
        "--index", metavar="I", help="which inputs, by number from 0: 3 or 0,4,7 or 10:20 [all]"
    )
    which.add_argument(
        "--select", metavar="QUERY", help='which inputs, by query: "label=shirt and index<100"'
    )
    add_model_options(parser)
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of the analysis (may be repeated)",
    )
    parser.add_argument(
        "--params",
        metavar="FILE",
        help=(
            "settings of the analysis in a TOML or JSON file, or in a result of --out; options go"
            " before it"
        ),
    )
    parser.add_argument("--workspace", metavar="FILE", help="also keep the run in this workspace")
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="where to write the JSON; large arrays go into an NPZ beside it [stdout]",
    )
    taken = [action.dest for action in parser._actions]
    add_params(parser, known.params, taken)
    return parser
