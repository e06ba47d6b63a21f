"""The feature game panels: pictures, curves, tree, players, pointing, saving, and what can be sent on."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QModelIndex, QPointF, Qt
from PySide6.QtWidgets import QFileDialog

from robgui.analyses.feature_game import NO_GUARANTEE, Tree
from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from robgui.gui.app.theme import theme
from robgui.gui.panels.feature_game.pictures import outline
from robgui.gui.panels.feature_game.tree import GameTree
from robgui.gui.state.selection import Selection
from robgui.report.comparison import Bars, comparable, difference

VIEWS = {
    "severity": "Severity",
    "classes": "Classes",
    "searches": "Searches",
    "tree": "Tree",
    "turned": "Turned",
    "evidence": "Evidence",
}
QUICK = {"max_calls": 600}


@pytest.fixture
def played(store, bench, run):
    """The panel after a game on a shirt."""
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    run(panel, pane, **QUICK)
    return panel


def click(view, column, row):
    """A left click in the middle of a pixel of an InputView."""

    class Event:
        def scenePos(self):
            return view.getPlotItem().getViewBox().mapViewToScene(QPointF(column + 0.5, row + 0.5))

        def button(self):
            return Qt.MouseButton.LeftButton

    view.scene().sigMouseClicked.emit(Event())


def look(panel, view):
    bar = panel.views.bar
    bar.setCurrentIndex([bar.tabText(i) for i in range(bar.count())].index(VIEWS[view]))


def test_the_pictures_show_keypoints_saliency_and_the_changed_pixels(played):
    result = played.result
    assert result.found_class >= 0
    spots = played.keypoints.circles.data
    np.testing.assert_allclose(spots["x"], result.keypoints[:, 0] + 0.5)
    np.testing.assert_allclose(spots["size"], np.maximum(result.keypoints[:, 2], 1))
    np.testing.assert_allclose(played.saliency.view.heat.image, result.saliency)
    x, y = played.example.marks.getData()
    assert (x.min(), y.min()) <= tuple(result.changed.min(0)) and len(x)
    assert result.labels[result.found_class] in played.example.caption.words


def test_the_outline_runs_around_touching_pixels_and_keeps_its_distance():
    x, y = outline(np.array([[3, 2], [4, 2]]), (8, 8), 0)
    assert (x.min(), x.max(), y.min(), y.max()) == (3, 5, 2, 3)
    assert len(x) == 2 * 6
    x, y = outline(np.array([[0, 0]]), (8, 8), 2)
    assert (x.min(), x.max(), y.min(), y.max()) == (-2, 3, -2, 3)
    assert not len(outline(np.zeros((0, 2), int), (8, 8), 1)[0])


def test_the_saliency_can_be_seen_before_and_after_and_thinner(played):
    result, cell = played.result, played.saliency
    cell.which.setCurrentIndex(1)
    np.testing.assert_allclose(cell.view.heat.image, result.initial_saliency)
    cell.which.setCurrentIndex(2)
    np.testing.assert_allclose(cell.view.heat.image, result.saliency - result.initial_saliency)
    assert cell.view.heat.levels[0] == -cell.view.heat.levels[1]
    cell.opacity.setValue(10)
    assert cell.view.heat.opacity() == pytest.approx(0.1)


def test_the_three_curves_differ_in_line_and_symbol_and_show_the_history(played):
    styles = {line.opts["pen"].style() for line in played.severity.lines}
    assert len(styles) == 3
    look(played, "severity")
    for place, line in enumerate(played.severity.lines):
        np.testing.assert_allclose(line.getOriginalDataset()[1], played.result.history[:, place])


def test_a_click_on_a_keypoint_or_a_changed_pixel_is_told_and_read(played, store):
    x, y = (round(value) for value in played.result.keypoints[0, :2])
    click(played.keypoints.view, x, y)
    assert store.selection.pixel is not None and "in keypoint" in played.figures.words
    column, row = played.result.changed[0].tolist()
    click(played.example.view, column, row)
    assert store.selection.pixel == (column, row)
    assert f"Pixel {column}, {row}:" in played.figures.words and "became" in played.figures.words
    assert played.saliency._cross.getData()[0][0] == column + 0.5


def test_a_pixel_chosen_elsewhere_is_marked_and_one_outside_is_not(played, store):
    store.select(store.selection.but(pixel=(3, 4)))
    assert "Pixel 3, 4" in played.figures.words and len(played.keypoints._cross.data) == 1
    store.select(store.selection.but(pixel=(99, 4)))
    assert "Pixel" not in played.figures.words and not len(played.keypoints._cross.data)


def test_confidences_before_and_after_have_one_bar_per_class(played):
    look(played, "classes")
    before, after = (bars.opts["width"] for bars in played.classes.bars)
    result = played.result
    np.testing.assert_allclose(before, np.sort(result.confidence)[::-1])
    assert after.max() == result.found_confidence[result.found_class]


def test_the_example_is_saved_with_exactly_its_eight_bit_values(qtbot, played, store, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "shirt"), ""))
    played.save.click()
    qtbot.waitUntil(lambda: not (store.background.busy or store.keeping.busy), timeout=5_000)
    result = played.result
    with Image.open(tmp_path / "shirt.png") as saved:
        assert saved.mode == "L"
        np.testing.assert_array_equal(np.asarray(saved), np.round(result.best[0] * 255))
    with Image.open(tmp_path / "shirt-changed.png") as saved:
        rows, columns = np.nonzero(np.asarray(saved))
        assert {tuple(pixel) for pixel in result.changed.tolist()} == set(zip(columns.tolist(), rows.tolist(), strict=True))
    with Image.open(tmp_path / "shirt-difference.png") as saved:
        assert saved.size == (28, 28)


def test_the_example_can_be_sent_on(qtbot, played, store):
    offers = played.offers()
    assert [offer.title for offer in offers] == ["The adversarial example", f"The image, {played.result.input_name}"]
    best = played.result.best
    with qtbot.waitSignal(store.sending.arrived, timeout=10_000):
        store.sending.send(offers[0], "zonnscan", played.request, played.run_id)
    np.testing.assert_allclose(store.library.dataset.array()[-1], best, atol=1e-6)


def test_all_three_players_stand_in_an_interval_and_each_example_can_be_looked_at(store, bench, run):
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    result = run(panel, pane, player="all", max_calls=600, persistence=False)
    look(panel, "searches")
    assert panel.players.isVisible()
    assert panel.searches.model().rowCount() == len(result.outcomes) == 3
    found = [outcome.severity.l0_pixels for outcome in result.outcomes if outcome.found_class >= 0]
    if len(found) > 1:
        assert list(panel.players.interval.getData()[0]) == [min(found), max(found)]
    panel.searches.selectRow(2)
    np.testing.assert_array_equal(panel.shown.changed, result.outcomes[2].changed)
    assert len(panel.table()["Player II"]) == 3
    bars = comparable("feature_game", result)
    assert isinstance(bars, Bars) and bars.values["cooperative"] == result.outcomes[0].severity.l0_pixels
    assert set(difference(bars, bars).values.values()) == {0.0}


def test_an_unreachable_target_says_that_nothing_was_found_and_why_it_proves_nothing(store, bench, run):
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    result = run(panel, pane, target="Ankle boot", distance=1, max_calls=200)
    assert result.found_class < 0
    assert panel.example.caption.words == "no example of “Ankle boot” found"
    assert not panel.save.isEnabled() and not len(panel.example.marks.getData()[0])
    assert [offer.title for offer in panel.offers()] == [f"The image, {result.input_name}"]
    look(panel, "severity")
    assert panel.severity.note.words == "The curves begin with the first example."
    look(panel, "classes")
    assert not panel.classes.bars[1].isVisible()
    look(panel, "turned")
    assert not panel.turned.angles.isVisible() and "no example" in panel.turned.words.text()
    look(panel, "evidence")
    assert NO_GUARANTEE in panel.evidence.text() and "one-pixel moves were tried" in panel.evidence.text()
    assert comparable("feature_game", result).values == {}


def test_turned_and_scaled_views_show_the_classes_of_image_and_example(store, bench, run):
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    result = run(panel, pane, **QUICK)
    assert result.persistence is not None
    look(panel, "turned")
    image = panel.turned._lines[0][0].getOriginalDataset()
    np.testing.assert_allclose(image[0], result.persistence.angles)
    assert (image[1] == 0).tolist() == (result.persistence.rotated_class[0] == result.original).tolist()
    assert "still fools" in panel.turned.words.text() or "nothing can be said" in panel.turned.words.text()


def test_every_view_follows_the_theme(played):
    for view in VIEWS:
        look(played, view)
        theme.apply(True)
        theme.apply(False)
    assert played.pictures().keys() >= {"pictures", "severity", "classes"}


def test_in_a_low_window_the_pictures_are_a_tab_and_in_a_tall_one_they_stand_above(played):
    names = [played.views.bar.tabText(i) for i in range(played.views.bar.count())]
    assert names[0] == "Pictures" and played.views.stack.currentIndex() == 0
    look(played, "classes")
    played.resize(900, 1000)
    assert played.views.bar.tabText(played.views.bar.currentIndex()) == "Classes"
    assert played.views.stack.currentWidget() is played.classes and played.views.bar.count() == len(VIEWS)
    assert played.keypoints.isVisible() and played.classes.isVisible()
    played.resize(720, 480)
    assert played.keypoints.isVisible() and not played.classes.isVisible()


def small_tree(visits):
    """Two keypoints; the first has one pixel below it, which has a keypoint below it."""
    return Tree(
        parent=np.array([-1, 0, 0, 1, 3]),
        depth=np.array([0, 1, 1, 2, 3]),
        keypoint=np.array([-1, 4, 2, -1, 4]),
        pixel=np.array([[-1, -1], [-1, -1], [-1, -1], [5, 6], [-1, -1]]),
        value=np.array([[-1], [-1], [-1], [255], [-1]], np.int16),
        visits=np.array(visits),
        reward=np.array([0.5, 0.75, 0.25, 0.75, np.nan]),
        best=np.array([3.0, 3.0, np.nan, 3.0, np.nan]),
        nodes=9,
    )


KEYPOINTS = np.array([[float(i), 10.0 + i, 3.0, 0.1] for i in range(6)])


def rows(tree, index=None):
    model = tree.model()
    parent = index or QModelIndex()
    return [[model.index(row, column, parent).data() for column in range(4)] for row in range(model.rowCount(parent))]


def test_the_tree_lists_first_moves_by_visits_and_unfolds(qtbot):
    tree = GameTree()
    qtbot.addWidget(tree)
    tree.show_tree(small_tree([9, 6, 3, 5, 1]), KEYPOINTS)
    assert rows(tree) == [["keypoint 5 at 4, 14, 3.0 px wide", "6", "0.75", "3"], ["keypoint 3 at 2, 12, 3.0 px wide", "3", "0.25", "n/a"]]
    first = tree.model().index(0, 0)
    assert rows(tree, first) == [["pixel 5, 6 becomes white", "5", "0.75", "3"]]
    pixel = tree.model().index(0, 0, first)
    assert tree.model().parent(pixel) == first
    with qtbot.waitSignal(tree.pointed) as told:
        tree.setCurrentIndex(pixel)
    assert told.args == [5, 6]


def test_a_live_tree_keeps_what_is_unfolded_and_chosen_when_its_rows_change_places(qtbot):
    tree = GameTree()
    qtbot.addWidget(tree)
    tree.show_tree(small_tree([9, 6, 3, 5, 1]), KEYPOINTS)
    tree.expand(tree.model().index(0, 0))
    tree.setCurrentIndex(tree.model().index(0, 0))
    tree.show_tree(small_tree([20, 6, 13, 5, 1]), KEYPOINTS)
    assert rows(tree)[1][0].startswith("keypoint 5")
    assert tree.isExpanded(tree.model().index(1, 0)) and not tree.isExpanded(tree.model().index(0, 0))
    assert tree.currentIndex().row() == 1
    tree.show_tree(replace(small_tree([20, 6, 13, 5, 1]), parent=np.array([-1])), KEYPOINTS)
    assert not rows(tree)


def test_the_batch_shows_severities_images_and_a_table_and_points_at_the_gallery(store, bench, run):
    panel, pane = bench("feature_game_batch")
    store.set_scope(tuple(range(4, 12)))
    result = run(panel, pane, inputs=4, max_calls=400)
    found = result.found_class >= 0
    assert panel.histogram.bars.opts["height"].sum() == found.sum()
    assert panel.images.count() == panel.sheet.model().rowCount() == 4
    assert panel.histogram.mean.value() == result.mean and panel.histogram.median.value() == result.median
    names = [panel.views.bar.tabText(i) for i in range(panel.views.bar.count())]
    assert names in (["Severities", "Images (4)", "Table"], ["Images (4)", "Table"])
    panel.sheet.selectRow(2)
    assert store.selection.input == 4 + int(result.numbers[2])
    panel.images.itemClicked.emit(panel.images.item(0))
    first = int(np.nanargmin(result.severity[:, 0]))
    assert store.selection.input == 4 + int(result.numbers[first])
    assert len(panel.table()["Pixels"]) == 4
    offers = panel.offers()
    assert len(offers[1].names) == len(offers[1].inputs) == found.sum()
    assert offers[0].places == (int(result.numbers[first]),)
    assert comparable("feature_game_batch", result).values == {"mean": result.mean, "median": result.median}


def test_a_batch_with_a_target_says_which_images_were_left_out(store, bench, run, demo_images):
    panel, pane = bench("feature_game_batch")
    store.set_scope(tuple(range(6)))
    result = run(panel, pane, inputs=0, max_calls=100, target=str(int(demo_images.labels[6])))
    listed = [panel.sheet.model().index(row, 2).data() for row in range(6)]
    assert [words.startswith("left out") for words in listed] == result.skipped.tolist()


def test_a_black_box_and_a_blank_image_without_keypoints_look_right(qtbot, store, bench, run):
    def probabilities(x):
        dark = np.clip(1 - x.reshape(len(x), -1).max(1), 0, 1)
        return np.stack([dark, 1 - dark], 1)

    store.library.add_dataset(from_arrays(np.zeros((1, 8, 8), np.float32), name="blank"))
    store.library.add_model(Classifier.from_callable(probabilities, (1, 8, 8), ("dark", "bright")))
    qtbot.waitUntil(lambda: not (store.background.busy or store.keeping.busy), timeout=10_000)
    panel, pane = bench("feature_game")
    store.select(Selection(input=0))
    result = run(panel, pane, max_calls=400)
    assert result.keypoint_source == "grid" and "points of a grid" in panel.keypoints.caption.words
    assert result.severity.l0_pixels == 1 and panel.example.caption.words == "“bright”, 1 pixel"
    for view in VIEWS:
        look(panel, view)


def test_drawing_a_step_of_a_large_image_keeps_up_with_the_window(played):
    look(played, "severity")
    big = replace(
        played.result,
        input=np.random.default_rng(0).random((3, 224, 224), np.float32),
        best=np.random.default_rng(1).random((3, 224, 224), np.float32),
        saliency=np.random.default_rng(2).random((224, 224)),
        initial_saliency=np.random.default_rng(3).random((224, 224)),
    )
    played.draw(big)
    times = []
    for _ in range(9):
        began = time.perf_counter()
        played.draw(big)
        times.append(time.perf_counter() - began)
    assert float(np.median(times)) < 0.033
