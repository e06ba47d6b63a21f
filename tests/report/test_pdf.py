"""The PDF: a cover with the summary, the methods, the findings, one page per run, page numbers."""

from __future__ import annotations

import re
import zlib
from pathlib import Path

import numpy as np
import pytest

from robgui.core.dataset import from_arrays
from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from robgui.report import facts
from robgui.report.figures import draw
from robgui.report.html import write_html
from robgui.report.pdf import _sheets, write_pdf
from robgui.report.pictures import Figures
from robgui.report.sheet import TEXT_WIDTH, Sheet, clean, extent, shorten, table_height, wrap
from robgui.report.writing import write_report
from tests.analyses.zonnscan.models import small_mlp
from tests.inline import steps

ODD = r"a$\frac{1}$_{x}^ 猫 <b>"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """One finished run with findings, one that failed; every name is awkward for matplotlib."""
    workspace = Workspace.open(tmp_path_factory.mktemp("pdf") / "odd.robgui")
    module = small_mlp(gain=20.0)._backend.module
    model = Classifier.from_module(module, (1, 6, 6), labels=list("abcde"), name=ODD)
    dataset = from_arrays(np.full((2, 1, 6, 6), 0.5, dtype=np.float32), name=ODD)
    for _ in steps(build_request("zonnscan", [model], dataset, {"samples": 64, "seed": 7}, indices=[0]), workspace, [model], dataset):
        pass
    failed = workspace.add_run(build_request("zonnscan", [model], dataset, {}, indices=[0, 1]))
    workspace.update_run(failed.id, state=RunState.FAILED, error="out of memory")
    workspace.set_finding(workspace.findings()[0].id, note=ODD, starred=True)
    return workspace


def words(sheet: Sheet) -> str:
    return " ".join(text.get_text() for text in sheet.figure.texts)


def test_cover_methods_findings_and_runs_follow_each_other(workspace: Workspace) -> None:
    pages = [words(sheet) for sheet in _sheets(workspace, Figures(workspace))]
    assert "Robustness report" in pages[0] and "Summary" in pages[0] and "without such a judgement: 1 run" in pages[0]
    assert "in plain words" in pages[1] and "zoNNscan asks how unsure" in pages[1]
    assert pages[2].startswith("Findings") and "★" in pages[2] and workspace.findings()[0].title in pages[2]
    runs = " ".join(pages[3:])
    assert workspace.runs()[-1].verdict in runs and "out of memory" in runs and "This run has no result." in runs
    for fact in ("Seed", workspace.runs()[-1].request.models[0].fingerprint, workspace.runs()[-1].versions["torch"]):
        assert fact in runs


def test_html_and_pdf_together_draw_each_figure_once(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[bool] = []

    def counted(name: str, result: object, *, dark: bool) -> object:
        drawn.append(dark)
        return draw(name, result, dark=dark)

    monkeypatch.setattr(facts, "draw", counted)
    figures = Figures(workspace)
    write_html(workspace, tmp_path / "report.html", figures)
    write_pdf(workspace, tmp_path / "report.pdf", figures)
    assert sorted(drawn) == [False, True], "one run with a result: once in light for both, once in dark for the screen"


def test_the_file_has_numbered_pages_and_no_address(workspace: Workspace, tmp_path: Path) -> None:
    data = write_pdf(workspace, tmp_path / "report.pdf").read_bytes()
    pages = len(re.findall(rb"/Type /Page\b", data))
    assert data.startswith(b"%PDF") and pages == len(list(_sheets(workspace, Figures(workspace))))
    streams = [zlib.decompress(part) for part in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL) if part[:1] == b"\x78"]
    assert b"/URI" not in data and not any(b"http" in stream for stream in streams)
    assert len(data) < 600_000


def test_a_picture_stands_on_the_page_of_its_run_and_of_its_finding(workspace: Workspace) -> None:
    counts = [len(sheet.figure.axes) for sheet in _sheets(workspace, Figures(workspace))]
    assert counts[:2] == [0, 0] and counts[2] == sum(finding.has_picture for finding in workspace.findings()) and 1 in counts[3:]


def test_nothing_stands_outside_its_page(workspace: Workspace) -> None:
    for sheet in _sheets(workspace, Figures(workspace)):
        for text in sheet.figure.texts:
            x, y = text.get_position()
            assert 0 < x < 1 and 0.05 < y < 1, text.get_text()


def test_lines_are_broken_where_they_would_be_too_wide() -> None:
    lines = wrap("one two three four five six seven " * 4, 10, 2.0)
    assert len(lines) > 4 and all(extent(line, 10) <= 2.0 for line in lines)
    long = wrap("x" * 400, 10, TEXT_WIDTH)
    assert "".join(long) == "x" * 400 and all(extent(line, 10) <= TEXT_WIDTH for line in long)
    assert shorten("a b c", 10, 2.0) == "a b c" and shorten("word " * 50, 10, 1.0).endswith("…")


def test_a_number_and_its_per_cent_stay_on_one_line() -> None:
    lines = wrap("about 83.3 % of them " * 6, 10, 1.0)
    assert len(lines) > 6 and not any(line.startswith("%") for line in lines)


def test_a_table_takes_the_height_that_is_reserved_for_it() -> None:
    rows = {"Name": "value", "A name that takes more than one line": "short", "Long": "many words " * 80, "Empty": ""}
    sheet = Sheet()
    top = sheet.y
    sheet.table(rows, width=3.0)
    assert sheet.y - top == pytest.approx(table_height(rows, 3.0))


def test_what_the_font_lacks_is_a_question_mark_and_signs_are_kept() -> None:
    assert clean("猫 ✓✗★→≤ é") == "? ✓✗★→≤ é"


def test_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "empty.robgui") as workspace:
        (sheet,) = _sheets(workspace, Figures(workspace))
        assert "holds no run yet" in words(sheet)


def test_the_ending_decides_what_is_written(workspace: Workspace, tmp_path: Path) -> None:
    assert write_report(workspace, tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert write_report(workspace, tmp_path / "a.HTML").read_text(encoding="utf-8").startswith("<!doctype html>")
    with pytest.raises(WorkspaceError, match=r"a\.doc: a report is written as \.html or \.pdf"):
        write_report(workspace, tmp_path / "a.doc")
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_pdf(workspace, tmp_path / "missing" / "a.pdf")
