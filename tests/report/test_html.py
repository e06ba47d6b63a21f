"""The one-file report: complete, harmless, readable without a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from robgui import manual
from robgui.analyses.zonnscan.words import sweep_headline
from robgui.core.dataset import from_arrays
from robgui.core.dataset.derived import Ancestor, Derived, DerivedDataset
from robgui.core.errors import WorkspaceError
from robgui.core.execution.analysis import Step
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.headline import STATUS_WORDS
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from robgui.report import html
from robgui.report.facts import SIGNS
from robgui.report.html import write_html
from tests.analyses.zonnscan.models import small_mlp
from tests.inline import steps

EVIL = "<script>alert('1')</script>&\""


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
def workspace(tmp_path: Path) -> Workspace:
    """One finished run with a finding, one that failed, one that waits; every name is hostile."""
    workspace = Workspace.open(tmp_path / "a<b>.robgui")
    classifier = small_mlp(gain=20.0)
    hostile = Classifier.from_module(classifier._backend.module, (1, 6, 6), labels=[EVIL + str(i) for i in range(5)], name=EVIL)
    dataset = from_arrays(np.full((2, 1, 6, 6), 0.5, dtype=np.float32), name=EVIL)
    for _ in steps(build_request("zonnscan", [hostile], dataset, {"samples": 64, "seed": 7}, indices=[0]), workspace, [hostile], dataset):
        pass
    failed = workspace.add_run(build_request("zonnscan", [hostile], dataset, {}, indices=[0, 1]))
    workspace.update_run(failed.id, state=RunState.FAILED, error=EVIL)
    workspace.add_run(build_request("zonnscan", [hostile], dataset, {}, indices=[1]))
    workspace.set_finding(workspace.findings()[0].id, note=EVIL, starred=True)
    return workspace


def read(path: Path) -> Tags:
    tags = Tags()
    tags.feed(path.read_text(encoding="utf-8"))
    return tags


def test_the_report_holds_every_run_with_verdict_picture_settings_and_origin(workspace: Workspace, tmp_path: Path) -> None:
    page = read(write_html(workspace, tmp_path / "report.html"))
    run = workspace.runs()[-1]
    assert page.tags.count("article") == 3 and page.tags.count("picture") == 1
    for words in (
        run.verdict,
        run.request.models[0].fingerprint,
        run.request.dataset.fingerprint,
        run.device,
        run.versions["torch"],
        "Seed",
    ):
        assert words in page.text
    assert page.text.count("This run has no result.") == 2 and "failed" in page.text and "queued" in page.text


def test_findings_come_with_a_thumbnail_a_note_and_a_way_to_their_run(workspace: Workspace, tmp_path: Path) -> None:
    page = read(write_html(workspace, tmp_path / "report.html"))
    finding = workspace.findings()[0]
    assert finding.title in page.text and finding.note in page.text and "★" in page.text
    assert any(value.startswith("data:image/png;base64,") for value in page.values)
    assert f"#run-{finding.run_id}" in page.values and f"run-{finding.run_id}" in page.values


def test_nothing_from_outside_becomes_markup_and_nothing_is_fetched(workspace: Workspace, tmp_path: Path) -> None:
    path = write_html(workspace, tmp_path / "report.html")
    page = read(path)
    assert "script" not in page.tags and "b" not in page.tags and EVIL in page.text
    addresses = re.findall(r'(?:src|href|srcset)="([^"]{0,12})', path.read_text(encoding="utf-8"))
    assert addresses and all(address.startswith(("data:", "#")) for address in addresses)
    assert "default-src 'none'" in path.read_text(encoding="utf-8")


def test_an_empty_workspace_says_what_to_do(tmp_path: Path) -> None:
    with Workspace.open(tmp_path / "empty.robgui") as workspace:
        assert "holds no run yet" in read(write_html(workspace, tmp_path / "report.html")).text


def test_a_place_that_cannot_be_written_is_named(workspace: Workspace, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be written"):
        write_html(workspace, tmp_path / "missing" / "report.html")


def test_the_summary_says_in_words_and_signs_how_each_model_fared(workspace: Workspace, tmp_path: Path) -> None:
    page = read(write_html(workspace, tmp_path / "report.html"))
    headline = sweep_headline(workspace.result(workspace.runs()[-1].id))
    assert f"{SIGNS[headline.status]} {STATUS_WORDS[headline.status]}" in page.text
    assert f"{headline.title}: {headline.text}" in page.text
    assert "without such a judgement: 2 runs" in page.text


def test_every_method_used_is_explained_in_the_manuals_plain_words(workspace: Workspace, tmp_path: Path) -> None:
    page = read(write_html(workspace, tmp_path / "report.html"))
    assert manual.page("zonnscan").plain in page.text
    assert manual.page("deepinspect").plain not in page.text


def test_a_derived_input_is_shown_with_its_trail(workspace: Workspace, tmp_path: Path) -> None:
    classifier = small_mlp()
    root = workspace.runs()[-1]
    trail = (Ancestor("data, image 1", dataset="d", index=1), Ancestor("Feature game on mlp", run=root.id))
    derived = DerivedDataset(workspace.add_derived([Derived("the <example>", np.full((1, 6, 6), 0.5, np.float32), "image", "data", trail)]))
    for _ in steps(build_request("zonnscan", [classifier], derived, {"samples": 32}), workspace, [classifier], derived):
        pass
    page = read(write_html(workspace, tmp_path / "report.html"))
    assert "data, image 1 → Feature game on mlp → the <example>" in page.text
    assert page.values.count(f"#run-{root.id}") > 1, "the run that made it can be jumped to"


def test_a_normal_workspace_gives_a_small_file(workspace: Workspace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = workspace.runs()[-1]
    size = write_html(workspace, tmp_path / "both.html").stat().st_size
    monkeypatch.setattr(html, "_BOTH_BYTES", 1)
    page = write_html(workspace, tmp_path / "light.html")
    assert run.has_result and "<source" not in page.read_text(encoding="utf-8"), "too large for light and dark"
    assert page.stat().st_size < size < 250_000


def test_the_report_is_named_after_its_models(workspace: Workspace, tmp_path: Path) -> None:
    page = read(write_html(workspace, tmp_path / "report.html"))
    assert f"Robustness of {EVIL}" in page.text and "workspace a<b>" in page.text


def test_a_repeated_run_and_what_it_found_again_are_told_once(workspace: Workspace, tmp_path: Path) -> None:
    before = read(write_html(workspace, tmp_path / "before.html"))
    done = workspace.runs()[-1]
    again = workspace.add_run(done.request)
    found = workspace.finding(workspace.findings()[0].id)
    same = Finding(found.kind, found.title, found.severity, found.detail, found.picture, found.input)
    workspace.update_run(
        again.id, state=RunState.DONE, step=Step(1, 1, workspace.result(done.id)), verdict=done.verdict, device=done.device, findings=[same]
    )
    assert len(workspace.runs()) == 4 and len(workspace.findings()) == 2
    after = read(write_html(workspace, tmp_path / "after.html"))
    assert after.tags.count("article") == before.tags.count("article") == 3
    assert "3 runs (and 1 with the same result as one of them), 1 finding." in after.text
    links = {value[1:] for value in after.values if value.startswith("#run-")}
    assert links and links <= set(after.values), "every link leads somewhere"
