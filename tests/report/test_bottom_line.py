"""A report leads with what the overview leads with; a method speaks with its leading analysis."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np

from robgui.core.dataset import from_arrays
from robgui.core.execution.request import Reference, Request
from robgui.core.execution.run import Run, RunState
from robgui.core.verdict import Status, Verdict
from robgui.report.bottom_line import Cell, bottom_line, hero_pair, summary
from robgui.report.html import write_html
from robgui.report.report_content import Chapter, chapters_of, entries
from robgui.report.story import story_of
from tests.report import small
from tests.report.story.test_story import flipped

PIXELS = Verdict(Status.FAILS, "8 pixels turn “red” into “green”.")
COAT = Verdict(Status.FAILS, "“Coat” is taken for “Shirt”.")
LOOKS = Verdict(Status.AT_RISK, "It looks at the edge.")
NONE = Verdict(Status.UNKNOWN, "None found with 1 call.")


def told(
    name: str, analysis: str, said: Verdict, state: RunState = RunState.DONE, **more: Any
) -> Chapter:
    model = Reference(kind="model", name="net", fingerprint="a" * 16)
    data = Reference(kind="dataset", name="signs", fingerprint="d" * 16)
    asked = {"indices": (21,), **more}
    request = Request(analysis=analysis, models=(model,), dataset=data, **asked)
    return Chapter(Run(name, request, state, 0.0, verdict=said, has_result=True), "", said)


def cell(*chapters: Chapter) -> Cell:
    """The only cell of the table of these runs, newest first."""
    ((only,),) = summary(chapters).values()
    return only


def test_a_method_speaks_with_its_gravest_analysis_and_not_with_the_newest() -> None:
    game = told("game", "feature_game", PIXELS)
    assert cell(told("looks", "attribution", LOOKS), game).told.verdict is PIXELS


def test_a_side_analysis_does_not_stand_in_for_the_leading_one_with_what_others_found() -> None:
    game = told("game", "feature_game", LOOKS)
    aside = told("aside", "attribution", NONE)
    known = replace(aside, verdict=replace(NONE, status=Status.FAILS))
    assert cell(known, game).told.verdict is LOOKS, "by itself it has seen nothing"
    graver = told("many", "feature_game_batch", PIXELS, indices=(1, 2))
    assert cell(known, graver, game).told.verdict is PIXELS, "a failure of its own"


def test_a_run_over_a_filtered_part_never_answers_for_the_data() -> None:
    none = Verdict(Status.FAILS, "Right on 0 % of 1 labelled input.")
    part = told("part", "accuracy", none)
    some = told("some", "accuracy", none, indices=(1, 2), chosen="2 of 800 inputs (label:frog)")
    all_of_them = told("all", "accuracy", LOOKS, indices=None)
    assert cell(part, some, all_of_them).told.chapter is all_of_them
    line = bottom_line([part, some, all_of_them])
    assert line.because is all_of_them and line.status is Status.AT_RISK
    assert cell(part, some).told.chapter is some, "of parts the largest"


def test_a_stopped_run_and_a_first_look_do_not_speak_for_their_method() -> None:
    game = told("game", "feature_game", PIXELS)
    stopped = told("stopped", "feature_game", NONE.stopped(), RunState.CANCELLED)
    short = told("short", "feature_game", NONE, params={"max_calls": 1500})
    assert cell(stopped, short, game).told.verdict is PIXELS
    assert cell(stopped, short, game).counts == [(Status.FAILS, 1), (Status.UNKNOWN, 2)]


def test_of_failures_the_one_with_the_worst_finding_leads_however_old_it_is() -> None:
    coat = told("coat", "deepinspect", COAT, indices=None)
    game = told("game", "feature_game", PIXELS)
    line = bottom_line([coat, game], {"coat": 0.5, "game": 0.9})
    assert line.because.run.id == "game"
    assert bottom_line([game, coat], {"coat": 0.9, "game": 0.5}).because.run.id == "coat"
    rail = [bottom_line(runs).because.run.id for runs in ([coat, game], [game, coat])]
    assert len(set(rail)) == 1, "equals stand in the order of the rail"


def test_cover_and_story_lead_with_the_same_failure(workspace) -> None:
    worst = small.run(workspace, says="fails")
    workspace.add_findings(worst.id, [flipped("x.png: 8 pixels", 0.95)])
    more = from_arrays(np.zeros((3, 4), np.float32), name="more", kind="table")
    risky = small.run(workspace, dataset=more, says="at risk")
    workspace.add_findings(risky.id, [flipped("y.png: hardly a failure", 1.0)])
    chapters = chapters_of(workspace, workspace.runs())
    line = bottom_line(chapters, {worst.id: 0.95, risky.id: 1.0})
    assert line.because.run.id == worst.id
    assert story_of(workspace)[1].title == "8 pixels"
    assert hero_pair(workspace, line, entries(workspace, workspace.runs())) is not None


def test_the_page_says_what_was_found_after_run_and_stop(workspace, tmp_path) -> None:
    found = small.run(workspace, says="fails")
    stopped = small.run(workspace, says="unknown")
    workspace.update_run(stopped.id, state=RunState.CANCELLED)
    page = write_html(workspace, tmp_path / "r.html").read_text(encoding="utf-8")
    row = re.search(r"<tr><th scope=\"row\">net(.*?)</tr>", page, re.DOTALL)[1]
    assert "✗ Failure found" in row and f"#run-{found.id}" in row
    assert "Each cell: what the leading analysis of this method says" in page
