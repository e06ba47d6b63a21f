"""The evidence of a report: every run on every model once, and what nobody looked at."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from robgui.cli import main
from robgui.core.execution.method import methods
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.report import report_content
from robgui.report.evidence.table import evidence_rows, gaps, to_csv
from robgui.report.html import write_html
from tests.inline import steps
from tests.report import small
from tests.report.small import EVIL


def chapters(workspace: Workspace) -> list[report_content.Chapter]:
    return report_content.chapters_of(workspace, workspace.runs())


def test_every_run_with_a_result_is_a_row_for_each_of_its_models(workspace):
    data = small.data("data")
    small.run(workspace, [small.model("one")], data, says="holds")
    small.run(workspace, [small.model("one"), small.model("two", 1)], data, says="fails", seed=1)
    rows = evidence_rows(chapters(workspace))
    assert sorted((row.model, row.status) for row in rows) == [
        ("one", "✓ Holds"),
        ("one", "✗ Failure found"),
        ("two", "✗ Failure found"),
    ]
    told = chapters(workspace)[0].verdict
    assert {row.finding for row in rows[:2]} <= {
        report_content.number_of(one) for one in (told, *told.models)
    }
    assert all(row.model_content and row.data_content for row in rows)


def test_methods_that_nobody_ran_and_runs_without_result_are_named(workspace):
    model, data = small.model("one"), small.data("data")
    small.run(workspace, [model], data, says="holds")
    failed = workspace.add_run(build_request("small_report", [model], data, {}, indices=[0]))
    workspace.update_run(failed.id, state=RunState.FAILED, error="broken")
    left = gaps(chapters(workspace))
    assert all(method.title in left[0] for method in methods()) and left[0].startswith("one:")
    assert any("no result (failed)" in sentence for sentence in left)


def test_a_method_whose_run_was_left_out_by_choice_is_not_called_untested(workspace):
    run = small.run(workspace, [small.model("one")], small.data("data"), says="holds")
    asked = run.request.model_copy(update={"analysis": "accuracy"})
    other = replace(run, id="other", request=asked)
    table = to_csv(chapters(workspace), others=[other])
    untested, left = gaps(chapters(workspace), others=[other])[:2]
    assert "not looked at with zoNNscan" in untested and "Accuracy" not in untested
    assert left == "one: looked at with Accuracy, left out of this report." and left in table


def test_a_run_on_some_of_the_inputs_says_so(workspace):
    model, data = small.model("one"), small.data("data")
    request = build_request("small_report", [model], data, {}, indices=[0, 1])
    for _ in steps(request, workspace, [model], data):
        pass
    assert any("of data only 2 of" in sentence for sentence in gaps(chapters(workspace)))


def test_what_a_run_did_not_look_at_is_told_with_the_number_it_did(workspace):
    run = small.run(workspace, [small.model("one")], small.data("data"), says="holds")
    told = replace(run, verdict=replace(run.verdict, inputs=8))
    (chapter,) = report_content.chapters_of(workspace, [told])
    assert gaps([chapter])[-1].endswith("of data only 8 inputs looked at.")
    (row,) = evidence_rows([replace(chapter, verdict=replace(run.verdict, models=(), inputs=8))])
    assert row.inputs.startswith("8 inputs.")


def test_what_is_not_known_to_an_interval_is_not_said_to_be(workspace):
    small.run(workspace, [small.model("one")], small.data("data"), says="holds")
    (row,) = evidence_rows(chapters(workspace))
    assert row.confidence == "no interval is known"


def test_no_cell_of_the_csv_is_a_formula_and_it_comes_back_whole(workspace):
    name = "=1+1"
    small.run(workspace, [small.model(name)], small.data("data"), says="holds")
    lines = list(csv.DictReader(io.StringIO(to_csv(chapters(workspace)))))
    assert lines[0]["model"] == f"'{name}" and lines[0]["status"] == "✓ Holds"
    assert lines[-1]["test"] == "not tested"
    assert not any(cell.startswith(("=", "+", "-", "@")) for row in lines for cell in row.values())


def test_the_page_prints_it_harmlessly_and_the_command_writes_it(workspace, tmp_path):
    small.run(workspace, [small.model(EVIL)], small.data(EVIL), says="fails")
    page = write_html(workspace, tmp_path / "r.html").read_text(encoding="utf-8")
    assert 'id="evidence"' in page and "<script" not in page
    path = workspace.path
    workspace.close()
    assert main(["report", str(path), "--evidence", str(tmp_path / "e.csv")]) == 0
    assert "Failure found" in (tmp_path / "e.csv").read_text(encoding="utf-8-sig")
