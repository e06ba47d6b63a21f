from __future__ import annotations

import numpy as np
import pytest

from robgui.core.model.classifier import Classifier
from robgui.gui.app.theme import theme
from robgui.gui.panels.panel import STALE_FOR_NOW
from robgui.gui.panels.zonnscan.sweep_tools import TWINS
from robgui.gui.state.selection import Selection

QUICK = {"samples": 32, "radii": (0.0, 0.05, 0.1, 0.3)}


@pytest.fixture
def sweep(bench):
    return bench("zonnscan")


def test_a_reference_stays_while_the_next_run_is_drawn_over_it(store, sweep, run):
    panel, pane = sweep
    first = run(panel, pane, **QUICK)
    assert not panel.tools.forget.isEnabled()
    panel.tools.keep.click()
    store.select(Selection(input=4))
    second = run(panel, pane, **QUICK)
    assert np.array_equal(panel.reference.index.getData()[1], first.index)
    assert np.array_equal(panel._index.getData()[1], second.index)
    assert "reference: image 0, fashion_mlp.pt2" in panel.figures.text()
    assert "reference index" in [key.words for key in panel._legend._keys]
    theme.apply(True)
    panel.tools.forget.click()
    assert panel.reference.index.getData()[0] is None and "reference" not in panel.figures.text()
    assert not panel.tools.forget.isEnabled()
    theme.apply(False)


def test_in_a_small_window_the_plot_keeps_more_than_a_third_of_the_panel(qtbot, store, sweep, run):
    panel, pane = sweep
    line = panel.fontMetrics().height()
    panel.resize(66 * line, 50 * line)
    run(panel, pane, **QUICK)
    wide = [key.words for key in panel._legend._keys]
    panel.resize(36 * line, 36 * line)
    qtbot.waitUntil(lambda: panel.plot.height() > 12 * line and panel.plot.width() > 18 * line, timeout=5000)
    assert [key.words for key in panel._legend._keys] != wide and "(" not in panel.figures.text()
    panel.resize(66 * line, 50 * line)
    qtbot.waitUntil(lambda: [key.words for key in panel._legend._keys] == wide, timeout=5000)
    assert panel.plot.getPlotItem().getAxis("bottom").labelText == "radius of the zone (largest change of one value)"


def test_a_run_that_ends_within_a_frame_is_drawn(store, sweep, run):
    panel, pane = sweep
    for _ in range(3):
        store.select(Selection(input=(store.selection.input or 0) + 1))
        assert run(panel, pane, samples=1, radii=(0.0,)).input_name == store.library.dataset.key(store.selection.input)


def test_the_adversarial_twin_is_one_click_away_and_swept_by_run(qtbot, store, sweep, run):
    panel, pane = sweep
    original = store.library.dataset
    panel.tools.eps.setValue(0.1)
    panel.tools.twin.click()
    qtbot.waitUntil(lambda: store.library.dataset.name == TWINS, timeout=10_000)
    assert store.selection.input == 0
    twin, plain = store.library.dataset.array()[0], original.array([0])[0]
    assert np.abs(twin - plain).max() == pytest.approx(0.1, abs=1e-6)
    qtbot.waitUntil(lambda: not (store.background.busy or store.keeping.busy), timeout=10_000)
    result = run(panel, pane, **QUICK)
    assert np.allclose(result.input, twin) and result.labels[result.predicted] == "Sandal"
    store.library.use_dataset(original)
    store.select(Selection(input=7))
    panel.tools.twin.click()
    qtbot.waitUntil(lambda: store.library.dataset.name == TWINS and len(store.library.dataset) == 2, timeout=10_000)
    assert [d.name for d in store.library.datasets].count(TWINS) == 1 and store.selection.input == 1


def test_a_black_box_has_no_twin_and_the_button_says_why(qtbot, store, sweep):
    panel, _ = sweep

    def black_box(x):
        return np.asarray(x).reshape(len(x), -1)[:, :10].astype(float)

    store.library.add_model(Classifier.from_callable(black_box, (1, 28, 28), store.library.model.labels, output="logits"))
    qtbot.waitUntil(lambda: not (store.background.busy or store.keeping.busy), timeout=10_000)
    if not store.library.model.capabilities.gradients:
        assert not panel.tools.twin.isEnabled() and "a black box gives outputs only" in panel.tools.twin.toolTip()


def test_a_box_needs_two_inputs_and_a_ball_one_and_the_form_says_so(store, sweep, run):
    panel, pane = sweep
    pane.form().set_values({"zone": "box", **QUICK})
    assert not pane.run.isEnabled() and "takes two inputs; Ctrl+click the other one" in pane._obstacle.text()
    store.select(Selection(input=0, second=3))
    result = run(panel, pane, zone="box", **QUICK)
    assert len(result.corners) == 2
    pane.form().set_values({"zone": "linf"})
    assert not pane.run.isEnabled() and "takes one input" in pane._obstacle.text()
    store.select(Selection(input=0))
    assert pane.run.isEnabled()


def test_the_picture_of_a_deleted_run_goes_with_it(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    run(panel, pane, samples=32, radii=(0.0, 0.3))
    run(panel, pane, samples=32, radii=(0.0, 0.5))
    newest, oldest = store.history.runs
    qtbot.waitUntil(lambda: panel.run_id == newest.id, timeout=5_000)
    for unlucky, left in ((oldest, True), (newest, False)):
        with qtbot.waitSignal(store.history.runs_changed, timeout=10_000):
            store.history.delete_run(unlucky)
        assert (panel.result is not None) is left
    assert panel._pages.currentIndex() == 0


def test_a_picture_is_stale_while_nothing_can_be_asked_for(qtbot, store, sweep, run):
    panel, pane = sweep
    run(panel, pane, **QUICK)
    pane.form().set_values({"radii": "nonsense"})
    assert pane.form().values() is None and panel.stale and panel._stale.text() == STALE_FOR_NOW
    pane.form().set_values(QUICK)
    assert not panel.stale
    models = list(store.library.models)
    for model in models:
        store.library.remove_model(model)
    assert panel.stale and panel._stale.text() == STALE_FOR_NOW
    store.library.add_model(models[0])
    qtbot.waitUntil(lambda: not (store.background.busy or store.keeping.busy), timeout=10_000)
    assert not panel.stale
