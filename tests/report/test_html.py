"""The one-file report: complete, harmless, readable without a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from robgui import manual
from robgui.core.dataset.derived import Ancestor, Derived, DerivedDataset
from robgui.core.errors import WorkspaceError
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.workspace import Workspace
from robgui.report import html_runs
from robgui.report.contents import Scope
from robgui.report.html import write_html
from tests.analyses.deepinspect import nets
from tests.inline import steps
from tests.report import small
from tests.report.small import EVIL


class Tags(HTMLParser):
    """Collects tags, attributes and text."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.values: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value or "" for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def told(workspace: Workspace) -> Workspace:
    """One finished run with a finding, one that failed, one that waits; every name is hostile."""
    hostile = small.model(EVIL, labels=tuple(EVIL + str(i) for i in range(3)))
    dataset = small.data(EVIL)
    small.run(workspace, [hostile], dataset, says="fails", seed=7)
    failed = workspace.add_run(
        build_request("small_report", [hostile], dataset, {}, indices=[0, 1])
    )
    workspace.update_run(failed.id, state=RunState.FAILED, error=EVIL)
    workspace.add_run(build_request("small_report", [hostile], dataset, {}, indices=[1]))
    workspace.set_finding(workspace.findings()[0].id, note=EVIL, starred=True)
    return workspace


def read(path: Path) -> Tags:
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags


def test_a_run_is_told_with_status_sentence_number_scope_reasons_pictures_settings_and_origin(
    told, tmp_path
):
    page = read(write_html(told, tmp_path / "report.html"))
    run = told.runs()[-1]
    assert page.tags.count("article") == 1 and page.tags.count("picture") == 2
    assert page.tags.count("caption") == 1 and "Classes" in page.text, "a table is a table"
    assert run.verdict is not None and run.verdict.number is not None
    said = [
        run.verdict.sentence,
        "✗ Failure found",
        f"Confidence: {run.verdict.number.words}",
        run.verdict.scope,
        *run.verdict.because,
    ]
    assert run.request.dataset is not None
    where = [
        run.request.models[0].fingerprint,
        run.request.dataset.fingerprint,
        run.device,
        run.versions["torch"],
        "Seed",
    ]
    for words in (*said, *where):
        assert words in page.text


def test_it_begins_with_the_bottom_line_and_the_picture_that_shows_it(told, tmp_path):
    page = write_html(told, tmp_path / "report.html").read_text(encoding="utf-8")
    first = page.index('aria-label="Bottom line"')
    assert (
        first
        < page.index('class="figure hero"')
        < page.index('id="summary"')
        < page.index("<article")
    )
    line = page[first : page.index("</section>", first)]
    assert "✗ Failure found" in line and "It is fails" in line and "✗ Failure found: 1 run." in line


def test_runs_without_a_result_are_one_list_with_why(told, tmp_path):
    page = read(write_html(told, tmp_path / "report.html"))
    assert page.text.count("Runs without a result") == 2, "in the contents and as a heading"
    tail = page.text[page.text.rindex("Runs without a result") :]
    assert EVIL in tail and "(failed)" in tail and "(queued)" in tail


def test_findings_come_with_a_thumbnail_a_note_and_a_way_to_their_run(told, tmp_path):
    page = read(write_html(told, tmp_path / "report.html"))
    finding = told.findings()[0]
    assert finding.title in page.text and finding.note in page.text and "★" in page.text
    assert any(value.startswith("data:image/png;base64,") for value in page.values)
    assert f"#run-{finding.run_id}" in page.values and f"run-{finding.run_id}" in page.values


def test_nothing_from_outside_becomes_markup_and_nothing_is_fetched(told, tmp_path):
    path = write_html(told, tmp_path / "report.html")
    page = read(path)
    assert "script" not in page.tags and "b" not in page.tags and EVIL in page.text
    addresses = re.findall(r'(?:src|href|srcset)="([^"]{0,12})', path.read_text(encoding="utf-8"))
    assert addresses and all(address.startswith(("data:", "#")) for address in addresses)
    assert "default-src 'none'" in path.read_text(encoding="utf-8")


def test_an_empty_workspace_says_what_to_do(workspace, tmp_path):
    assert "holds no run yet" in read(write_html(workspace, tmp_path / "report.html")).text


def test_a_place_that_cannot_be_written_is_named(told, tmp_path):
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_html(told, tmp_path / "missing" / "report.html")


