"""A filter of the inputs says beside Run what it does, and Run never takes half of an answer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from PySide6.QtWidgets import QMainWindow
from torch import nn

from robgui.core.execution import registry
from robgui.core.execution.analysis import analysis
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from robgui.gui.app.status import StatusBar
from robgui.gui.docks import Gallery
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.panels.empty_state import EmptyState
from tests.gui.docks.conftest import NAMES, CountParams, CountResult, count_up


def count_many(classifier: Classifier, dataset, params: CountParams) -> Iterator[Step[CountResult]]:
    yield from count_up(classifier, dataset, params)


@pytest.fixture
def many(filled):
    """``count_up`` as an analysis of many inputs."""
    made = analysis(
        title="Counting all",
        question="How many?",
        verdict=lambda result, params: None,
        views=lambda result, params: (),
        inputs="many",
    )
    registry.register(made(count_many))
    filled.analyses = registry.analyses()
    yield filled
    registry.unregister("count_many")


@pytest.fixture
def desk(qtbot, many):
    """The gallery, and the form of an analysis of many inputs."""
    gallery, pane = Gallery(many), RunPane(many)
    for widget in (gallery, pane, pane.strip):
        qtbot.addWidget(widget)
        with qtbot.waitExposed(widget):
            widget.show()
    pane.show_analysis("count_many")
    return gallery, pane


def search(qtbot, store, gallery, text):
    gallery.filter.text.setText(text)
    gallery.filter.text.returnPressed.emit()
    qtbot.waitUntil(lambda: not store.pictures.busy, timeout=10_000)


def other_model(store):
    """One that takes the other thirds for the brightest: it is wrong elsewhere."""
    layer = nn.Linear(12, 3, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.kron(torch.eye(3).roll(1, 0), torch.ones(1, 4)))
    made = Classifier.from_module(
        nn.Sequential(nn.Flatten(), layer), (1, 3, 4), NAMES, name="turned"
    )
    return store.answers.hold(made)


def test_a_filter_is_told_beside_run_also_when_all_is_folded(qtbot, many, desk):
    gallery, pane = desk
    assert not pane.scope.isVisible() and pane.run.isEnabled()
    search(qtbot, many, gallery, "label:bee wrong")
    shown = len(many.scope)
    assert pane.scope.words.text().startswith(f"Runs on {shown} of 60: label:bee wrong")
    assert "means nothing" in pane.scope.words.text()
    gallery.set_folded(True)
    pane.set_folded(True)
    assert pane.short_scope.isVisible()
    assert pane.short_scope.words.text().startswith(f"Runs on {shown} of 60")
    assert "label:bee wrong" in pane.short_scope.words.toolTip()


def test_a_filter_on_labels_alone_leaves_the_accuracy_its_meaning(qtbot, many, desk):
    gallery, pane = desk
    search(qtbot, many, gallery, "label:bee")
    assert pane.scope.isVisible() and "means nothing" not in pane.scope.words.text()


def test_one_click_beside_run_takes_the_filter_off(qtbot, many, desk):
    gallery, pane = desk
    search(qtbot, many, gallery, "label:bee wrong")
    pane.scope.clear.click()
    assert many.scope is None and not pane.scope.isVisible()
    assert len(gallery.model.rows) == 60 and gallery.filter.text.text() == ""


def test_an_analysis_of_one_input_is_not_about_the_filter(qtbot, many, desk):
    gallery, pane = desk
    search(qtbot, many, gallery, "label:bee")
    pane.show_analysis("count_up")
    assert not pane.scope.isVisible()


def test_another_models_answers_choose_nothing_and_run_waits_for_its_own(qtbot, many, desk):
    gallery, pane = desk
    search(qtbot, many, gallery, "wrong")
    before = many.scope
    assert len(before) == 12
    many.library.add_model(other_model(many))
    assert many.filter.open == 60 and not pane.run.isEnabled()
    assert "still waits for the model's answers" in pane.obstacle.text()
    assert many.inspection.obstacle() == pane.obstacle.text()
    qtbot.waitUntil(lambda: many.filter.open == 0, timeout=20_000)
    assert pane.run.isEnabled() and many.scope not in (None, before)
    told = many.library.predictions
    assert all(told.classes[place] != told.labels[place] for place in many.scope)


def test_progress_of_another_analysis_is_named_and_of_the_own_is_not(qtbot, many, desk, request_of):
    _, pane = desk
    many.submit(request_of(steps=1_000, pause=0.05))
    qtbot.waitUntil(lambda: many.runner.active is not None, timeout=20_000)
    pane.refresh()
    assert pane.left.text().startswith("Counting: ") and "Counting" in pane.stop.toolTip()
    pane.show_analysis("count_up")
    assert " so far" in pane.left.text() and not pane.left.text().startswith("Counting")
    pane.stop.click()
    qtbot.waitUntil(lambda: not many.runner.busy, timeout=20_000)


def test_a_page_whose_run_waits_or_starts_says_so_and_the_status_bar_is_not_idle(
    qtbot, many, request_of
):
    window = QMainWindow()
    bar, empty = StatusBar(many, window), EmptyState(many, many.analyses["count_up"])
    for widget in (window, empty):
        qtbot.addWidget(widget)
    with qtbot.waitExposed(empty):
        empty.show()
    invitation = empty.text.text()
    bar.look()
    assert empty.run.isVisible() and bar.speed.text() == "idle"
    first = many.submit(request_of(steps=1000, pause=0.02))
    second = many.submit(request_of(steps=1000, pause=0.02))
    qtbot.waitUntil(lambda: "running" in empty.text.text(), timeout=20_000)
    assert not empty.run.isVisible() and bar.speed.text() == "busy"
    first.stop()
    second.stop()
    qtbot.waitUntil(lambda: not many.runner.busy, timeout=60_000)
    assert empty.text.text() == invitation and empty.run.isVisible()
    bar.look()
    assert bar.speed.text() == "idle"
