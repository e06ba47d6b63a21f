"""Saving from the menu: the views of the result on show, with title and provenance, and not a
grab of the screen.
"""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication, QFileDialog

from robgui import resources
from robgui.gui.state.library.library import Opening
from robgui.report.pictures import Figures
from tests.gui.opened import until


@pytest.fixture(scope="module")
def window(lasting_window):
    return lasting_window


def test_without_a_result_it_says_what_to_do(window):
    window.show_panel("zonnscan")
    window.actions_["save_picture"].trigger()
    assert any("no picture yet" in sentence for sentence in window.toasts.sentences)


@pytest.fixture(scope="module")
def shown(window):
    """A sweep of an input of the demo on show."""
    store = window.store
    store.library.load_dataset(resources.path("demo", "fashion.npz"), quiet=True)
    store.library.load_model(Opening(resources.path("demo", "fashion_mlp.pt2"), quiet=True))
    until(lambda: store.library.model is not None and not store.busy)
    window.show_panel("zonnscan")
    store.params_offered.emit("zonnscan", {"samples": 32, "radii": (0.0, 0.1, 0.3)})
    window.run_pane.run.click()
    panel = window.current_panel
    until(lambda: panel.run_id is not None and not store.runner.busy)
    # The history is read again after the run has ended: the panel may be drawn before it.
    until(lambda: any(run.has_result for run in store.history.runs))
    return panel


def choose(monkeypatch, path, offered):
    def ask(parent, title, start, kinds):
        offered.append(kinds)
        return str(path), ""

    monkeypatch.setattr(QFileDialog, "getSaveFileName", ask)


def test_a_picture_has_the_axes_the_legend_and_where_it_comes_from(
    qtbot, window, shown, tmp_path, monkeypatch
):
    offered = []
    choose(monkeypatch, tmp_path / "a.svg", offered)
    window.actions_["save_picture"].trigger()
    qtbot.waitUntil(lambda: any("a.svg" in sentence for sentence in window.toasts.sentences))
    words = (tmp_path / "a.svg").read_text(encoding="utf-8")
    title = shown.analysis.title
    for wanted in (
        title,
        "fashion_mlp.pt2 on image 0 of fashion.npz",
        f"run {shown.run_id}",
        "seed 0",
        "radius",
    ):
        assert wanted in words
    assert "GIF" not in offered[0], "there is no film among these views"


def test_numbers_are_those_of_the_views_on_show(qtbot, window, shown, tmp_path, monkeypatch):
    choose(monkeypatch, tmp_path / "a.npz", [])
    window.actions_["save_numbers"].trigger()
    qtbot.waitUntil(lambda: any("a.npz" in sentence for sentence in window.toasts.sentences))
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        assert any(np.array_equal(arrays[name], shown.result.radii) for name in arrays)


def test_a_copied_picture_is_on_the_clipboard(qtbot, window, shown):
    window.actions_["copy_picture"].trigger()
    qtbot.waitUntil(lambda: "Picture copied." in window.toasts.sentences)
    assert QApplication.clipboard().image().width() == 1800


def test_a_folder_that_cannot_be_written_is_a_sentence(qtbot, window, shown, tmp_path, monkeypatch):
    choose(monkeypatch, tmp_path / "missing" / "a.png", [])
    window.actions_["save_picture"].trigger()
    qtbot.waitUntil(
        lambda: any("cannot be written" in sentence for sentence in window.toasts.sentences),
    )


def test_the_pictures_of_a_report_are_drawn_while_somebody_chooses_its_place(
    qtbot, window, shown, tmp_path, monkeypatch
):
    from robgui.report import pictures
    from robgui.report.kept import KEPT

    KEPT.clear()
    store = window.store
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    window.commands.saving.write_report()
    qtbot.waitUntil(lambda: bool(KEPT))
    qtbot.waitUntil(lambda: not store.writing.busy)
    with monkeypatch.context() as patch:
        patch.setattr(pictures, "draw_png", None)  # whoever draws now fails
        patch.setattr("robgui.report.html_runs.BOTH_BYTES", 0)
        store.history.exports.write_report(tmp_path / "r.html")
        qtbot.waitUntil(lambda: not store.writing.busy)
    assert "data:image/png" in (tmp_path / "r.html").read_text(encoding="utf-8")


def test_a_report_can_be_of_the_model_in_use_alone(qtbot, window, shown, tmp_path, monkeypatch):
    store, place = window.store, tmp_path / "one.html"
    own = store.library.model
    store.library.load_model(Opening(resources.path("demo", "fashion_cnn.safetensors"), quiet=True))
    qtbot.waitUntil(lambda: len(store.library.models) == 2 and not store.busy)
    store.library.use_model(next(one for one in store.library.models if one is not own))
    assert not window.actions_["report_of_model"].isEnabled(), "no run asks about it"
    window.run_pane.run.click()
    qtbot.waitUntil(lambda: not store.runner.busy)
    qtbot.waitUntil(lambda: len(store.history.runs) == 2)
    store.library.use_model(own)
    choose(monkeypatch, place, [])
    drawn, shown_before = set(), Figures.shown

    def draw(figures, chapter, **how):
        drawn.update(model.name for model in chapter.run.request.models)
        return shown_before(figures, chapter, **how)

    monkeypatch.setattr(Figures, "shown", draw)
    window.actions_["report_of_model"].trigger()
    qtbot.waitUntil(place.exists)
    assert drawn == {own.name}, "no picture of another model is drawn ahead"
    words = place.read_text(encoding="utf-8")
    assert "Not about 1 other model of the workspace: fashion_cnn.safetensors." in words
