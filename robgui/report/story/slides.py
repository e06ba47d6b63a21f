"""A story in four to six slides: how often the model is right, what fails, what to do.

Every sentence is one that a run or a finding of the workspace says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robgui.core.execution.likeness import is_of_one_input
from robgui.core.execution.registry import method_of
from robgui.core.execution.request import subject
from robgui.core.finding_groups import counted
from robgui.core.finding_pair import Pair, is_drawn, pair_of
from robgui.core.text.words import percent
from robgui.core.verdict import Status
from robgui.core.workspace.speaking import gravity, has_ended, leading_run, severities
from robgui.report import report_content
from robgui.report.bottom_line import BottomLine, bottom_line, is_of, speaking_in
from robgui.report.report_content import Chapter, by_method, method_name
from robgui.report.story.sentences import (
    asked_words,
    finding_sentence,
    large_words,
    title_of,
    what_to_do,
)
from robgui.report.story.words import Words, read_edits

if TYPE_CHECKING:
    from robgui.core.execution.request import Reference, Request
    from robgui.core.execution.run import Run
    from robgui.core.finding import StoredFinding
    from robgui.core.finding_groups import Group
    from robgui.core.view import View
    from robgui.core.workspace import Workspace

#: Slides of findings and of other runs, and of all together with the first and the last.
MOST_FINDINGS, MOST_RUNS, MOST = 3, 2, 6
START, END = "start", "end"


@dataclass(frozen=True, slots=True)
class Right:
    """How often a model is right on its data.

    Attributes:
        model: Its fingerprint.
        data: Name of the data.
        share: Of its inputs, as they are.
        inputs: How many there are.
    """

    model: str
    data: str
    share: float
    inputs: int


@dataclass(frozen=True, slots=True)
class Slide:
    """One slide.

    Attributes:
        key: The same for the same slide, whatever its words are.
        title: One sentence.
        text: What stands below; lines are points.
        number: What it comes down to, to be seen from the back of the room; empty without one.
        status: What it means; None on the first and the last.
        subject: Of what: model and input.
        pair: An input before and after; None without one.
        picture: ``(h, w, 3)`` uint8 where there is no pair; None without one.
        view: What a run looks like, where there is no picture; None without one.
        pictures: Small ones in rows of two, before and after, where there is nothing else.
        drawn: Whether its pictures are drawings on white, of rows or sequences.
        finding: Number of the finding it shows; -1 for none.
    """

    key: str
    title: str
    text: str = ""
    number: str = ""
    status: Status | None = None
    subject: str = ""
    pair: Pair | None = None
    picture: np.ndarray | None = None
    view: View | None = None
    pictures: tuple[np.ndarray, ...] = ()
    drawn: bool = False
    finding: int = -1


def story_of(workspace: Workspace, right: Right | None = None, about: str = "") -> list[Slide]:
    """The slides in order; none for a workspace in which nothing has run.

    Args:
        workspace: Where the runs and findings are.
        right: How often a model is right; told where the story is about that model.
        about: The fingerprint of the model that the story is about, if anything is known of it and
            no finding is starred; empty for that of the worst finding.
    """
    runs = workspace.runs()
    every = report_content.chapters_of(workspace, runs)
    chapters, _ = report_content.told_once(every)
    told = report_content.with_result(chapters)
    by_run = {one.run.id: one for one in every}
    groups = [one for one in report_content.entries(workspace, runs) if one.lead.run_id in by_run]
    if not told and not groups:
        return []
    severity = severities(workspace.findings(), workspace.harm())
    # The story, the report and the overview must lead with the same failure.
    groups = _led(groups, bottom_line(told, severity))
    model = _asked_for(about, groups, told) or _model(groups, by_run, told)
    chosen = _chosen(groups, by_run, model)
    claimed = right if model is not None and right and right.model == model.fingerprint else None
    findings: list[Slide] = []
    for group in chosen:
        finding, chapter = workspace.finding(group.lead.id), by_run[group.lead.run_id]
        findings.append(_finding(finding, chapter, findings, claims=claimed is not None))
    methods = {method_name(by_run[group.lead.run_id].run) for group in chosen}
    requests = [by_run[group.lead.run_id].run.request for group in chosen]
    lead = next((one for one in requests if is_of_one_input(one)), None)
    others = _others(told, model, methods, MOST - 2 - len(findings), lead)
    slides = [
        _start(told, model, claimed, findings),
        *findings,
        *(_run(workspace, chapter, model) for chapter in others),
        _end(told, groups, findings),
    ]
    edits = read_edits(workspace)
    return [_edited(slide, edits.get(slide.key)) for slide in slides]


def _led(groups: Sequence[Group], line: BottomLine | None) -> list[Group]:
    """The starred findings first, then those of the run that decides, as a report leads."""
    if line is None:
        return list(groups)

    def later(group: Group) -> tuple[bool, bool]:
        return not group.lead.starred, not any(is_of(one, line) for one in group.members)

    return sorted(groups, key=later)


def _asked_for(about: str, groups: Sequence[Group], told: Sequence[Chapter]) -> Reference | None:
    """The model with that fingerprint; None if nothing is known of it, or something is starred."""
    if any(group.lead.starred for group in groups):
        return None
    known = (model for chapter in told for model in chapter.run.request.models)
    return next((model for model in known if model.fingerprint == about), None)


def _model(
    groups: Sequence[Group], by_run: dict[str, Chapter], told: Sequence[Chapter]
) -> Reference | None:
    """Whom the story is about: the model of the first finding, else of the newest run."""
    if groups:
        first = by_run[groups[0].lead.run_id]
    else:
        first = told[0]
    models = first.run.request.models
    named = (one for one in models if groups and one.name == groups[0].lead.network)
    return next(named, models[0] if models else None)


def _chosen(
    groups: Sequence[Group], by_run: dict[str, Chapter], model: Reference | None
) -> list[Group]:
    """The starred findings, else the worst of each method, all of the same model."""
    own = [one for one in groups if _about(by_run[one.lead.run_id], model)]
    starred = [one for one in own if one.lead.starred]
    if starred:
        # The first slide and the last take two places.
        return starred[: MOST - 2]
    worst: dict[str, Group] = {}
    for one in own:
        # A finding that the user called harmless is no slide.
        if one.severity > 0:
            worst.setdefault(method_name(by_run[one.lead.run_id].run), one)
    return list(worst.values())[:MOST_FINDINGS]


def _about(chapter: Chapter, model: Reference | None) -> bool:
    names = [one.fingerprint for one in chapter.run.request.models]
    return model is None or model.fingerprint in names


def _others(
    told: Sequence[Chapter],
    model: Reference | None,
    methods: set[str],
    room: int,
    lead: Request | None,
) -> list[Chapter]:
    """What speaks for every method that no finding speaks of, the worst first.

    Of runs as grave, one at the input of ``lead`` goes on with the story, and a whole one first.
    """
    speaking = speaking_in(told)
    own = {one.run.id: one for one in told if one.run.id in speaking and _about(one, model)}

    def weight(run: Run) -> tuple[int, float]:
        return gravity(own[run.id].verdict, 2.0 * _goes_on(run.request, lead) + has_ended(run))

    groups = by_method(list(own.values()))
    leads = [
        leading_run([one.run for one in group], weight)
        for name, group in groups.items()
        if name not in methods
    ]
    worst = sorted((run for run in leads if run is not None), key=weight)
    return [own[run.id] for run in worst][: max(0, min(room, MOST_RUNS))]


def _goes_on(request: Request, lead: Request | None) -> bool:
    """Whether it speaks of the input of ``lead`` or of many, not of another one."""
    if lead is None or not is_of_one_input(request):
        return True
    return request.indices == lead.indices and request.dataset == lead.dataset


def _start(
    told: Sequence[Chapter],
    model: Reference | None,
    right: Right | None,
    findings: Sequence[Slide],
) -> Slide:
    """How often it is right, with the input that the story goes on with."""
    pair = next((one.pair for one in findings if one.pair is not None), None)
    picture, drawn = (None, False) if pair is None else (pair.before, pair.drawn)
    if model is None:
        name = "the model"
    else:
        name = model.name
    if right is None:
        asked = list(dict.fromkeys(_method_title(one) for one in told if _about(one, model)))
        title, words = f"How robust is {name}?", asked_words(asked)
        return Slide(START, title, words, picture=picture, drawn=drawn)
    return Slide(
        START,
        f"{name} is right on {percent(right.share)} of {right.inputs:,} inputs",
        f"So much for {right.data} unchanged. What if the inputs change a little?",
        number=percent(right.share),
        picture=picture,
        drawn=drawn,
    )


def _method_title(chapter: Chapter) -> str:
    method = method_of(chapter.run.request.analysis)
    return chapter.title if method is None else method.title


def _finding(
    finding: StoredFinding, chapter: Chapter, before: Sequence[Slide], *, claims: bool
) -> Slide:
    """What makes it fail; the first contradicts what the slide before it ``claims``."""
    name, colon, rest = finding.title.partition(": ")
    request, pair = chapter.run.request, pair_of(finding)
    said = finding_sentence(rest if colon else finding.title, len(request.models))
    goes_on = pair is not None and bool(before) and before[-1].pair is not None
    if finding.note:
        text = [finding.note]
    else:
        text = []
    if pair is not None:
        text += [f"Before: {pair.words_before}.", f"After: {pair.words_after}."]
    elif chapter.verdict is not None:
        text.append(chapter.verdict.sentence)
    return Slide(
        f"finding {finding.id}",
        title_of(said, contradicts=claims and not before, goes_on=goes_on),
        "\n".join(text),
        status=None if chapter.verdict is None else chapter.verdict.status,
        subject=subject(request) + (f", {name}" if colon and _names(request, name) else ""),
        pair=pair,
        picture=None if pair is not None else finding.picture,
        drawn=is_drawn(finding),
        finding=finding.id,
    )


def _names(request: Request, name: str) -> bool:
    """Whether the name of an input says more than its number, which the request tells."""
    alone = request.indices is not None and len(request.indices) == 1
    return not (alone and request.indices and name == f"image {request.indices[0]}")


def _run(workspace: Workspace, chapter: Chapter, model: Reference | None) -> Slide:
    """What a run says of the model that no finding speaks of, such as how rare a failure is."""
    assert chapter.verdict is not None
    request = chapter.run.request
    if model is None:
        place = None
    else:
        place = request.place_of(model.fingerprint)
    several = len(request.models) > 1
    if several:
        said = chapter.verdict.of(place or 0)
    else:
        said = chapter.verdict
    views, _ = report_content.views(workspace, chapter)
    method = method_of(chapter.run.request.analysis)
    large = large_words(said.number)
    if said.number is not None and large:
        named = f"{said.number.name}: {large}."
    else:
        named = ""
    return Slide(
        f"run {chapter.run.id}",
        chapter.title if method is None else method.question,
        f"{said.sentence}\n{named}".strip(),
        number=large,
        status=said.status,
        subject=subject(request),
        view=next(iter(views), None),
    )


def _end(told: Sequence[Chapter], groups: Sequence[Group], findings: Sequence[Slide]) -> Slide:
    """What to do, beside the inputs before and after they failed."""
    line = bottom_line(told)
    if line is None:
        tally = ""
    else:
        tally = f"{line.tally} {counted(groups)} in all."
    pairs = [one.pair for one in findings if one.pair is not None]
    pictures = tuple(side for pair in pairs for side in (pair.before, pair.after))
    drawn = bool(pairs) and all(pair.drawn for pair in pairs)
    words = what_to_do(found=bool(groups))
    return Slide(END, "What to do", words, subject=tally, pictures=pictures, drawn=drawn)


def _edited(slide: Slide, words: Words | None) -> Slide:
    if words is None:
        return slide
    return replace(slide, title=words.title or slide.title, text=words.text)
