"""The last-particle panels: level, estimate, failure, table, and what can be sent on."""

from __future__ import annotations

import numpy as np

from robgui.gui.app.theme import theme
from robgui.gui.state.selection import Selection


def test_a_validated_input_shows_its_climb_and_its_estimate_below_the_critical_line(store, bench, run):
    panel, pane = bench("last_particle")
    result = run(panel, pane, eps=0.005, samples=200, attack_steps=0)
    assert result.validated and "alidated" in panel.verdict.text()
    x, y = panel._level.getData()
    np.testing.assert_allclose(y, result.levels)
    assert len(x) == len(result.levels) and y.max() <= 0
    assert panel._estimate.getData()[1][-1] < np.log10(result.critical)
    assert panel._critical.value() == np.log10(result.critical)
    assert "no failure among 200" in panel.figures.text()
    theme.apply(True)
    assert len(panel.table()["level"]) == len(result.levels)
    theme.apply(False)


def test_a_failure_is_shown_with_its_difference_and_can_be_sent_to_zonnscan(qtbot, store, bench, run):
    panel, pane = bench("last_particle")
    store.select(Selection(input=10))
    result = run(panel, pane, eps=0.3, replicas=2, samples=0, attack_steps=0, truth="predicted")
    assert not result.validated and result.failure is not None
    assert [words.words for words in panel.strip._words][2] == "difference, enlarged"
    offer = panel.offers()[0]
    assert offer.title == "The failing input"
    with qtbot.waitSignal(store.sending.arrived, timeout=10_000):
        store.sending.send(offer, "zonnscan", panel.request, panel.run_id)
    np.testing.assert_allclose(store.library.dataset.array()[-1], result.failure, atol=1e-6)


def test_the_table_has_a_row_per_noise_and_a_cell_per_input(qtbot, store, bench, run):
    panel, pane = bench("last_particle_table")
    store.set_scope(tuple(range(6)))
    result = run(panel, pane, radii=(0.001, 0.3), most=4, critical=1e-3, samples=100, attack_steps=0)
    columns = panel.table()
    assert list(columns["noise"]) == [0.001, 0.3]
    assert columns["validated (share)"][0] >= columns["validated (share)"][1]
    assert panel.inputs.model().rowCount() == len(result.names)
    panel.inputs.selectRow(1)
    assert store.selection.input == int(result.places[1])
    if len(result.shown):
        qtbot.waitUntil(lambda: panel.failures.count() == len(result.shown), timeout=10_000)
