"""What all runs of a report come to: the overall status with its reason, models by methods."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.execution.request import Request
from robgui.core.finding_pair import pair_of
from robgui.core.text.words import count
from robgui.core.verdict import Status, Verdict
from robgui.report.report_content import Chapter, by_method, in_words, method_name

if TYPE_CHECKING:
    import numpy as np

    from robgui.core.finding_groups import Group
    from robgui.core.workspace import Workspace


@dataclass(frozen=True)
class BottomLine:
    """What a report comes to.

    Attributes:
        status: The worst that any run says.
        because: The chapter that says so: of several, the newest.
        counts: How many runs say what, the worst first.
    """

    status: Status
    because: Chapter
    counts: tuple[tuple[Status, int], ...]

    @property
    def sentence(self) -> str:
        """Why the status is what it is."""
        assert self.because.verdict is not None
        return self.because.verdict.sentence

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
    """

    method: str
    judged: tuple[JudgedRun, ...]

    @property
    def counts(self) -> list[tuple[Status, int]]:
        """How many runs say what, the worst first."""
        return _counts([one.verdict for one in self.judged])


def bottom_line(chapters: Sequence[Chapter]) -> BottomLine | None:
    """What the runs come to together; None when none of them says anything."""
    verdicts = [(one, one.verdict) for one in chapters if one.verdict is not None]
    if not verdicts:
        return None
    counts = _counts([verdict for _, verdict in verdicts])
    status = counts[0][0]
    because = next(one for one, verdict in verdicts if verdict.status is status)
    return BottomLine(status, because, tuple(counts))


def hero_pair(
    workspace: Workspace, line: BottomLine, findings: Sequence[Group]
) -> np.ndarray | None:
    """The failure that decides, before and after side by side; None if it shows no pair."""
    own = (one.lead for one in findings if one.lead.run_id == line.because.run.id)
    first = next((one for one in own if one.has_picture), None)
    if first is None:
        whole = None
    else:
        whole = workspace.finding(first.id)
    if whole is None or pair_of(whole) is None:
        return None
    return whole.picture


def summary(chapters: Sequence[Chapter]) -> dict[str, list[Cell]]:
    """One row of cells per model, by the model's name; the cells in the order of the methods."""
    used = list(by_method(chapters))
    rows: dict[str, list[JudgedRun]] = {}
    names: dict[str, str] = {}
    for one in chapters:
        for fingerprint, name in _models(one.run.request).items():
            names.setdefault(fingerprint, name)
            if one.verdict is not None:
                said = one.verdict.of(place(one.run.request, fingerprint))
                rows.setdefault(fingerprint, []).append(JudgedRun(one, said))
    twice = {name for name, many in Counter(names.values()).items() if many > 1}
    table = {}
    for fingerprint, name in names.items():
        own = rows.get(fingerprint, [])
        if name in twice:
            shown = f"{name} ({fingerprint[:6]})"
        else:
            shown = name
        table[shown] = [Cell(method, _of(own, method)) for method in used]
    return table


def place(request: Request, fingerprint: str) -> int:
    """Which of the models of a request has this fingerprint."""
    return [model.fingerprint for model in request.models].index(fingerprint)


def _models(request: Request) -> dict[str, str]:
    return {model.fingerprint: model.name for model in request.models}


def _of(judged: Sequence[JudgedRun], method: str) -> tuple[JudgedRun, ...]:
    return tuple(one for one in judged if method_name(one.chapter) == method)


def _counts(verdicts: Sequence[Verdict]) -> list[tuple[Status, int]]:
    found = Counter(verdict.status for verdict in verdicts)
    return [(status, found[status]) for status in Status if found[status]]
