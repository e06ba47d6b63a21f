"""The real window and models that loop, crash, eat memory, sleep and talk, at every place where a
model is called: what the person sees, and that the window goes on.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from robgui.core.execution.run import RunState
from robgui.core.trust.opening import code_of
from robgui.gui.model.model_dialog import ModelDialog
from robgui.gui.state.opening import Opening
from tests.core.execution.worker import foreign
from tests.patience import LONGEST, Stopwatch

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
PATIENCE = int(LONGEST * 1000)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return foreign.write_files(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(scope="module")
def window(qapp, tmp_path_factory):
    """One for all tests, so that what one model leaves behind would show in the next."""
    from robgui.gui.app.app import application, leave, open_window

    before = os.environ.pop("ROBGUI_INLINE", None)
    application()
    made = open_window(tmp_path_factory.mktemp("workspace") / "w.robgui")
    made.store.memory = 1_500_000_000
    made.show()
    yield made
    made.close()
    with Stopwatch() as watch:
        assert leave(made, 0) == 0
    assert watch.seconds < 3
    if before is not None:
        os.environ["ROBGUI_INLINE"] = before


@pytest.fixture
def said(window):
    """Everything that the window says from now on."""
    sentences = []

    def hear(level, sentence, details):
        sentences.append(sentence)

    window.store.said.connect(hear)
    yield sentences
    window.store.said.disconnect(hear)


@pytest.fixture
def store(qtbot, window):
    """The window's store, with data and without a model."""
    made = window.store
    qtbot.waitUntil(lambda: bool(made.library.devices), timeout=PATIENCE)
    for model in list(made.library.models):
        made.library.remove_model(model)
    yield made
    made.stop_everything()
    qtbot.waitUntil(lambda: not made.busy and not made.runner.busy, timeout=PATIENCE)


def open_model(store, files, build):
    path = files / "foreign.safetensors"
    settings = {"architecture": f"foreign.py:{build}", "shape": (3,)}
    digest = code_of(path, architecture=settings["architecture"])
    store.answers.forgive(str(path))  # as when the user opens it
    store.library.load_model(Opening(path, settings=settings, trusted=digest, quiet=True))


def opened(qtbot, store, files, build):
    for model in list(store.library.models):
        store.library.remove_model(model)
    open_model(store, files, build)
    qtbot.waitUntil(lambda: not store.busy, timeout=PATIENCE)
    return store.library.model


def mischief(store):
    return "MISCHIEF" in store.answers._service._workers.words


def assert_goes_on(qtbot, store, files):
    """A good model can be opened and asked."""
    assert opened(qtbot, store, files, "good") is not None
    x = np.full((1, 3), 0.5, np.float32)
    asked = []
    store.pictures.run(
        lambda: store.answers.ask("scores", model=store.library.model, x=x), asked.append
    )
    qtbot.waitUntil(lambda: bool(asked), timeout=PATIENCE)
    assert asked[0].probabilities.shape == (1, 4)


@pytest.mark.parametrize("build", ["hangs_at_once", "sleeps_at_once"])
def test_at_loading_a_model_that_never_answers_is_stopped_within_three_seconds(
    qtbot, window, store, files, said, build
):
    open_model(store, files, build)
    qtbot.waitUntil(lambda: mischief(store), timeout=PATIENCE)
    assert window.status._working.text() == "Loading foreign.safetensors …"
    assert window.status.stop.isVisible()
    with Stopwatch() as watch:
        window.status.stop.click()
        qtbot.waitUntil(lambda: not store.busy, timeout=PATIENCE)
    assert watch.seconds < 3
    assert "foreign.safetensors was not opened" in said[-1] and "it was stopped" in said[-1]
    assert store.library.model is None
    assert_goes_on(qtbot, store, files)


@pytest.mark.parametrize(
    ("build", "words"), [("aborts_at_once", "SIGABRT"), ("eats_at_once", "memory")]
)
def test_at_loading_a_model_that_breaks_its_process_is_one_sentence(
    qtbot, store, files, said, build, words
):
    assert opened(qtbot, store, files, build) is None
    assert words in said[-1]
    assert_goes_on(qtbot, store, files)


def test_a_model_that_prints_without_end_is_opened(qtbot, store, files):
    assert opened(qtbot, store, files, "talks_at_once").classes == 4
    assert_goes_on(qtbot, store, files)


