"""One mapping between folder names, label numbers and the names of a model's classes."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from robgui.core.dataset import align, from_arrays, match, open_dataset
from robgui.core.dataset.matching import shown_names
from robgui.core.dataset.naming import correspond, tables
from robgui.core.dataset.options import Options, parse
from robgui.core.errors import DataError
from robgui.core.execution.params.text import format_value, parse_value
from robgui.core.model.classifier import Classifier

SIGNS = tables()["GTSRB"]


def places(names: list[str], labels: list[str]) -> tuple[int, ...]:
    return correspond(tuple(names), tuple(labels), tuple(range(len(names)))).places


def model(labels: tuple[str, ...], classes: int = 0) -> Classifier:
    many = classes or len(labels)

    def net(x: torch.Tensor) -> torch.Tensor:
        return x.flatten(1).sum(1, keepdim=True) * torch.arange(many, dtype=x.dtype)

    return Classifier.from_callable(net, (3, 16, 16), labels, name="net", output="logits")


@pytest.mark.parametrize(
    ("names", "labels", "wanted"),
    [
        (["00", "01", "42"], [f"sign {n}" for n in range(43)], (0, 1, 42)),
        (["00000", "00007"], [f"sign {n}" for n in range(43)], (0, 7)),
        (["class_1", "class_2"], ["a", "b", "c"], (1, 2)),
        (["1", "2", "3"], ["a", "b", "c"], (0, 1, 2)),  # counted from 1
        (["speed_limit_20", "STOP"], ["Stop", "Speed limit (20)"], (1, 0)),
        (["SpeedLimit20"], ["stop", "speed limit 20"], (1,)),
        (["00_stop", "01_yield"], ["Yield", "Stop"], (1, 0)),
        (["n01440764", "n02012849"], ["crane", "tench, Tinca tinca"], (1, 0)),
        (["n01440764_tench"], ["dog", "tench"], (1,)),
        (["plane", "car", "boat"], list(tables()["CIFAR-10"]), (0, 1, 8)),
        (["seven", "0"], [str(n) for n in range(10)], (7, 0)),
        (["3", "9"], list(tables()["MNIST"]), (3, 9)),
        (["tench"], ["tench, Tinca tinca", "goldfish, Carassius auratus"], (0,)),
        (["C", "C++"], ["C++", "C"], (1, 0)),
    ],
)
def test_which_class_is_which(names, labels, wanted):
    assert places(names, labels) == wanted


def test_wordnet_ids_are_the_places_of_imagenet():
    labels = [f"output {n}" for n in range(1000)]
    names = ["n01440764", "n01443537", "n15075141"]
    assert places(names, labels) == (0, 1, 999)
    assert places(names, ["background", *labels]) == (1, 2, 1000)


def test_the_ids_that_ship_are_those_of_the_thousand_classes_in_order():
    names = tables()["ImageNet"]
    assert len(names) == 1000
    assert (names[0], names[1], names[281], names[999]) == (
        "tench",
        "goldfish",
        "tabby",
        "toilet tissue",
    )


@pytest.mark.parametrize(
    ("names", "labels"),
    [
        (list(tables()["CIFAR-10"]), list(SIGNS)),
        (["00", "42"], ["a", "b"]),
        (["cat", "dog"], ["shirt", "coat"]),
    ],
)
def test_foreign_classes_are_told_from_fitting_ones(names, labels):
    found = correspond(tuple(names), tuple(labels), tuple(range(len(names))))
    assert found.how == "none" and set(found.places) == {-1}


def test_a_name_that_two_classes_could_have_is_not_guessed():
    assert places(["crane", "dog"], ["crane, bird", "crane, machine", "dog"]) == (-1, 2)


# ---------------------------------------------------------------- folders as of GTSRB


def photos(folder: Path, classes: int = 43, names: str = "") -> Path:
    """PPM photos of different sizes in folders 00 … 42, and a table of their names."""
    rng = np.random.default_rng(0)
    for number in range(classes):
        own = folder / f"{number:02}"
        own.mkdir(parents=True)
        for place in range(2):
            side = rng.integers(15, 60, 2)
            pixels = rng.integers(0, 256, (*side, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(own / f"0000{place}.ppm")
        (own / f"GT-{number:05}.csv").write_text("Filename;ClassId\n")
    if names:
        rows = "".join(f"{number},{sign}\n" for number, sign in enumerate(SIGNS[:classes]))
        (folder / names).write_text(f"ClassId,SignName\n{rows}")
    return folder


def test_folders_with_numbers_are_the_classes_of_a_network_that_has_names(tmp_path):
    data, net, said = open_dataset(photos(tmp_path / "signs")), model(SIGNS), []
    fitted = match(net, data, said.append)
    aligned = align(fitted, data)
    assert said == [] and aligned.names == SIGNS
    assert aligned.labels.tolist() == [number for number in range(43) for _ in range(2)]
    assert data.shape is None and aligned.array(shape=(3, 16, 16)).shape == (86, 3, 16, 16)


@pytest.mark.parametrize("names", ["signnames.csv", "gtsrb.csv"])
def test_names_from_a_csv_are_those_of_the_folders(tmp_path, names):
    data = open_dataset(photos(tmp_path / "signs", names=names))
    assert data.names == SIGNS and data.select("label=Stop") == [28, 29]
    reversed_net, said = model(SIGNS[::-1]), []
    match(reversed_net, data, said.append)
    assert align(reversed_net, data).labels[:2].tolist() == [42, 42] and said == []


def test_a_network_without_names_takes_those_of_the_csv_but_never_numbers(tmp_path):
    named = match(model((), 43), open_dataset(photos(tmp_path / "a", names="signnames.csv")))
    assert named.labels == SIGNS
    bare, said = model((), 43), []
    assert match(bare, open_dataset(photos(tmp_path / "b")), said.append) is bare and not said


def test_a_names_file_beside_the_folder_and_one_that_is_named(tmp_path):
    photos(tmp_path / "train", 3)
    (tmp_path / "class_names.txt").write_text("stop\nyield\nno entry\n")
    assert open_dataset(tmp_path / "train").names == ("stop", "yield", "no entry")
    (tmp_path / "x.json").write_text('{"0": "a", "1": "b", "2": "c"}')
    assert open_dataset(tmp_path / "train", names_file=tmp_path / "x.json").names == ("a", "b", "c")
    (tmp_path / "x.json").write_text('{"0": "a"}')
    with pytest.raises(DataError, match="does not give each class a name"):
        open_dataset(tmp_path / "train", names_file=tmp_path / "x.json")


def test_numbers_as_labels_get_their_names_from_a_file(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.zeros((3, 8, 8), np.uint8), y=[0, 1, 2])
    (tmp_path / "n.csv").write_text("id,name\n0,cat\n1,dog\n2,owl\n")
    data = open_dataset(tmp_path / "a.npz", names_file=tmp_path / "n.csv")
    assert data.names == ("cat", "dog", "owl") and data.labels.tolist() == [0, 1, 2]


def test_the_mapping_that_the_user_gives_is_kept_with_the_data(tmp_path):
    photos(tmp_path / "signs", 3)
    told = {"00": "Stop", "01": "Stop", "02": ""}
    data = open_dataset(tmp_path / "signs", classes=told)
    assert data.names == ("Stop",) and data.labels.tolist() == [0, 0, 0, 0, -1, -1]
    again = open_dataset(tmp_path / "signs", **data.options)
    assert again.fingerprint == data.fingerprint
    by_text = open_dataset(tmp_path / "signs", classes="00=Stop, 01=Stop, 02=")
    assert by_text.fingerprint == data.fingerprint


def test_a_csv_that_names_something_else_is_not_taken_for_names(tmp_path):
    photos(tmp_path / "signs", 3)
    (tmp_path / "signs" / "notes.csv").write_text("when,what\n00,rain\n01,sun\n")
    assert open_dataset(tmp_path / "signs").names == ("00", "01", "02")


def test_pictures_of_these_tests_are_real():
    assert Image.open(io.BytesIO(b"P6 1 1 255 abc")).size == (1, 1)


def test_folders_called_by_numbers_or_ids_are_shown_by_the_name_of_the_class(tmp_path):
    data = open_dataset(photos(tmp_path / "signs", 3))
    assert shown_names(model(("Stop", "Yield", "No entry")), data) == ("Stop", "Yield", "No entry")
    ids = from_arrays(np.zeros((1, 8, 8, 3), np.uint8), [0], ("n01440764",))
    assert shown_names(model(("tench, Tinca tinca", "dog")), ids) == ("tench, Tinca tinca",)
    assert shown_names(model((), 2), ids) == ("tench",)
    named = from_arrays(np.zeros((1, 8, 8, 3), np.uint8), [0], ("plane",))
    assert shown_names(model(tables()["CIFAR-10"]), named) == ("plane",)


def test_a_names_file_beside_the_data_is_remembered_with_them(tmp_path):
    photos(tmp_path / "train", 3)
    (tmp_path / "class_names.txt").write_text("stop\nyield\nno entry\n")
    data = open_dataset(tmp_path / "train")
    assert data.options == {"names_file": str(tmp_path / "class_names.txt")}
    assert open_dataset(tmp_path / "train", **data.options).fingerprint == data.fingerprint


@pytest.mark.parametrize(
    "classes",
    [{"00": "Stop", "01": ""}, {"n01440764": "tench, Tinca tinca", "a=b": 'c "d": e', "{x": "y"}],
)
def test_the_mapping_survives_the_command_line(classes):
    text = format_value(classes)
    assert parse_value("classes", Options.model_fields["classes"], text) == classes
    assert parse({"classes": text if text[:1] != "{" else classes}).classes == classes
