"""The PDF: a cover with the bottom line, the summary, the methods, the findings, the runs, page
numbers.
"""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import pytest
from PIL import Image

from robgui.core.errors import WorkspaceError
from robgui.core.execution.method import methods as all_methods
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.workspace import Workspace
from robgui.report import pictures
from robgui.report.contents import Scope, contents_of
from robgui.report.drawing import draw_view
from robgui.report.html import write_html
from robgui.report.lettering import extent, line_height
from robgui.report.own import Own, read_logo, write_own
from robgui.report.pdf import HOLDS_MEANS, method_sheets, sheets, write_pdf
from robgui.report.pictures import Figures
from robgui.report.sheet import HEIGHT, MARGIN, TEXT_WIDTH, WIDTH, PaperSheet, table_height
from robgui.report.writing import write_report
from tests.inline import steps
from tests.report import small

ODD = r"a$\frac{1}$_{x}^ 猫 <b>"


@pytest.fixture
def told(workspace: Workspace) -> Workspace:
    """One finished run with a finding, two that failed; every name is awkward for matplotlib."""
    model, dataset = small.model(ODD, labels=(ODD, "b", "c")), small.data(ODD)
    small.run(workspace, [model], dataset, says="fails", seed=7)
    for indices in ([0], [0, 1]):
        failed = workspace.add_run(
            build_request("small_report", [model], dataset, {}, indices=indices)
        )
        workspace.update_run(failed.id, state=RunState.FAILED, error="out of memory")
    workspace.set_finding(workspace.findings()[0].id, note=ODD, starred=True)
    return workspace


def words(sheet: PaperSheet) -> str:
    return " ".join(line.text for line in sheet.lines)


@pytest.mark.parametrize("many", range(1, len(all_methods()) + 1))
def test_what_is_said_of_the_methods_stays_above_the_foot_of_its_page(many):
    pages = list(method_sheets([method.name for method in all_methods()[:many]]))
    assert all(page.left >= 0 for page in pages)
    assert HOLDS_MEANS.split(";")[0] in words(pages[-1])


def test_cover_summary_findings_runs_and_failures_follow_each_other(told):
    pages = [words(sheet) for sheet in sheets(told, contents_of(told), Figures(told))]
    cover, findings, run, failed, evidence = pages
    cover, summary = cover.split("Summary")
    assert "Robustness report" in cover and "✗ Failure found" in cover and "It is fails" in cover
    assert "✗ Failure found" in summary and "Confidence:" in summary
    assert findings.startswith("Findings") and "★" in findings and "is unsure" in findings
    assert "Every input." in run and "• It was told so." in run and "Seed" in run
    assert told.runs()[-1].request.models[0].fingerprint in run
    assert failed.startswith("Runs without a result") and failed.count("out of memory") == 2
    assert evidence.startswith("Evidence") and "What was not tested" in evidence


def test_the_methods_used_are_explained(workspace):
    from tests.analyses.deepinspect import nets

    classifier, dataset = nets.small_cnn(), nets.images()

    for _ in steps(
        build_request("deepinspect", [classifier], dataset, {}), workspace, [classifier], dataset
    ):
        pass
    pages = [
        words(sheet) for sheet in sheets(workspace, contents_of(workspace), Figures(workspace))
    ]
    assert any("The methods in plain words" in page and "DeepInspect" in page for page in pages)


def test_html_and_pdf_together_draw_each_picture_once(told, tmp_path: Path, monkeypatch):
    drawn: list[bool] = []

    def counted(view, *, dark=False, large=True):
        drawn.append(dark)
        return draw_view(view, dark=dark, large=large)

    monkeypatch.setattr(pictures, "draw_view", counted)
    figures = Figures(told)
    write_html(told, tmp_path / "report.html", figures)
    write_pdf(told, tmp_path / "report.pdf", figures)
    assert sorted(drawn) == [
        False,
        False,
        True,
    ], "a picture in light for both and in dark for the screen, a table for paper"


