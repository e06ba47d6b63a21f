"""A card, its picture and a page speak of the model in use, or say of which they speak."""

from __future__ import annotations

import pytest

from robgui.core.execution.request import build_request
from robgui.gui.pages.overview import Overview
from robgui.gui.panels.generic import GenericPanel


def finished(qtbot, store, request):
    """Runs a request to its end and gives what the history has of it."""
    many = len(store.history.runs)
    store.submit(request)
    qtbot.waitUntil(lambda: len(store.history.runs) > many, timeout=60_000)
    qtbot.waitUntil(
        lambda: store.history.runs[0].state.ended and not store.runner.busy, timeout=120_000
    )
    run = store.history.runs[0]
    assert run.has_result, run.error
    return run


@pytest.fixture
def both(qtbot, store):
    """Corruptions of two models, asked with the first one in use."""
    settings = {"most": 4, "severities": (1,)}
    models = store.library.models
    request = build_request("corruptions", models, store.library.dataset, settings)
    return finished(qtbot, store, request)


def strong(widget):
    return [line.name for line in widget.view.lines if line.strong]


def test_a_card_shows_the_line_of_the_model_in_use_and_its_arrow_stays_with_it(qtbot, store, both):
    overview = Overview(store)
    qtbot.addWidget(overview)
    overview.resize(1200, 900)
    with qtbot.waitExposed(overview, timeout=60_000):
        overview.show()
    tile = next(one for one in overview.tiles if one.page.analyses[0].name == "corruptions")
    first, second = store.library.models
    for model in (first, second, first):
        store.library.use_model(model)
        qtbot.waitUntil(
            lambda: tile.picture is not None and strong(tile.picture) == [model.name],  # noqa: B023
            timeout=60_000,
        )
        place = both.request.place_of(model.fingerprint)
        assert tile.verdict.number == both.verdict.models[place].number
    store.library.use_model(second)
    with qtbot.waitSignal(store.history.result_shown, timeout=60_000):
        store.history.show_run(both)
    assert store.library.model is second, "the model in use is one of the run"
    qtbot.waitUntil(lambda: not store.pictures.busy)  # What is drawn for a card needs the card.


def test_a_page_of_several_models_speaks_of_the_one_in_use(qtbot, store, bench, both):
    panel, _ = bench("corruptions")
    for model in (*store.library.models, store.library.models[0]):
        store.library.use_model(model)
        panel.show_stored(both, store.history.workspace.result(both.id))
        place = both.request.place_of(model.fingerprint)
        own = both.verdict.models[place]
        said = panel.verdict.verdict
        assert said.status is own.status and said.number == own.number
        assert model.name in said.sentence and own.sentence in said.sentence
        assert strong(panel.board.widgets[0]) == [model.name]


def test_the_headline_says_whose_it_is_while_another_model_is_in_use(qtbot, store, sampled):
    first, second = store.library.models
    request = build_request(sampled, [first], store.library.dataset, {}, indices=(0,))
    run = finished(qtbot, store, request)
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel, timeout=60_000):
        panel.show()
    panel.show_stored(run, store.history.workspace.result(run.id))
    alone = panel.verdict.verdict.sentence
    assert first.name not in alone
    store.library.use_model(second)
    said = panel.verdict.verdict.sentence
    assert said == f"About {first.name}, not {second.name}: {alone}"
    store.library.use_model(first)
    assert panel.verdict.verdict.sentence == alone


def test_a_map_of_several_models_opens_on_the_one_in_use(qtbot, store, bench):
    first, second = store.library.models
    grid = {"axes": ("rotation", "scale"), "step": {"rotation": 30.0, "scale": 0.4}}
    request = build_request(
        "semantic_map", [first, second], store.library.dataset, grid, indices=(0,)
    )
    run = finished(qtbot, store, request)
    panel, _ = bench("semantic_map")
    for place, model in ((1, second), (0, first)):
        store.library.use_model(model)
        panel.show_stored(run, store.history.workspace.result(run.id))
        assert panel.which[0] == place
        assert panel.verdict.verdict.number == run.verdict.models[place].number
    panel.choose((1, 0))
    assert panel.which[0] == 1, "another one can be chosen"


def test_the_headline_keeps_saying_whose_it_is_while_a_new_run_waits(qtbot, store, sampled):
    first, second = store.library.models
    request = build_request(sampled, [first], store.library.dataset, {}, indices=(0,))
    run = finished(qtbot, store, request)
    panel = GenericPanel(store, sampled)
    qtbot.addWidget(panel)
    with qtbot.waitExposed(panel, timeout=60_000):
        panel.show()
    panel.show_stored(run, store.history.workspace.result(run.id))
    slow = build_request(
        "zonnscan", [first], store.library.dataset, {"samples": 4096}, indices=(0,)
    )
    store.submit(slow)
    qtbot.waitUntil(lambda: store.runner.active is not None, timeout=60_000)
    store.library.use_model(second)
    store.submit(build_request(sampled, [second], store.library.dataset, {}, indices=(0,)))
    assert panel.run_id == run.id, "the new run waits"
    assert panel.verdict.verdict.sentence.startswith(f"About {first.name}, not {second.name}: ")
    store.runner.stop_all()
    qtbot.waitUntil(lambda: not store.runner.busy, timeout=60_000)
