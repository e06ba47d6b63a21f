"""Inputs are found, sorted, tagged and kept as sets; nothing unknown is silently left out."""

from __future__ import annotations

import time

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QInputDialog
from torch import nn

from robgui.core.dataset import from_arrays
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from robgui.core.workspace.marks import Marks, SavedSet, read_marks, write_marks
from robgui.gui.docks import Gallery
from robgui.gui.state.store import Store
from tests.gui.docks.conftest import NAMES, thirds


@pytest.fixture
def gallery(qtbot, filled):
    return shown_gallery(qtbot, filled)


def shown_gallery(qtbot, store):
    widget = Gallery(store)
    qtbot.addWidget(widget)
    widget.resize(360, 500)
    with qtbot.waitExposed(widget):
        widget.show()
    return widget


def rows(gallery):
    return gallery.model.rows.tolist()


def find(qtbot, gallery, store, text):
    gallery.filter.text.setText(text)
    gallery.filter.text.returnPressed.emit()
    qtbot.waitUntil(lambda: not store.pictures.busy)


def test_a_query_of_label_prediction_and_confidence_equals_numpy(qtbot, gallery, filled):
    told, labels = filled.library.predictions, filled.library.dataset.labels
    find(qtbot, gallery, filled, "label:bee wrong")
    assert rows(gallery) == np.flatnonzero((labels == 1) & (told.classes != 1)).tolist() != []
    find(qtbot, gallery, filled, "predicted:cat or confidence>0.99")
    expected = (told.classes == 2) | (told.confidence > 0.99)
    assert rows(gallery) == np.flatnonzero(expected).tolist()
    assert "confidence" in filled.filter.words, "a run on these inputs says how they were chosen"


def test_margin_and_loss_are_those_of_the_probabilities(gallery, filled):
    x = filled.library.dataset.array().astype(np.float32)
    probabilities = filled.answers.ask("scores", model=filled.library.model, x=x).probabilities
    told = filled.library.predictions.told(NAMES)
    best = np.sort(probabilities, 1)
    assert told.margin == pytest.approx(best[:, -1] - best[:, -2], abs=1e-5)
    of_label = probabilities[np.arange(60), filled.library.dataset.labels]
    assert told.loss == pytest.approx(-np.log(of_label), abs=1e-4)


def test_the_most_wrong_come_first_and_the_order_does_not_change_what_a_run_looks_at(
    qtbot, gallery, filled
):
    gallery.filter.order.box.setCurrentIndex(gallery.filter.order.box.findData("loss"))
    told = filled.library.predictions
    assert rows(gallery) == np.argsort(-told.told(()).loss, kind="stable").tolist()
    assert filled.scope is None
    find(qtbot, gallery, filled, "wrong")
    assert filled.scope == tuple(sorted(rows(gallery))) and len(rows(gallery)) == 12
    gallery.filter.order.turn.click()
    assert gallery.model.row_of(rows(gallery)[3]) == 3


class Slow(nn.Module):
    """Answers so late that it is asked about eight inputs at a time, and not fewer."""

    def forward(self, x):
        time.sleep(0.15)
        return x.flatten(1).reshape(len(x), 3, 4).sum(2) * 20


def test_what_the_model_has_not_answered_is_counted_and_comes_as_it_is_known(qtbot, store):
    images, labels = thirds(60)
    store.library.add_dataset(from_arrays(images, labels, names=NAMES, name="small"))
    gallery = shown_gallery(qtbot, store)
    slow = Classifier.from_module(Slow(), (1, 3, 4), NAMES, name="slow")
    store.library.add_model(store.answers.hold(slow))
    find(qtbot, gallery, store, "wrong")
    qtbot.waitUntil(lambda: 0 < gallery.filter.shown.open < 60)
    open_ = gallery.filter.shown.open
    assert "not known yet" in gallery.filter.described().words
    qtbot.waitUntil(lambda: "not known yet" in gallery.count.text())
    assert len(rows(gallery)) + open_ <= 60
    qtbot.waitUntil(lambda: len(rows(gallery)) == 12)
    qtbot.waitUntil(lambda: "not known yet" not in gallery.count.text())
    assert gallery.filter.shown.open == 0


