"""scikit-learn models: no number in a skops file leads compiled code outside its arrays, and
none starts processes.
"""

from __future__ import annotations

import json
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelPropagation
from sklearn.svm import SVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

from robgui.core.errors import ModelError, TrustError
from robgui.core.loading import load
from tests.security.attacks import loaded_in_child, refused, repack

RNG = np.random.default_rng(0)
X = RNG.random((90, 4))
Y = (X[:, 0] * 3).astype(int)
WIDE = RNG.random((90, 4000))


def save(model: Any, path: Path) -> Path:
    import skops.io  # takes a second, in every process that collects the tests

    skops.io.dump(model, path)
    return path


HONEST = {
    "forest": RandomForestClassifier(3, max_depth=3, random_state=0),
    "extra trees": ExtraTreesClassifier(3, max_depth=3, random_state=0),
    "boosted": GradientBoostingClassifier(n_estimators=3, random_state=0),
    "bagged": BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 3, max_features=2, random_state=0
    ),
    "voting": VotingClassifier(
        [("tree", DecisionTreeClassifier()), ("line", LogisticRegression())], voting="soft"
    ),
    "pipeline": make_pipeline(StandardScaler(), SVC(random_state=0)),
    "svm": SVC(random_state=0),
    "neighbours": KNeighborsClassifier(3, algorithm="brute"),
}


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_model_loads_without_trust_and_answers_as_before(tmp_path, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = clone(HONEST[name]).fit(X, Y)
        classifier = load(save(model, tmp_path / "m.skops"), device="cpu")
    assert (classifier.infer(X).argmax(1).numpy() == model.predict(X)).mean() > 0.95


def test_an_attribute_that_names_columns_does_not_hide_a_wide_tree(tmp_path):
    """The review's attack: scikit-learn would read thousands of columns beside an input of four."""
    forest = RandomForestClassifier(3, max_depth=3, random_state=0).fit(X, Y)
    forest.estimators_ = (
        RandomForestClassifier(3, max_depth=3, random_state=0).fit(WIDE, Y).estimators_
    )
    forest.estimators_features_ = [np.arange(4000)] * 3
    (answer,) = loaded_in_child(save(forest, tmp_path / "m.skops"))
    assert "points outside itself" in answer


@pytest.mark.parametrize("columns", [[0, 4000], [0, -1], [0], [0, 1, 2]])
def test_a_bagged_tree_sees_only_columns_there_are(tmp_path, columns):
    bagged = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 3, max_features=2, random_state=0
    ).fit(X, Y)
    bagged.estimators_features_ = [np.array(columns)] * 3
    assert "points outside itself" in refused(save(bagged, tmp_path / "m.skops"), ModelError)


def test_a_tree_that_declares_more_nodes_than_it_stores_is_refused_before_it_is_made(tmp_path):
    honest = save(DecisionTreeClassifier(max_depth=2).fit(X, Y), tmp_path / "tree.skops")

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        if name == "schema.json":
            state = json.loads(content)["content"]["content"]["tree_"]["content"]["content"][
                "node_count"
            ]
            text = json.dumps(json.loads(content)).replace(
                f'"content": "{state["content"]}", "is_json"', '"content": "10000000", "is_json"'
            )
            return name, text.encode()
        return name, content

    path = repack(honest, tmp_path / "m.skops", change)
    with zipfile.ZipFile(path) as archive:
        assert b"10000000" in archive.read("schema.json")
    assert "not the one it declares" in refused(path, ModelError)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("_n_support", np.array([10**6, 1, 1], dtype=np.int32)),
        ("_dual_coef_", np.zeros((2, 1))),
        ("support_vectors_", np.zeros((1, 4))),
        ("_intercept_", np.zeros(1)),
        ("_probA", np.zeros(1)),
        ("support_", np.zeros(1, dtype=np.int32)),
        ("_sparse", True),
    ],
)
@pytest.mark.parametrize("kind", [SVC, NuSVC])
def test_support_vectors_that_do_not_fit_each_other_are_refused(tmp_path, kind, attribute, value):
    model = kind(random_state=0, nu=0.1) if kind is NuSVC else kind(random_state=0)
    model.fit(X, Y)
    setattr(model, attribute, value)
    assert "support vectors" in refused(save(model, tmp_path / "m.skops"), ModelError)


@pytest.mark.parametrize(
    ("attribute", "value"),
    [
        ("_y", np.full(90, 10**6)),
        ("_y", np.full(90, -1)),
        ("_y", np.zeros(3, dtype=int)),
        ("n_neighbors", 10**9),
        ("_fit_X", np.zeros((90, 1))),
    ],
)
def test_neighbours_of_classes_that_are_none_are_refused(tmp_path, attribute, value):
    model = KNeighborsClassifier(3, algorithm="brute").fit(X, Y)
    setattr(model, attribute, value)
    assert "neighbours" in refused(save(model, tmp_path / "m.skops"), ModelError)


def test_an_estimator_that_nobody_has_checked_needs_trust(tmp_path):
    path = save(LabelPropagation().fit(X, Y), tmp_path / "m.skops")
    assert "LabelPropagation" in refused(path, TrustError)


def test_a_missing_attribute_is_one_sentence(tmp_path):
    model = SVC(random_state=0).fit(X, Y)
    del model._n_support
    refused(save(model, tmp_path / "m.skops"), ModelError)


@pytest.mark.parametrize("name", ["forest", "bagged", "neighbours"])
def test_a_model_starts_no_processes_and_prints_nothing(tmp_path, name, capfd):
    model = clone(HONEST[name]).fit(X, Y)
    for part in (model, *getattr(model, "estimators_", ())):
        part.n_jobs, part.verbose = 4, 3
    classifier = load(save(model, tmp_path / "m.skops"), device="cpu")
    classifier.infer(X)
    loaded = classifier.backend.estimator
    assert all(
        part.n_jobs is None and part.verbose == 0
        for part in (loaded, *getattr(loaded, "estimators_", ()))
    )
    captured = capfd.readouterr()
    assert "Parallel" not in captured.out + captured.err


@pytest.mark.parametrize(
    "head", ["{'descr': '<f8', 'fortran_order': False, 'shape': (10**9,)}", "(" * 2000]
)
def test_an_array_that_declares_more_than_it_holds_takes_no_memory(tmp_path, head):
    honest = save(clone(HONEST["svm"]).fit(X, Y), tmp_path / "honest.skops")
    head = head.replace("10**9", "1000000000")

    def change(name: str, content: bytes) -> tuple[str, bytes]:
        if name.endswith(".npy"):
            written = head.encode().ljust(2100) + b"\n"
            content = b"\x93NUMPY\x01\x00" + len(written).to_bytes(2, "little") + written
        return name, content

    path = repack(honest, tmp_path / "m.skops", change)
    assert "memory" not in loaded_in_child(path, extra=2**30)[0]
