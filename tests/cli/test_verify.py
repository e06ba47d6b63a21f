"""verify finds a report whose number was edited, wherever and however well."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

import robgui
from robgui.cli import main
from robgui.core.workspace import Workspace
from robgui.report.html import write_html
from robgui.report.verify.seal import NO_SEAL, is_whole, sealed
from tests.batch.guards import lights


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two sweeps on a model and data from files."""
    folder = tmp_path_factory.mktemp("verify")
    model = lights.write_model(folder / "old.onnx", 0.6)
    data = lights.write_data(folder / "data", [10, 130, 250])
    words = ["--samples", "64", "--radii", "0,0.1,0.3", "--workspace", str(folder / "1.robgui")]
    files_ = ["--model", str(model), "--data", str(data), "--index", "1"]
    assert main(["run", "zonnscan", *files_, *words, "--out", str(folder / "out.json")]) == 0
    with Workspace.open(folder / "1.robgui") as workspace:
        write_html(workspace, folder / "report.html")
    return folder


def verify(folder: Path, page: str | None = None, *more: str) -> int:
    path = folder / "report.html"
    if page is not None:
        path = folder / "edited.html"
        path.write_text(page, encoding="utf-8")
    return main(["verify", str(path), *more])


def files(folder: Path) -> list[str]:
    return ["--model", str(folder / "old.onnx"), "--data", str(folder / "data" / "images.npz")]


def resealed(page: str) -> str:
    """The seal of a forger who knows how it is made."""
    return sealed(re.sub(r'<meta name="robgui-seal" content="[0-9a-f]{64}">', NO_SEAL, page))


def text(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def number(page: str) -> str:
    """The number that the first article prints."""
    return re.search(r'<p class="number">([^<]*)</p>', page)[1]


def forged(page: str, change) -> str:
    """The page with another record in it."""

    def replaced(found: re.Match[str]) -> str:
        record = json.loads(html.unescape(found[1]))
        change(record)
        value = html.escape(json.dumps(record, separators=(",", ":")))
        return f'<data hidden class="robgui-experiment" value="{value}">'

    return re.sub(r'<data hidden class="robgui-experiment" value="([^"]*)">', replaced, page)


def test_a_report_as_it_was_written_agrees(written, capsys):
    assert verify(written, None, *files(written)) == 0
    said = capsys.readouterr().out
    assert "0 problems; 1 of 1 computed again agree" in said


def test_without_models_only_what_is_printed_is_compared_and_that_is_said(written, capsys):
    assert verify(written) == 0
    assert "none was computed again" in capsys.readouterr().out


def test_a_number_edited_in_the_text_is_found(written, capsys):
    page = text(written)
    shown = number(page)
    digit = re.search(r"\d(?=\D*$)", shown)
    other = shown[: digit.start()] + str((int(digit[0]) + 1) % 10) + shown[digit.end() :]
    assert verify(written, page.replace(shown, other, 1)) == 1
    assert "changed after it was written" in capsys.readouterr().out
    article = page.rindex(shown)
    edited = page[:article] + other + page[article + len(shown) :]
    for one in (edited, page.replace(shown, other, 1)):
        assert verify(written, resealed(one)) == 1
        said = capsys.readouterr().out
        assert "changed after" not in said and other in said


def test_a_status_edited_in_the_text_is_found(written, capsys):
    page = text(written)
    for words in re.findall(r'<strong class="status [^"]*">([^<]*)</strong>', page):
        edited = page.replace(f">{words}</strong>", ">✓ Holds</strong>")
        assert edited == page or verify(written, resealed(edited)) == 1


def test_a_number_edited_in_text_and_record_is_found_by_computing_it_again(written, capsys):
    page = text(written)
    shown = html.unescape(number(page))
    name, _, _ = shown.partition(": ")
    better = "none up to radius 0.3"

    def change(record) -> None:
        for said in (record["verdict"], *record["verdict"]["models"]):
            said["number"] = {**said["number"], "value": 0.29, "text": better}

    edited = resealed(
        forged(page, change).replace(html.escape(shown), html.escape(f"{name}: {better}"))
    )
    assert is_whole(edited)
    assert verify(written, edited) == 0, "text and record agree with each other"
    capsys.readouterr()
    assert verify(written, edited, *files(written)) == 1
    assert better in capsys.readouterr().out


def test_settings_edited_in_the_record_are_found(written, capsys):
    def change(record) -> None:
        record["request"]["params"]["samples"] = 100_000

    assert verify(written, resealed(forged(text(written), change))) == 1
    assert "not those that its fingerprint stands for" in capsys.readouterr().out


def test_a_record_taken_out_is_found(written, capsys):
    page = re.sub(r'<data hidden class="robgui-experiment"[^>]*></data>', "", text(written))
    assert verify(written, resealed(page)) == 2
    assert "carries no run" in capsys.readouterr().err


def test_other_models_than_those_of_the_report_are_a_sentence(written, tmp_path, capsys):
    lights.write_model(tmp_path / "old.onnx", 0.5)
    data = ["--data", str(written / "data" / "images.npz")]
    assert verify(written, None, "--model", str(tmp_path / "old.onnx"), *data) == 2
    said = capsys.readouterr().err
    assert "is not among the files given" in said and "Traceback" not in said


def test_a_figure_is_verified_too(written, tmp_path, capsys):
    with Workspace.open(written / "1.robgui") as workspace:
        (run,) = workspace.runs()
        robgui.Exhibit.of_run(workspace, run.id).save(tmp_path / "a.svg")
    assert main(["verify", str(tmp_path / "a.svg"), *files(written)]) == 0
    assert "1 of 1 computed again agree" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nowhere.html"], ["{model}"], ["{report}", "--runs", "x"]])
def test_bad_use_ends_with_2_and_one_sentence(written, capsys, words):
    names = {"model": str(written / "old.onnx"), "report": str(written / "report.html")}
    assert main(["verify", *(word.format(**names) for word in words)]) == 2
    said = capsys.readouterr().err.strip()
    assert said.startswith("robgui: ") and "\n" not in said
