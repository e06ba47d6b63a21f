"""Pictures and numbers leave the program in every promised format."""

from __future__ import annotations

import csv
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from PySide6.QtGui import QImage

from robgui.core.errors import RobguiError
from robgui.gui.show import export
from robgui.gui.widgets.plots import Plot


@pytest.fixture
def plot(qtbot):
    made = Plot("x (units)", "y (units)")
    made.plot([0, 0.5, 1], [0, 1, 0.5])
    made.resize(320, 240)
    qtbot.addWidget(made)
    made.show()
    qtbot.waitExposed(made)
    return made


def test_png_has_the_asked_size_and_shows_something(plot, tmp_path):
    export.save_picture(plot, tmp_path / "a.png", scale=3)
    image = QImage(str(tmp_path / "a.png"))
    assert (image.width(), image.height()) == (960, 720)
    colours = {image.pixel(x, y) for x in range(0, 960, 7) for y in range(0, 720, 7)}
    assert len(colours) > 3


def test_svg_is_well_formed_and_keeps_lines_as_lines(plot, tmp_path):
    export.save_picture(plot, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    ET.fromstring(text)
    assert text.count("<path") + text.count("<polyline") > 5, "axes, ticks and the curve"
    assert text.count("<text") > 5, "words stay words"


def test_pdf_is_a_pdf(plot, tmp_path):
    export.save_picture(plot, tmp_path / "a.pdf")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")


def test_numbers_come_back_from_csv_and_npz(tmp_path):
    columns = {"radius": np.array([0.0, 0.5]), "samples": np.array([1, 2])}
    export.save_table(columns, tmp_path / "a.csv")
    export.save_table(columns, tmp_path / "a.npz")
    with (tmp_path / "a.csv").open() as file:
        assert list(csv.reader(file)) == [["radius", "samples"], ["0.0", "1"], ["0.5", "2"]]
    with np.load(tmp_path / "a.npz") as stored:
        assert (stored["radius"] == columns["radius"]).all()


@pytest.mark.parametrize("name", ["a.bmp", "missing/a.png"])
def test_what_cannot_be_written_is_said(plot, tmp_path, name):
    with pytest.raises(RobguiError, match=r"a\.(bmp|png)"):
        export.save_picture(plot, tmp_path / name)


def test_a_table_into_a_missing_folder_is_said(tmp_path):
    with pytest.raises(RobguiError, match="cannot be written"):
        export.save_table({"a": np.zeros(1)}, tmp_path / "missing" / "a.csv")
