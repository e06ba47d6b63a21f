"""Folders, single images and several of them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from robgui.core.dataset import Skipped, open_dataset
from robgui.core.errors import DataError


def paint(path: Path, value: int = 100, size: tuple[int, int] = (6, 4)) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, (value, value, value)).save(path)
    return path


def test_class_folders_give_labels_in_the_order_of_their_names(tmp_path: Path):
    for name in ("red/2.png", "red/10.png", "green/a.png", "none/x.png", ".hidden/y.png"):
        paint(tmp_path / name)
    (tmp_path / "empty").mkdir()
    dataset = open_dataset(tmp_path)
    assert dataset.names == ("green", "none", "red")
    assert (
        dataset.labels is not None
        and dataset.labels.tolist() == [0, 1, 2, 2]
        and dataset.labels.dtype == np.int64
    )
    assert [dataset.key(i) for i in range(4)] == [
        "green/a.png",
        "none/x.png",
        "red/2.png",
        "red/10.png",
    ]
    assert dataset.shape == (3, 4, 6) and dataset.kind == "image" and dataset.path == tmp_path


def test_numbered_class_folders_are_in_the_order_of_their_numbers(tmp_path: Path):
    for number in range(12):
        paint(tmp_path / str(number) / "a.png")
    assert open_dataset(tmp_path).names == tuple(str(number) for number in range(12))


def test_names_given_as_an_option_set_the_class_order(tmp_path: Path):
    for name in ("cat/a.png", "dog/a.png"):
        paint(tmp_path / name)
    dataset = open_dataset(tmp_path, names=["dog", "cat"])
    assert dataset.names == ("dog", "cat")
    assert dataset.labels is not None and dataset.labels.tolist() == [1, 0]


def test_flat_images_come_in_natural_order_without_labels(tmp_path: Path):
    for number in (10, 9, 1):
        paint(tmp_path / f"img{number}.PNG", number)
    dataset = open_dataset(tmp_path)
    assert [dataset.key(i) for i in range(3)] == ["img1.PNG", "img9.PNG", "img10.PNG"]
    assert dataset.labels is None and dataset.names == ()
    np.testing.assert_allclose(dataset.array()[:, 0, 0, 0] * 255, [1, 9, 10], atol=1e-4)


def test_a_labels_csv_beside_flat_images_is_understood(tmp_path: Path):
    for name in "abc":
        paint(tmp_path / f"{name}.png")
    (tmp_path / "labels.csv").write_text("file;label\na.png;dog\nc.png;cat\n", encoding="utf-8")
    dataset = open_dataset(tmp_path)
    assert dataset.names == ("cat", "dog")
    assert dataset.labels is not None and dataset.labels.tolist() == [1, -1, 0]
    assert "no label for 1 of 3" in dataset.notes[0]


@pytest.mark.parametrize(
    "document",
    [
        {"a.png": "dog", "b.png": "cat"},
        [{"file": "a.png", "label": "dog"}, {"file": "b.png", "label": "cat"}],
        {"a": "dog", "b": "cat"},
    ],
)
def test_a_labels_json_beside_flat_images_is_understood(tmp_path: Path, document: object):
    paint(tmp_path / "a.png")
    paint(tmp_path / "b.png")
    (tmp_path / "labels.json").write_text(json.dumps(document), encoding="utf-8")
    dataset = open_dataset(tmp_path)
    assert dataset.labels is not None and [dataset.names[label] for label in dataset.labels] == [
        "dog",
        "cat",
    ]


def test_class_numbers_in_a_labels_file_are_kept(tmp_path: Path):
    for name in "ab":
        paint(tmp_path / "images" / f"{name}.png")
    (tmp_path / "labels.csv").write_text(
        "file,imagenet_index,wnid,name\na.png,8,n1,hen\nb.png,2,n2,shark\n", encoding="utf-8"
    )
    for path in (tmp_path, tmp_path / "images"):
        dataset = open_dataset(path)
        assert dataset.labels is not None and dataset.labels.tolist() == [8, 2]
        assert len(dataset.names) == 9 and dataset.names[8] == "hen" and dataset.names[2] == "shark"


def test_a_bad_image_is_named_listed_and_does_not_stop_the_others(tmp_path: Path):
    for number in range(20):
        paint(tmp_path / f"{number}.png", number)
    (tmp_path / "4.png").write_bytes(b"\x89PNG\r\n\x1a\n this is no image")
    dataset = open_dataset(tmp_path)
    with pytest.raises(DataError, match=r"4\.png.*cannot be read"):
        dataset.array([3, 4])
    found = [(indices, len(items)) for indices, items in dataset.batches(8, (3, 2, 2))]
    assert found == [([0, 1, 2, 3, 5, 6, 7], 7), (list(range(8, 16)), 8), ([16, 17, 18, 19], 4)]
    assert [skipped.path for skipped in dataset.skipped] == ["4.png"]
    assert isinstance(dataset.skipped[0], Skipped) and "cannot be read" in dataset.skipped[0].reason


def test_the_thumbnail_of_a_bad_image_is_a_grey_cross(tmp_path: Path):
    (tmp_path / "a.png").write_bytes(b"nothing")
    paint(tmp_path / "b.png")
    dataset = open_dataset(tmp_path)
    picture = dataset.thumbnail(0, 32)
    assert picture.shape == (32, 32, 3) and picture.dtype == np.uint8
    assert (picture[..., 0] == picture[..., 2]).all() and len(np.unique(picture)) > 1
    assert len(dataset.skipped) == 1


@pytest.mark.parametrize("many", [1, 3, 20])
def test_images_of_which_none_can_be_read_are_refused_in_one_sentence(tmp_path: Path, many: int):
    for number in range(many):
        (tmp_path / f"{number}.png").write_bytes(b"nothing")
    with pytest.raises(DataError, match="can be read" if many > 1 else "cannot be read") as caught:
        open_dataset(tmp_path)
    assert "\n" not in str(caught.value) and str(caught.value).endswith(".")
    (tmp_path / "cat").mkdir()
    for number in range(many):
        (tmp_path / f"{number}.png").rename(tmp_path / "cat" / f"{number}.png")
    with pytest.raises(DataError, match="read"):
        open_dataset(tmp_path)
    paint(tmp_path / "cat" / "z.png")
    assert len(open_dataset(tmp_path)) == many + 1


def test_a_single_image_that_ends_too_early_is_refused(tmp_path: Path):
    whole = paint(tmp_path / "a.png", size=(64, 64)).read_bytes()
    (tmp_path / "half.png").write_bytes(whole[:60])
    with pytest.raises(DataError, match=r"half\.png.*cannot be read"):
        open_dataset(tmp_path / "half.png")


def test_images_in_foreign_formats_are_listed(tmp_path: Path):
    paint(tmp_path / "a.png")
    (tmp_path / "b.heic").write_bytes(b"x")
    (tmp_path / "readme.txt").write_text("hello")
    assert [skipped.path for skipped in open_dataset(tmp_path).skipped] == ["b.heic"]


def test_images_of_different_sizes_have_no_shape_but_fit_any(tmp_path: Path):
    paint(tmp_path / "a.png", size=(3, 3))
    paint(tmp_path / "b.png", size=(9, 5))
    dataset = open_dataset(tmp_path)
    assert dataset.shape is None
    assert dataset.array(None, (1, 4, 4)).shape == (2, 1, 4, 4)
    with pytest.raises(DataError, match="differ in size"):
        dataset.array()


def test_several_images_open_together_and_again_from_their_options(tmp_path: Path):
    paths = [paint(tmp_path / "x" / "b.png", 5), paint(tmp_path / "a.png", 7)]
    dataset = open_dataset(paths)
    assert [dataset.key(i) for i in range(2)] == ["x/b.png", "a.png"]
    assert dataset.path is not None
    again = open_dataset(dataset.path, **dataset.options)
    assert again.fingerprint == dataset.fingerprint
    np.testing.assert_array_equal(again.array(), dataset.array())


def test_images_on_two_drives_open_together_and_again_from_their_options(tmp_path, monkeypatch):
    paths = [paint(tmp_path / "x" / "b.png", 5), paint(tmp_path / "a.png", 7)]
    expected = open_dataset(paths).array()
    monkeypatch.setattr("robgui.core.dataset.formats.folder.common_folder", lambda files: None)
    dataset = open_dataset(paths)
    np.testing.assert_array_equal(dataset.array(), expected)
    assert dataset.path is not None
    np.testing.assert_array_equal(open_dataset(dataset.path, **dataset.options).array(), expected)


def test_several_files_must_be_images(tmp_path: Path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="only images"):
        open_dataset([tmp_path / "a.csv", paint(tmp_path / "a.png")])
    with pytest.raises(DataError, match="no file was given"):
        open_dataset([])


def test_a_folder_without_images_says_so(tmp_path: Path):
    with pytest.raises(DataError, match="no images"):
        open_dataset(tmp_path)


def test_the_fingerprint_of_a_folder_changes_with_its_files(tmp_path: Path):
    paint(tmp_path / "a.png")
    first = open_dataset(tmp_path).fingerprint
    assert len(first) == 16 and first == open_dataset(tmp_path).fingerprint
    paint(tmp_path / "b.png")
    assert open_dataset(tmp_path).fingerprint != first


def test_unknown_files_paths_and_options_are_refused_in_one_sentence(tmp_path: Path):
    (tmp_path / "a.xyz").write_bytes(b"hello")
    for path, options in (
        (tmp_path / "a.xyz", {}),
        (tmp_path / "nothing", {}),
        (tmp_path, {"colour": 1}),
        (tmp_path, {"kind": "sound"}),
    ):
        with pytest.raises(DataError) as error:
            open_dataset(path, **options)
        assert "\n" not in str(error.value) and str(error.value).endswith(".")


def test_links_in_a_circle_and_into_nothing_are_skipped(tmp_path: Path):
    paint(tmp_path / "cat" / "a.png")
    for name, target in (
        ("one", "two"),
        ("two", "one"),
        ("cat/up", ".."),
        ("cat/c.png", "d.png"),
        ("cat/d.png", "c.png"),
        ("cat/e.png", "gone"),
    ):
        (tmp_path / name).symlink_to(target)
    dataset = open_dataset(tmp_path)
    kept, _ = dataset.readable(shape=(3, 4, 4))
    assert [dataset.key(index) for index in kept] == ["cat/a.png"]
    assert {bad.path for bad in dataset.skipped} == {"cat/c.png", "cat/d.png", "cat/e.png"}


def test_why_an_image_cannot_be_read_is_said_once_and_in_words(tmp_path: Path):
    (tmp_path / "a.png").touch()
    (tmp_path / "b.png").write_bytes(b"hello")
    (tmp_path / "c.png").symlink_to("nowhere")
    paint(tmp_path / "d.png")
    dataset = open_dataset(tmp_path)
    for index, reason in enumerate(("it is empty", "it is no image", "No such file")):
        with pytest.raises(DataError, match=reason) as caught:
            dataset.array([index], (3, 4, 4))
        assert str(caught.value).count(".png") == 1