def test_a_search_for_predictions_without_a_model_says_so_and_hides_nothing(qtbot, store):
    images, labels = thirds(6)
    store.library.add_dataset(from_arrays(images, labels, names=NAMES, name="small"))
    gallery = shown_gallery(qtbot, store)
    find(qtbot, gallery, store, "confidence<0.5")
    assert "no model" in gallery.filter.problem.text() and len(rows(gallery)) == 6
    gallery.filter.text.clear()
    gallery.filter.wrong.setChecked(True)
    assert gallery.filter.shown.open == 6 and "has not answered" in gallery.empty.text()


def test_typing_offers_fields_and_class_names_and_a_choice_completes_the_word(qtbot, gallery):
    line = gallery.filter.text
    line.setFocus()
    qtbot.keyClicks(line, "wro")
    assert line.offers.popup().isVisible()
    line.take("wrong")
    assert line.text() == "wrong "
    qtbot.keyClicks(line, "label:b")
    model = line.offers.model()
    assert [model.index(i, 0).data() for i in range(model.rowCount())] == ["label:bee"]
    line.take("label:bee")
    assert line.text() == "wrong label:bee "
    line.offers.popup().hide()
    qtbot.waitUntil(lambda: len(rows(gallery)) == 4)


def test_slash_goes_to_the_search_and_escape_back_to_the_inputs(qtbot, gallery):
    gallery.view.setFocus()
    qtbot.keyClick(gallery.view, Qt.Key.Key_Slash)
    qtbot.waitUntil(gallery.filter.text.hasFocus)
    qtbot.keyClick(gallery.filter.text, Qt.Key.Key_Escape)
    qtbot.waitUntil(gallery.view.hasFocus)


def test_a_tag_given_with_a_key_is_found_painted_and_kept_in_the_workspace(
    qtbot, gallery, filled, monkeypatch, tmp_path
):
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("  at  night ", True))
    filled.select(filled.selection.replace(input=7))
    qtbot.keyClick(gallery.view, Qt.Key.Key_T)
    filled.marking.tag("at night", [9], on=True)
    find(qtbot, gallery, filled, "tag:night")
    assert rows(gallery) == [7, 9]
    assert "tagged at night" in gallery.model.entry(0).sentence
    filled.marking.tag("at night", [9], on=False)
    assert rows(gallery) == [7], "what is shown follows the tag"
    qtbot.waitUntil(lambda: not filled.keeping.busy)
    identity = ("", filled.library.dataset.fingerprint)
    assert read_marks(filled.history.workspace, *identity).tags == {"at night": ("image 7",)}


def test_tags_and_sets_are_there_again_after_a_restart(qtbot, tmp_path, filled):
    filled.marking.tag("night", [3, 5], on=True)
    filled.marking.save_set("hard", SavedSet("wrong", "loss"))
    data = filled.library.dataset
    qtbot.waitUntil(lambda: not filled.keeping.busy)
    path = filled.history.workspace.path
    with qtbot.waitSignal(filled.history.opened):
        filled.open_workspace(tmp_path / "other.robgui")
    qtbot.waitUntil(lambda: not filled.keeping.busy)
    assert not filled.marking.tags and not filled.marking.marks.sets
    again = Store()
    with qtbot.waitSignal(again.history.opened):
        again.open_workspace(path)
    again.library.add_dataset(data)
    qtbot.waitUntil(lambda: bool(again.marking.tags))
    assert again.marking.tags == {"night": [3, 5]}
    gallery = shown_gallery(qtbot, again)
    gallery.filter.sets.fill()
    actions = {action.text(): action for action in gallery.filter.sets.menu().actions()}
    actions["hard"].trigger()
    assert gallery.filter.text.text() == "wrong" and gallery.filter.order.by == "loss"
    assert again.shutdown()


def test_what_is_searched_is_saved_under_a_name_and_forgotten_again(
    qtbot, gallery, filled, monkeypatch
):
    find(qtbot, gallery, filled, "label:bee wrong")
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("bees", True))
    gallery.filter.sets.save()
    assert filled.marking.marks.sets == {"bees": SavedSet("label:bee wrong")}
    gallery.filter.reset()
    gallery.filter.take(filled.marking.marks.sets["bees"])
    assert len(rows(gallery)) == 4
    filled.marking.save_set("bees", None)
    assert not filled.marking.marks.sets


