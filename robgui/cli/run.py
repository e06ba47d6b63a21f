"""``robgui run``: an analysis from start to end, with progress, Ctrl-C and a result in JSON."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.cli import INTERRUPTED, Parser
from robgui.cli.files import settings_in, writable
from robgui.cli.opening import add_model_options, chosen, open_data, open_model
from robgui.cli.options import add_params, values_of
from robgui.cli.printing import print_json
from robgui.cli.progress import Progress
from robgui.cli.signals import deaf
from robgui.core.codec import readable
from robgui.core.errors import ParamsError, RobguiError
from robgui.core.execution.analysis import Analysis
from robgui.core.execution.drive import Drive, drive, versions
from robgui.core.execution.registry import analyses, find
from robgui.core.execution.request import Request
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.core.workspace.export import write_document

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.classifier import Classifier


def run(words: list[str]) -> int:
    """Runs the analysis named first; returns the exit code."""
    if not words or words[0].startswith("-"):
        _overview().parse_args(words)
    known = find(words[0])
    given = _parser(known).parse_args(words[1:])
    stored = settings_in(given.params, known) if given.params is not None else {}
    params = known.params.parse({**stored, **values_of(given, known.params)}).model_dump(mode="json")
    out = _checked(given.out)
    progress = Progress(known.title)
    classifiers = tuple(open_model(model, given, progress.say) for model in given.model)
    dataset = open_data(given.data, given, progress.say) if given.data else None
    picked = chosen(dataset, given) if dataset is not None else None
    request = Request.build(known.name, classifiers, dataset, params, indices=picked)
    if given.workspace is None:
        return _carry_out(request, None, classifiers, dataset, out, progress)
    with Workspace.open(given.workspace) as workspace:
        return _carry_out(request, workspace, classifiers, dataset, out, progress)


def _carry_out(
    request: Request,
    workspace: Workspace | None,
    classifiers: tuple[Classifier, ...],
    dataset: Dataset | None,
    out: Path | None,
    progress: Progress,
) -> int:
    going = drive(request, workspace, classifiers, dataset)
    problem: Exception | None = None
    try:
        for step in going:
            progress.show(step)
    except KeyboardInterrupt:
        with deaf():
            going.close()
    except Exception as error:  # noqa: BLE001 - what has been computed is written first, then it is raised again
        problem = error
    progress.close()
    if going.newest is not None:
        with deaf():  # what has been computed is now written, whatever the user presses
            _write(going, out)
    if dataset is not None and (lost := dataset.left_out()):
        progress.say(f"Left out: {lost}")
    if problem is not None:
        raise problem
    _tell(going, progress)
    return INTERRUPTED if going.state is RunState.CANCELLED else 0


def _tell(going: Drive, progress: Progress) -> None:
    if going.state is RunState.CANCELLED:
        kept = "the result so far is kept" if going.newest is not None else "there is no result yet"
        progress.say(f"robgui: interrupted; {kept}")
    if going.verdict is not None:
        progress.say(f"{going.verdict.status.sign} {going.verdict.status.words}. {going.verdict.text}")


def _write(going: Drive, out: Path | None) -> None:
    """The JSON document to the file (with an NPZ beside it) or to stdout (large arrays by shape only)."""
    assert going.newest is not None
    fields = {
        "analysis": going.analysis.name,
        "state": going.state,
        "status": None if going.verdict is None else going.verdict.status,
        "verdict": "" if going.verdict is None else going.verdict.text,
        "error": going.error,
        "done": going.newest.done,
        "total": going.newest.total,
        "seconds": round(going.seconds, 3),
        "device": going.device,
        "versions": versions(),
        "request": going.request,
        "fingerprint": going.request.fingerprint,
        "findings": [{"kind": f.kind, "title": f.title, "severity": f.severity, "detail": f.detail} for f in going.findings],
        "result": going.newest.result,
    }
    if out is None:
        print_json(readable(fields)[0])
        return
    try:
        write_document(fields, out)
    except OSError as error:
        raise RobguiError(f"The result cannot be written to {out} ({error.strerror}); {_elsewhere(fields)}.") from error


def _elsewhere(fields: dict[str, Any]) -> str:
    """Writes the result into a fresh folder for temporary files instead; says where it lies."""
    try:
        place = Path(tempfile.mkdtemp(prefix="robgui-")) / f"{fields['analysis']}-{fields['fingerprint']}.json"
        write_document(fields, place)
    except OSError:  # there is no place at all: the sentence about the first one says why
        return "choose another place with --out"
    return f"it lies in {place} instead"


def _checked(out: str | None) -> Path | None:
    """The place of the result, found wanting before the work and not after it."""
    if out is not None and Path(out).suffix == ".npz":
        raise ParamsError(f"--out {out}: the result is JSON, and .npz is for the arrays beside it; name a .json file.")
    return writable("--out", out)


def _overview() -> argparse.ArgumentParser:
    names = "\n".join(f"  {name.replace('_', '-'):<22} {known.question}" for name, known in analyses().items())
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
    parser = Parser(prog=f"robgui run {known.name.replace('_', '-')}", description=f"{known.title}: {known.question}", allow_abbrev=False)
    several = " (repeat for several)" if known.several_models else ""
    parser.add_argument("--model", action="append", required=True, metavar="FILE", help=f"the model{several}")
    parser.add_argument("--data", metavar="PATH", help="the inputs: images, a folder, IDX, NPZ, NPY, CSV or JSON")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--index", metavar="I", help="which inputs, by number from 0: 3 or 0,4,7 or 10:20 [all]")
    which.add_argument("--select", metavar="QUERY", help='which inputs, by query: "label=shirt and index<100"')
    add_model_options(parser)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the analysis (may be repeated)")
    parser.add_argument(
        "--params", metavar="FILE", help="settings of the analysis in a TOML or JSON file, or in a result of --out; options go before it"
    )
    parser.add_argument("--workspace", metavar="FILE", help="also keep the run in this workspace")
    parser.add_argument("--out", metavar="FILE", help="where to write the JSON; large arrays go into an NPZ beside it [stdout]")
    taken = [action.dest for action in parser._actions]
    add_params(parser, known.params, taken)
    return parser
