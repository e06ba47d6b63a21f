"""The thresholds that decide a status can be seen and set, and every verdict names its own."""

from __future__ import annotations

import argparse

import pytest

from robgui.cli.options import add_params, values_of
from robgui.core.execution.params.thresholds import every, thresholds, usual
from robgui.core.execution.registry import analyses, find


def test_every_method_shows_by_which_thresholds_it_judges():
    known = {one.key for one in every(analyses().values())}
    assert known >= {
        "zonnscan.hold_radius",
        "zonnscan.risk_factor",
        "semantic_map.enough",
        "semantic_regions.most_lost",
        "semantic_regions.enough",
        "srvr.enough",
        "operating_domain.critical",
        "feature_game.few_pixels",
        "deepinspect.most_wrong",
        "deepinspect_thresholds.stable",
        "last_particle.critical",
        "last_particle_table.critical",
    }
    for one in every(analyses().values()):
        assert one.unit and one.title and one.description, one
        find(one.analysis).params.parse({one.field: one.default})


def test_the_users_own_threshold_replaces_the_default_and_a_bad_one_does_not():
    known = find("deepinspect")
    assert usual(known, {"deepinspect.most_wrong": 0.2, "zonnscan.hold_radius": 1.0}) == {
        "most_wrong": 0.2
    }
    assert usual(known, {"deepinspect.most_wrong": 7.0}) == {}
    assert usual(known, {"deepinspect.most_wrong": 1.0}) == {}, "1 itself is refused too"


@pytest.mark.parametrize("name", ["deepinspect", "zonnscan", "last_particle"])
def test_a_threshold_has_bounds_and_a_default_within_them(name):
    for one in thresholds(find(name)):
        assert one.low <= one.default <= one.high


@pytest.mark.parametrize("one", every(analyses().values()), ids=lambda one: one.key)
def test_a_threshold_is_an_option_of_the_command_line(one):
    parser = argparse.ArgumentParser()
    known = find(one.analysis)
    add_params(parser, known.params, ())
    value = 2.0 if one.low >= 1 else 0.25
    given = parser.parse_args([f"--{one.field.replace('_', '-')}", str(value)])
    given.set = []
    assert known.params.parse(values_of(given, known.params)).model_dump()[one.field] == value
