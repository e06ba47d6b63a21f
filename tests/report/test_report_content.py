"""What a report says: verdicts as stored, judged anew where only words were kept, one row per
model.
"""

from __future__ import annotations

import sqlite3

import pytest

from robgui import __version__
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.verdict import Status
from robgui.core.workspace import Workspace
from robgui.report import origin, report_content
from robgui.report.bottom_line import bottom_line, summary
from robgui.report.report_content import LOOSE, by_method, chapter, in_words, told_once, views
from tests.report import small


def say(workspace: Workspace, words: str) -> None:
    """Makes the verdicts of all runs what the first edition stored."""
    path = workspace.path
    with sqlite3.connect(path) as database:
        database.execute("UPDATE runs SET verdict = ?", (words,))


def test_a_verdict_is_told_as_it_was_stored(workspace):
    one = chapter(workspace, small.run(workspace, says="at risk"))
    assert one.verdict is not None and one.verdict.status is Status.AT_RISK
    assert one.status == in_words(Status.AT_RISK) == "! At risk" and not one.problem


def test_a_run_of_which_only_words_were_kept_is_judged_anew(workspace):
    run = small.run(workspace, says="fails")
    say(workspace, "Nothing alarming found.")
    one = chapter(workspace, workspace.run(run.id))
    assert one.verdict is not None and one.verdict.status is Status.FAILS and one.verdict.because


def test_a_stopped_run_that_is_judged_anew_says_that_it_was_stopped(workspace):
    run = small.run(workspace, says="holds")
    say(workspace, "Words.")
    workspace.update_run(run.id, state=RunState.CANCELLED)
    assert chapter(workspace, workspace.run(run.id)).verdict.text.startswith("Stopped early.")


def test_words_that_cannot_be_judged_anew_stay_and_nobody_knows_what_they_mean(workspace):
    run = small.run(workspace, says="fails")
    say(workspace, "Nothing alarming found.")
    with sqlite3.connect(workspace.path) as database:
        database.execute("UPDATE results SET document = '{}'")
    one = chapter(workspace, workspace.run(run.id))
    assert one.verdict is not None and one.verdict.status is Status.UNKNOWN
    assert one.verdict.sentence == "Nothing alarming found." and one.problem


def test_a_method_that_is_no_longer_installed_costs_its_picture_and_not_the_report(workspace):
    from robgui.core.execution.registry import unregister

    run = small.run(workspace, says="fails")
    unregister("small_report")
    one = chapter(workspace, workspace.run(run.id))
    assert one.verdict.status is Status.FAILS and one.title == "small_report"
    pictures, problem = views(workspace, one)
    assert pictures == () and "small_report" in problem
    assert list(by_method([one])) == [LOOSE]


def test_views_that_raise_are_one_sentence(workspace):
    one = chapter(workspace, small.run(workspace, broken="views"))
    assert views(workspace, one) == (
        (),
        "This run cannot be drawn: Unexpected ZeroDivisionError: no picture.",
    )


def test_the_bottom_line_is_the_worst_that_any_run_says_with_its_reason(workspace):
    for says in ("fails", "holds", "unknown"):
        small.run(workspace, says=says)
    chapters = [chapter(workspace, run) for run in workspace.runs()]
    line = bottom_line(chapters)
    assert line.status is Status.FAILS and line.sentence == "It is fails, says “cat”."
    assert line.tally == "✗ Failure found: 1 run, ? Cannot tell: 1 run, ✓ Holds: 1 run."


@pytest.mark.parametrize("says", ["fails", "at risk", "unknown"])
def test_one_run_that_does_not_hold_keeps_the_whole_from_holding(workspace, says):
    small.run(workspace, says=says)
    small.run(workspace, says="holds")
    assert bottom_line([chapter(workspace, run) for run in workspace.runs()]).status is Status(says)


def test_without_a_result_there_is_no_bottom_line(workspace):
    small.run(workspace, broken="engine")
    assert bottom_line([chapter(workspace, run) for run in workspace.runs()]) is None


def test_every_model_of_a_run_has_a_row_with_what_is_said_of_it(workspace):
    models = [small.model(f"net {seed}", seed) for seed in range(3)]
    run = small.run(workspace, models)
    confidence = workspace.result(run.id).confidence
    table = summary([chapter(workspace, run)])
    assert list(table) == ["net 0", "net 1", "net 2"]
    said = [cells[0].judged[0].verdict for cells in table.values()]
    assert [verdict.sentence for verdict in said] == [
        f"Model {place} is sure." for place in range(3)
    ]
    assert [verdict.number.value for verdict in said] == pytest.approx(confidence.tolist())


def test_models_of_the_same_name_are_told_apart(workspace):
    run = small.run(workspace, [small.model("net", 0), small.model("net", 1)])
    assert len(summary([chapter(workspace, run)])) == 2


def test_a_repeated_run_is_told_once_and_a_different_one_is_not(workspace):
    runs = [small.run(workspace, says=says) for says in ("fails", "fails", "holds")]
    chapters, telling = told_once([chapter(workspace, run) for run in workspace.runs()])
    assert len(chapters) == 2 and telling[runs[0].id].run.id == runs[1].id


def test_a_run_that_failed_again_for_the_same_reason_is_told_once(workspace):
    for _ in range(3):
        small.run(workspace, broken="engine")
    chapters, telling = told_once([chapter(workspace, run) for run in workspace.runs()])
    assert len(chapters) == 1 and len(telling) == 3 and chapters[0].run.error


def test_provenance_says_model_data_settings_seed_version_and_date_and_no_folder(workspace):
    run = small.run(
        workspace, [small.model("/home/me/net.onnx")], small.data("/home/me/d.npz"), seed=7
    )
    line = origin.provenance_of(run)
    for words in (
        "net.onnx (",
        "d.npz (",
        f"settings {run.request.fingerprint}",
        "seed 7",
        f"robgui {__version__}",
        "20",
    ):
        assert words in line
    assert "/home" not in line and "\n" not in line


def test_the_subject_names_model_and_input():
    models, dataset = [small.model()], small.data()
    whole = build_request("small_report", models, dataset, {})
    assert origin.subject(whole) == "net on numbers"
    assert origin.subject(whole.model_copy(update={"indices": (2,)})) == "net on input 2 of numbers"
    assert (
        origin.subject(whole.model_copy(update={"indices": (2, 3)})) == "net on 2 inputs of numbers"
    )
    assert origin.subject(whole.model_copy(update={"dataset": None})) == "net"


def test_methods_stand_in_the_order_of_the_rail_and_loose_analyses_last(workspace):
    one = chapter(workspace, small.run(workspace))
    assert report_content.method_title("last_particle") == "Last particle"
    assert report_content.method_title(LOOSE) == "Other analyses" and list(by_method([one])) == [
        LOOSE
    ]
