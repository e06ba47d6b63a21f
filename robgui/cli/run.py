"""``robgui run``: an analysis from start to end, with progress, Ctrl-C and a result in JSON."""

from __future__ import annotations

import argparse
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from robgui.cli import INTERRUPTED, Parser
from robgui.cli.opening import add_model_options, chosen, open_data, open_model
from robgui.cli.options import add_params, values_of
from robgui.cli.progress import Progress
from robgui.core.analysis import Analysis, analyses, find
from robgui.core.codec import readable
from robgui.core.drive import Drive, drive, versions
from robgui.core.errors import ParamsError, RobguiError
from robgui.core.request import Request, reference
from robgui.core.run import RunState
from robgui.core.workspace import Workspace
from robgui.core.workspace.export import write_document

if TYPE_CHECKING:
    from robgui.core.classifier import Classifier
    from robgui.core.dataset import Dataset


def run(words: list[str]) -> int:
    """Runs the analysis named first; returns the exit code."""
    if not words or words[0].startswith("-"):
        _overview().parse_args(words)
    known = find(words[0])
    given = _parser(known).parse_args(words[1:])
    params = known.params.parse(values_of(given, known.params)).model_dump(mode="json")
    out = _checked(given.out)
    progress = Progress(known.title)
    classifiers = tuple(open_model(model, given, progress.say) for model in given.model)
    dataset = open_data(given.data, given) if given.data else None
    picked = chosen(dataset, given) if dataset is not None else None
    request = Request.build(known.name, classifiers, dataset, params, indices=picked)
    request = request.model_copy(update={"models": tuple(reference(classifier, trust=given.trust) for classifier in classifiers)})
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
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # what has been computed is now written, whatever the user presses
        going.close()
    except Exception as error:  # noqa: BLE001 - what has been computed is written first, then it is raised again
        problem = error
    progress.close()
    if going.newest is not None:
        _write(going, out)
    if problem is not None:
        raise problem
    _tell(going, progress)
    return INTERRUPTED if going.state is RunState.CANCELLED else 0


def _tell(going: Drive, progress: Progress) -> None:
    if going.state is RunState.CANCELLED:
        kept = "the result so far is kept" if going.newest is not None else "there is no result yet"
        progress.say(f"robgui: interrupted; {kept}")
    if going.verdict:
        progress.say(going.verdict)


def _write(going: Drive, out: Path | None) -> None:
    """The JSON document to the file (with an NPZ beside it) or to stdout (large arrays by shape only)."""
    assert going.newest is not None
    fields = {
        "analysis": going.analysis.name,
        "state": going.state,
        "verdict": going.verdict,
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
        print(json.dumps(readable(fields)[0], indent=1, allow_nan=False, ensure_ascii=False))
        return
    try:
        write_document(fields, out)
    except OSError as error:
        raise RobguiError(f"The result cannot be written to {out} ({error.strerror}); choose another place with --out.") from error


def _checked(out: str | None) -> Path | None:
    """The place of the result, found wanting before the work and not after it."""
    if out is None:
        return None
    path = Path(out)
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ParamsError(f"--out {out}: the result cannot be written there; name a file in a folder that exists and may be written.")
    if path.suffix == ".npz":
        raise ParamsError(f"--out {out}: the result is JSON, and .npz is for the arrays beside it; name a .json file.")
    return path


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
    parser.add_argument("--workspace", metavar="FILE", help="also keep the run in this workspace")
    parser.add_argument("--out", metavar="FILE", help="where to write the JSON; large arrays go into an NPZ beside it [stdout]")
    taken = [action.dest for action in parser._actions]
    add_params(parser, known.params, taken)
    return parser
