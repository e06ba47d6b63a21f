"""What a sweep looks like."""

from __future__ import annotations

import time

import numpy as np
import pytest

from robgui.analyses.zonnscan import ZonnscanParams
from robgui.analyses.zonnscan.views.sweep import views
from robgui.analyses.zonnscan.words.sweep import verdict
from robgui.core.view import Curves, Images, Table, difference
from tests.analyses.zonnscan.models import all_steps, small_mlp
from tests.analyses.zonnscan.results import LABELS, RADII, attacked_at, begun, sampled_at, swept

PARAMS = ZonnscanParams(radii=tuple(RADII))
BOTH = {**sampled_at(0.341), **attacked_at(0.02)}


def lines(view: Curves) -> dict[str, object]:
    return {line.name: line for line in view.lines}


def test_the_class_and_the_rival_of_the_sentence_have_strong_lines_and_others_are_grey() -> None:
    drawn = lines(views(swept(**BOTH), PARAMS)[0])
    own, rival = drawn["shirt (predicted)"], drawn["boot"]
    assert own.strong and own.ink.role == "class" and rival.strong and rival.ink.role == "rival"
    assert "“shirt” into “boot”" in verdict(swept(**BOTH), PARAMS).sentence
    assert drawn["coat"].ink.role == "other" and not drawn["coat"].strong, (
        "the class of the other change has a line too"
    )


def test_without_a_change_the_rival_is_the_next_most_likely_class() -> None:
    drawn = lines(views(swept(), PARAMS)[0])
    assert drawn["coat"].ink.role == "rival" and "boot" not in drawn, (
        "boot never reaches a share worth a line"
    )
    means = np.tile([0.6, 0.3, 0.1], (4, 1))
    assert lines(views(swept(mean_confidence=means), PARAMS)[0])["boot"].quiet


def test_samples_and_attack_have_a_mark_each_and_so_has_the_radius_asked_for() -> None:
    marks = {mark.name: mark for mark in views(swept(**BOTH), PARAMS)[0].marks}
    assert list(marks) == [
        "attack at 0.02: boot",
        "sample at 0.341: coat",
        "required: 0.1",
    ]
    assert [mark.at for mark in marks.values()] == [0.02, 0.341, 0.1]
    assert next(iter(marks.values())).ink.role == "fails"


def test_the_uncertainty_has_a_band_no_narrower_than_the_samples_resolve() -> None:
    tiny = {"index": np.full(4, 1e-7), "ci_low": np.zeros(4), "ci_high": np.full(4, 2e-7)}
    band = lines(views(swept(**tiny), PARAMS)[0])["uncertainty"]
    assert (band.high[1:] >= 0.0036).all() and band.high[0] == 2e-7
    table = views(swept(**tiny), PARAMS)[-1]
    cells = {column.name: column.cells for column in table.columns}
    assert cells["uncertainty"][1:] == (None, None, None) and min(cells["at most"][1:]) >= 0.0036


def test_axes_have_names_units_and_fixed_ends() -> None:
    for zone in ("linf", "box", "l2", "l1", "l2_clipped", "l1_clipped"):
        first = views(swept(), ZonnscanParams(zone=zone))[0]
        assert first.x.remark and first.x.remark in first.x.title
        assert first.x.words(0.0) == "0", "not “0 of its range”"
        assert (
            first.y.remark
            and (first.x.low, first.x.high) == (0, 1)
            and (first.y.low, first.y.high) == (0, 1)
        )
    only = views(swept(radii=np.zeros(1)), ZonnscanParams(radii=(0.0,)))[0]
    assert only.x.high == 1


def test_the_changes_are_shown_beside_the_input_with_their_classes() -> None:
    images = views(swept(truth=1, **BOTH), PARAMS)[2]
    assert isinstance(images, Images)
    assert [picture.chip for picture in images.pictures] == ["shirt", "boot", "coat"]
    assert (
        images.pictures[0].right is False
        and images.pictures[0].caption == "image 7, 90.0 % sure, truly coat"
    )
    assert [picture.caption for picture in images.pictures[1:]] == [
        "radius 0.02, by a gradient attack",
        "radius 0.341, by a random sample",
    ]


@pytest.mark.parametrize("known", [0, 1, 2, 4])
def test_a_sweep_under_way_has_every_view(known: int) -> None:
    fields = begun(known) if known else {**begun(1), "radii": RADII + 0.01}
    made = views(swept(**fields), PARAMS)
    assert [type(view) for view in made] == [Curves, Curves, Images, Table] and made[-1].height == 4


def test_two_sweeps_can_be_subtracted() -> None:
    first, second = (
        views(swept(**more), PARAMS)[0] for more in ({}, {"crossing": np.full(4, 0.3)})
    )
    gap = difference(first, second)
    assert isinstance(gap, Curves) and np.allclose(lines(gap)["samples changing class"].y, 0.3)


def test_views_of_every_step_are_made_in_less_than_ten_milliseconds_with_a_thousand_classes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    steps = all_steps(small_mlp(classes=1000), np.full((1, 6, 6), 0.4), samples=64)
    views(steps[0].result, ZonnscanParams())
    times = []
    for step in (steps[0], steps[-1]):
        for _ in range(5):
            start = time.perf_counter()
            made = views(step.result, ZonnscanParams())
            times.append(time.perf_counter() - start)
        assert len(made[0].lines) <= 13
    assert min(times) < 0.01


def test_the_input_of_a_table_and_of_a_sequence_is_drawn_too() -> None:
    for kind, shape in (("table", (5,)), ("sequence", (6, 3))):
        x = np.full(shape, 0.5, dtype=np.float32)
        images = views(swept(kind=kind, input=x), PARAMS)[2]
        assert images.pictures[0].pixels.shape[2] == 3
    assert len(LABELS) == 3


def test_no_view_holds_a_number_that_the_samples_cannot_tell_from_zero() -> None:
    least = np.log(40) / 1024
    low = np.array([1e-9, 1e-7, 1e-4, 0.2])
    result = swept(
        index=low,
        entropy_of_mean=low,
        mutual_information=np.array([0, 1e-8, 1e-5, 0.1]),
        mean_confidence=np.stack([1 - low, low, np.zeros(4)], 1),
    )
    shown = views(result, PARAMS)
    for view in shown:
        if isinstance(view, Curves):
            for line in view.lines:
                if line.ink.role in ("text", "series"):
                    sampled = np.asarray(line.y)[1:]
                    assert (np.isnan(sampled) | (sampled >= least)).all(), (view.title, line.name)
    table = next(view for view in shown if isinstance(view, Table))
    means = ("uncertainty", "of the mean answer", "confidence in coat")
    for column in (column for column in table.columns if column.name in means):
        assert column.cells[0] is not None and column.cells[1:3] == (None, None), column.name
