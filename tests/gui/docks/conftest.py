"""A store with a real workspace, a small model, small data and a small analysis that can be
watched.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.dataset import from_arrays
from robgui.core.execution import registry
from robgui.core.execution.analysis import analysis
from robgui.core.execution.params.params import Params
from robgui.core.execution.request import build_request
from robgui.core.execution.step import Step
from robgui.core.finding import Finding
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, Verdict
from robgui.gui.app.theme import theme
from robgui.gui.state.store import Store

NAMES = ("ant", "bee", "cat")


@dataclass(frozen=True)
class CountResult:
    value: float


class CountParams(Params):
    steps: int = 5
    pause: float = 0.0


def _verdict(result, params):
    return Verdict(Status.UNKNOWN, f"Counted to {result.value:g}.")


def _findings(result, params):
    picture = np.full((20, 30, 3), 90, np.uint8)
    return [
        Finding("crossing", "ant becomes bee", 0.4, picture=picture),
        Finding("trap", "cat is lost", 0.9),
    ]


def count_up(classifier: Classifier, dataset, params: CountParams) -> Iterator[Step[CountResult]]:
    for step in range(params.steps):
        time.sleep(params.pause)
        yield Step(step + 1, params.steps, CountResult(float(step)))


@pytest.fixture
def counting():
    """The analysis ``count_up``, registered for one test."""
    made = analysis(
        title="Counting",
        question="How far?",
        verdict=_verdict,
        views=lambda result, params: (),
        findings=_findings,
    )
    yield registry.register(made(count_up))
    registry.unregister("count_up")


@pytest.fixture
def store(qtbot, tmp_path, counting):
    theme.apply(False)
    made = Store()
    made.analyses = registry.analyses()
    with qtbot.waitSignal(made.history.opened):
        made.open_workspace(tmp_path / "test.robgui")
    yield made
    assert made.shutdown()


@pytest.fixture
def model():
    """Scores are the pixel means of three thirds of the image: the brightest third wins."""
    torch.manual_seed(0)
    layer = nn.Linear(12, 3, bias=False)
    with torch.no_grad():
        layer.weight.copy_(torch.kron(torch.eye(3), torch.ones(1, 4)))
    return Classifier.from_module(
        nn.Sequential(nn.Flatten(), layer), (1, 3, 4), NAMES, name="thirds"
    )


@pytest.fixture
def dataset():
    """Sixty small images, every fifth with a wrong label."""
    images, labels = thirds(60)
    return from_arrays(images, labels, names=NAMES, name="small")


def thirds(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Images whose brightest third is their class, and labels of which every fifth is wrong."""
    classes = np.arange(count) % 3
    images = np.full((count, 3, 4), 20, np.uint8)
    images[np.arange(count), classes] = 200
    labels = classes.copy()
    labels[::5] = (labels[::5] + 1) % 3
    return images, labels


@pytest.fixture
def filled(qtbot, store, model, dataset):
    """The store with model and data, all predicted."""
    store.library.add_dataset(dataset)
    store.library.add_model(store.answers.hold(model))
    qtbot.waitUntil(
        lambda: (
            len(store.library.predictions.classes) == len(dataset)
            and bool((store.library.predictions.classes >= 0).all())
        ),
    )
    return store


@pytest.fixture
def request_of(filled):
    """Makes a Request for ``count_up``."""

    def make(**params):
        return build_request(
            "count_up", [filled.library.model], filled.library.dataset, params, indices=[3]
        )

    return make
