"""Items with several labels at once: a matrix of 0 and 1 beside the inputs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from torch import nn

from robgui.core.dataset import align, from_arrays, match, open_dataset
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier

IMAGES = np.random.default_rng(0).integers(0, 255, (6, 8, 9), dtype=np.uint8)
MATRIX = np.array([[1, 1, 0], [0, 0, 0], [0, 1, 0], [1, 0, 1], [1, 1, 1], [0, 0, 1]])


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32, np.int64])
def test_rows_of_0_and_1_are_a_label_matrix(dtype: type):
    dataset = from_arrays(IMAGES, MATRIX.astype(dtype), "abc")
    assert (
        dataset.labels is None
        and dataset.label_matrix.dtype == bool
        and np.array_equal(dataset.label_matrix, MATRIX)
    )
    assert dataset.names == ("a", "b", "c")


def test_an_archive_may_hold_a_label_matrix(tmp_path: Path):
    np.savez(
        tmp_path / "a.npz", images=IMAGES, labels=MATRIX, names=np.array(["cat", "dog", "eel"])
    )
    dataset = open_dataset(tmp_path / "a.npz")
    assert np.array_equal(dataset.label_matrix, MATRIX) and dataset.names == ("cat", "dog", "eel")


def test_one_hot_rows_are_labels_and_no_matrix():
    dataset = from_arrays(IMAGES, np.eye(3)[[0, 1, 2, 2, 1, 0]])
    assert dataset.labels.tolist() == [0, 1, 2, 2, 1, 0] and dataset.label_matrix is None


def test_a_subset_keeps_its_rows_and_the_fingerprint_sees_them():
    dataset = from_arrays(IMAGES, MATRIX)
    part = dataset.subset([4, 0])
    assert np.array_equal(part.label_matrix, MATRIX[[4, 0]])
    changed = MATRIX.copy()
    changed[0, 2] = 1
    prints = {
        dataset.fingerprint,
        part.fingerprint,
        from_arrays(IMAGES, changed).fingerprint,
        from_arrays(IMAGES).fingerprint,
    }
    assert len(prints) == 4 and dataset.fingerprint == from_arrays(IMAGES, MATRIX).fingerprint


def test_rows_left_out_of_a_table_leave_the_matrix_too():
    table = np.arange(12, dtype=np.float32).reshape(6, 2)
    table[2, 1] = np.nan
    assert np.array_equal(from_arrays(table, MATRIX).label_matrix, np.delete(MATRIX, 2, 0))


def test_columns_follow_the_order_of_the_models_classes():
    classifier = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(72, 3)),
        (1, 8, 9),
        ("Eel", "cat", "dog"),
        multi_label=True,
    )
    dataset = from_arrays(IMAGES, MATRIX, ("cat", "dog", "eel"))
    assert np.array_equal(
        align(classifier, dataset).label_matrix, MATRIX[:, [2, 0, 1]].astype(bool)
    )
    assert np.array_equal(align(classifier, from_arrays(IMAGES, MATRIX)).label_matrix, MATRIX)


def test_another_number_of_classes_and_rows_of_other_numbers_are_refused():
    classifier = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(72, 4)), (1, 8, 9), multi_label=True
    )
    with pytest.raises(DataError, match="has 4 classes, but inputs has 3 columns"):
        match(classifier, from_arrays(IMAGES, MATRIX))
    with pytest.raises(DataError, match="not 0 and 1"):
        from_arrays(IMAGES, MATRIX * 2)
    with pytest.raises(DataError, match="2 class names for 3 columns"):
        from_arrays(IMAGES, MATRIX, "ab")
    with pytest.raises(DataError, match="5 labels for 6"):
        from_arrays(IMAGES, MATRIX[:5])
