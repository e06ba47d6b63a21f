"""All answers of a tree ensemble with two features: one for every cell that its thresholds cut.

With them a certificate is right or false beyond doubt: every input lies in one of the cells.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

from robgui import resources
from robgui.bounds import certify
from robgui.bounds.trees import trees_of
from robgui.core.dataset import open_dataset
from robgui.core.loading.sklearn_files.model import EstimatorBackend
from robgui.core.model.classifier import Classifier
from robgui.core.model.settings import ModelSettings


def classifier_of(estimator: Any, x: np.ndarray, y: np.ndarray, name: str) -> Classifier:
    """The fitted estimator, which takes features in their own units; ``x`` says where they lie."""
    estimator.fit(x, y)
    low, high = (tuple(map(float, ends)) for ends in (x.min(0), x.max(0)))
    settings = ModelSettings(kind="table", shape=(2,), output="probabilities", low=low, high=high)
    return Classifier(EstimatorBackend(estimator, "predict_proba"), settings, name=name)


class Cells:
    """The classes of all cells: those that robgui gives, and those that scikit-learn gives."""

    def __init__(self, classifier: Classifier) -> None:
        self._estimator = classifier.backend.estimator  # type: ignore[attr-defined]
        self._cuts = [_cuts(classifier, feature) for feature in range(2)]
        points = np.stack(np.meshgrid(*self._cuts, indexing="ij"), -1).reshape(-1, 2)
        shape = (len(self._cuts[0]), len(self._cuts[1]))
        self._answers = [each.reshape(shape) for each in _classes(self._estimator, points)]
        self._sums = {}

    def all_of_class(self, low: np.ndarray, high: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Whether every raw input between the corners ``(n, 2)`` has the class ``(n,)``."""
        first, last = (self._indices(ends) for ends in (low, high))
        right = np.ones(len(low), dtype=bool)
        for label in np.unique(labels):
            mine = labels == label
            for wrong in self._wrong(int(label)):
                a, b, c, d = (each[mine] for each in (*first, *last))
                inside = wrong[c + 1, d + 1] - wrong[a, d + 1] - wrong[c + 1, b] + wrong[a, b]
                right[mine] &= inside == 0
        return right

    def _indices(self, points: np.ndarray) -> list[np.ndarray]:
        """The cells of points ``(n, 2)``, along each feature."""
        return [np.searchsorted(cuts, points[:, f]) for f, cuts in enumerate(self._cuts)]

    def _wrong(self, label: int) -> list[np.ndarray]:
        """How many cells below each corner have another class, by either way to tell."""
        if label not in self._sums:
            wrong = [np.pad(each != label, ((1, 0), (1, 0))) for each in self._answers]
            self._sums[label] = [each.cumsum(0, dtype=np.int64).cumsum(1) for each in wrong]
        return self._sums[label]


def _cuts(classifier: Classifier, feature: int) -> np.ndarray:
    """The largest input of every cell along one feature, in single precision."""
    ensemble = trees_of(classifier)
    assert ensemble is not None
    asked = [(tree.left >= 0) & (tree.feature == feature) for tree in ensemble.trees]
    each = zip(ensemble.trees, asked, strict=True)
    cuts = np.concatenate([tree.threshold[here] for tree, here in each])
    down = cuts.astype(np.float32)
    down = np.where(down > cuts, np.nextafter(down, np.float32(-np.inf)), down)
    return np.unique(np.append(down, np.float32(np.finfo(np.float32).max / 2)))


def _classes(estimator: Any, points: np.ndarray) -> Iterator[np.ndarray]:
    shares = estimator.predict_proba(points)
    tiny = torch.finfo(torch.float32).tiny
    yield torch.from_numpy(shares).float().clamp_min(tiny).log().argmax(1).numpy()
    yield np.searchsorted(estimator.classes_, estimator.predict(points))


def false_certificates(classifier: Classifier, boxes: int, seed: int) -> tuple[int, int]:
    """How many of random boxes are certified, and how many of these certificates are false."""
    rng = np.random.default_rng(seed)
    cells = Cells(classifier)
    x = torch.from_numpy(rng.random((boxes, 2), dtype=np.float32))
    labels = classifier.infer(x).argmax(1)
    certified = false = 0
    for group, eps in enumerate((0.002, 0.01, 0.03, 0.08)):
        mine = slice(group * boxes // 4, (group + 1) * boxes // 4)
        proof = certify(classifier, x[mine], labels[mine], eps)
        assert not proof.reason, proof.reason
        ends = (x[mine] - eps).clamp(0, 1), (x[mine] + eps).clamp(0, 1)
        low, high = (classifier.raw_input(each).numpy() for each in ends)
        right = cells.all_of_class(low, high, labels[mine].numpy())
        certified += int(proof.certified.sum())
        false += int((proof.certified & ~right).sum())
    return certified, false


def ensembles(trees: tuple[int, ...], seed: int) -> Iterator[Classifier]:
    """Forests and boosted trees, pure and mixed leaves, on made-up data and on the table."""
    for source, (x, y) in {"made up": _made_up(seed), "table": _table()}.items():
        for count in trees:
            for kind in (RandomForestClassifier, ExtraTreesClassifier):
                for name, depth in (("hard votes", None), ("soft votes", 4)):
                    forest = kind(count, max_depth=depth, random_state=seed)
                    title = f"{kind.__name__}, {count} trees, {name}, {source}"
                    yield classifier_of(forest, x, y, title)
        for count in (2, 12):
            title = f"GradientBoosting, {count} rounds, {source}"
            boosted = GradientBoostingClassifier(n_estimators=count, random_state=seed)
            yield classifier_of(boosted, x, y, title)
            histogram = HistGradientBoostingClassifier(max_iter=count, random_state=seed)
            yield classifier_of(histogram, x, y, f"Hist{title}")


def _made_up(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(-3, 5, size=(200, 2)).astype(np.float32)
    score = np.sin(1.4 * x[:, 0]) + 0.3 * x[:, 1] + 0.5 * rng.standard_normal(len(x))
    return x, np.digitize(score, (0.0, 0.9))


def _table() -> tuple[np.ndarray, np.ndarray]:
    data = open_dataset(resources.path("demo", "table.csv"))
    assert data.labels is not None
    return data.array()[:, [0, 1]].astype(np.float32), np.asarray(data.labels)
