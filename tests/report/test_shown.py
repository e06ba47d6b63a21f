"""A result of robgui.run shows itself, and gives itself as plain values and as a table."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import sys

import numpy as np
import pytest

import robgui
from robgui.core.errors import RobguiError
from robgui.report.shown import ShowableResult
from tests.core import tiny
from tests.report import small


@pytest.fixture(scope="module")
def result():
    return robgui.run("zonnscan", tiny.classifier(), tiny.inputs()[0], samples=16, radii=(0.0, 0.1))


def test_a_result_says_in_one_line_what_it_found_and_shows_its_picture(result):
    assert len(repr(result)) < 1000 and result.exhibit.verdict.text in repr(result)
    page = result._repr_html_()
    assert "data:image/png;base64," in page and "<script" not in page
    assert result.plot().axes


def test_it_still_is_the_result_of_its_analysis(result):
    assert isinstance(result, robgui.analyses()["zonnscan"].result)
    assert result.radii.tolist() == pytest.approx([0.0, 0.1])
    assert type(result).__name__ == "ZonnscanResult"


def test_its_plain_values_are_json_and_hold_every_number(result):
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["result"]["index"] == pytest.approx(result.index.tolist())
    assert document["request"]["analysis"] == "zonnscan" and document["verdict"]["sentence"]


def test_its_pictures_are_saved(result, tmp_path):
    assert result.save(tmp_path / "sweep.svg").read_text().startswith("<?xml")


def test_its_table_is_that_of_the_csv_file(result):
    pandas = pytest.importorskip("pandas")
    table = result.to_pandas()
    assert isinstance(table, pandas.DataFrame) and len(table)
    named = result.to_pandas(result.exhibit.views[0].title)
    pandas.testing.assert_frame_equal(table, named)
    with pytest.raises(RobguiError, match="There is no view 99"):
        result.to_pandas(99)


def test_without_pandas_one_sentence_says_so(result, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(RobguiError, match="pip install pandas"):
        result.to_pandas()


@pytest.mark.parametrize("way", [lambda it: pickle.loads(pickle.dumps(it)), copy.deepcopy])
def test_copied_and_pickled_it_is_the_plain_result(result, way):
    other = way(result)
    assert type(other) is robgui.analyses()["zonnscan"].result
    np.testing.assert_array_equal(other.index, result.index)


def test_one_that_was_changed_by_hand_draws_nothing_false(result):
    changed = dataclasses.replace(result, index=result.index + 1)
    assert repr(changed) == "ZonnscanResult(…)"
    with pytest.raises(RobguiError, match="changed by hand"):
        changed.plot()


@pytest.mark.parametrize("name", list(robgui.analyses()))
def test_no_result_has_a_field_called_like_what_is_added(name):
    fields = {field.name for field in dataclasses.fields(robgui.analyses()[name].result)}
    assert not fields & {name for name in vars(ShowableResult) if not name.startswith("_")}


def test_a_foreign_result_shows_itself_too():
    found = robgui.run("small-report", small.model(), small.data(), says="fails")
    assert "✗ Failure found" in repr(found) and isinstance(found, small.SmallResult)
