"""Service: many threads ask one process, and no model keeps the others from being asked."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

from robgui.core.errors import ModelError, TrustError
from robgui.core.execution.asking.service import Service
from robgui.core.execution.worker.terms import Terms
from robgui.core.trust.opening import code_of
from tests.core.execution.worker import foreign
from tests.patience import Stopwatch, wait_for

pytestmark = pytest.mark.skipif(not Path("/proc").exists(), reason="looks at /proc")


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return foreign.write_files(tmp_path_factory.mktemp("foreign"))


@pytest.fixture(scope="module")
def said():
    return []


@pytest.fixture(scope="module")
def service(said):
    made = Service(Terms(keep=True, memory=1_500_000_000), said.append)
    yield made
    made.close()


def opened(service, files, build, **more):
    path = files / "foreign.safetensors"
    settings = {"architecture": f"foreign.py:{build}", "shape": (3,)}
    trust = [code_of(path, architecture=settings["architecture"])]
    asked = {"path": str(path), "trust": trust, "device": "cpu", "autocast": False}
    return service.ask("model", settings=settings, subject=build, **asked, **more)


def scores(service, card, rows=1, **more):
    x = np.full((rows, 3), 0.5, np.float32)
    return service.ask("scores", model=card.asked(), x=x, subject=card.name, **more)


def in_background(work):
    """Runs ``work`` on a thread; gives a list that its answer or error is put into."""
    answers = []

    def run():
        try:
            answers.append(work())
        except ModelError as error:
            answers.append(error)

    threading.Thread(target=run, daemon=True).start()
    return answers


def ask_for_mischief(service, card, topic="mischief", urgent=True):
    def work():
        for _ in range(2 * foreign.GOOD):
            scores(service, card, topic=topic, urgent=urgent)

    return in_background(work)


def test_a_card_that_comes_back_says_what_the_model_is_and_answers(service, files):
    card = opened(service, files, "good")
    assert (card.shape, card.classes, card.name) == ((3,), 4, "foreign.safetensors")
    found = scores(service, card, rows=5)
    assert found.probabilities.shape == (5, 4)
    assert np.allclose(found.probabilities.sum(1), 1, atol=1e-6)


def test_a_card_with_other_settings_is_answered_without_reading_the_file_again(service, files):
    card = opened(service, files, "good")
    other = card.with_settings(card.settings.change(low=(0.0,), high=(2.0,)))
    moved = files / "away.safetensors"
    (files / "foreign.safetensors").rename(moved)
    try:
        found = scores(service, other)
    finally:
        moved.rename(files / "foreign.safetensors")
    assert not np.allclose(found.probabilities, scores(service, card).probabilities)


def test_a_file_that_would_run_code_is_refused_with_the_sentence(service, files):
    path = files / "foreign.safetensors"
    asked = {"path": str(path), "trust": [], "device": "cpu", "autocast": False}
    with pytest.raises(TrustError, match="foreign"):
        service.ask("model", settings={"architecture": "foreign.py:loops"}, **asked)


def test_a_question_that_is_stopped_ends_within_three_seconds_and_the_next_one_is_answered(
    service, files
):
    answers = ask_for_mischief(service, opened(service, files, "loops"))
    wait_for(lambda: "MISCHIEF" in service.words, "the mischief")
    with Stopwatch() as watch:
        service.stop("mischief")
        wait_for(lambda: answers, "the end")
    assert watch.seconds < 3
    assert "it was stopped" in str(answers[0])
    assert scores(service, opened(service, files, "good")).probabilities.shape == (1, 4)


def test_a_model_that_nobody_waits_for_gives_way_to_one_that_somebody_waits_for(service, files):
    card = opened(service, files, "sleeps")
    answers = ask_for_mischief(service, card, urgent=False)
    wait_for(lambda: "MISCHIEF" in service.words, "the mischief")
    good = opened(service, files, "good")
    assert "others waited" in str(answers[0])
    assert scores(service, good).probabilities.shape == (1, 4)


def test_a_model_that_has_cost_two_processes_is_not_asked_unasked(service, files):
    for _ in range(2):
        with pytest.raises(ModelError, match="SIGABRT"):
            opened(service, files, "aborts_at_once")
    with pytest.raises(ModelError, match="two processes already"):
        opened(service, files, "aborts_at_once", urgent=False)
    service.forgive("aborts_at_once")
    with pytest.raises(ModelError, match="SIGABRT"):
        opened(service, files, "aborts_at_once", urgent=False)


def test_it_says_what_it_waits_for(service, files, said):
    answers = ask_for_mischief(service, opened(service, files, "sleeps"))
    wait_for(lambda: said and said[-1] == "Waiting for foreign.safetensors to answer …", "words")
    service.stop("")
    wait_for(lambda: answers, "the end")
    wait_for(lambda: said[-1] == "", "silence")


def test_closing_tells_whoever_waits_and_does_not_wait_for_the_model(files):
    service = Service(Terms(memory=1_500_000_000))
    answers = ask_for_mischief(service, opened(service, files, "loops"))
    wait_for(lambda: "MISCHIEF" in service.words, "the mischief")
    with Stopwatch() as watch:
        service.close()
        wait_for(lambda: answers, "the end")
    assert watch.seconds < 1
    assert "closed" in str(answers[0])
