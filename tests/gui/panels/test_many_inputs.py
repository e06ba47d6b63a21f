"""Populations, corner cases and watermark: the tabs that look at many inputs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from robgui.gui.app.theme import theme
from robgui.gui.show import export
from robgui.gui.widgets.distributions import BINS, bins_of

QUICK = {"samples": 32, "target_half_width": 0.05}


def click_item(qtbot, thumbs, row):
    qtbot.mouseClick(thumbs.viewport(), Qt.MouseButton.LeftButton, pos=thumbs.visualItemRect(thumbs.item(row)).center())


def click_bar(qtbot, distributions, second, place):
    """Presses the middle of a bar, wherever it stands on the screen."""
    plot = distributions.plot
    x = (place + (0.7 if second else 0.28)) / BINS
    spot = plot.mapFromScene(plot.getPlotItem().getViewBox().mapViewToScene(QPointF(x, 0.5)))
    qtbot.mouseClick(plot.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(round(spot.x()), round(spot.y())))


def test_the_two_sets_are_drawn_and_a_bar_lists_its_inputs(qtbot, store, bench, run):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(100, 400)))
    result = run(panel, pane, inputs=30, **QUICK)
    assert len(result.index) == 60
    for i, bars in enumerate(panel.distributions.bars):
        share = np.bincount(bins_of(result.index[result.second == bool(i)]), minlength=BINS) / 30
        assert np.allclose(bars.opts["height"], share)
    assert np.array_equal(panel._roc.getData()[1], result.detected) and "AUC" in panel.figures.text()
    bar = int(bins_of(result.index[:30]).min())
    click_bar(qtbot, panel.distributions, False, bar)
    inside = np.flatnonzero((bins_of(result.index) == bar) & ~result.second)
    assert panel.thumbs.count() == len(inside) and panel._title.text().startswith(f"{len(inside)} of test")
    click_item(qtbot, panel.thumbs, 0)
    wanted = 100 + result.numbers[max(inside, key=lambda i: result.index[i])]
    assert store.selection.input == wanted
    click_bar(qtbot, panel.distributions, False, bar)
    assert panel.thumbs.count() == 20, "the same bar again lets go of it"


def whole_lines(thumbs):
    """Whether every line of every item fits beside its picture."""
    for row in range(thumbs.count()):
        option = QStyleOptionViewItem()
        thumbs.itemDelegate().initStyleOption(option, thumbs.indexFromItem(thumbs.item(row)))
        option.rect = thumbs.visualItemRect(thumbs.item(row))
        option.decorationSize, option.widget = thumbs.iconSize(), thumbs
        room = thumbs.style().subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, thumbs).width()
        margin = 2 * (thumbs.style().pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, option, thumbs) + 1)
        if any(thumbs.fontMetrics().horizontalAdvance(line) > room - margin for line in thumbs.item(row).text().splitlines()):
            return False
    return True


def test_the_words_beside_the_pictures_fit(store, bench, run):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(20)))
    result = run(panel, pane, **QUICK)
    small = replace(result, index=np.full_like(result.index, 0.00872))
    panel.draw(small)
    assert "index 0.00872" in panel.thumbs.item(0).text()
    assert whole_lines(panel.thumbs)


def test_numbers_and_pictures_leave_the_panel(store, bench, run, tmp_path):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(20)))
    run(panel, pane, **QUICK)
    export.save_table(panel.table(), tmp_path / "t.csv")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 41
    for name, widget in panel.pictures().items():
        export.save_picture(widget, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 1000


def test_findings_of_a_population_lead_back_to_their_pictures(qtbot, store, bench, run):
    panel, pane = bench("zonnscan_populations")
    store.set_scope(tuple(range(200)))
    result = run(panel, pane, radius=0.1, **QUICK)
    qtbot.waitUntil(lambda: len(store.history.findings) == len(result.notable), timeout=5_000)
    assert 0 < len(store.history.findings) <= 10 and all(f.has_picture for f in store.history.findings)


def test_corner_cases_show_every_models_answer_and_lead_to_the_gallery(qtbot, store, bench, run):
    panel, pane = bench("zonnscan_corner_cases")
    store.set_scope(tuple(range(300)))
    result = run(panel, pane, inputs=10, **QUICK)
    first = panel.thumbs.item(0).text()
    assert panel.thumbs.count() == len(result.numbers) and "mlp: " in first and "rnn: " in first
    assert f"mlp and rnn on {len(result.numbers)}" in panel.figures.text()
    click_item(qtbot, panel.thumbs, 1)
    assert store.selection.input == result.numbers[1]
    classes = result.classes[:, 1]
    assert classes[0] != classes[1]
    panel.views.bar.setCurrentIndex(1)
    assert sum(panel.distributions.bars[1].opts["height"]) == pytest.approx(1)
    assert len(panel.table()["key"]) == len(result.numbers)
    theme.apply(True)
    theme.apply(False)


def test_one_model_has_no_corner_cases_and_the_form_says_what_to_do(qtbot, store, bench):
    _, pane = bench("zonnscan_corner_cases")
    assert pane.run.isEnabled()
    store.library.remove_model(store.library.models[1])
    assert not pane.run.isEnabled() and "needs two models" in pane._obstacle.text()


def test_a_watermarked_copy_is_told_apart_and_the_model_stays_as_it_was(qtbot, store, bench, run):
    panel, pane = bench("zonnscan_watermark")
    model = store.library.model
    before, fingerprint = model.infer(store.library.dataset.array(range(50))), model.fingerprint
    result = run(panel, pane, size=10, inputs=200, runs=2, samples=16)
    assert result.back == 5 and (result.answers[1] == result.classes).all()
    assert panel.thumbs.count() == 10 and "before: " in panel.thumbs.item(0).text() and "after: " in panel.thumbs.item(0).text()
    assert bool((model.infer(store.library.dataset.array(range(50))) == before).all()) and model.fingerprint == fingerprint
    assert len(store.history.runs[0].request.models) == 1
    panel.views.bar.setCurrentIndex(1)
    click_item(qtbot, panel.thumbs, 2)
    assert store.selection.input == result.numbers[2]
    assert len(panel.table()["mean index 2"]) == 10


def test_two_loaded_models_are_compared_without_making_anything(store, bench, run):
    panel, pane = bench("zonnscan_watermark")
    result = run(panel, pane, mode="compare", size=8, runs=1, samples=16)
    assert result.models == ("fashion_mlp.pt2", "fashion_rnn.pt") and result.rounds == 0
    store.library.remove_model(store.library.models[1])
    assert not pane.run.isEnabled() and "needs two models" in pane._obstacle.text()


def test_stopping_a_watermark_keeps_what_there_is_and_leaves_the_model_alone(qtbot, store, bench):
    panel, pane = bench("zonnscan_watermark")
    before = store.library.model.infer(store.library.dataset.array(range(20)))
    pane.form().set_values({"size": 20, "runs": 1000, "samples": 256})
    pane.run.click()
    qtbot.waitUntil(lambda: panel.result is not None, timeout=20_000)
    pane.stop.click()
    qtbot.waitUntil(lambda: bool(store.history.runs) and store.history.runs[0].state.ended, timeout=20_000)
    assert store.history.runs[0].state == "cancelled" and store.history.runs[0].has_result
    assert bool((store.library.model.infer(store.library.dataset.array(range(20))) == before).all())


@pytest.mark.parametrize("analysis", ["zonnscan_populations", "zonnscan_corner_cases", "zonnscan_watermark"])
def test_an_empty_tab_says_what_to_do(bench, analysis):
    panel, _ = bench(analysis)
    assert panel._pages.currentIndex() == 0 and "Run" in panel.invitation and panel.table() == {}
