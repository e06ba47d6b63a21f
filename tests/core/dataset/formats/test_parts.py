"""Trees with parts: train, val and test, each with its class folders."""

from __future__ import annotations

from pathlib import Path

import pytest

from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError
from tests.core.dataset.formats.samples import png


def picture(path: Path, number: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(png(number))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for part, classes in (("train", "abc"), ("val", "ac")):
        for name in classes:
            for number in range(2):
                picture(tmp_path / "set" / part / name / f"{number}.png", number)
    return tmp_path / "set"


def test_the_part_that_the_model_was_not_trained_on_is_opened(tree):
    data = open_dataset(tree)
    assert data.keys() == ["val/a/0.png", "val/a/1.png", "val/c/0.png", "val/c/1.png"]
    assert data.parts == ("train", "val") and "The part val is open" in data.notes[0]


def test_the_part_can_be_chosen_and_is_remembered(tree):
    data = open_dataset(tree, split="train")
    assert len(data) == 6 and data.options == {"split": "train"}
    for word in ("validation", "valid", "val"):
        assert len(open_dataset(tree, split=word)) == 4


def test_a_class_that_a_part_lacks_keeps_its_number(tree):
    assert open_dataset(tree).names == open_dataset(tree, split="train").names == ("a", "b", "c")
    assert open_dataset(tree).labels.tolist() == [0, 0, 2, 2]


def test_a_part_that_is_not_there_is_one_sentence(tree):
    with pytest.raises(DataError, match="no part test; there are: train, val"):
        open_dataset(tree, split="test")


def test_parts_are_found_below_folders_that_hold_nothing_else(tree, tmp_path):
    (tmp_path / "outer" / "inner").mkdir(parents=True)
    tree.rename(tmp_path / "outer" / "inner" / "set")
    data = open_dataset(tmp_path / "outer")
    assert data.key(0) == "inner/set/val/a/0.png" and data.parts == ("train", "val")


def test_as_gtsrb_is_published(tmp_path):
    for number in range(3):
        picture(tmp_path / "Final_Training" / "Images" / f"{number:05}" / "0.png", number)
        picture(tmp_path / "Final_Test" / "Images" / f"{number:05}.png", number)
    rows = "".join(f"{number:05}.png;9;12;{2 - number}\n" for number in range(3))
    truth = tmp_path / "Final_Test" / "Images" / "GT-final_test.csv"
    truth.write_text(f"Filename;Width;Height;ClassId\n{rows}")
    assert open_dataset(tmp_path, split="train").names == ("00000", "00001", "00002")
    test = open_dataset(tmp_path)
    assert test.labels.tolist() == [2, 1, 0] and test.parts == ("train", "test")


def test_as_kaggle_publishes_it(tmp_path):
    for number in range(3):
        picture(tmp_path / "Train" / str(number) / "0.png", number)
        picture(tmp_path / "Test" / f"{number:05}.png", number)
    rows = "".join(f"9,12,{2 - number},Test/{number:05}.png\n" for number in range(3))
    (tmp_path / "Test.csv").write_text(f"Width,Height,ClassId,Path\n{rows}")
    assert open_dataset(tmp_path).labels.tolist() == [2, 1, 0]
    assert open_dataset(tmp_path, split="train").labels.tolist() == [0, 1, 2]


def test_a_class_called_train_is_a_class(tmp_path):
    for name in ("car", "bus", "train"):
        picture(tmp_path / name / "0.png")
    data = open_dataset(tmp_path)
    assert data.names == ("bus", "car", "train") and data.parts == ()


def test_parts_without_class_folders_are_flat(tmp_path):
    for part in ("train", "test"):
        picture(tmp_path / part / "0.png")
    data = open_dataset(tmp_path)
    assert data.keys() == ["test/0.png"] and data.labels is None
