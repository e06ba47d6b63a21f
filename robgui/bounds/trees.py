"""Bounds of tree ensembles over boxes of inputs.

The leaves of a tree that a box reaches are found exactly. The bound of an ensemble adds up the
worst reachable leaf of each tree, which is exact for one tree and sound for many.

On a tie scikit-learn takes the first class, and which sums tie depends on rounding. A margin counts
only beyond all rounding: of scikit-learn's double-precision sums, in whatever order its threads add
them, and of the probabilities that robgui converts to single precision and then to logarithms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.network import UnsupportedError
from robgui.bounds.rounding import DOUBLE, gamma, told_apart
from robgui.core.loading.sklearn_files.model import EstimatorBackend
from robgui.core.model.classifier import Classifier


@dataclass(frozen=True, slots=True)
class DecisionTree:
    """A binary tree: at node i go left if ``x[feature[i]] <= threshold[i]``.

    A leaf has ``left`` -1 and ``value (outputs,)``.
    """

    feature: np.ndarray
    threshold: np.ndarray
    left: np.ndarray
    right: np.ndarray
    value: np.ndarray


@dataclass(frozen=True, slots=True)
class Ensemble:
    """Trees whose values add up; a single output is the score of class 1 against 0.

    Attributes:
        trees: The trees.
        offset: The sum's starting value ``(outputs,)``.
        boosted: Whether the sums are log-odds; otherwise they are shares of votes.
    """

    trees: tuple[DecisionTree, ...]
    offset: np.ndarray
    boosted: bool

    @property
    def slack(self) -> float:
        """Most of a margin that rounding can cost, in single precision and in the sum before it."""
        parts = (self.offset, *(tree.value for tree in self.trees))
        size = sum(float(np.abs(part).max()) for part in parts)
        return told_apart(max(2, len(self.offset))) + gamma(4 * len(parts) + 16, DOUBLE) * size


def trees_of(classifier: Classifier) -> Ensemble | None:
    """The trees inside a classifier; None if it is not a scikit-learn model.

    Raises:
        UnsupportedError: It is a scikit-learn model without trees.
    """
    if not isinstance(classifier.backend, EstimatorBackend):
        return None
    estimator = classifier.backend.estimator
    name = type(estimator).__name__
    readers = {
        "DecisionTreeClassifier": _forest,
        "ExtraTreeClassifier": _forest,
        "RandomForestClassifier": _forest,
        "ExtraTreesClassifier": _forest,
        "GradientBoostingClassifier": _boosted,
        "HistGradientBoostingClassifier": _histogram_boosted,
    }
    if name not in readers:
        raise UnsupportedError(f"a {name} is neither a network nor made of decision trees")
    return readers[name](estimator)


def tree_margins(ensemble: Ensemble, low: Tensor, high: Tensor, labels: Tensor) -> Tensor:
    """Lower bounds ``(n,)`` of the margin of ``labels``, less the slack.

    ``low`` and ``high`` are corners ``(n, features)`` of boxes of raw inputs.
    """
    first, last = low.cpu().numpy(), high.cpu().numpy()
    weights = _weights(len(ensemble.offset), labels.cpu().numpy())
    total = weights @ ensemble.offset
    for tree in ensemble.trees:
        leaves = tree.left < 0
        reached = reachable(tree, first, last)[:, leaves]
        values = weights @ tree.value[leaves].T
        # Each tree at its worst, as if the trees could choose different inputs: sound, not exact.
        total += np.where(reached[:, None, :], values, np.inf).min(2)
    return torch.from_numpy(total.min(1) - ensemble.slack).to(low.device)


def probabilities(ensemble: Ensemble, x: Tensor) -> Tensor:
    """The trees' answers ``(n, classes)`` to raw inputs ``(n, features)``, in double precision."""
    points = x.cpu().numpy()
    total = np.tile(ensemble.offset, (len(points), 1))
    for tree in ensemble.trees:
        leaves = tree.left < 0
        total += tree.value[leaves][reachable(tree, points, points)[:, leaves].argmax(1)]
    scores = torch.from_numpy(total).to(x.device)
    if not ensemble.boosted:
        return scores
    if scores.shape[1] == 1:
        scores = torch.cat([torch.zeros_like(scores), scores], 1)
    return scores.softmax(1)


