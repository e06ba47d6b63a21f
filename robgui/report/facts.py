"""What a report says of a workspace, in words, whatever it is written on: titles, status, origin, settings, trails."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from robgui import manual
from robgui.core.errors import WorkspaceError
from robgui.core.execution.analysis import analyses
from robgui.core.execution.params_text import write
from robgui.core.headline import STATUS_WORDS, Headline, Status
from robgui.core.text.words import duration
from robgui.report import each
from robgui.report.figures import draw

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pydantic.fields import FieldInfo

    from robgui.core.dataset.derived import Derived
    from robgui.core.execution.request import Reference, Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.workspace import Workspace

#: A sign for each status; the words always stand beside it.
SIGNS: dict[Status, str] = {"good": "✓", "doubtful": "!", "bad": "✗", "unknown": "?"}
#: From what matters most to what matters least.
_ORDER: tuple[Status, ...] = ("bad", "doubtful", "good", "unknown")


@dataclass(frozen=True)
class Chapter:
    """One run as a report tells it.

    Attributes:
        run: The run.
        problem: Why its result cannot be read; empty when it can.
        headline: What it comes down to; None when its analysis has no such number, or there is no result.
        headlines: The same for each of its models; empty where ``headline`` is None.
    """

    run: Run
    problem: str
    headline: Headline | None
    headlines: tuple[Headline, ...] = ()

    @property
    def title(self) -> str:
        """Analysis and models."""
        return title(self.run)

    def of(self, place: int) -> Chapter:
        """The chapter as it concerns one of the models of its run."""
        return replace(self, headline=self.headlines[place]) if self.headlines else self

    @property
    def status(self) -> str:
        """Sign and words of the status, or the state of a run that has none."""
        if self.headline is not None:
            return in_words(self.headline.status)
        return "" if self.run.has_result else "no result"


@dataclass(frozen=True)
class Cell:
    """All runs of one method with one model.

    Attributes:
        chapters: The runs, newest first.
        method: Name of the method's page in the manual.
    """

    method: str
    chapters: tuple[Chapter, ...]

    @property
    def newest(self) -> Chapter | None:
        """The newest run that comes down to a number."""
        return next((chapter for chapter in self.chapters if chapter.headline is not None), None)

    @property
    def counts(self) -> list[tuple[Status, int]]:
        """How many runs ended how, the worst first."""
        found = Counter(chapter.headline.status for chapter in self.chapters if chapter.headline is not None)
        return [(status, found[status]) for status in _ORDER if found[status]]


def chapter(workspace: Workspace, run: Run) -> Chapter:
    """Reads the result of a run and takes its headline."""
    if not run.has_result:
        return Chapter(run, "", None)
    try:
        result = workspace.result(run.id)
    except WorkspaceError as error:
        return Chapter(run, str(error), None)
    known = analyses()[run.request.analysis]
    if known.headline is None:
        return Chapter(run, "", None)
    return Chapter(run, "", known.headline(result), each.headlines(known.headline, result, len(run.request.models)))


def told_once(chapters: Sequence[Chapter]) -> tuple[list[Chapter], dict[str, Chapter]]:
    """The chapters without repetitions, and for every run the chapter that tells of it.

    A run is a repetition when a newer one of the same request on the same device has ended the same way.
    """
    kept: dict[object, Chapter] = {}
    telling = {}
    for one in chapters:
        run = one.run
        told = (_fingerprint(run), run.device, run.state, run.verdict) if run.has_result else run.id
        telling[run.id] = kept.setdefault(told, one)
    return list(kept.values()), telling


def heading(chapters: Sequence[Chapter]) -> str:
    """What a report is about: its models by name, the first two if there are more."""
    names = list(dict.fromkeys(model.name for one in chapters for model in one.run.request.models))
    if len(names) > 2:
        return f"Robustness of {names[0]}, {names[1]} and {count(len(names) - 2, 'more model')}"
    return f"Robustness of {' and '.join(names)}"


def overview(chapters: Sequence[Chapter], repeated: int, findings: int) -> str:
    """How much a report holds, in one sentence; runs with the same result as another are ``repeated``."""
    models = len({model.fingerprint for one in chapters for model in one.run.request.models})
    again = f" (and {repeated:,} with the same result as one of them)" if repeated else ""
    return f"{count(models, 'model')}, {count(len(chapters), 'run')}{again}, {count(findings, 'finding')}."


def figure(workspace: Workspace, chapter: Chapter, *, dark: bool = False) -> Figure | None:
    """The figure of a run; None when there is nothing to draw. Results are read one at a time: together they may be large."""
    if not chapter.run.has_result or chapter.problem:
        return None
    return draw(chapter.run.request.analysis, workspace.result(chapter.run.id), dark=dark)


def methods(runs: Sequence[Run]) -> dict[str, list[Run]]:
    """The runs by the manual's page of their method, in the order of the manual."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(manual.page_of(run.request.analysis).name, []).append(run)
    return {name: groups[name] for name in manual.PAGES if name in groups}


