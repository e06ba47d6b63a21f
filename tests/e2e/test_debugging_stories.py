"""Failures followed from panel to panel, models compared, and everything found again: on the
real window and the demo.
"""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pytest
from PySide6.QtWidgets import QFileDialog

from robgui import resources
from robgui.core.dataset import open_dataset
from robgui.core.execution.method import methods
from robgui.core.execution.request import build_request, reference
from robgui.core.execution.run import RunState
from robgui.core.loading import load
from robgui.core.workspace import Workspace
from robgui.gui.pages.compare_columns import matching
from robgui.gui.pages.scoreboard import BEFORE
from robgui.gui.pages.scoreboard_cells import NOT_RUN
from robgui.gui.widgets.plots import Plot
from tests.e2e.steps import choose_model, click_cell, idle, load_demo, press, run, send
from tests.inline import steps

MLP, CNN = "fashion_mlp.pt2", "fashion_cnn.safetensors"
SWEEP = {"samples": 64, "radii": (0.0, 0.02, 0.05, 0.1, 0.2)}
#: What the list of pairs is called, depending on what was found.
PAIRS = ("Pairs that look alike", "Nearest pairs")


class Links(HTMLParser):
    """The text of a page and every address in it."""

    def __init__(self, page):
        super().__init__()
        self.text, self.addresses, self.tags = "", [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.addresses += [
            value
            for name, value in attrs
            if name in ("src", "href", "srcset", "action", "data", "poster")
        ]

    def handle_data(self, data):
        self.text += data


@pytest.mark.slow  # three analyses; each panel's tests have its part
def test_a_confused_pair_is_attacked_scanned_and_reported(qtbot, start, tmp_path, monkeypatch):
    window = start()
    load_demo(qtbot, window)
    choose_model(qtbot, window, MLP)
    store = window.store
    window.show_panel("deepinspect")
    inspected = run(qtbot, window)
    panel = window.current_panel
    board = panel.board

    def pairs():
        titles = [widget.view.title for widget in board.widgets]
        return [i for i, title in enumerate(titles) if title in PAIRS]

    qtbot.waitUntil(lambda: bool(pairs()))
    (place,) = pairs()
    board.bar.setCurrentIndex(place - (len(board.widgets) - board.bar.count()))
    click_cell(qtbot, board.widgets[place].sheet, 0)
    a, b = store.selection.pair
    classes = panel.result.classes

    send(qtbot, window, f"An input between “{classes[a]}” and “{classes[b]}”", "feature_game")
    target = window.run_pane.form().values().target
    assert target in (classes[a], classes[b]), "the other class of the pair stands in the form"
    attacked = run(qtbot, window, max_calls=2500, persistence=False)
    game = window.current_panel
    assert game.result.labels[game.result.found_class] == target, (
        "the attack was targeted and found its target"
    )
    assert {game.result.labels[game.result.original], target} == {classes[a], classes[b]}

    send(qtbot, window, "The adversarial example", "zonnscan")
    swept = run(qtbot, window, **SWEEP)
    sweep = window.current_panel
    np.testing.assert_allclose(sweep.result.input, game.result.best, atol=1e-6)
    assert sweep.result.labels[sweep.result.predicted] == target

    report = tmp_path / "failures.html"
    monkeypatch.setattr(
        QFileDialog, "getSaveFileName", lambda *_, **__: (str(report), "HTML (*.html)")
    )
    window.actions_["report"].trigger()
    qtbot.waitUntil(
        lambda: any("Report written" in sentence for sentence in window.toasts.sentences),
    )
    page = Links(report.read_text(encoding="utf-8"))
    for kept in (inspected, attacked, swept):
        assert kept.verdict.sentence in page.text and kept.request.fingerprint in page.text
    root = f"fashion.npz, image {attacked.request.indices[0]}"
    assert f"{root} → Feature game on {MLP} → {root.split(', ')[1]}, " in page.text, (
        "the trail of the derived input"
    )
    assert f"#run-{attacked.id}" in page.addresses, "the trail leads to the run that made it"
    assert all(address.startswith(("#", "data:image/")) for address in page.addresses), (
        "no request leaves the file"
    )
    assert not page.tags & {"script", "link", "iframe", "object", "embed", "base"}


def test_two_models_are_compared_and_the_scoreboard_leads_to_their_runs(qtbot, start):
    window = start()
    load_demo(qtbot, window)
    store = window.store
    runs = {}
    for name in (MLP, CNN):
        choose_model(qtbot, window, name)
        window.show_panel("zonnscan")
        runs[name] = run(qtbot, window, **SWEEP)
    window.actions_["compare"].trigger()
    page = window.compare
    assert page.isVisible()
    plots = lambda: [plot for plot in page.findChildren(Plot) if plot.isVisible()]  # noqa: E731
    qtbot.waitUntil(lambda: page.shown == (runs[CNN].id, runs[MLP].id) and len(plots()) == 3)
    left, right, change = plots()
    left.box.setXRange(0.02, 0.1, padding=0)
    for plot in (right, change):
        assert plot.box.viewRange()[0] == pytest.approx([0.02, 0.1], abs=0.02), (
            "the axes move together"
        )

    if page.switch.isVisible():
        page.switch.setCurrentIndex(1)  # a low window shows the models in their turn
    board = page.scoreboard
    qtbot.waitUntil(lambda: board.model().rowCount() > 0)
    names = board.names()
    assert set(names) == {model.name for model in store.library.models}
    row = board.analyses.index("zonnscan")
    for name, known in runs.items():
        number = known.verdict.number.words.partition(" (")[0].partition(", by")[0]
        cell = board.model().index(row, BEFORE + names.index(name)).data()
        assert cell.startswith(f"{known.verdict.status.sign} {number}"), "its number is in its cell"
    other = BEFORE + names.index("fashion_rnn.pt")
    assert board.model().index(row, other).data() == NOT_RUN

    click_cell(qtbot, board, row, BEFORE + names.index(CNN))
    qtbot.waitUntil(lambda: page.shown == (runs[MLP].id, runs[CNN].id))
    click_cell(qtbot, board, row, other)
    assert any("not been run" in sentence for sentence in window.toasts.sentences)
    click_cell(qtbot, board, row, BEFORE + names.index(MLP), twice=True)
    panel = window.panel("zonnscan")
    qtbot.waitUntil(lambda: window.current_panel is panel and panel.run_id == runs[MLP].id)
    assert panel.verdict.text() == runs[MLP].verdict.text


#: Every analysis with settings that take a moment: models, how many inputs, settings.
QUICK = {
    "accuracy": ((MLP,), 120, {}),
    "tolerance": ((MLP,), 3, {"sizes": 2}),
    "corruptions": ((MLP,), 8, {"severities": (1, 5)}),
    "zonnscan": ((MLP,), 1, SWEEP),
    "zonnscan_populations": ((MLP,), 24, {"most": 6, "samples": 16}),
    "zonnscan_corner_cases": ((MLP, "fashion_rnn.pt"), 60, {"most": 4, "samples": 16}),
    "zonnscan_watermark": (
        (MLP,),
        24,
        {"size": 4, "most": 16, "rounds": 4, "runs": 2, "samples": 16},
    ),
    "semantic_map": ((MLP,), 1, {"axes": ("rotation",)}),
    "semantic_regions": (
        (MLP,),
        1,
        {"axes": ("rotation",), "start_count": 1, "iterations": 5, "samples": 256},
    ),
    "srvr": ((MLP,), 1, {"axes": ("rotation",), "start_count": 1, "iterations": 5}),
    "operating_domain": (
        (MLP,),
        1,
        {"samples": 100, "search": 0, "critical": 0.01, "steps": 4, "replicas": 2},
    ),
    "feature_game": ((MLP,), 1, {"max_calls": 200, "persistence": False}),
    "feature_game_batch": ((MLP,), 3, {"max_calls": 200, "images": 2}),
    "attribution": ((MLP,), 1, {"patch": 7, "steps": 5}),
    "deepinspect": ((MLP,), 120, {}),
    "deepinspect_thresholds": ((MLP,), 120, {"thresholds": (0.4, 0.5)}),
    "deepinspect_coverage": ((MLP,), 60, {"sections": 10}),
    "last_particle": ((MLP,), 1, {"samples": 64, "steps": 4, "attack_steps": 2}),
    "last_particle_table": (
        (MLP,),
        3,
        {"radii": (0.01, 0.1), "most": 2, "samples": 64, "steps": 4, "attack_steps": 2},
    ),
    "pipeline_audit": ((MLP,), 8, {}),
}


def fill(path):
    """A workspace with one run of every analysis that has a panel, on the demo."""
    images = open_dataset(resources.path("demo", "fashion.npz"))
    models = {
        name: load(resources.path("demo", name), device="cpu") for name in (MLP, "fashion_rnn.pt")
    }
    with Workspace.open(path) as workspace:
        for item in (images, *models.values()):
            workspace.files.remember(reference(item))
        for analysis, (names, count, params) in QUICK.items():
            chosen = [models[name] for name in names]
            request = build_request(analysis, chosen, images, params, indices=list(range(count)))
            driven = steps(request, workspace, chosen, images)
            for _ in driven:
                pass
            assert driven.execution.state is RunState.DONE, f"{analysis}: {driven.execution.error}"


def test_every_panel_redraws_from_a_reopened_workspace(qtbot, start, tmp_path):
    ours = {one.name for method in methods() for one in method.analyses}
    assert set(QUICK) == ours, "one run for every panel"
    fill(tmp_path / "story.robgui")
    window = start()
    errors = []
    window.store.said.connect(
        lambda level, sentence, details: (
            errors.append((sentence, details)) if level == "error" else None
        )
    )
    qtbot.waitUntil(lambda: len(window.store.library.models) == 2)
    idle(qtbot, window)
    table = window.runs.table
    window.runs_dock.raise_()
    for row, stored in enumerate(window.store.history.runs):
        click_cell(qtbot, table, row)
        press(qtbot, window.runs.buttons["show"])
        panel = window.panel(stored.request.analysis)
        qtbot.waitUntil(
            lambda panel=panel, stored=stored: panel.run_id == stored.id and panel.isVisible(),
        )
        said = window.store.history.evidence.shown(stored.verdict, stored.request, stored.id)
        assert panel.result is not None and panel.verdict.text() == said.text, (
            stored.request.analysis
        )
        assert not panel.grab().isNull()
        views = panel.views()
        assert len(matching(views, views)) == len(views) > 0, (
            "and it can be laid beside another run"
        )
        known = window.store.analyses[stored.request.analysis]
        if not known.several_models:
            assert not panel.stale, f"{known.name}: form, model and input are those of the run"
    idle(qtbot, window)
    qtbot.waitUntil(lambda: not window.store.pictures.busy)
    assert not errors
