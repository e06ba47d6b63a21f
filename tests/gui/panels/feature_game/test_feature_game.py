"""The feature game panels: the row of pictures, the views below, searches, saving, and what can
be sent on.
"""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from PySide6.QtCore import QPoint, QTimer
from PySide6.QtWidgets import QFileDialog

from robgui.analyses.feature_game import pictures
from robgui.analyses.feature_game.views import FRAMES
from robgui.core.view import Images, Matrix
from robgui.gui.panels.feature_game.game import pixel_words
from robgui.gui.panels.feature_game.overlay import SaliencyOverlay
from robgui.gui.state.selection import Selection
from robgui.gui.widgets.views import CurvesView, ImagesView
from robgui.gui.widgets.views.picture_cell import picture_box

QUICK = {"max_calls": 600}


@pytest.fixture
def played(store, bench, run):
    """The panel after a game on a shirt."""
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    run(panel, pane, **QUICK)
    return panel


def below(panel):
    return {widget.view.title: widget for widget in panel.board.widgets}


def test_the_row_shows_features_saliency_and_the_changed_pixels(played):
    result = played.result
    assert result.found_class >= 0
    features, saliency, pair = (played.cells[place].view for place in range(3))
    assert len(features.pictures[0].spots) == len(result.keypoints)
    assert isinstance(saliency, Matrix)
    np.testing.assert_allclose(saliency.values, result.saliency[::-1])
    assert (
        isinstance(pair, Images)
        and pair.pairs
        and len(pair.pictures[1].spots) == len(result.changed)
    )
    assert result.labels[result.found_class] in pair.pictures[1].chip and played.save.isEnabled()


def test_in_a_low_window_before_and_after_come_first_and_have_the_room(qtbot, played):
    played.resize(650, 440)
    features, heat, pair = (played.cells[place] for place in range(3))
    qtbot.waitUntil(lambda: not features.isVisible())
    assert pair.isVisible() and not heat.isVisible() and not played.board.isVisible()
    assert played.save.isVisible()
    frame = pair.model.frame
    assert frame.height() >= 110 and pair.list.viewport().height() >= frame.height()
    switch = played.turns.switch
    titles = [switch.tabText(place) for place in range(switch.count())]
    assert titles[:2] == ["Before and after", "Where the search looks"]
    switch.setCurrentIndex(3)
    assert played.board.isVisible() and not pair.isVisible()
    played.resize(1100, 1300)
    qtbot.waitUntil(features.isVisible)
    assert pair.isVisible() and played.board.isVisible() and not switch.isVisible()


def test_a_picture_that_nobody_has_seen_is_made_when_its_turn_is_chosen(qtbot, store, bench, run):
    panel, pane = bench("feature_game")
    panel.resize(650, 440)
    store.select(Selection(input=6))
    run(panel, pane, **QUICK)
    features, heat, pair = (panel.cells[place] for place in range(3))
    assert [cell.built for cell in (features, heat, pair)] == [False, False, True]
    assert not any(widget.built for widget in panel.board.widgets)
    assert heat.view.values.shape == panel.result.saliency.shape, "what it will show is known"
    panel.turns.switch.setCurrentIndex(1)
    qtbot.waitUntil(lambda: heat.built and heat.complete, timeout=5_000)
    assert heat.isVisible() and heat.heat.image.image.shape == panel.result.saliency.shape


def test_while_a_game_goes_on_every_turn_of_the_event_loop_makes_or_first_draws_one_picture(
    qtbot, store, bench, run, monkeypatch
):
    panel, pane = bench("feature_game")
    panel.resize(1100, 1300)
    store.select(Selection(input=6))
    turns, known = [[]], set()
    for kind in (ImagesView, SaliencyOverlay, CurvesView):
        for name in ("build", "draw"):
            plain = getattr(kind, name)

            def noted(self, *args, name=name, plain=plain):
                if (self, name) not in known:
                    known.add((self, name))
                    turns[-1].append(f"{name} {type(self).__name__}")
                return plain(self, *args)

            monkeypatch.setattr(kind, name, noted)
    beat = QTimer(interval=1)
    beat.timeout.connect(lambda: turns.append([]) if turns[-1] else None)
    beat.start()
    run(panel, pane, **QUICK)
    qtbot.waitUntil(lambda: panel.complete, timeout=5_000)
    assert sum(map(len, turns)) >= 8, "three pictures of the row and the large one below"
    assert max(map(len, turns)) == 1, turns


