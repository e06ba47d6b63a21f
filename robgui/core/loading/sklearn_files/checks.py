"""Checks every number in a scikit-learn model that its compiled code would trust.

A skops file cannot name a function to call, but it can give an estimator any attributes. Most of
scikit-learn computes with numpy, which checks; trees, support vectors and neighbours are evaluated
by compiled code, which does not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np

from robgui.core.loading.archive import Archive
from robgui.core.npy import read_header

#: Estimators that compute with numpy alone, or whose content is checked here; all others need
#: trust.
_NAMES = """
AdaBoostClassifier BaggingClassifier BernoulliNB CalibratedClassifierCV CategoricalNB ComplementNB
DecisionTreeClassifier DecisionTreeRegressor DummyClassifier DummyRegressor ExtraTreeClassifier
ExtraTreeRegressor ExtraTreesClassifier GaussianNB GradientBoostingClassifier KNeighborsClassifier
LinearDiscriminantAnalysis LinearSVC LogisticRegression LogisticRegressionCV MLPClassifier
MultinomialNB NearestCentroid NuSVC OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier
PassiveAggressiveClassifier Perceptron QuadraticDiscriminantAnalysis RandomForestClassifier
RidgeClassifier RidgeClassifierCV SGDClassifier SVC StackingClassifier VotingClassifier Pipeline
ColumnTransformer FeatureUnion Binarizer FunctionTransformer KBinsDiscretizer LabelBinarizer
LabelEncoder MaxAbsScaler MinMaxScaler Normalizer OneHotEncoder OrdinalEncoder PCA
PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler SelectFromModel SelectKBest
SelectPercentile SimpleImputer StandardScaler TruncatedSVD VarianceThreshold
"""
CHECKED = frozenset(_NAMES.split())
_SVM = ("SVC", "NuSVC")
_MOST_OUTPUTS = 1000


def unknown_estimators(root: Any) -> list[str]:
    """Names of estimators inside ``root`` whose content is not checked here."""
    from sklearn.base import BaseEstimator

    names = {type(part).__name__ for part in parts(root) if isinstance(part, BaseEstimator)}
    return sorted(names - CHECKED)


def fault(root: Any) -> str:
    """What is wrong with the numbers in a fitted model; empty if nothing is."""
    for owner in parts(root):
        name = type(owner).__name__
        if not _trees_fit(owner):
            return "a decision tree in it points outside itself"
        if name in _SVM and not _support_fits(owner):
            return "its support vectors do not fit each other"
        if name == "KNeighborsClassifier" and not _neighbours_fit(owner):
            return "its neighbours do not fit its classes"
    return ""


def tree_fault(archive: Archive) -> bool:
    """Whether a skops file declares a tree with more nodes or outputs than it stores.

    Checked before a tree is built.
    """
    document = json.loads(archive.read("schema.json"))
    return any(not _declares_what_it_stores(archive, node) for node in _tree_nodes(document))


def parts(root: Any) -> Iterator[Any]:
    """Everything inside an estimator, each once."""
    seen: set[int] = set()
    stack = [root]
    while stack:
        value = stack.pop()
        if id(value) in seen or isinstance(value, str | bytes | int | float | type(None)):
            continue
        seen.add(id(value))
        yield value
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, list | tuple | set):
            stack.extend(value)
        elif isinstance(value, np.ndarray):
            stack.extend(value.ravel().tolist() if value.dtype == object else ())
        else:
            stack.extend(getattr(value, "__dict__", {}).values())


def _tree_nodes(document: Any) -> Iterator[Any]:
    stack = [document]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            if value.get("__loader__") == "TreeNode":
                yield value
            stack.extend(value.values())
        elif isinstance(value, list):
            stack.extend(value)


def _declares_what_it_stores(archive: Archive, node: Any) -> bool:
    try:
        _, classes, outputs = node["__reduce__"]["args"]["content"]
        count = int(outputs["content"])
        state = node["content"]["content"]
        stored = _shape(archive, state["nodes"]["file"])
        told = int(state["node_count"]["content"])
        return (
            1 <= count <= _MOST_OUTPUTS
            and _shape(archive, classes["file"]) == (count,)
            and stored == (told,)
        )
    except (KeyError, TypeError, ValueError):  # Not the form that skops writes.
        return False


def _shape(archive: Archive, name: str) -> tuple[int, ...]:
    return read_header(BytesIO(archive.read(name)))[1]


def _trees_fit(owner: Any) -> bool:
    """Whether every tree leads forward, inside itself, and to columns that its owner provides."""
    tree = getattr(owner, "tree_", None)
    if tree is not None and not _leads_forward(tree, owner.n_features_in_):
        return False
    children = [
        child
        for child in np.ravel(np.asarray(getattr(owner, "estimators_", ()), dtype=object))
        if hasattr(child, "tree_")
    ]
    if type(owner).__name__ != "BaggingClassifier":
        return all(child.n_features_in_ == owner.n_features_in_ for child in children)
    columns = list(owner.estimators_features_)  # A bagged tree sees only these columns.
    if children and len(columns) != len(owner.estimators_):
        return False
    pairs = [
        (child.n_features_in_, np.asarray(chosen))
        for child, chosen in zip(children, columns, strict=False)
    ]
    return all(
        chosen.shape == (width,) and chosen.min() >= 0 and chosen.max() < owner.n_features_in_
        for width, chosen in pairs
    )


def _leads_forward(tree: Any, features: int) -> bool:
    left, right, feature = (
        np.asarray(tree.children_left),
        np.asarray(tree.children_right),
        np.asarray(tree.feature),
    )
    # -1 is TREE_LEAF of sklearn.tree.
    inner = left != -1
    here = np.flatnonzero(inner)
    # Children behind their parent: every walk from the root ends, and there is no ring.
    forward = bool((left[inner] > here).all() and (right[inner] > here).all())
    inside = bool((left < len(left)).all() and (right < len(left)).all())
    known = bool(((feature[inner] >= 0) & (feature[inner] < features)).all())
    return len(left) > 0 and forward and inside and known


def _support_fits(svm: Any) -> bool:
    """Whether the arrays that libsvm reads side by side have the sizes it assumes."""
    vectors, weights = np.asarray(svm.support_vectors_), np.asarray(svm._dual_coef_)
    counts = np.asarray(svm._n_support)
    classes = len(svm.classes_)
    # libsvm decides between every two classes.
    pairs = classes * (classes - 1) // 2
    sizes = (
        np.shape(svm.support_),
        np.shape(svm._intercept_),
        np.shape(svm._probA),
        np.shape(svm._probB),
    )
    return (
        # Sparse vectors go to other code of libsvm,
        # with index arrays that are not checked here.
        not svm._sparse
        and classes >= 2
        and vectors.dtype == weights.dtype == np.float64
        and vectors.shape == (int(counts.sum()), svm.n_features_in_)
        and weights.shape == (classes - 1, len(vectors))
        and counts.shape == (classes,)
        and bool((counts >= 0).all())
        and sizes[:2] == ((len(vectors),), (pairs,))
        and all(size in ((0,), (pairs,)) for size in sizes[2:])
    )


def _neighbours_fit(model: Any) -> bool:
    """Whether every neighbour has an existing class.

    Neighbours are found by comparing with all, without a stored tree.
    """
    stored, numbers = np.asarray(model._fit_X), np.asarray(model._y)
    return (
        getattr(model, "_tree", None) is None
        and model._fit_method == "brute"
        and isinstance(model.metric, str)
        and model.weights in ("uniform", "distance")
        and not model.outputs_2d_
        and stored.ndim == 2
        and stored.shape[1] == model.n_features_in_
        and stored.dtype.kind == "f"
        and numbers.shape == (len(stored),)
        and numbers.dtype.kind in "iu"
        and bool(((numbers >= 0) & (numbers < len(model.classes_))).all())
        and type(model.n_neighbors) is int
        and 1 <= model.n_neighbors <= len(stored)
    )
