"""A workspace that the first edition wrote, with one run of every analysis it had."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from robgui.core.codec import decode, encode
from robgui.core.execution.registry import find
from robgui.core.verdict import Status
from robgui.core.view import Views
from robgui.core.workspace import Workspace
from robgui.report.drawing import draw, save

STORED = Path(__file__).parent / "first_edition.robgui.gz"


@pytest.fixture
def workspace(tmp_path):
    path = tmp_path / "first_edition.robgui"
    path.write_bytes(gzip.decompress(STORED.read_bytes()))
    with Workspace.open(path) as opened:
        yield opened


def test_every_run_opens_keeps_its_words_and_can_be_said_and_drawn_anew(workspace):
    runs = workspace.runs()
    assert len({run.request.analysis for run in runs}) == len(runs) == 14
    for run in runs:
        assert (
            run.verdict is not None
            and run.verdict.sentence
            and run.verdict.status is Status.UNKNOWN
        )
        known = find(run.request.analysis)
        params, result = known.params.parse(dict(run.request.params)), workspace.result(run.id)
        assert isinstance(result, known.result) and known.verdict(result, params).sentence
        known.findings(result, params)
        views = decode(Views, *encode(Views(tuple(known.views(result, params))))).views
        drawing = draw(views[:1], title=known.title, subject="", provenance="")
        assert save(drawing, "png", dpi=40).startswith(b"\x89PNG")