def test_a_run_that_cannot_be_drawn_says_why_and_the_others_are_drawn(workspace, tmp_path):
    small.run(workspace, broken="views")
    small.run(workspace)
    page = read(write_html(workspace, tmp_path / "report.html", scope=Scope(full=True)))
    assert (
        "This run cannot be drawn: Unexpected ZeroDivisionError: no picture." in page.text
        and page.tags.count("picture") == 2
    ), "the picture of the other run, which is also the one on top"


@pytest.fixture
def inspected(workspace: Workspace) -> Workspace:
    """A run with many pictures."""
    classifier, dataset = nets.small_cnn(), nets.images()
    for _ in steps(
        build_request("deepinspect", [classifier], dataset, {}), workspace, [classifier], dataset
    ):
        pass
    return workspace


def test_every_method_used_is_explained_in_the_manuals_plain_words(inspected, tmp_path):
    page = read(write_html(inspected, tmp_path / "report.html"))
    assert manual.page("deepinspect").plain in page.text
    assert manual.page("feature_game").plain not in page.text


def derived_run(workspace: Workspace, items: list[Derived], seed: int) -> None:
    made = DerivedDataset(workspace.add_derived(items))
    models = [small.model()]
    for _ in steps(
        build_request("small_report", models, made, {"seed": seed}), workspace, models, made
    ):
        pass


def test_where_an_input_comes_from_is_told_once_for_all_inputs_of_one_origin(told, tmp_path):
    root = told.runs()[-1]
    trail = (
        Ancestor("data, row 1", dataset="d", index=1),
        Ancestor("Small check on net", run=root.id),
    )
    values = [np.full(4, i / 60, np.float32) for i in range(60)]
    items = [
        Derived(f"the <example> {i}", x, "table", "data", trail, features=tuple("abcd"))
        for i, x in enumerate(values)
    ]
    derived_run(told, items, 1)
    derived_run(told, items, 2)
    page = read(write_html(told, tmp_path / "report.html"))
    assert (
        page.text.count("data, row 1 → Small check on net → 60 inputs, among them the <example> 0")
        == 1
    )
    assert (
        page.text.count("Where its input comes from:") == 2 and page.text.count("told above") == 1
    )
    assert page.values.count(f"#run-{root.id}") > 1, "the run that made it can be jumped to"


def test_a_normal_workspace_gives_a_small_file(told, tmp_path):
    assert write_html(told, tmp_path / "both.html").stat().st_size < 300_000


def test_in_a_large_file_only_the_first_pictures_have_a_twin_for_dark_pages(
    inspected, tmp_path, monkeypatch
):
    twins = write_html(inspected, tmp_path / "both.html").read_text(encoding="utf-8")
    assert twins.count("<source") == twins.count("<picture>") > 2
    monkeypatch.setattr(html_runs, "BOTH_BYTES", 1)
    page = write_html(inspected, tmp_path / "light.html").read_text(encoding="utf-8")
    assert page.count("<source") == 2, "on top, and of the only run"


def test_a_short_report_says_how_many_pictures_it_leaves_to_the_full_one(inspected, tmp_path):
    short = write_html(inspected, tmp_path / "short.html").read_text(encoding="utf-8")
    full = write_html(inspected, tmp_path / "full.html", scope=Scope(full=True))
    left = full.read_text(encoding="utf-8").count("<picture>") - short.count("<picture>")
    assert left > 0 and f"{left} more pictures in the full report." in short


def test_the_report_is_named_after_its_models(told, tmp_path):
    page = read(write_html(told, tmp_path / "report.html"))
    assert f"Robustness of {EVIL}" in page.text and "workspace a<b>" in page.text


def test_a_repeated_run_and_what_it_found_again_are_told_once(told, tmp_path):
    done = told.runs()[-1]
    again = told.add_run(done.request)
    found = told.finding(told.findings()[0].id)
    same = Finding(
        found.kind, found.title, found.severity, found.detail, found.picture, found.input
    )
    step = Step(1, 1, told.result(done.id))
    told.update_run(
        again.id,
        state=RunState.DONE,
        step=step,
        verdict=done.verdict,
        device=done.device,
        findings=[same],
    )
    assert len(told.runs()) == 4 and len(told.findings()) == 2
    after = read(write_html(told, tmp_path / "after.html"))
    assert after.tags.count("article") == 1
    assert (
        "3 runs (and 1 with the same result as one of them), 1 finding (2 with those alike)."
        in after.text
    )
    links = {value[1:] for value in after.values if value.startswith("#run-")}
    assert links and links <= set(after.values), "every link leads somewhere"
