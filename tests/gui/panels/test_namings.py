"""What stands beside a picture: the name of its input, of its file, and what can be done with it."""

from __future__ import annotations

import numpy as np
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QWidget

from robgui.core.dataset import from_arrays
from robgui.core.execution.request import build_request
from robgui.core.execution.run import RunState
from robgui.core.finding import Finding
from robgui.core.text.words import as_sentence
from robgui.core.verdict import Status, Verdict
from robgui.gui.app.commands.endings import MODELS
from robgui.gui.app.commands.possible import chose_confusion
from robgui.gui.app.status import StatusBar
from robgui.gui.model.model_cards import share_beside
from robgui.gui.panels.generic import GenericPanel
from robgui.gui.panels.stale_badge import STALE_FOR_NOW, StaleBadge


def test_an_input_has_one_name_wherever_it_is_told(store, monkeypatch):
    model, data = store.library.model, store.library.dataset
    request = build_request("zonnscan", [model], data, {}, indices=(3,))
    monkeypatch.setattr(type(data), "key", lambda _self, index: str(index))
    assert store.subjects.words(request) == f"{model.name} on input 3 of {data.name}"
    monkeypatch.setattr(type(data), "key", lambda _self, index: f"row {index + 2}")
    assert store.subjects.words(request) == f"{model.name} on row 5 of {data.name}"
    assert store.subjects.inputs(request) == f"row 5 of {data.name}"
    assert store.subjects.words(request, by_name=False).endswith(f"on input 3 of {data.name}")
    several = request.model_copy(update={"indices": (3, 4)})
    assert store.subjects.key(several) == ""


def test_the_name_of_a_file_keeps_its_letters():
    assert as_sentence("forest.joblib takes table rows.") == "forest.joblib takes table rows."
    assert as_sentence("works on images.") == "Works on images." and as_sentence("") == ""


def test_files_of_scikit_learn_are_offered():
    assert "*.joblib" in MODELS and "*.skops" in MODELS


def test_a_picture_is_stale_without_advice_where_run_cannot_be_pressed(store):
    model, data = store.library.model, store.library.dataset
    badge = StaleBadge(store, "zonnscan")
    shown = build_request("zonnscan", [model], data, {"samples": 32}, indices=(3,))
    rows = np.random.default_rng(0).random((6, 4)).astype(np.float32)
    store.library.add_dataset(from_arrays(rows, name="rows"))
    assert store.next_run.obstacle("zonnscan")
    badge.check(shown)
    assert badge.text() == STALE_FOR_NOW


def test_the_tip_of_a_button_gives_way_to_what_is_being_done(qtbot, store):
    place = QWidget()
    qtbot.addWidget(place)
    bar = StatusBar(store, place)
    place.show()
    bar.showMessage("Open model")
    store.working.emit("Opening net.pt2 …")
    assert not bar.currentMessage() and bar.working.isVisible()


def test_the_name_of_a_class_is_not_cut_by_words_of_its_share(qapp):
    metrics = QFontMetrics(qapp.font())
    wide = metrics.horizontalAdvance("malignant") + metrics.horizontalAdvance("over 99 %")
    assert share_beside("malignant", 0.999, metrics, wide) == "over 99 %"
    assert share_beside("malignant", 0.999, metrics, wide - 1) == "> 99 %"
    assert share_beside("malignant", 0.001, metrics, 1) == "< 1 %"


def test_a_model_that_cannot_be_asked_is_not_told_to_press_run(qtbot, store, sampled, monkeypatch):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    panel.show()
    assert "Run" in panel.empty.text.text()
    monkeypatch.setattr(type(sampled), "refusal", lambda *_: "It works on images.")
    store.library.models_changed.emit()
    assert panel.empty.text.text() == sampled.question


def test_a_page_says_why_its_run_on_this_input_could_not_be_done(qtbot, store):
    panel = GenericPanel(store, store.analyses["last_particle"])
    qtbot.addWidget(panel)
    panel.show()
    workspace, index = store.history.workspace, store.selection.input
    model, data = store.library.model, store.library.dataset
    request = build_request("last_particle", [model], data, {}, indices=(index,))
    run = workspace.add_run(request)
    workspace.update_run(run.id, state=RunState.FAILED, error="The model is wrong already.")
    store.history.refresh()
    why = "It could not run: The model is wrong already."
    qtbot.waitUntil(lambda: panel.empty.text.text() == why)
    store.select(store.selection.replace(input=index + 1))
    assert panel.empty.text.text() != why


def test_only_a_change_of_the_answer_is_a_failure_with_a_cause(qtbot, store, sampled):
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    workspace = store.history.workspace
    request = build_request("feature_game", [store.library.model], store.library.dataset, {})
    run = workspace.add_run(request)
    rises = Finding("near boundary", "the uncertainty rises", 0.3, {"class": "a"})
    verdict = Verdict(Status.AT_RISK, "It is unsure.")
    workspace.update_run(run.id, state=RunState.DONE, verdict=verdict, findings=[rises])
    store.history.refresh()
    qtbot.waitUntil(lambda: bool(store.history.findings))
    panel.run_id = run.id
    panel.found.refresh()
    assert panel.found.text() == "See the finding"
    store.select(store.selection.replace(finding=store.history.findings[0].id))
    assert not chose_confusion(store)
