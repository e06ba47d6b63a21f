from __future__ import annotations

import numpy as np
import pytest

from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, Verdict
from robgui.gui.app.theme import theme
from robgui.gui.panels.stale_badge import STALE_FOR_NOW
from robgui.gui.panels.zonnscan.sweep import crossing_radius
from robgui.gui.panels.zonnscan.sweep_tools import TWINS
from robgui.gui.state.selection import Selection

QUICK = {"samples": 32, "radii": (0.0, 0.05, 0.1, 0.3)}


@pytest.fixture
def sweep(bench):
    return bench("zonnscan")


def line(panel, name):
    """A line of the first view by the beginning of its name."""
    return next(
        (one for one in panel.board.widgets[0].view.lines if one.name.startswith(name)), None
    )


def test_a_reference_stays_while_the_next_run_is_drawn_over_it(store, sweep, run):
    panel, pane = sweep
    first = run(panel, pane, **QUICK)
    assert not panel.tools.forget.isEnabled()
    panel.tools.keep.click()
    store.select(Selection(input=4))
    second = run(panel, pane, **QUICK)
    for name, result in (("reference: uncertainty", first), ("uncertainty", second)):
        drawn, least = line(panel, name).y, np.log(40) / 32
        assert drawn[0] == result.index[0]
        assert np.array_equal(np.isnan(drawn[1:]), result.index[1:] < least), "nothing below it"
    samples = panel.board.widgets[1].view
    assert (
        "Reference: image 0, fashion_mlp.pt2" in panel.board.widgets[0].view.note
        and "Reference, image 0" in samples.note
    )
    theme.apply(True)
    panel.tools.forget.click()
    assert line(panel, "reference") is None and not panel.tools.forget.isEnabled()
    theme.apply(False)


def test_the_cursor_shows_random_inputs_of_its_zone_with_their_classes(qtbot, store, sweep, run):
    panel, pane = sweep
    result = run(panel, pane, **QUICK)
    panel.marker.setValue(0.31)
    qtbot.waitUntil(lambda: len(panel.board.widgets[1].view.pictures) == 8)
    shown = panel.board.widgets[1].view
    assert shown.note.startswith("At radius 0.3 ")
    assert [picture.chip for picture in shown.pictures] == [
        result.labels[c] for c in result.shown_class[3]
    ]
    assert [picture.right for picture in shown.pictures] == [
        bool(c == result.predicted) for c in result.shown_class[3]
    ]
    panel.marker.setValue(0.0)
    qtbot.waitUntil(lambda: len(panel.board.widgets[1].view.pictures) == 8)
    assert "the input itself" in panel.board.widgets[1].view.note


def test_the_cursor_begins_where_samples_flip_and_stays_where_it_is_put(qtbot, store, sweep, run):
    panel, pane = sweep
    result = run(panel, pane, samples=64, radii=(0.0, 0.05, 0.5, 1.0))
    flipped = result.radii[result.crossing >= 0.2]
    assert flipped.size and panel.marker.value() == flipped[0] == crossing_radius(result)
    panel.board.widgets[0].chosen.emit(0.05)
    panel.draw(result)
    assert panel.marker.value() == 0.05


def test_a_click_into_the_picture_brings_the_cursor_there_and_tells_the_others(
    qtbot, store, sweep, run
):
    panel, pane = sweep
    run(panel, pane, **QUICK)
    plot = panel.board.widgets[0].plot
    assert panel.marker.scene() is plot.scene()
    panel.board.widgets[0].chosen.emit(0.27)
    assert panel.marker.value() == 0.27 and store.selection.radius == 0.27
    store.select(store.selection.replace(radius=0.05), origin=None)
    assert panel.marker.value() == 0.05
    panel.marker.setValue(0.9)
    assert panel.marker.value() == 0.3, "the cursor stays within the radii of the run"


