"""A store with three of the demo's models and its images, and the panels of the zoNNscan page."""

from __future__ import annotations

import pytest

from robgui import resources
from robgui.core.dataset import open_dataset
from robgui.core.execution import registry
from robgui.core.loading import load
from robgui.gui.app.theme import theme
from robgui.gui.forms.run_pane import RunPane
from robgui.gui.panels import make_panel
from robgui.gui.state.store import Store
from robgui.gui.widgets.views import ViewBoard
from tests.gui.sampled import SAMPLED


@pytest.fixture(scope="session")
def demo_models():
    """The quick ones of the demo: an exported network and a script."""
    return [
        load(resources.path("demo", name), device="cpu")
        for name in ("fashion_mlp.pt2", "fashion_rnn.pt")
    ]


@pytest.fixture(scope="session")
def demo_images():
    return open_dataset(resources.path("demo", "fashion.npz"))


@pytest.fixture
def store(qtbot, tmp_path, demo_models, demo_images):
    theme.apply(False)
    made = Store()
    made.analyses = registry.analyses()
    with qtbot.waitSignal(made.history.opened):
        made.open_workspace(tmp_path / "test.robgui")
    made.library.add_dataset(demo_images)
    for model in demo_models:
        made.library.add_model(made.answers.hold(model), activate=model is demo_models[0])
    qtbot.waitUntil(lambda: not made.busy)
    yield made
    assert made.shutdown()


@pytest.fixture
def sampled(store):
    """A small analysis with a view of every kind."""
    registry.register(SAMPLED)
    store.analyses = registry.analyses()
    yield SAMPLED
    registry.unregister(SAMPLED.name)


@pytest.fixture
def bench(qtbot, store):
    """Makes a panel with its form: ``panel, pane = bench("zonnscan")``."""

    def make(analysis):
        panel, pane = make_panel(store, store.analyses[analysis]), RunPane(store)
        for widget in (panel, pane):
            qtbot.addWidget(widget)
        pane.show_analysis(analysis)
        panel.resize(720, 500)
        with qtbot.waitExposed(panel):
            panel.show()
        return panel, pane

    return make


@pytest.fixture
def run(qtbot, store):
    """Presses Run with these settings and waits until the run has ended and is drawn."""

    def press(panel, pane, **values):
        pane.form().set_values(values)
        assert pane.run.isEnabled(), store.next_run.obstacle(panel.analysis.name)
        pane.run.click()
        over = lambda: not store.runner.busy and not store.busy  # noqa: E731 - the history has it too
        qtbot.waitUntil(
            lambda: over() and bool(store.history.runs) and store.history.runs[0].state.ended,
        )
        assert not store.history.runs[0].error
        drawn = lambda: panel.run_id == store.history.runs[0].id and panel.result is not None  # noqa: E731
        qtbot.waitUntil(lambda: drawn() and panel.complete and not panel.stale)
        for board in panel.findChildren(ViewBoard):
            qtbot.waitUntil(lambda: board.complete)  # noqa: B023
        return panel.result

    return press
