from __future__ import annotations

import time

import cv2
import numpy as np
import pytest
import torch
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QFontMetrics, QPixmap
from PySide6.QtWidgets import QApplication
from torch import nn

from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.model.classifier import Classifier
from robgui.gui.app.theme import theme
from robgui.gui.docks import Gallery
from robgui.gui.docks.gallery import NOTHING_OPEN, NOTHING_PASSES
from robgui.gui.docks.gallery.count_line import CountLine
from robgui.gui.docks.gallery.items import InputEntry
from robgui.gui.docks.gallery.painting import guess_in
from robgui.gui.state.selection import Selection
from tests.patience import Stopwatch


@pytest.fixture
def gallery(qtbot, filled):
    widget = Gallery(filled)
    qtbot.addWidget(widget)
    widget.resize(360, 500)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


@pytest.fixture
def empty(qtbot, store):
    widget = Gallery(store)
    qtbot.addWidget(widget)
    widget.resize(360, 500)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def shown(gallery):
    return gallery.model.rows.tolist()


def test_without_data_it_says_what_to_do(empty):
    assert empty.stack.currentIndex() == 1
    assert empty.empty.text() == NOTHING_OPEN
    assert not empty.clear.isVisible()


def test_opening_a_hundred_thousand_inputs_touches_only_those_on_screen(
    qtbot, store, empty, monkeypatch
):
    touched = set()
    read = Dataset.thumbnail
    monkeypatch.setattr(
        Dataset,
        "thumbnail",
        lambda self, index, size: touched.add(index) or read(self, index, size),
    )
    many = from_arrays(
        np.zeros((100_000, 4, 4), np.uint8), np.zeros(100_000, np.int64), name="many"
    )
    with Stopwatch() as watch:
        store.library.add_dataset(many)
    assert watch.seconds < 2
    qtbot.waitUntil(lambda: len(touched) > 0)
    qtbot.wait(300)
    assert len(shown(empty)) == 100_000
    assert len(touched) < 100
    bar = empty.view.verticalScrollBar()
    bar.setValue(bar.maximum())
    qtbot.waitUntil(lambda: 99_999 in touched)
    assert len(touched) < 200


def test_visible_rows_are_the_rows_the_view_paints(qtbot, store, empty):
    store.library.add_dataset(from_arrays(np.zeros((5_000, 4, 4), np.uint8), name="many"))
    qtbot.wait(50)
    for place in (0, 777, empty.view.verticalScrollBar().maximum()):
        empty.view.verticalScrollBar().setValue(place)
        area = empty.view.viewport().rect()
        for spot in (QPoint(30, 30), area.center(), QPoint(30, area.bottom() - 10)):
            row = empty.view.indexAt(spot).row()
            assert row < 0 or row in empty.visible_rows()


