"""The DeepInspect panels: matrix, list, threshold, one pair in detail, and where it leads."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt

from robgui.gui.app.theme import theme
from robgui.gui.widgets.class_matrix import ClassMatrix


@pytest.fixture
def inspected(store, bench, run):
    store.set_scope(tuple(range(0, 2000, 5)))
    panel, pane = bench("deepinspect")
    panel.resize(900, 560)
    run(panel, pane)
    return panel


def test_a_row_of_the_list_frames_its_cells_and_shows_images_and_neurons(qtbot, store, inspected):
    panel, result = inspected, inspected.result
    assert panel.pairs.model().rowCount() == len(result.confusion_pairs)
    panel.pairs.selectRow(0)
    a, b = (int(c) for c in result.confusion_pairs[0])
    assert store.selection.pair == (a, b)
    assert result.classes[a] in panel.figures.text() and result.classes[b] in panel.figures.text()
    assert panel.neurons.model().rowCount() > 0
    qtbot.waitUntil(lambda: panel.images.count() > 0, timeout=10_000)
    first = panel.images.item(0).text()
    assert "mixed up" in first
    panel.images.itemClicked.emit(panel.images.item(0))
    place = panel.images.item(0).data(Qt.ItemDataRole.UserRole)
    assert store.selection.input == store.scope[place]


def test_dragging_the_threshold_changes_the_list(inspected):
    panel, result = inspected, inspected.result
    before = panel.pairs.model().rowCount()
    panel.histogram.limited.emit(float(np.nanmax(result.napvd)))
    assert panel.pairs.model().rowCount() > before
    panel.histogram.limited.emit(0.0)
    assert panel.pairs.model().rowCount() == 0


def test_other_matrices_orders_and_the_dark_theme_can_be_shown(inspected):
    panel, result = inspected, inspected.result
    for which in ("avg_bias", "conf", "mode"):
        panel.matrix_box.setCurrentIndex(panel.matrix_box.findData(which))
        panel.order_box.setCurrentIndex(panel.order_box.findData("worst"))
        assert panel.which == which
    theme.apply(True)
    nearest = np.where(np.eye(10, dtype=bool), np.inf, np.nan_to_num(result.napvd, nan=np.inf)).min(1)
    assert np.all(np.diff(nearest[panel._order]) >= 0)
    theme.apply(False)


def test_the_pair_can_be_sent_to_the_feature_game_with_the_other_class_as_target(qtbot, store, inspected):
    panel, result = inspected, inspected.result
    panel.attack.click()
    panel.pairs.selectRow(0)
    a, b = (int(c) for c in result.confusion_pairs[0])
    one, both = panel.offers()
    predicted = int(result.predicted[one.places[0]])
    assert one.params["feature_game"]["target"] == result.classes[b if predicted == a else a]
    assert len(both.places) > 1
    with qtbot.waitSignal(store.sending.arrived, timeout=20_000) as arrived:
        panel.closeness.click()
    assert arrived.args == ["zonnscan_populations"]
    assert len(store.scope) == len(both.places)


def test_the_other_tabs_draw_their_results(store, bench, run):
    store.set_scope(tuple(range(0, 2000, 10)))
    panel, pane = bench("deepinspect_thresholds")
    result = run(panel, pane, thresholds=(0.4, 0.5))
    assert panel.sheet.model().rowCount() == 2 and len(panel.table()["threshold"]) == len(result.thresholds)
    panel, pane = bench("deepinspect_coverage")
    result = run(panel, pane)
    panel.criterion.setCurrentIndex(2)
    assert panel.sheet.model().rowCount() == len(result.classes)


def test_a_matrix_of_a_thousand_classes_is_one_image_that_can_be_searched_and_clicked(qtbot):
    matrix = ClassMatrix("distance")
    qtbot.addWidget(matrix)
    matrix.resize(600, 500)
    with qtbot.waitExposed(matrix):
        matrix.show()
    values = np.random.default_rng(0).random((1000, 1000))
    names = tuple(f"class {i}" for i in range(1000))
    order = np.random.default_rng(1).permutation(1000)
    matrix.show_matrix(values, names, order, (0, 1), "distance")
    assert matrix.find_class("class 777") == 777
    box = matrix.heat.plot.getPlotItem().getViewBox()
    place = int(np.flatnonzero(order == 777)[0])
    other = min(998, place + 1)
    with qtbot.waitSignal(matrix.pointed) as pointed:
        spot = matrix.heat.plot.mapFromScene(box.mapViewToScene(QPointF(other + 0.5, place + 0.5)))
        qtbot.mouseClick(matrix.heat.plot.viewport(), Qt.MouseButton.LeftButton, pos=spot)
    assert pointed.args == [777, int(order[other])]


def test_every_class_is_named_below_the_matrix_upright_where_there_is_no_room(qtbot, inspected):
    axis = inspected.matrix.heat.plot.getPlotItem().getAxis("bottom")
    for width, upright in ((900, True), (3000, False)):
        inspected.resize(width, 560)
        qtbot.waitUntil(lambda upright=upright: axis.upright is upright, timeout=5_000)
        inspected.grab()
        (_, places), *_ = axis.tickValues(*axis.range, axis.size().width())
        assert axis.tickStrings(places, 1, 1) == list(inspected.result.classes)
    assert axis.fixedHeight is None