def reachable(tree: DecisionTree, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Nodes ``(n, nodes)`` visited by some input between ``low`` and ``high`` ``(n, features)``."""
    found = np.zeros((len(low), len(tree.left)), dtype=bool)
    found[:, 0] = True
    level = np.array([0])
    # Level by level for all inputs at once: as many steps as the tree is deep.
    while len(level := level[tree.left[level] >= 0]):
        feature, threshold = tree.feature[level], tree.threshold[level]
        # A box reaches a side if some point of it does.
        found[:, tree.left[level]] = found[:, level] & (low[:, feature] <= threshold)
        found[:, tree.right[level]] = found[:, level] & (high[:, feature] > threshold)
        level = np.concatenate([tree.left[level], tree.right[level]])
    return found


def _weights(outputs: int, labels: np.ndarray) -> np.ndarray:
    """Coefficients ``(n, m, outputs)`` of the right class's margins over the others."""
    if outputs == 1:
        return np.where(labels == 1, 1.0, -1.0)[:, None, None]
    own, others = (
        np.eye(outputs)[labels],
        np.stack([np.delete(np.eye(outputs), label, 0) for label in labels]),
    )
    weights: np.ndarray = own[:, None, :] - others
    return weights


def _forest(estimator: Any) -> Ensemble:
    if getattr(estimator, "n_outputs_", 1) != 1:
        raise UnsupportedError("it answers several questions at once")
    members = getattr(estimator, "estimators_", [estimator])
    trees = []
    for member in members:
        # Older scikit-learn stores counts, newer shares; divided by their sum both are shares.
        shares = member.tree_.value[:, 0, :] / member.tree_.value[:, 0, :].sum(1, keepdims=True)
        trees.append(_tree(member.tree_, shares / len(members)))
    return Ensemble(tuple(trees), np.zeros(len(estimator.classes_)), boosted=False)


def _boosted(estimator: Any) -> Ensemble:
    if estimator.init_ != "zero" and type(estimator.init_).__name__ != "DummyClassifier":
        raise UnsupportedError("its boosting starts from another model")
    outputs = estimator.estimators_.shape[1]
    trees = tuple(
        _tree(
            member.tree_, _only(member.tree_.value[:, 0, 0] * estimator.learning_rate, k, outputs)
        )
        for stage in estimator.estimators_
        for k, member in enumerate(stage)
    )
    # The start of the boosting is private to scikit-learn; one answer minus its leaves reveals it.
    anywhere = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    return _from(trees, anywhere, np.asarray(estimator.decision_function(anywhere)))


def _histogram_boosted(estimator: Any) -> Ensemble:
    trees = []
    for stage in estimator._predictors:
        for k, predictor in enumerate(stage):
            nodes = predictor.nodes
            if nodes["is_categorical"].any():
                raise UnsupportedError("its trees ask for categories")
            leaf = nodes["is_leaf"].astype(bool)
            left, right = (
                np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right")
            )
            value = _only(nodes["value"].astype(np.float64), k, len(stage))
            trees.append(
                DecisionTree(
                    nodes["feature_idx"].astype(np.int64),
                    nodes["num_threshold"].astype(np.float64),
                    left,
                    right,
                    value,
                )
            )
    anywhere = np.zeros((1, estimator.n_features_in_), dtype=np.float32)
    return _from(tuple(trees), anywhere, np.asarray(estimator.decision_function(anywhere)))


def _from(trees: tuple[DecisionTree, ...], x: np.ndarray, score: np.ndarray) -> Ensemble:
    """The ensemble with raw ``score`` at ``x``: what the trees leave unexplained is a constant."""
    said = sum(tree.value[(tree.left < 0) & reachable(tree, x, x)[0]][0] for tree in trees)
    return Ensemble(trees, score.reshape(-1) - said, boosted=True)


def _tree(tree: Any, value: np.ndarray) -> DecisionTree:
    return DecisionTree(
        tree.feature.astype(np.int64),
        tree.threshold,
        tree.children_left,
        tree.children_right,
        value,
    )


def _only(value: np.ndarray, output: int, outputs: int) -> np.ndarray:
    """Values ``(nodes, outputs)`` of a tree that contributes to one output."""
    return np.asarray(value[:, None] * np.eye(outputs)[output])