def summary(chapters: Sequence[Chapter]) -> dict[str, list[Cell]]:
    """One row of cells per model, by the model's name; the cells stand in the order of the methods used."""
    used = list(methods([one.run for one in chapters]))
    rows: dict[str, list[Chapter]] = {}
    names: dict[str, str] = {}
    for one in chapters:
        for fingerprint, name in {model.fingerprint: model.name for model in one.run.request.models}.items():
            rows.setdefault(fingerprint, []).append(one.of(each.place(one.run.request, fingerprint) or 0))
            names.setdefault(fingerprint, name)
    twice = {name for name, count in Counter(names.values()).items() if count > 1}
    table = {}
    for fingerprint, own in rows.items():
        name = names[fingerprint] + (f" ({fingerprint[:6]})" if names[fingerprint] in twice else "")
        table[name] = [Cell(method, tuple(one for one in own if _method(one) == method)) for method in used]
    return table


def tally(chapters: Sequence[Chapter]) -> str:
    """How many runs passed and failed, in one sentence."""
    found = Counter(one.headline.status for one in chapters if one.headline is not None)
    parts = [f"{in_words(status)}: {count(found[status], 'run')}" for status in _ORDER if found[status]]
    if rest := len(chapters) - sum(found.values()):
        parts.append(f"without such a judgement: {count(rest, 'run')}")
    return ", ".join(parts) + "."


def in_words(status: Status) -> str:
    """A status as sign and words: ``✗ Failure found``."""
    return f"{SIGNS[status]} {STATUS_WORDS[status]}"


def distinct(findings: Sequence[StoredFinding], telling: Mapping[str, Chapter]) -> list[StoredFinding]:
    """The starred findings, then the others, the worst first; what a repeated run has found again is left out unless it has a note."""
    ordered = sorted(findings, key=lambda finding: (not finding.starred, not finding.note, -finding.severity))
    seen, kept = set(), []
    for finding in ordered:
        run = telling[finding.run_id].run.id if finding.run_id in telling else finding.run_id
        same = (run, finding.kind, finding.title, finding.severity)
        if same not in seen or finding.starred or finding.note:
            kept.append(finding)
        seen.add(same)
    return sorted(kept, key=lambda finding: (not finding.starred, -finding.severity))


def title(run: Run) -> str:
    """What to call a run."""
    known = analyses().get(run.request.analysis)
    return known.title if known else run.request.analysis


def trails(workspace: Workspace, request: Request) -> list[Derived]:
    """The derived inputs that a run looked at, with their trails; none for inputs of ordinary data."""
    ids = request.dataset.options.get("derived") if request.dataset is not None else None
    if not isinstance(ids, list):
        return []
    known = {item.id: item for item in workspace.derived()}
    return [known[number] for number in ids if isinstance(number, int) and number in known]


def origin(run: Run) -> dict[str, str]:
    """Where the result comes from: model, data, device, versions, time."""
    request = run.request
    rows = {f"Model {i}" if len(request.models) > 1 else "Model": _reference(model) for i, model in enumerate(request.models, 1)}
    if request.dataset is not None:
        rows["Data"] = _reference(request.dataset)
        rows["Inputs"] = "all" if request.indices is None else _indices(request.indices)
    rows["Device"] = run.device or request.device or "not started"
    rows["Started"] = moment(run.created)
    rows["Time"] = duration(run.seconds)
    rows["Versions"] = ", ".join(f"{name} {version}" for name, version in run.versions.items()) or "unknown"
    rows["Run"] = f"{run.id}, request {_fingerprint(run)}"
    return rows


def settings(run: Run) -> dict[str, str]:
    """Every setting under its title, the seed among them."""
    known = analyses().get(run.request.analysis)
    fields = known.params.model_fields if known else {}
    return {_label(fields, name): _value(fields.get(name), value) for name, value in run.request.params.items()}


def moment(seconds: float) -> str:
    """A point in time, to the minute."""
    return datetime.fromtimestamp(seconds).astimezone().strftime("%Y-%m-%d %H:%M %Z")


def count(number: int, word: str) -> str:
    """``1 run``, ``2 runs``."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def _method(one: Chapter) -> str:
    return manual.page_of(one.run.request.analysis).name


def _fingerprint(run: Run) -> str:
    return run.request.fingerprint if run.request.analysis in analyses() else "of an unknown analysis"


def _label(fields: Mapping[str, Any], name: str) -> str:
    return (fields[name].title if name in fields else None) or name


def _value(field: FieldInfo | None, value: Any) -> str:
    """A setting as its form shows it: nothing, and sometimes zero, stand for something that has a word."""
    declared = field.json_schema_extra if field is not None and isinstance(field.json_schema_extra, dict) else {}
    if declared.get("zero") and value == 0:
        return str(declared["zero"])
    return write(value) or str(declared.get("empty") or "none")


def _reference(reference: Reference) -> str:
    place = f" ({reference.path})" if reference.path else ""
    return f"{reference.name}{place}, fingerprint {reference.fingerprint}"


def _indices(indices: Sequence[int]) -> str:
    listed = ", ".join(str(i) for i in indices[:12])
    return f"{listed} … ({len(indices):,} in all)" if len(indices) > 12 else listed
