"""Figures and reports carry their run: what is read back is what was run, and no folder with it."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ET
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import robgui
from robgui.core.experiment import Experiment, carries, experiment_of, experiments_in
from robgui.core.experiment.record import from_text
from robgui.core.identify import Kind, identify
from robgui.core.workspace import Workspace
from robgui.report.html import write_html
from robgui.report.pdf import write_pdf
from tests.batch.guards import lights


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory):
    """A sweep on a model and data from files, kept in a workspace."""
    folder = tmp_path_factory.mktemp("private_folder")
    model = lights.write_model(folder / "old.onnx", 0.6)
    data = lights.write_data(folder / "data", [10, 130, 250])
    with Workspace.open(folder / "w.robgui") as workspace:
        result = robgui.run(
            "zonnscan",
            model,
            robgui.open_dataset(data).subset([1]),
            workspace=workspace,
            samples=32,
            radii=(0.0, 0.1),
        )
        yield folder, result, workspace


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_a_figure_carries_its_run_and_no_folder(ran, tmp_path, kind):
    folder, result, _ = ran
    path = result.save(tmp_path / f"a.{kind}")
    (found,) = experiments_in(path)
    request = result.exhibit.request
    assert found.whole and found.fingerprint == request.fingerprint
    assert found.request.params == request.params and found.robgui == robgui.__version__
    assert found.request.models[0].fingerprint == request.models[0].fingerprint
    assert found.said == result.exhibit.verdict
    assert found.request.models[0].path == "" and found.request.dataset.path == ""
    assert folder.name not in found.to_text() and str(folder) not in found.to_text()


def test_other_programs_find_the_record_too(ran, tmp_path):
    _, result, _ = ran
    with Image.open(result.save(tmp_path / "a.png")) as image:
        assert from_text(image.text["robgui-experiment"]).request.analysis == "zonnscan"
    tree = ET.parse(result.save(tmp_path / "a.svg"))
    (element,) = [one for one in tree.iter() if one.attrib.get("id") == "robgui-experiment"]
    assert json.loads(element.text)["request"]["analysis"] == "zonnscan"
    path = result.save(tmp_path / "a.pdf")
    if shutil.which("pdfinfo"):
        done = subprocess.run(
            ["pdfinfo", "-custom", str(path)], capture_output=True, text=True, check=True
        )
        assert '"analysis":"zonnscan"' in done.stdout


def test_a_report_carries_the_run_of_every_article(ran, tmp_path):
    folder, _, workspace = ran
    page, paper = (
        write_html(workspace, tmp_path / "r.html"),
        write_pdf(workspace, tmp_path / "r.pdf"),
    )
    assert [one.run for one in experiments_in(page)] == [run.id for run in workspace.runs()]
    assert [one.run for one in experiments_in(paper)] == [run.id for run in workspace.runs()]
    assert folder.name not in page.read_text(encoding="utf-8")


def test_a_record_longer_than_a_string_of_a_pdf_comes_back_whole(ran, tmp_path):
    from robgui.report.drawing import save

    _, result, _ = ran
    request = result.exhibit.request
    labels = [f"class (number) {number} \\ “{'x' * 90}”" for number in range(1500)]
    model = request.models[0].model_copy(update={"options": {"labels": labels}})
    long = experiment_of(request.model_copy(update={"models": (model,)}), None)
    for kind in ("png", "svg", "pdf"):
        path = tmp_path / f"long.{kind}"
        path.write_bytes(save(result.plot(), kind, experiment=long))
        assert experiments_in(path) == [long]


def test_identify_tells_a_figure_with_its_run_from_other_pictures(ran, tmp_path):
    _, result, workspace = ran
    for name in ("a.png", "a.svg", "a.pdf"):
        assert identify(result.save(tmp_path / name)).kind is Kind.EXPERIMENT
    assert identify(write_html(workspace, tmp_path / "r.html")).kind is Kind.EXPERIMENT
    Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / "plain.png")
    assert identify(tmp_path / "plain.png").kind is Kind.DATA
    (tmp_path / "plain.html").write_text("<!doctype html><p>robgui report</p>")
    (tmp_path / "plain.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'></svg>")
    for name in ("plain.html", "plain.svg"):
        assert identify(tmp_path / name).kind is not Kind.EXPERIMENT


def test_a_figure_is_still_a_picture_that_can_be_opened(ran, tmp_path):
    _, result, _ = ran
    assert len(robgui.open_dataset(result.save(tmp_path / "a.png"))) == 1


def test_folders_in_settings_are_left_out_and_that_is_known(ran):
    _, result, _ = ran
    request = result.exhibit.request
    model = request.models[0].model_copy(
        update={"options": {"architecture": "/home/ann/nets.py:net"}}
    )
    found = experiment_of(request.model_copy(update={"models": (model,)}), None)
    assert "ann" not in found.to_text()
    assert found.request.models[0].options["architecture"] == "nets.py:net"


# --- files of others ------------------------------------------------------------------------------


def _png(text: bytes, length: int | None = None) -> bytes:
    body = b"robgui-experiment\0" + text
    size = len(body) if length is None else length
    chunk = struct.pack(">I", size) + b"tEXt" + body + struct.pack(">I", zlib.crc32(b"tEXt" + body))
    return b"\x89PNG\r\n\x1a\n" + chunk


@pytest.mark.parametrize(
    "content",
    [
        _png(b"{}"),
        _png(b"[" * 100_000),
        _png(b'{"format": "robgui experiment"}'),
        b'<svg ><metadata id="robgui-experiment">nonsense</metadata></svg>',
        b"%PDF-1.4 /RobguiExperiment0 (\\(nonsense\\)) >>",
        b'<!doctype html><data hidden class="robgui-experiment" value="{&quot;a&quot;:1}"></data>',
    ],
)
def test_a_damaged_record_is_a_value_error(tmp_path, content):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"\w"):
        experiments_in(path)


@given(st.binary(max_size=400), st.sampled_from([b"\x89PNG\r\n\x1a\n", b"%PDF", b"<svg ", b""]))
def test_no_bytes_hang_or_break_the_search(tmp_path_factory, content, head):
    path = tmp_path_factory.getbasetemp() / "fuzzed"
    path.write_bytes(head + content)
    assert carries(path) is False
    assert experiments_in(path) == []


def test_a_chunk_that_claims_to_be_endless_is_passed_over(tmp_path):
    (tmp_path / "x.png").write_bytes(_png(b"{}", length=2**31))
    assert carries(tmp_path / "x.png") is False


def test_a_record_with_a_verdict_of_nonsense_is_refused(ran):
    _, result, _ = ran
    whole = json.loads(experiment_of(result.exhibit.request, result.exhibit.verdict).to_text())
    whole["verdict"]["status"] = "perfect"
    with pytest.raises(ValueError, match=r"\w"):
        from_text(json.dumps(whole))
    assert isinstance(from_text(json.dumps({**whole, "verdict": None})), Experiment)
