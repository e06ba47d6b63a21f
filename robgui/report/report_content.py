"""What a report says about a workspace, in whatever format: runs, verdicts, findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from robgui.core.errors import RobguiError, sentence
from robgui.core.execution.method import methods as all_methods
from robgui.core.execution.registry import analyses, find, method_of
from robgui.core.execution.run import RunState
from robgui.core.finding_groups import Group, counted, grouped
from robgui.core.text.saying import said_by
from robgui.core.text.words import count
from robgui.core.verdict import Status, Verdict, to_json
from robgui.core.view import View
from robgui.report.origin import fingerprint_of

if TYPE_CHECKING:
    from robgui.core.evidence import Evidence
    from robgui.core.execution.run import Run
    from robgui.core.workspace import Workspace

NOTHING_YET = (
    "This workspace holds no run yet: open a model and inputs, choose an analysis and press Run."
)
#: The group of analyses that no method brings.
LOOSE = "other"


@dataclass(frozen=True)
class Chapter:
    """One run as a report tells it.

    Attributes:
        run: The run.
        problem: Why its result cannot be read or drawn; empty when it can.
        verdict: What it says; None without a result.
    """

    run: Run
    problem: str
    verdict: Verdict | None

    @property
    def title(self) -> str:
        """The analysis."""
        return title(self.run)

    @property
    def status(self) -> str:
        """Sign and words of the status, or that there is no result."""
        if self.verdict is None:
            return "no result"
        return in_words(self.verdict.status)


def chapters_of(workspace: Workspace, runs: Sequence[Run]) -> list[Chapter]:
    """The runs with what they say, beside all that the workspace knows."""
    known = workspace.evidence()
    return [chapter(workspace, run, known) for run in runs]


def chapter(workspace: Workspace, run: Run, known: Evidence | None = None) -> Chapter:
    """A run with what it says beside ``known``, all that the workspace knows of failures."""
    told = _alone(workspace, run)
    if told.verdict is None:
        return told
    if known is None:
        known = workspace.evidence()
    return replace(told, verdict=known.shown(told.verdict, run.request, run.id))


def _alone(workspace: Workspace, run: Run) -> Chapter:
    """A run's own verdict; one of the first edition, which kept only words, is judged again."""
    if not run.has_result:
        return Chapter(run, "", None)
    if run.verdict is not None and not _is_words_only(run.verdict):
        return Chapter(run, "", run.verdict)
    try:
        known, result, params = _read(workspace, run)
        said = said_by(known, result, params, run.request)
    except Exception as error:  # noqa: BLE001 - a method is foreign code; its words stay
        said = run.verdict or Verdict(Status.UNKNOWN, "What this run says cannot be read.")
        return Chapter(run, _problem(error), said)
    return Chapter(run, "", said.stopped() if run.state is RunState.CANCELLED else said)


def views(workspace: Workspace, chapter: Chapter) -> tuple[tuple[View, ...], str]:
    """What a run looks like, or why it cannot be drawn.

    Results are read one at a time: together they may be large.
    """
    if not chapter.run.has_result or chapter.problem:
        return (), chapter.problem
    try:
        known, result, params = _read(workspace, chapter.run)
        return tuple(known.views(result, params)), ""
    except Exception as error:  # noqa: BLE001 - a method is foreign code; the rest stands
        return (), _problem(error)


def told_once(chapters: Sequence[Chapter]) -> tuple[list[Chapter], dict[str, Chapter]]:
    """The chapters without repetitions, and the chapter of every run.

    A run is a repetition when a newer one of the same request on the same device says the same, or
    failed for the same reason.
    """
    kept: dict[object, Chapter] = {}
    telling = {}
    for one in chapters:
        run = one.run
        if one.verdict is None:
            said = ""
        else:
            said = to_json(one.verdict)
        told = (fingerprint_of(run), run.device, run.state, run.has_result, said or run.error)
        # Runs come newest first, so repetitions lead to the newest.
        telling[run.id] = kept.setdefault(told, one)
    return list(kept.values()), telling


def with_result(chapters: Sequence[Chapter]) -> list[Chapter]:
    """The chapters that have a verdict."""
    return [one for one in chapters if one.run.has_result]


def without_result(chapters: Sequence[Chapter]) -> list[Chapter]:
    """The runs that failed or never ran: one list at the end of a report."""
    return [one for one in chapters if not one.run.has_result]


