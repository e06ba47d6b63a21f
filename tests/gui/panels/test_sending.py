"""What one panel has found becomes an input of another, keeps its trail, and is there again
after reopening.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robgui.core.execution.method import methods
from robgui.core.offer import Offer

QUICK = {"samples": 32, "radii": (0.0, 0.3, 1.0)}


def send(qtbot, store, panel, offer, analysis="zonnscan"):
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send(offer, analysis, panel.request, panel.run_id)


def test_a_found_change_of_class_can_be_swept_and_says_where_it_came_from(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    store.select(store.selection.replace(input=6))
    run(panel, pane, **QUICK)
    assert not panel.send.isHidden()
    made = panel.offers()[1]
    assert made.names[0].startswith(panel.result.input_name) and made.inputs is not None
    send(qtbot, store, panel, made)
    assert store.library.dataset.name == "derived from fashion.npz"
    result = run(panel, pane, **QUICK)
    np.testing.assert_allclose(result.input, made.inputs[0], atol=1e-6)
    subject = panel.subject.words
    assert "← zoNNscan radius sweep on fashion_mlp.pt2 ← fashion.npz, image 6" in subject


def test_derived_inputs_come_back_with_the_workspace_and_their_runs_can_be_shown(
    qtbot, store, bench, run
):
    panel, pane = bench("zonnscan")
    run(panel, pane, **QUICK)
    send(qtbot, store, panel, panel.offers()[1])
    run(panel, pane, **QUICK)
    fingerprint = panel.request.fingerprint
    path = store.history.workspace.path
    qtbot.waitUntil(lambda: not (store.busy or store.keeping.busy))
    with qtbot.waitSignal(store.history.opened):
        store.open_workspace(path.with_name("other.robgui"))
    assert not store.library.datasets, "another workspace has data of its own"
    with qtbot.waitSignal(store.history.opened):
        store.open_workspace(path)
    names = {"fashion.npz", "derived from fashion.npz"}
    qtbot.waitUntil(lambda: {d.name for d in store.library.datasets} == names)
    store.history.show_run(store.history.runs[0])
    qtbot.waitUntil(
        lambda: panel.request is not None and panel.request.fingerprint == fingerprint,
    )
    assert store.library.dataset.name == "derived from fashion.npz"
    assert not panel.stale


def test_several_inputs_of_the_data_become_a_gallery_of_their_own_with_their_labels(
    qtbot, store, bench, run
):
    panel, pane = bench("zonnscan")
    run(panel, pane, **QUICK)
    request = panel.request.model_copy(update={"indices": (3, 4, 5)})
    names = ("a", "b", "c")
    with qtbot.waitSignal(store.sending.arrived):
        store.sending.send(
            Offer("Three", names, places=(0, 1, 2)), "zonnscan_populations", request, None
        )
    dataset = store.library.dataset
    assert dataset.keys() == list(names)
    original = next(d for d in store.library.datasets if d.name == "fashion.npz")
    np.testing.assert_array_equal(dataset.labels, original.labels[[3, 4, 5]])
    np.testing.assert_allclose(dataset.array(), original.array([3, 4, 5]), atol=1e-6)
    assert store.scope == (0, 1, 2)


def test_settings_travel_with_what_is_sent(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    run(panel, pane, **QUICK)
    send(
        qtbot,
        store,
        panel,
        Offer("The input", ("it",), places=(0,), params={"zonnscan": {"samples": 96}}),
    )
    assert pane.form().values().samples == 96


def test_a_made_input_is_tested_by_the_last_particle_with_what_the_model_says_of_it(
    qtbot, store, bench, run
):
    panel, pane = bench("zonnscan")
    last, last_pane = bench("last_particle")
    store.select(store.selection.replace(input=6))
    run(panel, pane, **QUICK)
    plain, made = panel.offers()[:2]
    send(qtbot, store, panel, plain, "last_particle")
    assert last_pane.form().values().truth == "label"
    send(qtbot, store, panel, made, "last_particle")
    assert last_pane.form().values().truth == "predicted"
    result = run(last, last_pane, eps=0.3, samples=0, attack_steps=0)
    model = next(
        one
        for one in store.library.models
        if one.fingerprint == panel.request.models[0].fingerprint
    )
    scores = store.answers.ask("scores", model=model, x=made.inputs)
    assert result.label == int(scores.probabilities.argmax())


def test_a_made_input_sent_on_a_second_time_is_still_a_made_one(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    _, last_pane = bench("last_particle")
    run(panel, pane, **QUICK)
    send(qtbot, store, panel, panel.offers()[1])
    run(panel, pane, **QUICK)
    send(qtbot, store, panel, panel.offers()[0], "last_particle")
    assert last_pane.form().values().truth == "predicted"


def test_an_offer_may_say_itself_what_is_right(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    _, last_pane = bench("last_particle")
    run(panel, pane, **QUICK)
    own = replace(panel.offers()[1], params={"last_particle": {"truth": "label", "eps": 0.25}})
    send(qtbot, store, panel, own, "last_particle")
    assert last_pane.form().values().truth == "label" and last_pane.form().values().eps == 0.25


def entries(menu):
    """Title, whether it can be chosen and tool tip of every entry of a menu, and the same of its
    submenus.
    """
    plain = [
        (a.text(), a.isEnabled(), a.toolTip())
        for a in menu.actions()
        if a.text() and not a.menu() and not a.isSeparator()
    ]
    return plain, {a.text(): entries(a.menu())[0] for a in menu.actions() if a.menu()}


def test_one_input_is_offered_to_the_analyses_of_one_input_and_the_others_say_why_not(
    qtbot, store, bench, run
):
    panel, pane = bench("zonnscan")
    store.select(store.selection.replace(input=6))
    run(panel, pane, **QUICK)
    panel.send.menu().aboutToShow.emit()
    plain, made, *_ = (action.menu() for action in panel.send.menu().actions())
    direct, apart = entries(plain)
    ours = {known.title for method in methods() for known in method.analyses}
    assert {title for title, _, _ in direct} & ours == {
        *("Semantic map", "Semantic regions", "Share of the range that is safe"),
        *("Operating domain", "Feature game", "Attribution", "Last particle"),
    }
    assert all(enabled for _, enabled, _ in direct)
    assert list(apart) == ["Analyses of many inputs"]
    assert not any(enabled for _, enabled, _ in apart["Analyses of many inputs"])
    reasons = {title: reason for title, _, reason in apart["Analyses of many inputs"]}
    assert reasons["DeepInspect"] == "It looks at many inputs at once, and this is one."
    assert "zoNNscan radius sweep" in [title for title, _, _ in entries(made)[0]], (
        "a new input may come back to where it was found"
    )


def test_several_inputs_are_offered_to_the_analyses_of_many_first(store):
    targets = store.sending.targets(3)
    assert {target.name for target in targets if target.suits} >= {
        "deepinspect",
        "zonnscan_populations",
        "last_particle_table",
    }
    assert all(not target.reason for target in targets if not target.suits)
    for model in store.library.models[1:]:
        store.library.remove_model(model)
    lacking = {target.name: target.reason for target in store.sending.targets(3)}
    assert "two models" in lacking["zonnscan_corner_cases"] and not lacking["deepinspect"]


def test_other_data_on_show_are_announced_with_a_way_back(qtbot, store, bench, run):
    panel, pane = bench("zonnscan")
    store.select(store.selection.replace(input=6))
    run(panel, pane, **QUICK)
    name = "derived from fashion.npz"
    with qtbot.waitSignal(store.offered) as told:
        store.sending.send(panel.offers()[1], "zonnscan", panel.request, panel.run_id)
    sentence, words, deed = told.args
    assert (sentence, words) == (f"Now looking at {name}.", "Back to fashion.npz")
    assert store.library.dataset.name == name
    deed()
    assert store.library.dataset.name == "fashion.npz" and store.selection.input == 6
