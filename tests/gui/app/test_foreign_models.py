"""The real window and models that loop, crash, eat memory, sleep and talk, at every place where a
model is called: what the person sees, and that the window goes on.

``python -m tests.stress.foreign`` walks the same table under a real X server, with the mouse.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PySide6.QtWidgets import QApplication

from tests.core.execution.worker import foreign
from tests.core.execution.worker.foreign import STUCK, WINDOW, tried
from tests.stress.foreign_window import Person

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")
ENDED = "The model could not be used: its worker process"
SAID_AT_LOADING = {
    "aborts": f"foreign.safetensors was not opened. {ENDED} was ended by signal 6 (SIGABRT).",
    "eats": "memory",
}
SAID_IN_PREVIEWS = {"aborts": f"{ENDED} was ended by signal 6 (SIGABRT).", "eats": "memory"}
SAID_IN_RUNS = {
    "aborts": (
        "Its worker process was ended by signal 6 (SIGABRT); the result so far is kept. See the log"
        " for details."
    ),
    "eats": "memory",
}


@pytest.fixture(scope="module")
def person(qapp, tmp_path_factory):
    """One window for all models, so that what one leaves behind would show in the next."""
    made = Person(foreign.write_files(tmp_path_factory.mktemp("foreign")))
    yield made
    assert made.leave() < 3


def assert_bearable(seen, words):
    assert words in seen.said
    assert (seen.stopped is not None) == (seen.model in STUCK)
    assert seen.stopped is None or seen.stopped < 3
    assert seen.kept is not False, "the result so far is lost"
    assert seen.gap < 200, "the window was away"
    assert seen.again, "the next run does not work"


@pytest.mark.parametrize("model", tried(WINDOW, "at_loading"))
def test_at_loading_a_model_is_stopped_within_three_seconds_or_told_in_one_sentence(person, model):
    stopped = "foreign.safetensors was not opened. The model could not be used: it was stopped."
    assert_bearable(person.at_loading(model), SAID_AT_LOADING.get(model, stopped))


@pytest.mark.parametrize("model", tried(WINDOW, "in_preview"))
def test_in_a_preview_a_model_is_left_within_three_seconds_or_told_in_one_sentence(person, model):
    waiting = "Waiting for foreign.safetensors to answer …"
    assert_bearable(person.in_preview(model), SAID_IN_PREVIEWS.get(model, waiting))


@pytest.mark.parametrize("model", tried(WINDOW, "in_run"))
def test_in_a_run_stop_works_within_three_seconds_and_the_result_so_far_is_kept(person, model):
    stopped = (
        "It did not stop within 2 s, so its worker process was ended; the result so far is kept."
    )
    assert_bearable(person.in_run(model), SAID_IN_RUNS.get(model, stopped))


@pytest.mark.x11
@pytest.mark.parametrize("place", ["at_loading", "in_preview", "in_run"])
def test_in_a_real_window_a_click_stops_a_model_that_loops(person, place):
    assert QApplication.platformName() == "xcb"
    assert_bearable(getattr(person, place)("loops"), "")


def test_a_model_that_prints_much_is_opened(person):
    person.open_model("talks_at_once", quiet=True)
    person.wait(lambda: not person.store.busy, "the model")
    assert person.store.library.model.classes == 4
    assert person.works()


def test_in_the_gallery_a_model_that_never_answers_gives_way_to_the_next(person):
    library = person.store.library
    person.open_model("sleeps", quiet=True)
    person.wait(lambda: not person.store.busy, "the model")
    for _ in range(2 * foreign.GOOD):
        predictions = library.predictions
        known = lambda: bool((predictions.classes >= 0).all())  # noqa: E731, B023
        person.wait(lambda: person.misbehaves or known(), "predictions")  # noqa: B023
        if person.misbehaves:
            break
        library.use_model(library.model)
        person.wait(lambda: not person.store.busy, "the model")
    assert person.misbehaves and person.works()


def test_a_good_model_is_asked_after_all_of_them(person):
    assert person.works()
    store, asked = person.store, []
    x = np.full((1, 3), 0.5, np.float32)
    ask = lambda: store.answers.ask("scores", model=store.library.model, x=x)  # noqa: E731
    store.pictures.run(ask, asked.append)
    person.wait(lambda: bool(asked), "the answer")
    assert asked[0].probabilities.shape == (1, 4)
