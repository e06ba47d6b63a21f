"""A suite made of runs asks what they have asked."""

from __future__ import annotations

from robgui.batch import expand, read_suite
from robgui.batch.suite_of_runs import suite_of_runs
from tests.batch import small

ASKED = """
[[analyses]]
name = "zonnscan"
index = [1, 3]
params = { samples = 64, radii = [0.0, 0.1] }
grid = { seed = [0, 1] }

[[analyses]]
name = "zonnscan_corner_cases"

[[analyses]]
name = "zonnscan_populations"
index = "0:6"
"""


def test_its_requests_are_those_of_the_runs(files, tmp_path):
    asked = [each.request for each in small.plan(files, ASKED).requests]
    path = tmp_path / "again.toml"
    path.write_text(suite_of_runs([*asked, *asked]), encoding="utf-8")
    again = [each.request for each in expand(read_suite(path), trust=True).requests]
    assert {one.fingerprint for one in again} == {one.fingerprint for one in asked}
    assert len(again) == len(asked) == 3 * 2 * 2 + 1 + 3


def test_settings_of_a_model_and_words_that_need_care_are_kept(files, tmp_path):
    (asked,) = (
        each.request
        for each in small.plan(files, '[[analyses]]\nname = "zonnscan_corner_cases"\n').requests
    )
    told = {"mean": [0.3], "labels": ['a "quoted", name', "b\\c", "ü", "d", "e"]}
    first = asked.models[0]
    model = first.model_copy(update={"options": {**first.options, **told}})
    text = suite_of_runs([asked.model_copy(update={"models": (model, *asked.models[1:])})])
    path = tmp_path / "again.toml"
    path.write_text(text, encoding="utf-8")
    kept, other = (one.settings for one in read_suite(path).models[:2])
    assert kept == {**kept, **told} and not told.keys() & other.keys()


def test_what_has_no_file_is_left_out(files):
    (asked,) = (
        each.request
        for each in small.plan(files, '[[analyses]]\nname = "zonnscan_corner_cases"\n').requests
    )
    without = asked.dataset.model_copy(update={"path": ""})
    assert suite_of_runs([asked.model_copy(update={"dataset": without})]) == ""