def by_method(chapters: Sequence[Chapter]) -> dict[str, list[Chapter]]:
    """The chapters by the name of their method, in the order of the rail; ``LOOSE`` last."""
    groups: dict[str, list[Chapter]] = {}
    for one in chapters:
        groups.setdefault(method_name(one.run), []).append(one)
    order = [*(method.name for method in all_methods()), LOOSE]
    return {name: groups[name] for name in order if name in groups}


def method_name(run: Run) -> str:
    """The method that a run belongs to."""
    method = method_of(run.request.analysis)
    if method is None:
        return LOOSE
    return method.name


def method_title(name: str) -> str:
    """What a method is called."""
    titles = {method.name: method.title for method in all_methods()}
    return titles.get(name, "Other analyses")


def models_of(runs: Iterable[Run]) -> dict[str, str]:
    """The models of runs by fingerprint, whose beginning tells those of one name apart."""
    names: dict[str, str] = {}
    for run in runs:
        for model in run.request.models:
            names.setdefault(model.fingerprint, model.name)
    many = Counter(names.values())
    alike = {mark: f"{name} ({mark[:6]})" for mark, name in names.items() if many[name] > 1}
    return names | alike


def heading(chapters: Sequence[Chapter], models: Collection[str] = ()) -> str:
    """What a report is about: its models by name, the first two if there are more.

    Args:
        chapters: Its runs.
        models: The fingerprints of those that it is about; empty for all.
    """
    every = [model for one in chapters for model in one.run.request.models]
    own = [model.name for model in every if not models or model.fingerprint in models]
    names = list(dict.fromkeys(own))
    if len(names) > 2:
        more = count(len(names) - 2, "more model")
        return f"Robustness of {names[0]}, {names[1]} and {more}"
    return f"Robustness of {' and '.join(names)}"


def overview(
    chapters: Sequence[Chapter],
    repeated: int,
    findings: Sequence[Group],
    models: Collection[str] = (),
) -> str:
    """How much a report holds, in one sentence; ``repeated`` runs say the same as another."""
    known = {model.fingerprint for one in chapters for model in one.run.request.models}
    if models:
        known &= set(models)
    if repeated:
        again = f" (and {repeated:,} with the same result as one of them)"
    else:
        again = ""
    runs = count(len(chapters), "run")
    return f"{count(len(known), 'model')}, {runs}{again}, {counted(findings)}."


def entries(
    workspace: Workspace, runs: Sequence[Run], *, chosen: Collection[str] = ()
) -> list[Group]:
    """The findings, those that are alike as one: the starred first, then the worst.

    Args:
        workspace: Which holds them.
        runs: All of its runs.
        chosen: The ids of the runs whose findings are wanted; empty for all.
    """
    requests = {run.id: run.request for run in runs}
    wanted = [one for one in workspace.findings() if not chosen or one.run_id in chosen]
    found = grouped(wanted, requests, workspace.harm())
    # The sort is stable: among the starred and among the others the worst stay first.
    return sorted(found, key=lambda group: not group.lead.starred)


def alike(group: Group) -> str:
    """How many findings an entry stands for: ``, 6 alike``; empty for one."""
    if len(group.members) > 1:
        return f", {len(group.members):,} alike"
    return ""


def title(run: Run) -> str:
    """What to call a run."""
    known = analyses().get(run.request.analysis)
    if known:
        return known.title
    return run.request.analysis


def in_words(status: Status) -> str:
    """A status as sign and words: ``✗ Failure found``."""
    return f"{status.sign} {status.words}"


def number_of(verdict: Verdict) -> str:
    """The number that a verdict comes down to, with its name; empty without one."""
    if verdict.number is None:
        return ""
    return f"{verdict.number.name}: {verdict.number.words}"


def _read(workspace: Workspace, run: Run) -> tuple[Any, Any, Any]:
    """Analysis, result and settings of a run."""
    known = find(run.request.analysis)
    return known, workspace.result(run.id), known.params.parse(dict(run.request.params))


def _is_words_only(verdict: Verdict) -> bool:
    """Whether a verdict is what the first edition kept: words without anything behind them."""
    bare = verdict.number is None and not verdict.scope and not verdict.because
    return verdict.status is Status.UNKNOWN and bare


def _problem(error: Exception) -> str:
    if isinstance(error, RobguiError):
        return str(error)
    return f"This run cannot be drawn: {sentence(error)}"
