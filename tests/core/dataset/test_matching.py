"""A classifier and a dataset together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from robgui.core.dataset import Dataset, align, batches, from_arrays, inputs, match, open_dataset
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier


def classifier(
    shape: tuple[int, ...], labels: tuple[str, ...] = ("a", "b"), **settings: object
) -> Classifier:
    def model(x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1).sum(1, keepdim=True) * torch.arange(
            len(labels), device=x.device, dtype=x.dtype
        )

    return Classifier.from_callable(model, shape, labels, name="net", output="logits", **settings)


def table(columns: int = 2, **options: object) -> Dataset:
    rng = np.random.default_rng(0)
    return from_arrays(
        rng.normal(50, 20, (30, columns)).astype(np.float32),
        rng.integers(0, 2, 30),
        name="rows",
        **options,
    )


def test_images_are_given_in_the_shape_of_the_model():
    dataset = from_arrays(np.full((3, 12, 12), 51, np.uint8))
    x = inputs(classifier((3, 5, 7)), dataset, [0, 2])
    assert x.shape == (2, 3, 5, 7) and x.dtype == np.float32
    np.testing.assert_allclose(x, 0.2, atol=1e-6)


def test_a_table_model_without_range_adopts_that_of_the_data_and_says_so():
    model, data, said = classifier((2,)), table(), []
    model.notice = said.append
    fitted = match(model, data)
    low, high = data.bounds()
    np.testing.assert_array_equal(np.float32(fitted.settings.low), low)
    np.testing.assert_array_equal(np.float32(fitted.settings.high), high)
    assert len(said) == 1 and "lowest and highest" in said[0]
    x = inputs(fitted, data)
    assert x.min() == 0 and x.max() == 1
    np.testing.assert_allclose(fitted.decode(x), data.array(), rtol=1e-5)


def test_a_model_without_class_names_adopts_those_of_the_data_and_says_so():
    model, said = (
        Classifier.from_callable(
            lambda x: x.flatten(1)[:, :3], (1, 2, 2), name="net", output="logits"
        ),
        [],
    )
    model.notice = said.append
    data = from_arrays(np.zeros((3, 2, 2), np.uint8), [0, 1, 2], ("cat", "dog", "owl"), "pets")
    assert (
        match(model, data).labels == ("cat", "dog", "owl")
        and len(said) == 1
        and "those of pets" in said[0]
    )
    assert match(match(model, data), data).labels == ("cat", "dog", "owl") and len(said) == 2
    assert said[0].endswith("in their order: cat, dog, owl.")


def test_fewer_names_than_a_model_without_names_has_classes_tell_nothing_of_what_is_right():
    model = Classifier.from_callable(
        lambda x: x.flatten(1)[:, :3], (1, 2, 2), name="net", output="logits"
    )
    said: list[str] = []
    data = from_arrays(np.zeros((2, 2, 2), np.uint8), [0, 1], ("cat", "dog"), "pets")
    assert match(model, data, said.append) is model
    assert align(model, data).labels is None
    assert len(said) == 1 and "The classes of pets (cat, dog) are not those of net" in said[0]


def test_a_subset_gives_the_same_range_as_the_whole():
    data = table()
    assert (
        match(classifier((2,)), data.subset([3])).settings == match(classifier((2,)), data).settings
    )


def test_a_model_with_a_range_and_data_in_zero_to_one_stay_as_they_are():
    model = classifier((2,), low=(0.0,), high=(200.0,))
    assert match(model, table()) is model
    plain = classifier((2,))
    assert match(plain, from_arrays(np.array([[0.5, 0.25]]))) is plain


def test_one_row_does_not_tell_a_range():
    with pytest.raises(DataError, match="does not vary"):
        match(classifier((2,)), from_arrays(np.array([[5.0, 7.0]])))


def test_a_value_outside_the_range_names_its_column():
    data = table(features=("width", "height"))
    model = classifier((2,), low=(-1000.0, 45.0), high=(1000.0, 55.0))
    with pytest.raises(
        DataError, match="height has values outside the range of net; set low and high"
    ):
        inputs(model, data)


def test_columns_are_found_by_their_names():
    data = table(3, features=("x", "y", "z"))
    model = match(classifier((2,), features=("z", "x")), data)
    np.testing.assert_allclose(
        model.decode(inputs(model, data)), data.array()[:, [2, 0]], rtol=1e-5
    )


@pytest.mark.parametrize(
    ("shape", "data", "words"),
    [
        ((1, 8, 8), table(), "takes images"),
        ((3,), table(), "takes 3 columns, but rows has 2"),
        (
            (4, 3),
            from_arrays(np.random.default_rng(0).random((5, 4, 2)), name="tracks"),
            "takes 3 columns, but tracks has 2",
        ),
        ((5, 8, 8), from_arrays(np.zeros((2, 8, 8), np.uint8)), "5 channels"),
    ],
)
def test_what_does_not_fit_is_said_in_one_sentence(
    shape: tuple[int, ...], data: Dataset, words: str
):
    with pytest.raises(DataError, match=words) as error:
        match(classifier(shape), data)
    assert "\n" not in str(error.value)


def test_class_folders_get_the_class_numbers_of_the_model(tmp_path: Path):
    for name in ("green", "none", "red"):
        (tmp_path / name).mkdir()
        Image.new("RGB", (4, 4)).save(tmp_path / name / "a.png")
    aligned = align(classifier((3, 4, 4), ("red", "Green", "none")), open_dataset(tmp_path))
    assert (
        aligned.names == ("red", "Green", "none")
        and aligned.labels is not None
        and aligned.labels.tolist() == [1, 2, 0]
    )


def test_names_that_a_model_without_names_does_not_know_are_left_as_they_are():
    model = Classifier.from_callable(lambda x: x[:, :2], (2,), name="net", output="logits")
    data = from_arrays(np.zeros((2, 2)), [0, 1], ("cat", "dog"))
    assert align(model, data) is data


def test_a_dataset_without_names_adopts_those_of_the_model():
    data = align(classifier((2,), ("cat", "dog")), from_arrays(np.zeros((2, 2)), [0, 1]))
    assert data.names == ("cat", "dog") and data.select("label=dog") == [1]


def test_sequences_are_padded_inside_the_range():
    points = np.random.default_rng(0).normal(100, 5, (4, 6, 2))
    data = from_arrays(points, lengths=[6, 2, 1, 4], kind="sequence")
    model = match(classifier((8, 2)), data)
    x = inputs(model, data)
    assert x.shape == (4, 8, 2) and x.min() >= 0 and x.max() <= 1
    np.testing.assert_allclose(
        model.decode(x)[1, 1:], np.broadcast_to(points[1, 1], (7, 2)), rtol=1e-4
    )


def test_batches_go_on_past_a_bad_image(tmp_path: Path):
    for number in range(5):
        Image.new("L", (4, 4), number).save(tmp_path / f"{number}.png")
    (tmp_path / "2.png").write_bytes(b"")
    data = open_dataset(tmp_path)
    found = list(batches(classifier((1, 4, 4)), data, 2))
    assert [indices for indices, _ in found] == [[0, 1], [3], [4]] and found[1][1].shape == (
        1,
        1,
        4,
        4,
    )
    assert [skipped.path for skipped in data.skipped] == ["2.png"]


def labelled(names: tuple[str, ...], labels: list[int]) -> Dataset:
    return from_arrays(np.zeros((len(labels), 8, 8), np.uint8), labels, names, name="pictures")


def test_data_of_other_classes_are_said_not_to_fit_and_their_labels_do_not_count():
    model, said = classifier((1, 8, 8), ("shirt", "coat", "bag")), []
    model.notice = said.append
    data = labelled(("cat", "dog"), [0, 1])
    match(model, data)
    assert align(model, data).labels is None
    assert said == [
        (
            "The classes of pictures (cat, dog) are not those of net (shirt, coat, bag), so its"
            " labels are left out and nothing counts as wrong; if they belong together, say in the"
            " settings of the data which class is which."
        )
    ]


def test_labels_beyond_the_classes_of_the_model_do_not_fit_either():
    model, said = classifier((2,), ("a", "b")), []
    data = from_arrays(np.random.default_rng(0).random((3, 2)), [0, 1, 2])
    match(model, data, said.append)
    assert align(model, data).labels is None
    assert len(said) == 1 and "labels up to 2" in said[0]


def test_what_the_user_says_of_the_classes_counts():
    model, said = classifier((1, 8, 8), ("shirt", "coat", "bag")), []
    data = labelled(("cat", "dog"), [0, 1]).renamed({"cat": "bag", "dog": ""})
    match(model, data, said.append)
    assert align(model, data).labels.tolist() == [2, -1] and not said


def test_where_some_names_are_known_at_other_places_those_count_and_the_rest_has_no_label():
    model, said = classifier((1, 8, 8), ("shirt", "coat", "bag")), []
    model.notice = said.append
    data = labelled(("bag", "hat", "shirt"), [0, 1, 2])
    match(model, data)
    assert align(model, data).labels.tolist() == [2, -1, 0]
    assert len(said) == 1 and "no class “hat”" in said[0] and "no label" in said[0]


def test_known_names_at_their_own_places_leave_the_others_by_number():
    model = classifier((1, 8, 8), ("airplane", "automobile", "bird"))
    assert align(model, labelled(("plane", "car", "bird"), [0, 1, 2])).labels.tolist() == [0, 1, 2]


def test_names_that_the_model_knows_are_nothing_to_talk_about():
    model, said = classifier((1, 8, 8), ("shirt", "coat", "bag")), []
    model.notice = said.append
    match(model, labelled(("bag", "shirt", "unused"), [0, 1]))
    assert said == []
