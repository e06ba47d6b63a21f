"""What a notebook shows of a result: what it says, its pictures, where it comes from."""

from __future__ import annotations

import base64
import json
import re

import pytest

import robgui
from robgui.core.errors import RobguiError
from robgui.core.verdict import Status
from tests.report import small
from tests.report.drawing import samples
from tests.report.small import EVIL


def test_show_runs_an_analysis_and_shows_verdict_and_picture():
    shown = robgui.show("small-report", small.model(), small.data(), says="fails")
    assert shown.verdict.status is Status.FAILS and isinstance(shown.result, small.SmallResult)
    page = shown._repr_html_()
    for words in (
        "✗ Failure found",
        "It is fails, says “cat”.",
        "Confidence:",
        "Every input.",
        "It was told so.",
    ):
        assert words in page
    picture = re.search(r'src="data:image/png;base64,([^"]+)"', page)
    assert picture and base64.b64decode(picture[1]).startswith(b"\x89PNG")
    assert repr(shown).startswith("✗ Failure found. It is fails")


def test_names_from_files_become_no_markup():
    page = robgui.show(
        "small_report", small.model(EVIL, labels=(EVIL, "b", "c")), small.data(EVIL)
    )._repr_html_()
    assert "<script" not in page


def test_a_stored_run_and_a_run_on_its_way_are_shown_too(workspace):
    run = small.run(workspace, says="at risk")
    stored = robgui.Exhibit.of_run(workspace, run.id)
    assert stored.verdict.status is Status.AT_RISK and stored.provenance.startswith("net (")
    with robgui.steps("small_report", small.model(), small.data()) as going:
        with pytest.raises(RobguiError, match="take a step first"):
            robgui.Exhibit.of(going)
        next(going)
        assert robgui.Exhibit.of(going).verdict.status is Status.HOLDS


def test_a_run_without_a_result_says_why(workspace):
    run = small.run(workspace, broken="engine")
    with pytest.raises(RobguiError, match=r"no result to show .*not enough memory"):
        robgui.Exhibit.of_run(workspace, run.id)
    with pytest.raises(RobguiError, match="cannot be drawn"):
        robgui.Exhibit.of_run(workspace, small.run(workspace, broken="views").id)


def test_it_is_plotted_and_saved_with_title_and_provenance(tmp_path):
    shown = robgui.show("small_report", small.model(), small.data(), seed=3)
    words = " ".join(text.get_text() for text in shown.plot(dark=True).texts)
    assert "Small check" in words and "net on numbers" in words and "seed 3" in words
    for ending, start in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        assert shown.save(tmp_path / f"a{ending}").read_bytes().startswith(start)
    with pytest.raises(
        RobguiError, match=r"a\.doc: a picture is written as \.png, \.svg, \.pdf, \.gif, \.mp4"
    ):
        shown.save(tmp_path / "a.doc")
    with pytest.raises(RobguiError, match="this result has no film"):
        shown.save(tmp_path / "a.gif")
    with pytest.raises(RobguiError, match="cannot be written"):
        shown.save(tmp_path / "missing" / "a.svg")


def test_its_film_is_saved_by_its_ending(tmp_path):
    plain = robgui.show("small_report", small.model(), small.data())
    shown = robgui.Exhibit(
        plain.request, plain.result, plain.verdict, (*plain.views, samples.film()), plain.provenance
    )
    assert shown.save(tmp_path / "a.gif").read_bytes().startswith(b"GIF89a")


def test_as_a_dict_it_is_json():
    document = robgui.show("small_report", small.model(), small.data()).to_dict()
    assert json.loads(json.dumps(document["request"]))["analysis"] == "small_report"
    assert document["verdict"]["status"] == "holds" and "settings" in document["provenance"]
