"""The DeepInspect panel: its views, one pair in detail, and where it leads."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.core.view import Images, Matrix, Table
from robgui.gui.app.theme import theme


@pytest.fixture
def inspected(store, bench, run):
    store.set_scope(tuple(range(0, 2000, 5)))
    panel, pane = bench("deepinspect")
    panel.resize(900, 900)
    run(panel, pane)
    return panel


def view(panel, title):
    return next(widget for widget in panel.board.widgets if widget.view.title == title)


def test_labels_lead_the_first_picture_is_what_is_taken_for_what(inspected):
    first = inspected.board.widgets[0].view
    assert (
        isinstance(first, Matrix)
        and first.title == "What is taken for what"
        and first.worst == "high"
    )
    assert "is right in" in inspected.verdict.text()


def test_a_cell_chooses_its_pair_and_shows_inputs_and_neurons(qtbot, store, inspected):
    panel, result = inspected, inspected.result
    matrix = view(panel, "Distance between classes")
    matrix.chosen.emit((0, 1))
    names = (matrix.view.rows[0], matrix.view.columns[1])
    assert {result.classes[c] for c in store.selection.pair} == set(names)
    neurons = view(panel, "Neurons of the pair").view
    assert isinstance(neurons, Table) and neurons.height > 0
    qtbot.waitUntil(lambda: len(view(panel, "Inputs of the pair").view.pictures) > 0)
    pictures = view(panel, "Inputs of the pair")
    assert isinstance(pictures.view, Images) and all(name in pictures.view.note for name in names)
    pictures.chosen.emit(0)
    assert store.selection.input in store.scope


def test_a_row_of_the_pairs_and_a_class_that_is_searched_choose_a_pair(store, inspected):
    panel, result = inspected, inspected.result
    view(panel, "Pairs that look alike").chosen.emit(0)
    assert store.selection.pair == tuple(sorted(int(c) for c in result.confusion_pairs[0]))
    panel.search.setText("trouser")
    panel.search.returnPressed.emit()
    assert result.classes.index("Trouser") in store.selection.pair


def test_the_pair_can_be_sent_to_the_feature_game_with_the_other_class_as_target(
    qtbot, store, inspected
):
    panel, result = inspected, inspected.result
    panel.attack.click()  # without a pair it only says so
    view(panel, "Pairs that look alike").chosen.emit(0)
    a, b = store.selection.pair
    one, both = panel.offers()
    predicted = int(result.predicted[one.places[0]])
    assert one.params["feature_game"]["target"] == result.classes[b if predicted == a else a]
    assert len(both.places) > 1
    with qtbot.waitSignal(store.sending.arrived) as arrived:
        panel.closeness.click()
    assert arrived.args == ["zonnscan_populations"]
    assert len(store.scope) == len(both.places)


def test_dragging_the_limit_in_the_histogram_changes_the_pairs_while_it_moves(inspected):
    panel, result = inspected, inspected.result
    histogram, board = view(panel, "Distances of all pairs"), panel.board
    above = len(board.widgets) - board.bar.count()
    board.bar.setCurrentIndex(board.widgets.index(histogram) - above)
    line = histogram.marks[90][0]
    assert line.movable and line.value() == pytest.approx(result.confusion_limit)
    distances = np.sort(result.napvd[np.triu_indices(len(result.napvd), 1)])
    for many in (3, 1, 12):
        line.setValue(float(distances[many - 1 : many + 1].mean()))
        line.sigDragged.emit(line)
        assert view(panel, "Pairs that look alike").view.height == many
        assert f"{many} of 45 pairs" in view(panel, "Distances of all pairs").view.note
    assert len(panel.result.confusion_pairs) == len(result.confusion_pairs)  # the run stays


def test_the_classes_of_a_matrix_can_be_ordered_by_name_by_likeness_and_worst_first(inspected):
    panel, result = inspected, inspected.result
    orders = {}
    for key in ("likeness", "name", "worst"):
        panel.order_box.setCurrentIndex(panel.order_box.findData(key))
        matrix = view(panel, "Distance between classes").view
        assert matrix.rows == matrix.columns[::-1]  # the first class is at the top
        orders[key] = matrix.columns
    assert orders["name"] == tuple(sorted(result.classes, key=str.casefold))
    assert orders["worst"][0] in panel.verdict.text()
    assert len(set(orders.values())) == 3


def test_a_pair_is_confirmed_by_a_game_and_the_pixels_are_told_beside_it(qtbot, store, inspected):
    panel = inspected
    panel.confirm.click()  # without a pair it only says so
    view(panel, "Pairs that look alike").chosen.emit(0)
    panel.confirm.click()
    assert "Looking for" in view(panel, "Inputs of the pair").view.note
    qtbot.waitUntil(
        lambda: " apart: enough to turn" in view(panel, "Inputs of the pair").view.note,
    )
    qtbot.waitUntil(lambda: store.history.runs[0].request.analysis == "feature_game")
    names = [panel.result.classes[c] for c in store.selection.pair]
    assert store.history.runs[0].request.params["target"] in names
    qtbot.waitUntil(lambda: not store.runner.busy and not store.background.busy)


def test_the_views_follow_the_theme(inspected):
    theme.apply(True)
    inspected.grab()
    theme.apply(False)
    assert inspected.board.widgets[0].isVisible()


@pytest.mark.parametrize(
    ("analysis", "settings", "title"),
    [
        ("deepinspect_thresholds", {"thresholds": (0.4, 0.5)}, "Confused pairs and the threshold"),
        ("deepinspect_coverage", {}, "How far each class is from the mean of all"),
    ],
)
def test_the_other_tabs_are_drawn_from_their_views(store, bench, run, analysis, settings, title):
    store.set_scope(tuple(range(0, 2000, 10)))
    panel, pane = bench(analysis)
    run(panel, pane, **settings)
    assert panel.board.widgets[0].view.title == title and panel.verdict.text()
