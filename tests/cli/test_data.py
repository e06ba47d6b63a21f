"""Data on the command line: what they hold, which part, which formats there are."""

from __future__ import annotations

import json

import pytest

from robgui.cli import main
from robgui.core.data_formats import FORMATS
from tests.core.dataset.formats.samples import write_tree


@pytest.fixture
def tree(tmp_path):
    write_tree(tmp_path / "pets" / "train")
    write_tree(tmp_path / "pets" / "val")
    (tmp_path / "pets" / "train" / "cat" / "img_0.png").unlink()
    return tmp_path / "pets"


def test_inspect_says_what_data_hold_by_part(tree, capsys):
    assert main(["inspect", str(tree), "--split", "train", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["inputs"] == 5 and found["counts"] == [1, 2, 2]
    assert found["parts"] == ["train", "val"] and found["classes"] == ["cat", "dog", "owl"]


def test_a_part_that_is_none_is_refused_before_anything_is_started(tree, capsys):
    assert main(["inspect", str(tree), "--split", "half"]) == 2
    assert "'train', 'val' or 'test'" in capsys.readouterr().err


def test_every_format_has_its_line_and_names_its_extra(capsys, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert main(["list", "--data"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(FORMATS)
    assert any("robgui[tables]" in line for line in lines if line.startswith("Parquet"))
    assert any("robgui[hdf5]" in line for line in lines if line.startswith("HDF5"))