def test_the_file_has_numbered_pages_and_no_address(told, tmp_path: Path):
    data = write_pdf(told, tmp_path / "report.pdf").read_bytes()
    assert data.startswith(b"%PDF") and len(re.findall(rb"/Type /Page\b", data)) == 5
    packed = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL)
    streams = [zlib.decompressobj().decompress(part) for part in packed if part[:1] == b"\x78"]
    assert b"/URI" not in data and not any(b"http" in stream for stream in streams)
    assert len(data) < 700_000


def test_pictures_stand_on_the_cover_with_the_finding_and_with_the_run(told):
    counts = [len(sheet.pictures) for sheet in sheets(told, contents_of(told), Figures(told))]
    assert counts == [1, 1, 2, 0, 0]


@pytest.mark.parametrize("size", [(300, 90), (200, 200), (60, 300)])
def test_a_logo_covers_no_word_and_stands_at_the_right_margin(told, tmp_path, size):
    Image.new("RGB", size, "navy").save(tmp_path / "logo.png")
    title = "Release check of the reader of signs for the board of safety"
    write_own(told, Own(title, "Ship or train again?", read_logo(tmp_path / "logo.png")))
    cover = next(iter(sheets(told, contents_of(told), Figures(told))))
    logo = cover.pictures[0]
    assert logo.x + logo.width == pytest.approx(MARGIN + TEXT_WIDTH)
    for line in cover.lines:
        if line.y < logo.y + logo.height:
            assert line.x + extent(line.text, line.size, bold=line.bold) < logo.x, line.text
    own = next(line for line in cover.lines if line.text == "Ship or train again?")
    below = min(line.y for line in cover.lines if line.y > own.y)
    assert below - own.y > 2 * line_height(own.size), "the bottom line stands apart"


def test_nothing_stands_outside_its_page(told):
    for sheet in sheets(told, contents_of(told), Figures(told)):
        for line in sheet.lines:
            assert 0 < line.x < WIDTH and 0 < line.y < HEIGHT - 0.5, line.text


def test_a_table_takes_the_height_that_is_reserved_for_it():
    rows = {
        "Name": "value",
        "A name that takes more than one line": "short",
        "Long": "many words " * 80,
        "Empty": "",
    }
    sheet = PaperSheet()
    top = sheet.y
    sheet.table(rows, width=3.0)
    assert sheet.y - top == pytest.approx(table_height(rows, 3.0))


def test_an_empty_workspace_says_what_to_do(workspace):
    (sheet,) = sheets(workspace, contents_of(workspace), Figures(workspace))
    assert "holds no run yet" in words(sheet)


def test_the_ending_decides_what_is_written(told, tmp_path: Path):
    assert write_report(told, tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (
        write_report(told, tmp_path / "a.HTML")
        .read_text(encoding="utf-8")
        .startswith("<!doctype html>")
    )
    with pytest.raises(WorkspaceError, match=r"a\.doc: a report is written as \.html or \.pdf"):
        write_report(told, tmp_path / "a.doc")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_pdf(told, tmp_path / "missing" / "a.pdf")


def test_a_short_report_gives_each_run_in_full_one_page_and_the_others_a_row(workspace):
    for seed in range(4):
        small.run(workspace, says="at risk", seed=seed)
    short = contents_of(workspace)
    pages = [words(sheet) for sheet in sheets(workspace, short, Figures(workspace))]
    assert [len(short.in_full), len(short.in_brief)] == [1, 3]
    assert sum(page.startswith("Small check") for page in pages) == 1
    assert pages[-1].count("Small check: net") == 4, "every run is evidence"
    full = contents_of(workspace, Scope(full=True))
    whole = [words(sheet) for sheet in sheets(workspace, full, Figures(workspace))]
    assert sum(page.startswith("Small check") for page in whole) == 4
