"""Record: a run in the form experiment trackers keep: settings, numbers, words and files."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError
from robgui.core.experiment.record import without_folders
from robgui.core.files import write_whole
from robgui.report import origin, report_content
from robgui.version import __version__

if TYPE_CHECKING:
    from robgui.core.execution.request import Request
    from robgui.core.verdict import Verdict
    from robgui.core.workspace import Workspace
    from robgui.report.report_content import Chapter

#: Characters that every tracker takes as the value of a setting, or as a tag.
_LONGEST = 500
_CUT = " …"


@dataclass(frozen=True)
class Record:
    """What is logged of one run, or of the report on all of them.

    Attributes:
        name: What to call it.
        run: The run in its workspace; empty for the report.
        params: Settings, model and data by name and content; no folder of the user.
        numbers: What the run comes down to, with its interval, and the seconds it took.
        tags: What it says, in words.
        files: Its picture, the numbers behind it; or the report.
    """

    name: str
    run: str = ""
    params: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, float] = field(default_factory=dict)
    tags: dict[str, str] = field(default_factory=dict)
    files: tuple[Path, ...] = ()


def chosen(workspace: Workspace, wanted: Sequence[str]) -> list[Chapter]:
    """The runs with a result, or those that are wanted; what they say beside each other.

    Raises:
        RobguiError: One of them is not there or has no result, or none has one.
    """
    known = {run.id: run for run in workspace.runs()}
    for one in wanted:
        if one not in known:
            raise RobguiError(f"The workspace has no run {one}; 'robgui report' names its runs.")
        if not known[one].has_result:
            raise RobguiError(f"The run {one} has no result to log; start it again.")
    runs = [known[one] for one in wanted] or [run for run in known.values() if run.has_result]
    if not runs:
        raise RobguiError("No run of the workspace has a result to log yet.")
    return report_content.chapters_of(workspace, runs)


def record(workspace: Workspace, told: Chapter, folder: Path) -> Record:
    """A run with its files, which are written into ``folder``."""
    run, said = told.run, told.verdict
    request = run.request
    numbers = {"seconds": run.seconds}
    if said is not None:
        numbers |= _numbers(request.analysis, said)
    tags = {"robgui.run": run.id, "robgui.version": run.versions.get("robgui", __version__)}
    return Record(
        f"{report_content.title(run)}: {origin.subject(request)}",
        run.id,
        logged_params(request),
        # An end that is not known is nan, which is no number to a tracker.
        {name: value for name, value in numbers.items() if math.isfinite(value)},
        {**tags, "robgui.request": origin.fingerprint_of(run), **_words(said)},
        tuple(_files(workspace, told, folder)),
    )


def whole_report(workspace: Workspace, folder: Path, chapters: Sequence[Chapter]) -> Record:
    """The report on the workspace, as one more record."""
    from robgui.report.html import write_html

    path = write_html(workspace, folder / "report.html")
    statuses = [one.verdict.status.words for one in chapters if one.verdict is not None]
    counted = {f"runs/{words}": float(statuses.count(words)) for words in dict.fromkeys(statuses)}
    tags = {"robgui.version": __version__}
    return Record("Report", "", {}, counted, tags, (path,))


def logged_params(request: Request) -> dict[str, str]:
    """Every setting by its name; files in them without their folders."""
    found: dict[str, str] = {"analysis": request.analysis}
    for place, model in enumerate(request.models):
        if len(request.models) == 1:
            name = "model"
        else:
            name = f"model {place + 1}"
        found |= {name: model.name, f"{name} fingerprint": model.fingerprint}
    if request.dataset is not None:
        found |= {"data": request.dataset.name, "data fingerprint": request.dataset.fingerprint}
    if request.indices is not None:
        found["inputs"] = ", ".join(str(one) for one in request.indices)
    for name, value in request.params.items():
        # A setting may be called like one of the entries above.
        found[f"setting {name}" if name in found else name] = _text(value)
    return {name: _cut(value) for name, value in found.items()}


def _numbers(analysis: str, said: Verdict) -> dict[str, float]:
    known = said.number
    if known is None:
        return {}
    ends = {"value": known.value, "low": known.low, "high": known.high}
    return {f"{analysis}/{name}": float(value) for name, value in ends.items()}


def _words(said: Verdict | None) -> dict[str, str]:
    if said is None:
        return {}
    words = {"status": said.status.words, "sentence": said.sentence, "scope": said.scope}
    if said.number is not None:
        words["number"] = f"{said.number.name}: {said.number.words}"
    return {name: _cut(value) for name, value in words.items() if value}


def _files(workspace: Workspace, told: Chapter, folder: Path) -> Iterator[Path]:
    """The picture, which carries its request, the numbers behind it, and the whole verdict."""
    from robgui.report.drawing import draw, save, to_csv

    run = told.run
    views, problem = report_content.views(workspace, told)
    if told.verdict is not None:
        path = folder / "verdict.json"
        text = json.dumps(_document(told.verdict), indent=1, ensure_ascii=False)
        write_whole(path, text.encode())
        yield path
    if problem or not views:
        return
    figure = draw(
        views,
        title=report_content.title(run),
        subject=origin.subject(run.request),
        provenance=origin.provenance_of(run),
    )
    carried = origin.experiment_of_run(run, told.verdict)
    for name, content in (
        ("picture.png", save(figure, "png", experiment=carried)),
        ("numbers.csv", to_csv(views[0]).encode()),
    ):
        write_whole(folder / name, content)
        yield folder / name


def _document(said: Verdict) -> dict[str, Any]:
    return {
        "status": said.status.words,
        "sentence": said.sentence,
        "number": None if said.number is None else said.number.words,
        "scope": said.scope,
        "because": list(said.because),
    }


def _text(value: Any) -> str:
    plain = without_folders(json.loads(json.dumps(value, default=str)))
    if isinstance(plain, str):
        return plain
    return json.dumps(plain, ensure_ascii=False)


def _cut(value: str) -> str:
    if len(value) <= _LONGEST:
        return value
    return value[: _LONGEST - len(_CUT)] + _CUT