def test_the_cursor_has_a_name_and_no_colour_of_a_class(store, sweep, run):
    panel, pane = sweep
    run(panel, pane, **QUICK)
    panel.marker.setValue(0.27)
    assert panel.marker.flag.format == "cursor 0.27"
    curves = {item.curve.opts["pen"].color().name() for item in panel.board.widgets[0].lines}
    for dark in (True, False):
        theme.apply(dark)
        own = panel.marker.pen.color().name()
        assert own == theme.colours.quiet.lower() and own not in curves | {theme.colours.accent}


def test_every_line_that_can_be_seen_has_a_number_when_it_is_explained(qtbot, store, sweep, run):
    panel, pane = sweep
    panel.resize(1000, 700)
    run(panel, pane, **QUICK)
    shown = panel.board.widgets[0]
    callouts = shown.callouts()
    words = " ".join(one.words for one in callouts)
    for named in [line for line in shown.view.lines if not line.quiet]:
        assert f"“{named.name}”" in words
    for mark in (*shown.view.marks, *shown.view.levels):
        assert mark.name in words
    assert "drag it" in words and "of its range to" not in words
    places = [(one.place.x(), one.place.y()) for one in callouts]
    near = [
        (a, b)
        for at, a in enumerate(places)
        for b in places[:at]
        if abs(a[0] - b[0]) + abs(a[1] - b[1]) < 12
    ]
    assert not near, "numbers on top of each other cannot be read"


def test_both_changes_of_class_are_marked_and_the_verdict_takes_the_nearer(store, sweep, run):
    panel, pane = sweep
    result = run(panel, pane, samples=64, radii=(0.0, 0.05, 0.5, 1.0))
    marks = {mark.name.split(" ")[0]: mark.at for mark in panel.board.widgets[0].view.marks}
    assert marks["attack"] == result.attack_radius < marks["sample"] == result.crossing_radius
    assert f"by at most {result.attack_radius:.3g}" in panel.verdict.text()


def test_in_a_small_window_the_plot_keeps_more_than_a_third_of_the_panel(qtbot, store, sweep, run):
    panel, pane = sweep
    height = panel.fontMetrics().height()
    panel.resize(66 * height, 50 * height)
    run(panel, pane, **QUICK)
    plot = panel.board.widgets[0]
    panel.resize(40 * height, 36 * height)
    panel.board.bar.setCurrentIndex(0)
    qtbot.waitUntil(lambda: plot.height() > 12 * height and plot.width() > 18 * height)


def test_a_run_that_ends_within_a_frame_is_drawn(store, sweep, run):
    panel, pane = sweep
    for _ in range(3):
        store.select(Selection(input=(store.selection.input or 0) + 1))
        assert run(panel, pane, samples=1, radii=(0.0,)).input_name == store.library.dataset.key(
            store.selection.input
        )


def test_the_adversarial_twin_is_one_click_away_and_swept_by_run(qtbot, store, sweep, run):
    panel, pane = sweep
    original = store.library.dataset
    panel.tools.eps.setValue(0.1)
    panel.tools.twin.click()
    qtbot.waitUntil(lambda: store.library.dataset.name == TWINS)
    assert store.selection.input == 0
    twin, plain = store.library.dataset.array()[0], original.array([0])[0]
    assert np.abs(twin - plain).max() == pytest.approx(0.1, abs=1e-6)
    qtbot.waitUntil(lambda: not store.busy)
    result = run(panel, pane, **QUICK)
    assert np.allclose(result.input, twin) and result.labels[result.predicted] == "Sandal"
    store.library.use_dataset(original)
    store.select(Selection(input=7))
    panel.tools.twin.click()
    qtbot.waitUntil(
        lambda: store.library.dataset.name == TWINS and len(store.library.dataset) == 2,
    )
    assert [d.name for d in store.library.datasets].count(TWINS) == 1 and store.selection.input == 1