def test_misclassified_only_equals_numpy(qtbot, gallery, filled):
    qtbot.mouseClick(
        gallery.filter.wrong,
        Qt.MouseButton.LeftButton,
        pos=QPoint(8, gallery.filter.wrong.height() // 2),
    )
    assert gallery.filter.wrong.isChecked()
    expected = np.flatnonzero(filled.library.predictions.classes != filled.library.dataset.labels)
    assert shown(gallery) == expected.tolist()
    assert len(expected) == 12
    qtbot.waitUntil(lambda: gallery.count.text() == "12 of 60 shown · 80.0 % of 60 right")


def test_labels_are_compared_by_name_when_the_data_number_their_classes_otherwise(
    qtbot, store, empty, model
):
    images = np.full((30, 3, 4), 20, np.uint8)
    images[:, 2] = 200
    store.library.add_dataset(
        from_arrays(images, np.zeros(30, np.int64), names=("cat", "bee", "ant"), name="other order")
    )
    store.library.add_model(store.answers.hold(model))
    qtbot.waitUntil(lambda: empty.count.text() == "30 inputs · 100 % of 30 right")
    assert empty.model.entry(0).title == empty.model.entry(0).guess == "cat"


def test_class_and_text_filters_join(qtbot, gallery, filled):
    gallery.filter.classes.setCurrentText("bee")
    assert shown(gallery) == np.flatnonzero(filled.library.dataset.labels == 1).tolist()
    qtbot.keyClicks(gallery.filter.text, "index<20")
    qtbot.waitUntil(lambda: max(shown(gallery)) < 20)
    assert shown(gallery) == [i for i in range(20) if filled.library.dataset.labels[i] == 1]


def test_a_mistyped_filter_is_said_inline_and_keeps_what_is_shown(qtbot, gallery):
    qtbot.keyClicks(gallery.filter.text, "colour=red")
    qtbot.waitUntil(gallery.filter.problem.isVisible)
    assert "colour" in gallery.filter.problem.text()
    assert len(shown(gallery)) == 60
    gallery.filter.text.clear()
    qtbot.waitUntil(lambda: not gallery.filter.problem.isVisible())


def test_a_filter_that_nothing_passes_offers_to_clear_it(qtbot, gallery):
    qtbot.keyClicks(gallery.filter.text, "index>900")
    qtbot.waitUntil(gallery.clear.isVisible)
    assert gallery.empty.text() == NOTHING_PASSES
    qtbot.mouseClick(gallery.clear, Qt.MouseButton.LeftButton)
    assert len(shown(gallery)) == 60


def test_a_click_selects_the_input(qtbot, gallery, filled):
    place = gallery.view.visualRect(gallery.model.index(3, 0)).center()
    qtbot.mouseClick(gallery.view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert filled.selection.input == 3


def test_arrow_keys_move_the_selection(qtbot, gallery, filled):
    gallery.view.setFocus()
    qtbot.keyClick(gallery.view, Qt.Key.Key_Right)
    assert filled.selection.input == 1
    qtbot.keyClick(gallery.view, Qt.Key.Key_Down)
    assert filled.selection.input > 1


def test_a_selection_from_elsewhere_is_scrolled_to_and_not_echoed(qtbot, gallery, filled):
    told = []
    filled.selection_changed.connect(lambda selection, origin: told.append(origin))
    filled.select(Selection(input=57), origin="elsewhere")
    assert told == ["elsewhere"]
    assert gallery.view.currentIndex().row() == 57
    assert (
        gallery.view.viewport()
        .rect()
        .intersects(gallery.view.visualRect(gallery.model.index(57, 0)))
    )


def test_the_selection_survives_a_filter(gallery, filled):
    filled.select(Selection(input=10))
    gallery.filter.classes.setCurrentIndex(
        gallery.filter.classes.findData(int(filled.library.dataset.labels[10]))
    )
    assert gallery.model.rows[gallery.view.currentIndex().row()] == 10
    assert filled.selection.input == 10


def test_an_unreadable_image_is_shown_as_such(qtbot, store, empty, model, tmp_path):
    for number in range(3):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((3, 4), 99, np.uint8))
    (tmp_path / "1.png").write_bytes(b"no image")
    store.library.add_model(store.answers.hold(model))
    store.library.add_dataset(open_dataset(tmp_path))
    qtbot.waitUntil(lambda: empty.model.entry(1).unreadable)
    assert "cannot be read" in empty.model.entry(1).sentence
    qtbot.waitUntil(lambda: isinstance(empty.thumbnails.get(1), str))
    assert not empty.model.entry(0).unreadable


def test_a_model_that_gives_nan_is_said_in_words(qtbot, store, empty, dataset):
    layer = nn.Linear(12, 3)
    torch.nn.init.constant_(layer.weight, float("nan"))
    store.library.add_dataset(dataset)
    store.library.add_model(
        store.answers.hold(Classifier.from_module(nn.Sequential(nn.Flatten(), layer), (1, 3, 4)))
    )
    qtbot.waitUntil(empty.trouble.isVisible)
    assert "not finite" in empty.trouble.text()


def test_tables_have_small_pictures_too(qtbot, store, empty):
    store.library.add_dataset(
        from_arrays(np.random.default_rng(0).random((20, 5)).astype(np.float32), name="rows")
    )
    qtbot.waitUntil(lambda: empty.thumbnails.get(0) is not None)
    assert not isinstance(empty.thumbnails.get(0), str)
    assert not empty.filter.wrong.isEnabled()


def test_a_model_that_sleeps_does_not_stop_the_window(qtbot, store, empty, dataset):
    class Sleepy(nn.Module):
        def forward(self, x):
            time.sleep(0.5)
            return x.flatten(1)[:, :3]

    gaps, last = [], [time.perf_counter()]

    def beat():
        gaps.append(time.perf_counter() - last[0])
        last[0] = time.perf_counter()

    sleepy = Classifier.from_module(Sleepy(), (1, 3, 4))
    assert sleepy.times.known, "a model is timed where it is opened, which is not here"
    timer = QTimer(interval=5)
    timer.timeout.connect(beat)
    last[0] = time.perf_counter()
    timer.start()
    store.library.add_dataset(dataset)
    store.library.add_model(store.answers.hold(sleepy))
    qtbot.waitUntil(
        lambda: (
            len(store.library.predictions.classes) > 0 and store.library.predictions.classes[0] >= 0
        ),
    )
    timer.stop()
    assert max(gaps) < 0.2


def ctrl_click(qtbot, gallery, row):
    spot = gallery.view.visualRect(gallery.model.index(row, 0)).center()
    qtbot.mouseClick(
        gallery.view.viewport(),
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.ControlModifier,
        spot,
    )


def test_ctrl_click_chooses_a_second_input_and_the_same_again_lets_go(qtbot, gallery, filled):
    filled.select(Selection(input=0))
    ctrl_click(qtbot, gallery, 2)
    assert filled.selection.inputs == (0, 2)
    assert gallery.model.entry(2).second and "(second input)" in gallery.model.index(2, 0).data(
        Qt.ItemDataRole.AccessibleTextRole
    )
    assert gallery.view.currentIndex().row() == 0, "the first input stays"
    ctrl_click(qtbot, gallery, 1)
    assert filled.selection.inputs == (0, 1)
    ctrl_click(qtbot, gallery, 1)
    assert filled.selection.inputs == (0,)


def test_the_second_input_is_marked_by_a_badge_and_not_by_colour_alone(qtbot, gallery, filled):
    filled.select(Selection(input=0))
    before = gallery.view.visualRect(gallery.model.index(1, 0))
    plain = gallery.view.viewport().grab(before).toImage()
    ctrl_click(qtbot, gallery, 1)
    marked = gallery.view.viewport().grab(before).toImage()
    assert plain != marked


def test_the_first_input_cannot_be_its_own_second(qtbot, gallery, filled):
    filled.select(Selection(input=0, second=2))
    ctrl_click(qtbot, gallery, 0)
    assert filled.selection.inputs == (0,)
    ctrl_click(qtbot, gallery, 2)
    qtbot.mouseClick(
        gallery.view.viewport(),
        Qt.MouseButton.LeftButton,
        pos=gallery.view.visualRect(gallery.model.index(2, 0)).center(),
    )
    assert filled.selection.inputs == (2,)


def test_no_prediction_is_awaited_of_no_model(filled, gallery):
    entry = gallery.model.entry(0)
    assert entry.awaited and entry.without_guess in ("…", "unreadable")
    for model in list(filled.library.models):
        filled.library.remove_model(model)
    entry = gallery.model.entry(0)
    assert entry.without_guess == "" and entry.sentence.endswith("not predicted")


def test_a_right_prediction_too_long_for_its_cell_is_not_cut_but_left_to_the_label_above(empty):
    metrics = QFontMetrics(QApplication.font())
    right, wrong = (
        InputEntry(0, "row 1", title, "malignant", 0.984, title == "malignant")
        for title in ("malignant", "benign")
    )
    whole, narrow = (
        metrics.horizontalAdvance("malignant 98 %"),
        metrics.horizontalAdvance("malignant 98"),
    )
    assert guess_in(right, metrics, whole) == "malignant 98 %"
    assert guess_in(right, metrics, narrow) == "98 %"
    assert guess_in(wrong, metrics, narrow) == "malignant", "what it is taken for matters more"
    cut = guess_in(wrong, metrics, metrics.horizontalAdvance("malig"))
    assert cut.startswith("m") and cut.endswith("t") and "…" in cut, "cut in the middle"


def test_the_filter_is_named_in_what_a_run_on_it_says(qtbot, filled, counting):
    gallery = Gallery(filled)
    qtbot.addWidget(gallery)
    gallery.filter.classes.setCurrentIndex(1)
    name = gallery.filter.classes.currentText()
    assert filled.scope is not None and filled.filter.words == f"label={name}"
    known = filled.analyses["count_up"]
    request = filled.next_run.build(known, known.params(), filled.scope, filled.filter.words)
    total = len(filled.library.dataset)
    assert request.chosen == f"{len(filled.scope)} of {total} inputs (label={name})"
    filled.submit(request)
    qtbot.waitUntil(lambda: bool(filled.history.runs) and filled.history.runs[0].state.ended)
    said = filled.history.runs[0].verdict.sentence
    assert said.startswith(f"Only {request.chosen}: Counted")
    gallery.filter.reset()
    gallery.filter.changed.emit()
    assert filled.scope is None and filled.filter.words == ""


def test_drawings_of_table_rows_stand_on_the_ground_of_the_theme(qtbot, store, empty):
    """A white picture in a dark window says nothing but that it is white."""
    rows = np.linspace(0, 0.9, 24, dtype=np.float32).reshape(3, 8)
    store.library.add_dataset(from_arrays(rows, kind="table", name="rows"))

    def corner():
        qtbot.waitUntil(lambda: isinstance(empty.thumbnails.get(0), QPixmap))
        return empty.thumbnails.get(0).toImage().pixelColor(0, 0).name().upper()

    try:
        for dark in (False, True, False):
            theme.apply(dark)
            assert corner() == theme.colours.surface
    finally:
        theme.apply(False)


def test_a_share_of_the_first_answers_is_not_told_as_an_accuracy(qtbot, dataset):
    line = CountLine()
    qtbot.addWidget(line)
    line.tell(dataset, 60, 0, (1.0, 19), counted=False)
    assert line.text() == "60 inputs · 19 of 60 answered so far"
    line.tell(dataset, 60, 0, (0.8, 60), counted=True)
    assert line.text() == "60 inputs · 80.0 % of 60 right"
