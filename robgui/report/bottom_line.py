"""What all runs of a report come to: the overall status with its reason, models by methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from robgui.core.execution.registry import analyses
from robgui.core.execution.request import Request
from robgui.core.finding_pair import pair_of
from robgui.core.text.words import count
from robgui.core.verdict import Status, Verdict, worst_of
from robgui.core.workspace.speaking import gravity, is_chosen_part, leading_run, speakers
from robgui.report.report_content import Chapter, by_method, in_words, method_name, models_of

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.finding_groups import Group
    from robgui.core.workspace import Workspace


@dataclass(frozen=True)
class BottomLine:
    """What a report comes to.

    Attributes:
        status: The worst that any run says that stands for its inputs.
        because: The chapter that says so: of several, the one that the overview leads with.
        said: What it says of the models of the report.
        counts: How many runs say what, the worst first.
    """

    status: Status
    because: Chapter
    said: Verdict
    counts: tuple[tuple[Status, int], ...]

    @property
    def sentence(self) -> str:
        """Why the status is what it is."""
        return self.said.sentence

    @property
    def tally(self) -> str:
        """How many runs say what, in one sentence."""
        parts = [f"{in_words(status)}: {count(many, 'run')}" for status, many in self.counts]
        return ", ".join(parts) + "."


@dataclass(frozen=True)
class JudgedRun:
    """A run and what it says of one of its models."""

    chapter: Chapter
    verdict: Verdict


@dataclass(frozen=True)
class Cell:
    """All runs of one method with one model, newest first.

    Attributes:
        method: Name of the method.
        judged: The runs with what they say of this model.
        told: The run that speaks for the method, as on the overview; None without one.
    """

    method: str
    judged: tuple[JudgedRun, ...]
    told: JudgedRun | None

    @property
    def counts(self) -> list[tuple[Status, int]]:
        """How many runs say what, the worst first."""
        return _counts([one.verdict for one in self.judged])


def bottom_line(
    chapters: Sequence[Chapter],
    severity: Mapping[str, float] = MappingProxyType({}),
    models: Collection[str] = (),
) -> BottomLine | None:
    """What the runs come to together; None when none of them says anything.

    Of runs with the worst status, one that speaks for its analysis leads, then the one with the
    worst finding, then the first in the order of the rail: as on the overview. A run of a chosen
    part of the inputs counts only where it speaks for them.

    Args:
        chapters: The runs, newest first.
        severity: How severe the worst finding of each run is, by its id.
        models: The fingerprints of those that the report is about; empty for all.
    """
    speaking = speaking_in(chapters)
    judged = [
        JudgedRun(one, said_of(one.verdict, one.run.request, models))
        for one in chapters
        if one.verdict is not None
        and (one.run.id in speaking or not is_chosen_part(one.run.request))
    ]
    if not judged:
        return None
    counts = _counts([one.verdict for one in judged])
    rail = {name: place for place, name in enumerate(analyses())}

    def weight(told: JudgedRun) -> tuple[int, bool, float, int]:
        run = told.chapter.run
        status, severe = gravity(told.verdict, severity.get(run.id, 0.0))
        place = rail.get(run.request.analysis, len(rail))
        # Worst status first; among equals the run that speaks, then
        # the severest, then the rail's order.
        return status, run.id not in speaking, severe, place

    because = min(judged, key=weight)
    return BottomLine(counts[0][0], because.chapter, because.verdict, tuple(counts))


def said_of(verdict: Verdict, request: Request, models: Collection[str]) -> Verdict:
    """What a run says of some of its models: the gravest answer; of all, the whole verdict."""
    marks = [model.fingerprint for model in request.models]
    own = [verdict.of(place) for place, mark in enumerate(marks) if mark in models]
    if not own or len(own) == len(marks):
        return verdict
    return own[worst_of(own)]


def speaking_in(chapters: Sequence[Chapter]) -> set[str]:
    """The ids of the runs that speak for their analysis, models and inputs."""
    return {run.id for run in speakers(one.run for one in chapters)}


def hero_pair(
    workspace: Workspace, line: BottomLine, findings: Sequence[Group]
) -> np.ndarray | None:
    """The failure that decides, before and after side by side; None if it shows no pair."""
    own = (one for group in findings for one in group.members if is_of(one, line))
    first = next((one for one in own if one.has_picture), None)
    if first is None:
        whole = None
    else:
        whole = workspace.finding(first.id)
    if whole is None or pair_of(whole) is None:
        return None
    return whole.picture


def is_of(finding: StoredFinding, line: BottomLine) -> bool:
    """Whether a finding is one of the run that decides."""
    return finding.run_id == line.because.run.id


def summary(
    chapters: Sequence[Chapter],
    severity: Mapping[str, float] = MappingProxyType({}),
    models: Collection[str] = (),
) -> dict[str, list[Cell]]:
    """One row of cells per model, by the model's name; the cells in the order of the methods.

    Args:
        chapters: The runs, newest first.
        severity: How severe the worst finding of each run is, by its id.
        models: The fingerprints of those that get a row; empty for all.
    """
    used = list(by_method(chapters))
    rows: dict[str, list[JudgedRun]] = {}
    for one in chapters:
        # A set: a model that a run names twice is told of once.
        for fingerprint in {model.fingerprint for model in one.run.request.models}:
            if one.verdict is not None:
                said = one.verdict.of(place(one.run.request, fingerprint))
                rows.setdefault(fingerprint, []).append(JudgedRun(one, said))
    table = {}
    for fingerprint, name in models_of(one.run for one in chapters).items():
        if not models or fingerprint in models:
            own = rows.get(fingerprint, [])
            speaking = speakers((one.chapter.run for one in own), fingerprint)
            told = {one.id for one in speaking}
            table[name] = [_cell(method, _of(own, method), told, severity) for method in used]
    return table


def place(request: Request, fingerprint: str) -> int:
    """Which of the models of a request has this fingerprint."""
    return [model.fingerprint for model in request.models].index(fingerprint)


def _cell(
    method: str, judged: tuple[JudgedRun, ...], speaking: set[str], severity: Mapping[str, float]
) -> Cell:
    own = {one.chapter.run.id: one for one in judged if one.chapter.run.id in speaking}

    def weight(run: Run) -> tuple[int, float]:
        return gravity(own[run.id].verdict, severity.get(run.id, 0.0))

    lead = leading_run([one.chapter.run for one in own.values()], weight)
    return Cell(method, judged, None if lead is None else own[lead.id])


def _of(judged: Sequence[JudgedRun], method: str) -> tuple[JudgedRun, ...]:
    return tuple(one for one in judged if method_name(one.chapter.run) == method)


def _counts(verdicts: Sequence[Verdict]) -> list[tuple[Status, int]]:
    found = Counter(verdict.status for verdict in verdicts)
    return [(status, found[status]) for status in Status if found[status]]
