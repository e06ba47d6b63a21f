"""Arrays in memory, NPY and NPZ."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.dataset.formats.joined import joined
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError

RANDOM = np.random.default_rng(0)
GREY = RANDOM.integers(0, 256, (5, 8, 9), np.uint8)


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ("images", "labels"),
        ("x", "y"),
        ("X", "Y"),
        ("data", "labels"),
        ("x_test", "y_test"),
        ("arr_0", "arr_1"),
    ],
)
def test_the_keys_of_an_archive_are_guessed(tmp_path: Path, x: str, y: str):
    np.savez(tmp_path / "a.npz", **{x: GREY, y: np.arange(5), "names": np.array(list("abcde"))})
    dataset = open_dataset(tmp_path / "a.npz")
    assert dataset.shape == (1, 8, 9) and dataset.names == tuple("abcde")
    assert dataset.labels is not None and dataset.labels.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_allclose(dataset.array()[:, 0], GREY / 255, atol=1e-7)
    assert open_dataset(tmp_path / "a.npz", **dataset.options).fingerprint == dataset.fingerprint


def test_of_training_and_test_arrays_the_test_arrays_are_opened(tmp_path: Path):
    np.savez_compressed(
        tmp_path / "a.npz", x_train=GREY, y_train=np.arange(5), x_test=GREY[:2], y_test=np.arange(2)
    )
    assert len(open_dataset(tmp_path / "a.npz")) == 2
    assert len(open_dataset(tmp_path / "a.npz", split="train")) == 5


def test_an_unknown_key_means_the_largest_array(tmp_path: Path):
    np.savez(tmp_path / "a.npz", pictures=GREY, y=np.arange(5), note=np.zeros((2, 2)))
    dataset = open_dataset(tmp_path / "a.npz")
    assert len(dataset) == 5 and dataset.labels is not None


@pytest.mark.parametrize("order", ["C", "F"])
def test_array_files_are_read_in_both_orders(tmp_path: Path, order: Any):
    np.save(tmp_path / "a.npy", np.asarray(GREY, order=order))
    np.testing.assert_allclose(
        open_dataset(tmp_path / "a.npy").array([4, 1])[:, 0], GREY[[4, 1]] / 255, atol=1e-7
    )


def test_an_array_file_takes_its_labels_from_another(tmp_path: Path):
    np.save(tmp_path / "a.npy", GREY)
    np.save(tmp_path / "b.npy", np.array([1, 0, 1, 0, -1]))
    dataset = open_dataset(tmp_path / "a.npy", labels=str(tmp_path / "b.npy"))
    assert dataset.labels is not None and dataset.labels.tolist() == [1, 0, 1, 0, -1]


@pytest.mark.parametrize(
    ("shape", "expected"),
    [
        ((2, 3, 16, 16), (3, 16, 16)),
        ((2, 16, 16, 3), (3, 16, 16)),
        ((2, 1, 16, 3), (1, 16, 3)),
        ((2, 28, 28, 1), (1, 28, 28)),
        ((2, 28, 28), (1, 28, 28)),
        ((2, 784), (1, 28, 28)),
        ((2, 3072), (3, 32, 32)),
        ((2, 3, 3, 3), (3, 3, 3)),
    ],
)
def test_the_layout_of_images_is_told_from_the_shape(
    shape: tuple[int, ...], expected: tuple[int, ...]
):
    values = RANDOM.integers(0, 256, shape, np.uint8)
    dataset = from_arrays(values)
    assert dataset.kind == "image" and dataset.shape == expected
    last = len(shape) == 4 and expected[0] == shape[3] and shape[1] != expected[0]
    planes = values.transpose(0, 3, 1, 2) if last else values.reshape(2, *expected)
    np.testing.assert_allclose(dataset.array(), planes / 255, atol=1e-7)


def test_one_by_one_and_all_at_once_are_the_same():
    dataset = from_arrays(RANDOM.random((4, 3, 8, 8)))
    np.testing.assert_array_equal(
        np.concatenate([dataset.array([i]) for i in range(4)]), dataset.array()
    )


def test_floats_from_0_to_255_become_0_to_1():
    np.testing.assert_allclose(
        from_arrays(GREY.astype(np.float64)).array()[:, 0], GREY / 255, atol=1e-6
    )


def test_other_ranges_need_low_and_high(tmp_path: Path):
    np.save(tmp_path / "a.npy", GREY / 127.5 - 1)
    with pytest.raises(DataError, match="give low and high"):
        open_dataset(tmp_path / "a.npy")
    dataset = open_dataset(tmp_path / "a.npy", low=-1, high=1)
    np.testing.assert_allclose(dataset.array()[:, 0], GREY / 255, atol=1e-6)


@pytest.mark.parametrize(
    ("shape", "kind"),
    [((5, 4), "table"), ((5, 7, 2), "sequence"), ((5, 16, 16), "image"), ((5, 784), "table")],
)
def test_the_kind_of_floats_is_told_from_the_shape(shape: tuple[int, ...], kind: str):
    assert from_arrays(RANDOM.random(shape)).kind == kind


def test_the_kind_can_be_given():
    dataset = from_arrays(RANDOM.random((3, 16, 16)), kind="sequence", lengths=[16, 3, 1])
    assert (
        dataset.kind == "sequence"
        and dataset.shape is None
        and dataset.lengths([1]).tolist() == [3]
    )


@pytest.mark.parametrize(
    "labels",
    [
        ["dog", "cat", "dog"],
        np.array([[0, 1], [1, 0], [0, 1]]),
        np.array([[1], [0], [1]]),
        np.array([1.0, 0.0, 1.0]),
    ],
)
def test_labels_may_be_words_numbers_or_one_hot(labels: Any):
    dataset = from_arrays(np.zeros((3, 4)), labels)
    assert dataset.labels is not None and dataset.labels.tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    "labels", [[1, 2], [0.5, 1, 2], [-7, 0, 1], [[1, 2], [0, 1], [1, 0]], [10**9, 0, 1]]
)
def test_labels_that_are_none_are_refused(labels: Any):
    with pytest.raises(DataError):
        from_arrays(np.zeros((3, 4)), labels)


def test_rows_that_are_not_finite_are_left_out_with_their_labels():
    values = np.arange(12, dtype=float).reshape(4, 3)
    values[1, 2] = np.nan
    dataset = from_arrays(values, [0, 1, 2, 3])
    assert len(dataset) == 3 and dataset.labels is not None and dataset.labels.tolist() == [0, 2, 3]
    assert dataset.key(1) == "row 2" and dataset.skipped[0].path == "row 1"


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(()),
        np.zeros(3),
        np.zeros((0, 4)),
        np.array([[1j]]),
        np.array([["a"]]),
        np.array([[None]]),
        np.zeros((2, 3, 4, 5, 6)),
    ],
)
def test_arrays_that_are_no_inputs_are_refused(array: np.ndarray):
    with pytest.raises(DataError):
        from_arrays(array)


def test_pickled_objects_are_never_read(tmp_path: Path):
    class Evil:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "executed",))

    evil = np.array([[Evil(), 1]], dtype=object)
    np.save(tmp_path / "a.npy", evil, allow_pickle=True)
    np.savez(tmp_path / "a.npz", x=evil, y=np.array([0]))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(DataError, match="never executed"):
            open_dataset(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def lying_header(shape: str) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, GREY)
    return buffer.getvalue().replace(
        b"(5, 8, 9), }" + b" " * len(shape), shape.encode() + b", }" + b" " * (len("(5, 8, 9)"))
    )


@pytest.mark.parametrize(
    "shape", ["(99999999999, 8, 9)", "(5, 8, 10)", "(999999, 99999, 9)", "(-5, 8, 9)"]
)
def test_arrays_that_declare_more_than_they_hold_are_refused(tmp_path: Path, shape: str):
    (tmp_path / "a.npy").write_bytes(lying_header(shape))
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("x.npy", lying_header(shape))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(DataError, match=rf"a\.np.*({'declares|ends after|shorter'})"):
            open_dataset(tmp_path / name)


def test_a_zip_bomb_is_refused(tmp_path: Path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "|u1", "fortran_order": False, "shape": (2**14, 2**10, 2**10)}
    )
    with (
        zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("x.npy", "w") as file,
    ):
        file.write(header.getvalue() + bytes(2**24))
    with pytest.raises(DataError, match=r"17\.2 GB of data, more than"):
        open_dataset(tmp_path / "a.npz")


def test_the_fingerprint_depends_on_values_labels_and_names():
    first = from_arrays(GREY, np.arange(5)).fingerprint
    assert first == from_arrays(GREY.copy(), np.arange(5)).fingerprint
    changed = GREY.copy()
    changed[0, 0, 0] ^= 1
    others = {
        from_arrays(changed, np.arange(5)).fingerprint,
        from_arrays(GREY, np.arange(5)[::-1]).fingerprint,
        from_arrays(GREY).fingerprint,
        from_arrays(GREY, np.arange(5), "abcde").fingerprint,
    }
    assert len(others | {first}) == 5


def test_labels_of_another_length_are_left_out_and_that_is_said(tmp_path: Path):
    np.savez(tmp_path / "a.npz", images=GREY, labels=np.arange(4))
    dataset = open_dataset(tmp_path / "a.npz")
    assert dataset.labels is None
    assert dataset.notes == (
        "The array 'labels' has the shape (4,), which does not fit 5 inputs, and is left out.",
    )


def test_what_is_no_array_of_inputs_is_said_for_what_it_is(tmp_path: Path):
    np.savez(tmp_path / "a.npz", images=np.array([GREY[0], None], dtype=object))
    with pytest.raises(DataError, match="Python objects"):
        open_dataset(tmp_path / "a.npz")
    np.save(tmp_path / "a.npy", np.arange(5))
    with pytest.raises(DataError, match="one row of numbers"):
        open_dataset(tmp_path / "a.npy")


def test_values_in_another_range_come_with_the_option_that_helps(tmp_path: Path):
    np.save(tmp_path / "a.npy", GREY / 127.5 - 1)
    with pytest.raises(DataError, match=r"a\.npy: the values run from") as caught:
        open_dataset(tmp_path / "a.npy")
    options = dict(word.split("=") for word in caught.value.option.split())
    assert open_dataset(tmp_path / "a.npy", **options).array().max() <= 1


def test_class_names_with_letters_that_do_not_exist_are_one_sentence(tmp_path):
    names = np.array([2**31, 65], dtype="<u4").view("<U1")
    np.savez(tmp_path / "a.npz", images=np.zeros((2, 4, 4), np.uint8), names=names)
    with pytest.raises(DataError, match="class names are no text"):
        open_dataset(tmp_path / "a.npz")


SEVERAL = np.array([[1, 0], [1, 1], [0, 0], [0, 1], [1, 1]], bool)


def several(name: str, classes: str, matrix: np.ndarray | None = SEVERAL) -> Dataset:
    """Pictures that may have several labels each."""
    return from_arrays(GREY, matrix, name=name, names=tuple(classes))


@pytest.mark.parametrize("count", [1, 2])
def test_joined_files_keep_several_labels_for_each_item(count: int):
    files = [several(f"{number}.npz", "ab") for number in range(count)]
    dataset = joined(files, Path("folder"), Options())
    assert dataset.labels is None and dataset.label_matrix is not None
    np.testing.assert_array_equal(dataset.label_matrix, np.concatenate([SEVERAL] * count))


def test_joined_files_match_several_labels_by_the_names_of_the_classes():
    dataset = joined([several("1.npz", "ab"), several("2.npz", "bc")], Path("folder"), Options())
    assert dataset.names == ("a", "b", "c") and dataset.label_matrix is not None
    np.testing.assert_array_equal(dataset.label_matrix[:5], np.pad(SEVERAL, [(0, 0), (0, 1)]))
    np.testing.assert_array_equal(dataset.label_matrix[5:], np.pad(SEVERAL, [(0, 0), (1, 0)]))


@pytest.mark.parametrize("other", [None, np.arange(5) % 2, np.zeros((5, 3), bool)])
def test_a_file_whose_labels_are_of_another_kind_is_not_joined_silently(other: Any):
    with pytest.raises(DataError, match=r"2\.npz does not have the labels of the other files"):
        joined([several("1.npz", ""), several("2.npz", "", other)], Path("folder"), Options())