@pytest.fixture
def preview(qtbot, store, files):
    """Opens the dialog of a model and changes its settings until the mischief has begun."""
    dialogs = []

    def make(build):
        store.library.load_dataset(files / "data.npz")
        qtbot.waitUntil(lambda: not store.busy, timeout=PATIENCE)
        path, settings = files / "foreign.safetensors", {"architecture": f"foreign.py:{build}"}
        card = []
        asked = {"path": str(path), "trust": [code_of(path, **settings)], "device": "cpu"}
        more = {"autocast": False, "settings": {**settings, "shape": (3,)}}
        store.pictures.run(lambda: store.answers.ask("model", **asked, **more), card.append)
        qtbot.waitUntil(lambda: bool(card), timeout=PATIENCE)
        dialog = ModelDialog(store, card[0])
        dialogs.append(dialog)
        dialog.show()
        for step in range(1, 3 * foreign.GOOD):
            over = lambda: mischief(store) or not store.pictures.busy  # noqa: E731
            qtbot.waitUntil(over, timeout=PATIENCE)
            if mischief(store) or dialog.problem.text():
                break
            dialog.form.show_values({"mean": (step / 100,)})
            dialog._recompute()
        return dialog

    yield make
    for dialog in dialogs:
        dialog.close()


@pytest.mark.parametrize("build", ["loops", "sleeps"])
def test_in_a_preview_cancel_works_at_once_and_the_model_is_ended_within_three_seconds(
    qtbot, window, store, files, preview, build
):
    dialog = preview(build)
    assert not dialog.use.isEnabled() and dialog.verdict.text() in (
        "Computing …",
        "Measuring the accuracy …",
    )
    qtbot.waitUntil(
        lambda: window.status._working.text() == "Waiting for foreign.safetensors to answer …",
        timeout=PATIENCE,
    )
    with Stopwatch() as watch:
        dialog.cancel.click()
        assert not dialog.isVisible()
        qtbot.waitUntil(lambda: not store.pictures.busy, timeout=PATIENCE)
    assert watch.seconds < 3
    assert_goes_on(qtbot, store, files)


@pytest.mark.parametrize(("build", "words"), [("aborts", "SIGABRT"), ("eats", "memory")])
def test_in_a_preview_a_model_that_breaks_its_process_is_one_sentence(
    qtbot, store, files, preview, build, words
):
    dialog = preview(build)
    qtbot.waitUntil(lambda: not store.pictures.busy, timeout=PATIENCE)
    assert words in dialog.problem.text() + dialog.warnings.text()
    assert_goes_on(qtbot, store, files)


def test_in_the_gallery_a_model_that_never_answers_gives_way_and_says_so(
    qtbot, window, store, files
):
    store.library.load_dataset(files / "data.npz")
    opened(qtbot, store, files, "sleeps")
    for _ in range(2 * foreign.GOOD):
        predictions = store.library.predictions
        qtbot.waitUntil(
            lambda: mischief(store) or bool((predictions.classes >= 0).all()),  # noqa: B023
            timeout=PATIENCE,
        )
        if mischief(store):
            break
        store.library.use_model(store.library.model)
        qtbot.wait(50)
        qtbot.waitUntil(lambda: not store.busy, timeout=PATIENCE)
    assert_goes_on(qtbot, store, files)


def test_in_a_run_stop_keeps_the_partial_result_and_the_next_run_works(qtbot, window, store, files):
    request = foreign.ask(files, "loops")
    store.library.load_dataset(files / "data.npz")
    opened(qtbot, store, files, "loops")
    execution = store.submit(request)
    qtbot.waitUntil(lambda: execution.newest is not None, timeout=PATIENCE)
    qtbot.wait(2000)
    with Stopwatch() as watch:
        window.run_pane.stop_job()
        qtbot.waitUntil(lambda: execution.state.ended, timeout=PATIENCE)
    assert watch.seconds < 3
    assert execution.state is RunState.CANCELLED
    opened(qtbot, store, files, "good")
    again = store.submit(foreign.ask(files, "good", samples=256))
    qtbot.waitUntil(lambda: again.state.ended, timeout=PATIENCE)
    assert again.state is RunState.DONE
    stored = {run.id: run for run in store.history.workspace.runs()}
    assert stored[execution.run_id].has_result