def test_the_menu_of_an_input_tags_it_searches_for_its_like_and_copies_its_name(
    qtbot, gallery, filled
):
    filled.marking.tag("odd", [1], on=True)
    index = next(
        i for i in range(60) if filled.library.predictions.classes[i] != i % 3 or i % 5 == 0
    )
    row = gallery.model.row_of(index)
    menu = gallery.menu_of(row)
    words = {action.text(): action for action in menu.actions()}
    entry = gallery.model.entry(row)
    next(action for action in menu.tags.actions() if action.text() == "odd").setChecked(True)
    assert index in filled.marking.tags["odd"]
    words["Copy its name"].trigger()
    assert QApplication.clipboard().text() == entry.key
    words[f"Only {entry.title} taken for {entry.guess}"].trigger()
    labels, told = filled.library.dataset.labels, filled.library.predictions.classes
    expected = (labels == labels[index]) & (told == told[index])
    assert rows(gallery) == np.flatnonzero(expected).tolist()


def test_the_menu_leads_to_an_analysis_of_the_input(gallery, filled):
    arrived = []
    filled.sending.arrived.connect(arrived.append)
    menu = gallery.menu_of(4)
    look = next(a.menu() for a in menu.actions() if a.text() == "Look at it with")
    (action,) = (each for each in look.actions() if each.text() == "zoNNscan radius sweep")
    action.trigger()
    assert arrived == ["zonnscan"] and filled.selection.input == 4


def test_findings_are_searched_and_sorted_by(qtbot, gallery, filled, request_of):
    filled.submit(request_of())
    qtbot.waitUntil(lambda: bool(filled.marking.findings))
    assert set(filled.marking.findings) == {3}
    find(qtbot, gallery, filled, "finding:trap")
    assert rows(gallery) == [3] and "2 findings" in gallery.model.entry(0).sentence
    find(qtbot, gallery, filled, "")
    gallery.filter.order.box.setCurrentIndex(gallery.filter.order.box.findData("findings"))
    assert rows(gallery)[0] == 3


def test_a_hundred_thousand_inputs_are_searched_by_name_and_sorted_without_a_halt(qtbot, store):
    many = from_arrays(np.zeros((100_000, 2, 2), np.uint8), np.arange(100_000) % 3, name="many")
    store.library.add_dataset(many)
    gallery = shown_gallery(qtbot, store)
    begun = time.perf_counter()
    gallery.filter.text.setText("label:2 name:99")
    gallery.filter.text.returnPressed.emit()
    assert time.perf_counter() - begun < 0.3, "names are read elsewhere"
    qtbot.waitUntil(lambda: len(rows(gallery)) < 100_000)
    assert all("99" in f"row {i}" and i % 3 == 2 for i in rows(gallery))


def test_marks_of_a_folder_survive_a_new_picture_and_a_move_and_a_hostile_file(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        marks = Marks().tagged("night", ["a.png", "b.png"], on=True)
        write_marks(workspace, "/photos", "1111", marks)
        assert read_marks(workspace, "/photos", "2222") == marks
        assert read_marks(workspace, "/moved", "1111") == marks
        assert read_marks(workspace, "/others", "3333") == Marks()
        write_marks(
            workspace, "/photos", "1111", marks.tagged("night", ["a.png", "b.png"], on=False)
        )
        assert workspace.values.get("marks") == []
        for junk in (3, [3], [{"path": "/photos", "tags": [1], "sets": {"a": 3}}]):
            workspace.values.set("marks", junk)
            assert read_marks(workspace, "/photos", "1111") == Marks()


def test_tags_and_sets_of_anyone_are_shown_letter_by_letter(qtbot, gallery, filled):
    filled.marking.tag("<b>R&D</b>", [0], on=True)
    filled.marking.save_set("a & <i>b</i>", SavedSet("<img src=x>"))
    menu = gallery.menu_of(0)
    assert "<b>R&&D</b>" in [action.text() for action in menu.tags.actions()]
    gallery.filter.sets.fill()
    action = gallery.filter.sets.menu().actions()[0]
    assert action.text() == "a && <i>b</i>" and "&lt;img" in action.toolTip()
    assert "tagged <b>R&D</b>" in gallery.model.entry(0).sentence
