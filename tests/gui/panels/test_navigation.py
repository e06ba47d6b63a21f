"""Back and forward through what was looked at; undo of settings, stars and notes."""

from __future__ import annotations

from robgui.gui.state.selection import Selection

QUICK = {"samples": 32, "radii": (0.0, 0.3, 1.0)}


def settle(qtbot, store):
    qtbot.waitUntil(lambda: not (store.busy or store.keeping.busy))
    qtbot.wait(5)


def test_back_and_forward_go_through_inputs_and_models_but_not_through_cursor_moves(qtbot, store):
    settle(qtbot, store)
    first, second = store.library.models
    store.select(Selection(input=3))
    settle(qtbot, store)
    store.select(store.selection.replace(radius=0.2))
    settle(qtbot, store)
    store.select(store.selection.replace(radius=0.3))
    settle(qtbot, store)
    store.library.use_model(second)
    settle(qtbot, store)
    store.navigation.back()
    settle(qtbot, store)
    assert store.library.model is first and store.selection.radius == 0.3
    store.navigation.back()
    settle(qtbot, store)
    assert store.selection.input == 0
    store.navigation.forward()
    store.navigation.forward()
    settle(qtbot, store)
    assert store.library.model is second and store.selection.input == 3
    assert not store.navigation.can_go_forward


def test_a_changed_setting_can_be_undone_and_redone(store, bench):
    _, pane = bench("zonnscan")
    undo = store.navigation.undo
    pane.form().set_values({"samples": 96})
    pane.form().set_values({"samples": 128})
    assert undo.count() == 1 and "zoNNscan" in undo.undoText()
    undo.undo()
    assert pane.form().values().samples == 1024
    undo.redo()
    assert pane.form().values().samples == 128
    assert undo.count() == 1


def test_a_star_can_be_undone_and_a_findings_input_can_be_sent(qtbot, store, bench, run):
    from robgui.gui.pages.findings import Findings

    panel, pane = bench("zonnscan")
    dock = Findings(store)
    qtbot.addWidget(dock)
    dock.show()
    store.select(Selection(input=10))
    run(panel, pane, samples=64, radii=(0.0, 0.05, 0.1, 1.0))
    qtbot.waitUntil(lambda: bool(store.history.findings))
    dock.model.turn_star(0)
    settle(qtbot, store)
    assert store.history.findings[0].starred
    store.navigation.undo.undo()
    settle(qtbot, store)
    assert not store.history.findings[0].starred
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send_finding(store.history.findings[0], "zonnscan")
    assert store.library.dataset.name == "derived from fashion.npz"
    titles = [action.text() for action in dock.menu(0).actions()]
    assert "Show its run" in titles and "Send its input to" in titles
