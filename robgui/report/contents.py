"""Contents: what a report tells of, which of its runs in full and which in a few lines."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.errors import ParamsError
from robgui.core.finding_groups import failing_models
from robgui.core.text.words import count
from robgui.core.verdict import Status
from robgui.core.workspace.speaking import severities
from robgui.report import report_content
from robgui.report.bottom_line import BottomLine, Cell, bottom_line, summary

if TYPE_CHECKING:
    from robgui.core.execution.run import Run
    from robgui.core.finding_groups import Group
    from robgui.core.workspace import Workspace
    from robgui.report.report_content import Chapter


@dataclass(frozen=True)
class Scope:
    """What a report is asked to be about.

    Attributes:
        models: The fingerprints of its models; empty for every model of the workspace.
        full: Whether every run is told in full; else one run for each model and method is.
        runs: The ids of its runs, each told in full; empty for every run.
    """

    models: frozenset[str] = frozenset()
    full: bool = False
    runs: frozenset[str] = frozenset()

    def covers(self, run: Run) -> bool:
        """Whether a run was chosen and asks about one of the models."""
        if self.runs and run.id not in self.runs:
            return False
        asked = {one.fingerprint for one in run.request.models}
        return not self.models or bool(asked & self.models)


WHOLE = Scope()


@dataclass(frozen=True)
class Contents:
    """What a report tells, in whatever format.

    Attributes:
        scope: What it was asked to be about.
        chapters: Its runs without repetitions, newest first.
        telling: For every run, repetitions too, the chapter that tells of it.
        findings: Like ones as one: the starred first, then the worst.
        line: What the runs come to; None when none of them says anything.
        table: The summary: one row of cells per model, by its name.
        full: The ids of the runs that are told in full.
        left_out: Names of the models of the workspace that the report is not about.
        not_chosen: Runs with a result that a choice of runs left out.
    """

    scope: Scope
    chapters: Sequence[Chapter]
    telling: Mapping[str, Chapter]
    findings: Sequence[Group]
    line: BottomLine | None
    table: Mapping[str, Sequence[Cell]]
    full: Collection[str]
    left_out: Sequence[str]
    not_chosen: Sequence[Run] = ()

    @property
    def told(self) -> list[Chapter]:
        """The runs that say something."""
        return report_content.with_result(self.chapters)

    @property
    def in_full(self) -> list[Chapter]:
        """The runs that are told with their pictures and settings."""
        return [one for one in self.told if one.run.id in self.full]

    @property
    def in_brief(self) -> list[Chapter]:
        """The runs that say something beside those told in full."""
        return [one for one in self.told if one.run.id not in self.full]

    @property
    def failed(self) -> list[Chapter]:
        """The runs without a result."""
        return report_content.without_result(self.chapters)

    @property
    def heading(self) -> str:
        """What the report is about: its models by name, the first two if there are more."""
        return report_content.heading(self.chapters, self.scope.models)

    @property
    def overview(self) -> str:
        """How much the report holds, and what it leaves out."""
        words = report_content.overview(
            self.chapters,
            len(self.telling) - len(self.chapters),
            self.findings,
            self.scope.models,
        )
        if self.left_out:
            others = count(len(self.left_out), "other model")
            words += f" Not about {others} of the workspace: {', '.join(self.left_out)}."
        return f"{words} {_not_chosen_words(self.not_chosen)}".rstrip()


def contents_of(workspace: Workspace, scope: Scope = WHOLE) -> Contents:
    """What a report of this workspace tells."""
    every = workspace.runs()
    runs = [run for run in every if scope.covers(run)]
    chapters, telling = report_content.told_once(report_content.chapters_of(workspace, runs))
    told = report_content.with_result(chapters)
    severity = severities(workspace.findings(), workspace.harm())
    line = bottom_line(told, severity, scope.models)
    table = summary(told, severity, scope.models)
    if scope.full or scope.runs:
        full = {one.run.id for one in told}
    else:
        full = _speaking_best(table, line)
    names = report_content.models_of(every)
    left_out = [name for mark, name in names.items() if scope.models and mark not in scope.models]
    findings = _findings(workspace, runs, scope)
    others = _not_chosen(every, scope)
    return Contents(scope, chapters, telling, findings, line, table, full, left_out, others)


def _not_chosen(every: Sequence[Run], scope: Scope) -> list[Run]:
    """The runs with a result that a choice of runs leaves out."""
    wider = Scope(scope.models)
    others = (run for run in every if run.has_result and wider.covers(run))
    return [run for run in others if not scope.covers(run)]


def _not_chosen_words(others: Sequence[Run]) -> str:
    """What a choice leaves out: whoever reads the report must know of failures there."""
    if not others:
        return ""
    failing = sum(run.verdict is not None and run.verdict.status is Status.FAILS for run in others)
    found = f", {failing:,} of which found a failure" if failing else ""
    return f"Chosen by hand: it leaves out {count(len(others), 'run')} with a result{found}."


def scope_of(
    workspace: Workspace, wanted: Sequence[str], *, full: bool = False, runs: Sequence[str] = ()
) -> Scope:
    """The scope with these models, each by its name or the beginning of its fingerprint.

    Args:
        workspace: Which holds them.
        wanted: The models.
        full: Whether every run is told in full.
        runs: Only these runs, each by its id or its beginning.

    Raises:
        ParamsError: No run asks about one of the models, or none or several have such an id.
    """
    known = [one for run in workspace.runs() for one in run.request.models]
    chosen: set[str] = set()
    for word in wanted:
        found = {
            one.fingerprint for one in known if one.name == word or one.fingerprint.startswith(word)
        }
        if not found:
            names = ", ".join(sorted({one.name for one in known})) or "none"
            raise ParamsError(
                f"No run of the workspace asks about the model {word}; it knows {names}."
            )
        chosen |= found
    ids = [run.id for run in workspace.runs()]
    return Scope(frozenset(chosen), full, frozenset(_run_id(ids, word) for word in runs))


def _run_id(ids: Sequence[str], word: str) -> str:
    """The run whose id begins with a word."""
    found = [one for one in ids if one.startswith(word)]
    # A whole id may be the beginning of another one too.
    if word in ids:
        return word
    if len(found) != 1 or not word:
        told = f"{count(len(found), 'run')} of the workspace begin"
        raise ParamsError(f"{told} with “{word}”; robgui report WORKSPACE --list names all.")
    return found[0]


def _speaking_best(table: Mapping[str, Sequence[Cell]], line: BottomLine | None) -> set[str]:
    """For each model and method the run that speaks, and the run that decides."""
    cells = [cell.told for row in table.values() for cell in row if cell.told is not None]
    full = {one.chapter.run.id for one in cells}
    if line is not None:
        # It may be a run that was stopped, which speaks for no cell.
        full.add(line.because.run.id)
    return full


def _findings(workspace: Workspace, runs: Sequence[Run], scope: Scope) -> list[Group]:
    """The findings on the models of the report."""
    requests = {run.id: run.request for run in runs}
    found = report_content.entries(workspace, workspace.runs(), chosen=scope.runs)
    if not scope.models:
        return found

    def is_meant(group: Group) -> bool:
        request = requests.get(group.lead.run_id)
        if request is None:
            return False
        marks = {one.fingerprint for one in failing_models(group.lead, request)}
        return bool(marks & scope.models)

    return [group for group in found if is_meant(group)]
