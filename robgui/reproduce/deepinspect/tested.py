"""The networks under test, trained if none is given, and what an inspection says about them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from robgui import resources
from robgui.analyses.deepinspect.counting.neurons import read
from robgui.analyses.deepinspect.inspection import deepinspect
from robgui.analyses.deepinspect.params import DeepInspectParams
from robgui.analyses.deepinspect.result import DeepInspectResult, Quality
from robgui.core.dataset import Dataset, match, open_dataset
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.reproduce.claim import Drawing, Setting
from robgui.reproduce.training import train

_NETWORKS = ("MLP", "CNN")
#: Passes over the training images, and most training images in a quick run.
_EPOCHS, _QUICK_EPOCHS, _QUICK_IMAGES, QUICK_INPUTS = 3, 2, 12_000, 1000


def tested_networks(setting: Setting, dataset: Dataset) -> Iterator[Classifier]:
    """The given models, the bundled ones with visible layers, or new ones trained on the images."""
    if setting.models:
        yield from setting.models
    elif setting.data is None:
        for path in resources.demo()[0].models:
            classifier = load(path)
            if refusal := _refusal(classifier, dataset):
                setting.say(f"{classifier.name} is left out: {refusal}")
            else:
                yield classifier
    else:
        images = open_dataset(setting.data, split="train")
        # Without a training split the same images come back; a network tested on what it learnt
        # from would show hardly any confusion.
        if images.fingerprint == open_dataset(setting.data).fingerprint:
            raise DataError(
                f"{setting.data} has no training images apart from the test images; give models"
                " with --models."
            )
        if setting.quick:
            epochs, most = (_QUICK_EPOCHS, _QUICK_IMAGES)
        else:
            epochs, most = (_EPOCHS, None)
        for name in _NETWORKS:
            yield setting.last(
                f"training of the {name}",
                train(name, images, epochs=epochs, seed=setting.seed, most=most),
            )


def _refusal(classifier: Classifier, dataset: Dataset) -> str:
    """Why there are no neurons to inspect; empty if there are."""
    try:
        # One input tells whether layers can be read.
        next(read(match(classifier, dataset), dataset.subset([0]), batch=1, last_layer=False))
    except ModelError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True)
class NetworkUnderTest:
    """A model with the inputs it is tested on."""

    classifier: Classifier
    dataset: Dataset
    setting: Setting

    @property
    def name(self) -> str:
        return self.classifier.name

    def drawing(self, analysis: str, result: object, what: str) -> Drawing:
        slug = re.sub(r"[^a-z0-9]+", "-", f"{what}-{self.name}".casefold()).strip("-")
        return Drawing(slug, analysis, result, f"{self.name}: {find(analysis).title}")


@dataclass(frozen=True, slots=True)
class InspectedNetwork:
    """What DeepInspect found for a network, compared with the labels."""

    subject: NetworkUnderTest
    result: DeepInspectResult
    confusion: Quality
    bias: Quality


def inspect(subject: NetworkUnderTest) -> InspectedNetwork:
    """The inspection of a network with labels; DataError without them."""
    engine = deepinspect(subject.classifier, subject.dataset, DeepInspectParams())
    result = subject.setting.last(f"{subject.name}: DeepInspect", engine)
    if result.confusion is None or result.bias is None:
        raise DataError(
            f"{subject.dataset.name} has no labels, so the truly confused pairs are unknown."
        )
    return InspectedNetwork(subject, result, result.confusion, result.bias)
