"""Formal bounds of tree ensembles: exact for one tree, sound for many, careful at ties."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from robgui import resources
from robgui.bounds import certify
from robgui.bounds.trees import probabilities, reachable, trees_of
from robgui.core.loading import load
from robgui.core.loading.sklearn_files.model import EstimatorBackend
from robgui.core.model.classifier import Classifier
from robgui.core.model.settings import ModelSettings
from tests.bounds.cells import ensembles, false_certificates


def _tree_classifier(
    estimator, classes: int = 2, features: int = 2, samples: int = 300, seed: int = 0
) -> tuple[Classifier, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.uniform(size=(samples, features)).astype(np.float32)
    y = np.floor(classes * ((np.sin(7 * x[:, 0]) + x[:, -1] ** 2) % 1)).astype(int)
    estimator.fit(x, y)
    method = "predict_proba"
    settings = ModelSettings(kind="table", shape=(features,), output="probabilities")
    return Classifier(
        EstimatorBackend(estimator, method), settings, name=type(estimator).__name__
    ), x


def _cells(ensemble, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """One point in every cell that the thresholds cut out of a box."""
    axes = []
    for f in range(len(low)):
        cuts = np.unique(
            np.concatenate(
                [tree.threshold[(tree.left >= 0) & (tree.feature == f)] for tree in ensemble.trees]
            )
        )
        cuts = cuts[(cuts >= low[f]) & (cuts < high[f])]
        ends = np.concatenate([cuts, [high[f]]])
        axes.append(ends.astype(np.float64))
    return np.array(list(itertools.product(*axes)))


def _scores(ensemble, x: np.ndarray) -> np.ndarray:
    total = np.tile(ensemble.offset, (len(x), 1))
    for tree in ensemble.trees:
        leaves = tree.left < 0
        total += reachable(tree, x, x)[:, leaves].astype(float) @ tree.value[leaves]
    return total


@pytest.mark.parametrize(
    ("estimator", "classes", "exact"),
    [
        (DecisionTreeClassifier(max_depth=5, random_state=0), 3, True),
        (RandomForestClassifier(4, max_depth=3, random_state=0), 3, False),
        (ExtraTreesClassifier(3, max_depth=3, random_state=0), 2, False),
        (GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0), 2, False),
        (GradientBoostingClassifier(n_estimators=2, max_depth=2, random_state=0), 3, False),
        (HistGradientBoostingClassifier(max_iter=1, max_depth=4), 2, True),
        (HistGradientBoostingClassifier(max_iter=3, max_depth=3), 3, False),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_trees_are_bounded_by_the_cells_they_cut_and_exactly_when_there_is_one(
    estimator, classes: int, exact: bool
) -> None:
    classifier, x = _tree_classifier(estimator, classes)
    ensemble = trees_of(classifier)
    raw = (
        estimator.decision_function(x)
        if hasattr(estimator, "decision_function")
        else estimator.predict_proba(x)
    )
    np.testing.assert_allclose(_scores(ensemble, x).reshape(raw.shape), raw, atol=1e-6)
    chosen = torch.from_numpy(x[:12])
    labels = torch.from_numpy(raw[:12].argmax(1) if raw.ndim == 2 else (raw[:12] > 0).astype(int))
    for eps in (0.0, 0.02, 0.15):
        lower = certify(classifier, chosen, labels, eps).lower + ensemble.slack
        low, high = (chosen - eps).clamp(0, 1).numpy(), (chosen + eps).clamp(0, 1).numpy()
        for row, label in enumerate(labels.tolist()):
            scores = _scores(ensemble, _cells(ensemble, low[row], high[row]))
            scores = (
                np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
            )
            truth = (scores[:, label] - np.delete(scores, label, 1).max(1)).min()
            assert lower[row] <= truth + 1e-9
            assert not exact or lower[row] == pytest.approx(truth)
            assert eps or lower[row] == pytest.approx(truth)


def test_the_bundled_forest_is_bounded_and_other_estimators_say_why() -> None:
    forest = load(resources.path("demo", "table_forest.skops"), device="cpu")
    x = torch.rand((5, 30), generator=torch.Generator().manual_seed(13))
    proof = certify(forest, x, forest.infer(x).argmax(1), 0.001)
    assert not proof.reason and (proof.lower <= 1).all()
    linear, x = _tree_classifier(LogisticRegression())
    assert (
        "LogisticRegression"
        in certify(linear, torch.from_numpy(x[:2]), torch.tensor([0, 1]), 0.1).reason
    )


def test_no_certificate_of_trees_is_false_in_any_cell_that_their_thresholds_cut() -> None:
    found = [false_certificates(each, 240, seed=1) for each in ensembles((6, 10), 0)]
    certified, false = np.sum(found, axis=0)
    assert certified > 4000 and false == 0


@pytest.mark.parametrize("trees", [2, 6, 10])
def test_a_tie_of_votes_is_never_certified_whichever_class_it_goes_to(trees: int) -> None:
    x = np.linspace(0, 1, 40, dtype=np.float32)[:, None]
    above = x[:, 0] > 0.5
    forest = RandomForestClassifier(trees).fit(x, above)
    sides = [above if k % 2 else ~above for k in range(trees)]
    forest.estimators_ = [DecisionTreeClassifier().fit(x, side) for side in sides]
    settings = ModelSettings(kind="table", shape=(1,), output="probabilities")
    classifier = Classifier(EstimatorBackend(forest, "predict_proba"), settings, name="Halves")
    for label in (0, 1):
        labels = torch.tensor([label, label])
        proof = certify(classifier, torch.tensor([[0.2], [0.8]]), labels, 0.01)
        assert not proof.certified.any() and not proof.reason


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(7, random_state=0),
        GradientBoostingClassifier(n_estimators=3, random_state=0),
        HistGradientBoostingClassifier(max_iter=4),
    ],
)
def test_the_trees_as_read_answer_like_the_model(estimator) -> None:
    classifier, x = _tree_classifier(estimator, 3)
    answers = probabilities(trees_of(classifier), torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(answers, estimator.predict_proba(x), atol=1e-12)


class Calibrated(RandomForestClassifier):
    """A forest whose answers are no longer those of its trees."""

    def predict_proba(self, x):
        squares = super().predict_proba(x) ** 2
        return squares / squares.sum(1, keepdims=True)


def test_a_forest_that_does_not_answer_like_its_trees_has_no_certificate() -> None:
    Calibrated.__name__ = "RandomForestClassifier"
    classifier, x = _tree_classifier(Calibrated(9, max_depth=3, random_state=0), 3)
    chosen = torch.from_numpy(x[:20])
    proof = certify(classifier, chosen, classifier.infer(chosen).argmax(1), 0.001)
    assert "differ" in proof.reason and len(proof.certified) == 0
