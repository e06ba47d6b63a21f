"""Names and numbers that no system takes: each ends in one sentence, and no sentence is a page."""

from __future__ import annotations

from io import BytesIO

import numpy as np
import pytest
import torch

from robgui.batch import expand, read_suite
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, ModelError, RobguiError
from robgui.core.loading import load
from robgui.core.npy import read_header
from tests.core.loading.makers import save_exported, table_net

LONG = "x" * 5000


def told(error: type[RobguiError], action) -> str:
    with pytest.raises(error) as caught:
        action()
    said = str(caught.value)
    assert "\n" not in said and len(said) < 2000
    return said


@pytest.mark.parametrize("name", [LONG, LONG + "*", f"{LONG}/*", "~nobody-here/x", "**a"])
def test_a_suite_that_names_an_impossible_file_is_one_sentence(tmp_path, name):
    suite = tmp_path / "suite.toml"
    suite.write_text(
        f'[[models]]\npath = "{name}"\n[[analyses]]\nname = "zonnscan"\n', encoding="utf-8"
    )
    assert "suite.toml" in told(RobguiError, lambda: expand(read_suite(suite), "cpu"))


@pytest.mark.parametrize("setting", ["labels", "architecture", "scores"])
@pytest.mark.parametrize("value", [LONG, f"{LONG}.py:net", f"{LONG}:net", f"timm:{LONG}"])
def test_a_side_file_with_a_long_name_is_one_sentence(tmp_path, setting, value):
    path = tmp_path / "m.pt2"
    save_exported(table_net(), path, torch.rand(2, 6))
    (tmp_path / "m.pt2.toml").write_text(f'{setting} = "{value}"\n', encoding="utf-8")
    if setting == "architecture":  # a program of torch.export needs none
        assert load(path, device="cpu").classes == 3
    else:
        told(RobguiError, lambda: load(path, device="cpu"))


@pytest.mark.parametrize("index", [2**63, -(2**80), 10**400])
def test_an_index_beyond_every_number_is_one_sentence(index):
    data = from_arrays(np.zeros((3, 2), np.float32))
    assert "3 items" in told(DataError, lambda: data.subset([index]))


def test_only_the_middle_of_a_long_word_and_of_a_long_sentence_is_left_out():
    said = str(ModelError(f"there is no setting 'begin{LONG}end'; choose another."))
    assert said.startswith("there is no setting 'begin") and said.endswith("end'; choose another.")
    assert len(said) < 300
    assert len(str(ModelError("a word and " * 1000 + "the end."))) < 1600
    assert str(ModelError("a word and " * 1000 + "the end.")).endswith("the end.")
    whole = "The file /home/me/" + "folder/" * 40 + "m.pt cannot be read."
    assert str(ModelError(whole)) == whole


def test_brackets_in_brackets_of_an_array_are_refused_before_they_are_parsed():
    honest = BytesIO()
    np.save(honest, np.zeros(3, dtype=[("a", "<f4", (2, 2)), ("b", [("c", "i4")])]))
    honest.seek(0)
    assert read_header(honest)[1] == (3,)
    content = honest.getvalue().replace(b"(3,)", b"(" * 60 + b"3")
    length = int.from_bytes(content[8:10], "little") + 57
    hostile = content[:8] + length.to_bytes(2, "little") + content[10:]
    with pytest.raises(ValueError, match="nested too deeply"):
        read_header(BytesIO(hostile))