def test_the_heat_lies_over_the_image_as_opaque_as_the_slider_says(qtbot, played):
    played.resize(1100, 1300)
    heat = played.cells[1]
    qtbot.waitUntil(lambda: heat.built and heat.complete, timeout=5_000)
    # rows of the plot count from below
    np.testing.assert_array_equal(heat.under.image, pictures(played.result)["original"][::-1])
    assert heat.under.zValue() < heat.heat.image.zValue()
    heat.opacity.setValue(20)
    assert heat.heat.image.opacity() == pytest.approx(0.2)


def test_the_pixel_under_the_mouse_is_read_out_in_all_three_pictures(qtbot, played):
    played.resize(1100, 1300)
    shown = [*played.cells.values()]
    qtbot.waitUntil(lambda: all(one.built and one.complete for one in shown), timeout=5_000)
    result = played.result
    (x, y), side = result.changed[0].tolist(), result.input.shape[1]
    words = pixel_words(result, x, y)
    before, after = (round(255 * float(image[0, y, x])) for image in (result.input, result.best))
    assert words.startswith(f"x {x}, y {y}: {before} → {after}, heat")
    heat = played.cells[1]
    heat.heat.hovered.emit((x + 0.5, side - y - 0.5))
    assert heat.foot.text() == words
    pair = played.cells[2]
    index = pair.model.index(0)
    box = picture_box(
        pair.list.visualRect(index), pair.model.frame, pair.model.pictures(0)[1][1].size(), 1
    )
    place = box.topLeft() + QPoint(
        round((x + 0.5) * box.width() / side), round((y + 0.5) * box.height() / side)
    )
    pair.point(index, place)
    assert pair.foot.text() == words


def test_the_other_views_stand_below(played):
    assert {
        "How the change shrinks",
        "Confidence",
        "Searches",
        "Moves that were tried",
        "Evidence",
    } <= set(below(played))
    assert not {"Before and after", "Where the search looks"} & set(below(played))
    np.testing.assert_allclose(
        below(played)["How the change shrinks"].view.lines[0].y, played.result.history[:, 0]
    )


def test_a_row_of_the_searches_shows_the_example_of_that_search(store, bench, run):
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    result = run(panel, pane, target="all", max_calls=300)
    found = [place for place, one in enumerate(result.outcomes) if one.found_class >= 0]
    assert len(found) > 1
    for place in found[:3]:
        below(panel)["Searches"].chosen.emit(place)
        shown = panel.cells[2].view.pictures[1]
        assert result.labels[result.outcomes[place].found_class] in shown.chip
        changed = len(result.outcomes[place].changed)
        assert len(shown.spots) == (changed if changed <= FRAMES else 0)
        assert np.array_equal(panel.shown.changed, result.outcomes[place].changed)


def test_the_example_is_saved_as_the_model_saw_it(qtbot, store, played, tmp_path, monkeypatch):
    file = tmp_path / "shirt.png"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(file), ""))
    played.ask_save()
    qtbot.waitUntil(lambda: len(list(tmp_path.glob("*.png"))) == 3 and not store.busy)
    pixels = np.asarray(Image.open(file), dtype=np.float32) / 255
    assert np.allclose(pixels, played.result.best[0], atol=1e-6)
    model = store.library.model
    scores = store.answers.ask("scores", model=model, x=pixels[None, None])
    assert int(scores.probabilities.argmax()) == played.result.found_class


def test_the_example_can_be_sent_to_another_analysis(qtbot, store, played):
    offer = played.offers()[0]
    assert offer.title == "The adversarial example" and np.array_equal(
        offer.inputs[0], played.result.best
    )
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send(offer, "zonnscan", played.request, played.run_id)
    np.testing.assert_allclose(store.library.dataset.array()[-1], played.result.best, atol=1e-6)


def test_without_an_example_the_panel_says_that_this_is_no_guarantee(store, bench, run):
    panel, pane = bench("feature_game")
    store.select(Selection(input=6))
    run(panel, pane, max_calls=60, distance=0.5)
    assert "guarantees nothing" in panel.verdict.text() and not panel.save.isEnabled()
    assert panel.cells[2].view.title == "The image" and len(panel.offers()) == 1


def test_many_images_are_drawn_from_their_views(store, bench, run):
    panel, pane = bench("feature_game_batch")
    store.set_scope((6, 10, 25))
    result = run(panel, pane, images=3, max_calls=400)
    bars = panel.board.widgets[1].view
    assert (
        bars.title == "How much it takes"
        and bars.series[0].values.sum() == (result.found_class >= 0).sum()
    )
    assert panel.offers()[0].title == "The least severe example"
