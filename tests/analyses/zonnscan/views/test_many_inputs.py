"""What populations, corner cases and watermarks look like."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.zonnscan import CornerCasesParams, PopulationsParams, WatermarkParams
from robgui.analyses.zonnscan.views import corner_cases, populations, watermark
from robgui.core.execution.registry import find
from robgui.core.view import Bars, Curves, Images, Table, difference
from tests.analyses.zonnscan.results import compared, disagreed, marked

LOW, HIGH = [0.01 * i for i in range(20)], [0.5 + 0.01 * i for i in range(20)]


def test_bars_count_the_share_of_each_set_in_every_bin() -> None:
    bars = populations.views(compared(LOW, HIGH), PopulationsParams())[0]
    assert isinstance(bars, Bars) and bars.edges is not None and len(bars.edges) == 26
    for row, values in zip(bars.series, (LOW, HIGH), strict=True):
        assert (
            np.allclose(row.values, np.histogram(values, bars.edges)[0] / 20)
            and row.values.sum() == 1
        )
    assert [row.name for row in bars.series] == ["test: 20 inputs", "adversarial: 20 inputs"]
    assert [row.ink.role for row in bars.series] == ["original", "changed"]
    assert [mark.at for mark in bars.marks] == [np.mean(LOW), np.mean(HIGH)]


def test_the_alarm_is_the_curve_of_caught_against_false_alarms() -> None:
    result = compared(LOW, HIGH)
    alarm = populations.views(result, PopulationsParams())[1]
    assert isinstance(alarm, Curves) and np.array_equal(alarm.lines[0].y, result.detected)
    assert alarm.x.kind == alarm.y.kind == "share" and alarm.marks[0].at == 0.05


def test_the_worst_inputs_and_every_row_are_shown() -> None:
    result = compared(LOW, HIGH, notable=np.array([3, 1]), crossing=np.linspace(0, 1, 40))
    made = populations.views(result, PopulationsParams())
    images, table = made[3], made[4]
    assert isinstance(images, Images) and [picture.caption for picture in images.pictures] == [
        "image 3",
        "image 1",
    ]
    assert (
        isinstance(table, Table) and table.height == 40 and table.columns[0].cells[0] == "image 39"
    )


def test_a_long_table_keeps_the_most_unsure_and_says_what_is_left_out() -> None:
    result = compared(list(np.linspace(0, 1, 900)), list(np.linspace(0, 1, 900)))
    table = populations.views(result, PopulationsParams())[4]
    assert table.height == 1000 and table.note.endswith(
        "800 more inputs with a lower uncertainty are left out."
    )


def test_a_table_has_no_number_that_the_samples_cannot_tell() -> None:
    table = populations.views(compared([0.02, 0.3], [1e-7, 0.5]), PopulationsParams())[4]
    cells = {column.name: column.cells for column in table.columns}
    assert cells["uncertainty"] == (0.5, 0.3, None, None) and min(cells["at most"]) >= 0.057
    low = np.concatenate([index(), index() * 1e-4], axis=2)
    marks = watermark.views(marked(low), WatermarkParams(runs=3, samples=64))[3]
    assert marks.columns[-1].cells[0] == pytest.approx(0.2) and marks.columns[-1].cells[-1] is None


def test_corner_cases_show_every_models_answer_and_who_is_right() -> None:
    images = corner_cases.views(disagreed(3), CornerCasesParams())[0]
    assert isinstance(images, Images)
    first, second = images.pictures[:2]
    assert first.chip == "shirt / coat" and first.right is False and first.caption == "image 0"
    assert second.caption == "image 1" and "✓ mlp is right" in images.note
    unknown = corner_cases.views(disagreed(1, truth=np.array([-1])), CornerCasesParams())[
        0
    ].pictures[0]
    assert unknown.right is None


def test_pairs_of_models_have_a_bar_each() -> None:
    bars = corner_cases.views(disagreed(12), CornerCasesParams())[1]
    assert bars.names == ("any two", "mlp and rnn") and bars.series[0].values.tolist() == [
        0.04,
        0.04,
    ]
    gap = difference(bars, corner_cases.views(disagreed(6), CornerCasesParams())[1])
    assert isinstance(gap, Bars) and np.allclose(gap.series[0].values, -0.02)


def test_a_search_under_way_has_views_without_pictures() -> None:
    empty = disagreed(0, looked=0, thumbnails=np.zeros((0, 1, 1, 3), dtype=np.uint8))
    made = corner_cases.views(empty, CornerCasesParams())
    assert [type(view) for view in made] == [Bars, Table] and made[1].height == 0
    many = corner_cases.views(disagreed(100), CornerCasesParams())[0]
    assert len(many.pictures) == 60 and many.note.endswith("Of 100, the surest.")


def test_the_uncertainty_around_corner_cases_is_drawn_once_it_is_known() -> None:
    known = compared([0.1] * 4, [0.6] * 4, names=("agreeing", "corner-case"))
    bars = corner_cases.views(disagreed(4, populations=(known,)), CornerCasesParams(radius=0.1))[2]
    assert isinstance(bars, Bars) and bars.x.name == "uncertainty within radius 0.1"


def index(runs: int = 3) -> np.ndarray:
    return np.stack([np.full((runs, 20), 0.4), np.full((runs, 20), 0.2)])


def test_a_watermark_is_two_distributions_and_the_way_of_every_key_input() -> None:
    bars, moved, images, table = watermark.views(marked(index()), WatermarkParams())
    assert [row.name for row in bars.series] == ["model: 60 values", "marked copy: 60 values"]
    fooling = next(line for line in moved.lines if line.name == "inputs that fool the model")
    assert not fooling.line and np.allclose(fooling.x, [0.4] * 10) and np.allclose(fooling.y, 0.2)
    assert images.pictures[0].chip == "coat → shirt" and images.pictures[0].right is True
    assert images.pictures[0].caption == "image 0" and table.height == 20


def test_before_the_copy_is_made_there_is_no_answer_of_it() -> None:
    nothing = marked(
        np.full((2, 3, 20), np.nan), answers=np.stack([np.zeros(20, int), np.full(20, -1)])
    )
    bars, moved, images, table = watermark.views(nothing, WatermarkParams())
    assert all(row.values.sum() == 0 for row in bars.series) and bars.marks == ()
    assert all(np.isnan(line.y).all() for line in moved.lines if line.symbol)
    assert images.pictures[0].chip == "shirt → …" and images.pictures[0].right is None
    assert table.columns[-1].cells[0] is None


def test_two_models_are_called_first_and_second() -> None:
    bars, moved, images, _ = watermark.views(marked(index()), WatermarkParams(mode="compare"))
    assert bars.series[1].name == "second model: 60 values" and images.title == "Inputs"
    assert "inputs" in [line.name for line in moved.lines]


def test_what_is_shown_is_called_like_what_is_offered_so_that_a_click_finds_it() -> None:
    for known, result in (
        ("zonnscan_populations", compared(LOW, HIGH, notable=np.array([3, 1]))),
        ("zonnscan_corner_cases", disagreed(5)),
        ("zonnscan_watermark", marked(index())),
    ):
        analysis = find(known)
        (offer,) = analysis.offers(result, analysis.params())
        made = analysis.views(result, analysis.params())
        captions = [
            picture.caption
            for view in made
            if isinstance(view, Images)
            for picture in view.pictures
        ]
        assert captions and set(captions) <= set(offer.names)