def test_a_twin_with_another_class_reaches_the_verdict_of_the_sweep_and_is_a_finding(
    qtbot, store, sweep, run
):
    panel, pane = sweep
    original = store.library.dataset
    result = run(panel, pane, **QUICK, hold_radius=0.1)
    run_id = panel.run_id
    panel.stated = Verdict(Status.UNKNOWN, "No sample up to radius 0.3 changes class.")
    panel.say_again()
    assert panel.verdict.verdict.status is Status.UNKNOWN
    panel.tools.eps.setValue(0.1)
    panel.tools.twin.click()
    qtbot.waitUntil(lambda: store.library.dataset.name == TWINS)
    found = lambda: [one for one in store.history.findings if one.kind == "adversarial twin"]  # noqa: E731
    qtbot.waitUntil(lambda: bool(found()))
    (twin,) = found()
    assert twin.run_id == run_id and twin.confusion[0] == result.labels[result.predicted]
    said = panel.verdict.verdict
    assert said.status is Status.FAILS and "its adversarial twin at 0.1 turns" in said.sentence
    store.library.use_dataset(original)
    store.select(Selection(input=0))
    panel.tools.twin.click()  # the same once more
    qtbot.waitUntil(lambda: len(store.library.dataset) == 2)
    qtbot.waitUntil(lambda: not store.busy)
    assert len(found()) == 1


def test_a_black_box_has_no_twin_and_the_button_says_why(qtbot, store, sweep):
    panel, _ = sweep

    def black_box(x):
        return np.asarray(x).reshape(len(x), -1)[:, :10].astype(float)

    labels = store.library.model.labels
    made = Classifier.from_callable(black_box, (1, 28, 28), labels, output="logits")
    store.library.add_model(store.answers.hold(made))
    qtbot.waitUntil(lambda: not store.busy)
    assert not store.library.model.capabilities.gradients
    assert (
        not panel.tools.twin.isEnabled()
        and "a black box gives outputs only" in panel.tools.twin.toolTip()
    )


def test_a_box_needs_two_inputs_and_a_ball_one_and_the_form_says_so(store, sweep, run):
    panel, pane = sweep
    pane.form().set_values({"zone": "box", **QUICK})
    assert (
        not pane.run.isEnabled()
        and "takes two inputs. Ctrl+click the other one" in pane.obstacle.text()
    )
    store.select(Selection(input=0, second=3))
    result = run(panel, pane, zone="box", **QUICK)
    assert len(result.corners) == 2
    pane.form().set_values({"zone": "linf"})
    assert not pane.run.isEnabled() and "takes one input" in pane.obstacle.text()
    store.select(Selection(input=0))
    assert pane.run.isEnabled()


def test_the_picture_of_a_deleted_run_goes_with_it(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    run(panel, pane, samples=32, radii=(0.0, 0.3))
    run(panel, pane, samples=32, radii=(0.0, 0.5))
    qtbot.waitUntil(lambda: len(store.history.runs) == 2)
    newest, oldest = store.history.runs
    qtbot.waitUntil(lambda: panel.run_id == newest.id)
    for unlucky, left in ((oldest, 1), (newest, 0)):
        store.history.delete_run(unlucky)
        qtbot.waitUntil(lambda n=left: len(store.history.runs) == n)
        assert (panel.result is not None) is bool(left)
    assert not panel.empty.isHidden()


def test_a_picture_is_stale_while_nothing_can_be_asked_for(qtbot, store, sweep, run):
    panel, pane = sweep
    run(panel, pane, **QUICK)
    pane.form().set_values({"radii": "nonsense"})
    assert pane.form().values() is None and panel.stale and panel.badge.text() == STALE_FOR_NOW
    pane.form().set_values(QUICK)
    assert not panel.stale
    models = list(store.library.models)
    for model in models:
        store.library.remove_model(model)
    assert panel.stale and panel.badge.text() == STALE_FOR_NOW
    store.library.add_model(models[0])
    qtbot.waitUntil(lambda: not store.busy)
    assert not panel.stale
