"""What the claims of the last particle paper are run on: tables, networks, forests and sizes."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from robgui import resources
from robgui.core.dataset import Dataset, from_arrays, inputs, match, open_dataset
from robgui.core.errors import DataError, MissingExtraError
from robgui.core.loading import load
from robgui.core.loading.sklearn_files.model import EstimatorBackend
from robgui.core.model.classifier import Classifier
from robgui.core.model.settings import ModelSettings
from robgui.core.text.words import percent
from robgui.reproduce.claim import Setting
from robgui.reproduce.last_particle.hardening import Defence, train_table
from robgui.reproduce.last_particle.trajectories import FEATURES, NAMES, read_trajectories

#: Hidden layers of the paper's networks: three of one layer, one of three.
PAPER_NETWORKS = ((100,), (500,), (1000,), (500, 100, 50))


@dataclass(frozen=True, slots=True)
class ParticleSize:
    """How much is computed.

    Attributes:
        radii: Sizes of the noise (paper: these seven).
        inputs: Inputs tested, of those that the model gets right (paper: 100).
        samples: Plain samples for each (paper: a million).
        networks: Hidden layers of the networks of Table 1, where they are trained.
        trees: Numbers of trees of Table 2 (paper: 100, 500, 1,000).
        hidden: Hidden layers of the networks of Table 3.
        epochs: Passes over the training rows.
        critical: The failure probability to stay below (paper: this).
    """

    radii: tuple[float, ...] = (1e-4, 5e-4, 1e-3, 5e-3, 0.01, 0.05, 0.1)
    inputs: int = 100
    samples: int = 10_000
    networks: tuple[tuple[int, ...], ...] = PAPER_NETWORKS
    trees: tuple[int, ...] = (50, 100, 200)
    hidden: tuple[int, ...] = (100,)
    epochs: int = 60
    critical: float = 1e-10


SMALL = ParticleSize((1e-4, 1e-3, 0.01, 0.1), 12, 500, ((100,),), (5, 10), (30,), 30)


@dataclass(frozen=True)
class ParticleBench:
    """Rows to learn from and rows to test on, both in [0, 1]."""

    setting: Setting
    size: ParticleSize
    what: str
    names: tuple[str, ...]
    x: np.ndarray
    y: np.ndarray
    test: Dataset
    given: tuple[Classifier, ...] = ()
    given_test: Dataset | None = None

    def networks(self) -> list[tuple[Classifier, Dataset]]:
        """The networks of Table 1 with what they are tested on.

        Given or bundled ones, else newly trained.
        """
        if self.given and self.given_test is not None:
            return [
                (match(classifier, self.given_test), self.given_test) for classifier in self.given
            ]
        return [
            (self.network(hidden, None, f"MLP {'-'.join(map(str, hidden))}"), self.test)
            for hidden in self.size.networks
        ]

    def network(self, hidden: Sequence[int], defence: Defence | None, name: str) -> Classifier:
        """A newly trained network."""
        size, seed = self.size, self.setting.seed
        steps = train_table(
            self.x,
            self.y,
            self.names,
            hidden=hidden,
            epochs=size.epochs,
            seed=seed,
            defence=defence,
            name=name,
        )
        return self.setting.last(f"training of {name}", steps)

    def ensemble(self, kind: str, trees: int) -> Classifier:
        """A newly grown random forest or gradient boosting of ``trees`` trees."""
        try:
            from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
        except ImportError:
            raise MissingExtraError("forests and boosting", "sklearn") from None
        if kind == "forest":
            grow = RandomForestClassifier
        else:
            grow = GradientBoostingClassifier
        estimator = grow(
            n_estimators=trees,
            random_state=self.setting.seed,
            **({} if kind == "boosting" else {"min_samples_leaf": 2}),
        )
        estimator.fit(self.x.astype(np.float32), self.y)
        settings = ModelSettings(
            kind="table", shape=self.x.shape[1:], labels=self.names, output="probabilities"
        )
        # Stands for the file that a trained ensemble does not have: same
        # data and seed, same fingerprint.
        content = f"{kind} {trees} {self.setting.seed} {zlib.crc32(self.x.tobytes())}"
        return Classifier(
            EstimatorBackend(estimator, "predict_proba"),
            settings,
            name=f"{kind} of {trees}",
            content=content,
        )

    def accuracy(self, classifier: Classifier, dataset: Dataset) -> str:
        """Accuracy in words, beside what always guessing the commonest class would give."""
        assert dataset.labels is not None
        right = (
            classifier.infer(torch.from_numpy(inputs(classifier, dataset))).argmax(1).cpu().numpy()
            == dataset.labels
        )
        # An accuracy says little where one class has most of the rows.
        common = np.bincount(dataset.labels).max() / len(dataset)
        return (
            f"right on {percent(float(right.mean()))} of {len(dataset):,} inputs (the commonest"
            f" class: {percent(float(common))})"
        )


def open_bench(setting: Setting) -> ParticleBench:
    """The bundled table, or trajectories from a folder of ADS-B records."""
    if setting.quick:
        size = SMALL
    else:
        size = ParticleSize()
    if setting.data is None:
        return _bundled(setting, size)
    return _trajectories(setting, size)


def _bundled(setting: Setting, size: ParticleSize) -> ParticleBench:
    """The bundled table and its network.

    Models that must be trained learn from a random half of its rows.
    """
    dataset = open_dataset(resources.path("demo", "table.csv"))
    classifiers = setting.models or (load(resources.path("demo", "table_mlp.onnx")),)
    if dataset.labels is None:
        raise DataError(f"{dataset.name} has no labels.")
    scale = match(classifiers[0], dataset)
    x = np.clip(inputs(scale, dataset), 0, 1)
    learn = np.random.default_rng(setting.seed).permutation(len(x)) < len(x) // 2
    test = from_arrays(
        x[~learn],
        dataset.labels[~learn],
        dataset.names,
        "half of table.csv",
        kind="table",
        features=dataset.features,
    )
    return ParticleBench(
        setting,
        size,
        "the bundled table",
        dataset.names,
        x[learn],
        dataset.labels[learn],
        test,
        tuple(classifiers),
        dataset,
    )


def _trajectories(setting: Setting, size: ParticleSize) -> ParticleBench:
    """Pieces of flight; a fifth of the airframes are kept for testing.

    Values beyond the middle 98 % are cut off.
    """
    assert setting.data is not None
    setting.say(f"last-particle: reading trajectories from {setting.data}")
    found = read_trajectories(setting.data)
    # By airframe: pieces of one flight on both sides would be tested on what was learnt. A
    # checksum, since hash() differs from process to process.
    held = np.array([zlib.crc32(airframe.encode()) % 5 == 0 for airframe in found.airframes])
    if not held.any() or held.all():
        raise DataError(
            f"{setting.data}: there are too few airframes to learn from some and test on others."
        )
    # From the training rows only; ranges that knew the test rows would leak.
    low, high = np.quantile(found.features[~held], (0.01, 0.99), axis=0)
    x = np.clip((found.features - low) / np.where(high > low, high - low, 1), 0, 1).astype(
        np.float32
    )
    order = np.random.default_rng(setting.seed).permutation(np.flatnonzero(held))
    test = from_arrays(
        x[order], found.labels[order], NAMES, "trajectories", kind="table", features=FEATURES
    )
    given = (setting.models, test) if setting.models else ((), None)
    what = f"{len(x):,} pieces of flight of {len(set(found.airframes)):,} aircraft"
    return ParticleBench(setting, size, what, NAMES, x[~held], found.labels[~held], test, *given)
