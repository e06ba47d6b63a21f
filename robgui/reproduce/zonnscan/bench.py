"""What the claims of the zoNNscan paper are run on: models, inputs and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar

import numpy as np

from robgui import resources
from robgui.analyses.zonnscan.disagreement import corner_cases
from robgui.core.dataset import Dataset, align, batches, inputs, match, open_dataset
from robgui.core.errors import DataError
from robgui.core.execution.step import Step
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.text.words import percent
from robgui.reproduce.claim import Setting
from robgui.reproduce.training import NETWORKS, train

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class SweepSize:
    """How much is computed, and how far the attack goes.

    Attributes:
        eps: Attack size of the adversarial twins.
        other_eps: A second one, reported beside it; 0 for none.
        inputs: Test inputs that get an adversarial twin (paper: 500).
        test: Test inputs that corner cases are compared with (paper: 1,000).
        samples: Sobol samples around each of them, 64 at least (paper: 10,000 plain ones).
        key_pool: Test inputs from which a watermark key of 100 is made.
        runs: Times the key is scanned (paper: 100); the test counts every run, so fewer would not
            be the paper's test.
        key_samples: Plain samples of such a scan (paper: 1,000).
        sweeps: Inputs that are swept, each with its twin (paper: 1).
        sweep_samples: Sobol samples per radius (paper: 10,000 plain ones).
        epochs: Passes over the training images.
        training: Most training images; None for all.
    """

    eps: float
    other_eps: float
    inputs: int = 500
    test: int = 1000
    samples: int = 64
    key_pool: int = 2000
    runs: int = 100
    key_samples: int = 10
    sweeps: int = 5
    sweep_samples: int = 256
    epochs: int = 3
    training: int | None = None


#: The only attack size the paper names for grey images is that of its Figure 2, for MNIST.
_PAPER_EPS = 0.2
#: The attack size that the analysis has by default.
_OWN_EPS = 0.1
BUNDLED = SweepSize(_OWN_EPS, _PAPER_EPS)
GIVEN = SweepSize(_PAPER_EPS, _OWN_EPS, samples=128, key_samples=30, sweep_samples=512)
SMALL = SweepSize(
    0,
    0,
    200,
    200,
    64,
    key_pool=600,
    runs=20,
    key_samples=8,
    sweeps=2,
    sweep_samples=64,
    epochs=2,
    training=12_000,
)


@dataclass(frozen=True, slots=True)
class PaperModel:
    """A model under test: its name, its column in the paper's Table I, and itself."""

    name: str
    place: int
    classifier: Classifier

    @property
    def slug(self) -> str:
        """Its name in a file name."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.casefold()).strip("-")


@dataclass(frozen=True)
class SweepBench:
    """Models, inputs in a random order, and sizes."""

    subjects: tuple[PaperModel, ...]
    dataset: Dataset
    order: np.ndarray
    size: SweepSize
    setting: Setting

    @property
    def seed(self) -> int:
        """Start of the random numbers."""
        return self.setting.seed

    @property
    def words(self) -> str:
        """Which models with which accuracy on what, in one sentence."""
        models = ", ".join(
            f"{subject.name} {percent(_accuracy(subject.classifier, self.dataset))}"
            for subject in self.subjects
        )
        return f"zonnscan: {len(self.dataset):,} inputs of {self.dataset.name}; accuracy: {models}."

    def last(self, title: str, steps: Iterable[Step[R]]) -> R:
        """The last result of an engine."""
        return self.setting.last(title, steps)

    @cached_property
    def corner_cases(self) -> np.ndarray:
        """Places of the inputs on which the models disagree, in rising order."""
        classifiers = [subject.classifier for subject in self.subjects]
        return corner_cases(classifiers, inputs(classifiers[0], self.dataset))[0]


def open_bench(setting: Setting) -> SweepBench:
    """The bundled networks and images, the given ones, or networks trained on the given images."""
    if setting.data is None:
        entry = resources.demo()[0]
        dataset = open_dataset(entry.dataset)
        classifiers = setting.models or tuple(load(path) for path in entry.models)
        size = BUNDLED
    else:
        dataset = open_dataset(setting.data)
        classifiers = setting.models
        size = GIVEN
    if setting.quick:
        # SMALL has no attack size of its own: 0 is a placeholder.
        size = replace(SMALL, eps=size.eps)
    if not classifiers:
        classifiers = _trained(setting, size)
    fitting = tuple(match(classifier, dataset) for classifier in classifiers)
    if setting.models:
        names = names_of(fitting)
    else:
        # Bundled and trained networks come as MLP, CNN, RNN, the columns of Table I.
        names = list(NETWORKS)
    subjects = tuple(
        PaperModel(name, place, classifier)
        for place, (name, classifier) in enumerate(zip(names, fitting, strict=True))
    )
    # One order for all claims, so they speak of the same inputs.
    order = np.random.default_rng(setting.seed).permutation(len(dataset))
    return SweepBench(subjects, align(fitting[0], dataset), order, size, setting)


def names_of(classifiers: Sequence[Classifier]) -> list[str]:
    """The name of each model, with its number if two share a name."""
    names = [classifier.name for classifier in classifiers]
    return [
        f"{name} ({place})" if names.count(name) > 1 else name
        for place, name in enumerate(names, 1)
    ]


def _trained(setting: Setting, size: SweepSize) -> tuple[Classifier, ...]:
    assert setting.data is not None
    images = open_dataset(setting.data, split="train")
    if images.fingerprint == open_dataset(setting.data).fingerprint:
        raise DataError(
            f"{setting.data} has no training images apart from the test images; give models with"
            " --models."
        )
    steps = {
        name: train(name, images, epochs=size.epochs, seed=setting.seed, most=size.training)
        for name in NETWORKS
    }
    return tuple(
        setting.last(f"training of the {name}", training) for name, training in steps.items()
    )


def _accuracy(classifier: Classifier, dataset: Dataset) -> float:
    if dataset.labels is None:
        return float("nan")
    right = sum(
        int((classifier.infer(x).argmax(1).cpu().numpy() == dataset.labels[indices]).sum())
        for indices, x in batches(classifier, dataset)
    )
    return right / max(1, len(dataset))
