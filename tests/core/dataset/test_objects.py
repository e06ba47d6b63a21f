"""Data that Python holds: DataLoaders, torch datasets, MAITE datasets, lists of paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset
from torch.utils.data import Dataset as TorchDataset

import robgui
from robgui.core.dataset import open_dataset
from robgui.core.errors import DataError
from tests.core.dataset.formats.samples import LABELS, NAMES, PIXELS, UNIT, write_tree
from tests.core.dataset.formats.test_archives import same


class Pets(TorchDataset):
    """As torchvision's: a picture or a tensor, and a class number."""

    def __init__(self, form: str = "float") -> None:
        self.form = form
        self.asked: list[int] = []

    def __len__(self) -> int:
        return 6

    def __getitem__(self, place: int) -> tuple[Any, int]:
        self.asked.append(place)
        if self.form == "picture":
            return Image.fromarray(PIXELS[place]), int(LABELS[place])
        if self.form == "bytes":
            return torch.tensor(PIXELS[place].transpose(2, 0, 1)), int(LABELS[place])
        return torch.tensor(UNIT[place]), int(LABELS[place])


class Named(Pets):
    """One that knows its labels and their names."""

    classes = NAMES
    targets = LABELS


class Maite:
    """The protocol of MAITE: (input, target, metadata), targets as one-hot rows."""

    def __init__(self, count: int = 6) -> None:
        self.count = count
        self.metadata = {"id": "pets", "index2label": dict(enumerate(NAMES))}

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, place: int) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        return UNIT[place], np.eye(3)[LABELS[place]], {"id": str(place)}


class Rows(IterableDataset):
    def __iter__(self):
        return iter([(torch.tensor(UNIT[place]), int(LABELS[place])) for place in range(6)])


@pytest.mark.parametrize("form", ["float", "bytes", "picture"])
def test_a_torch_dataset(form):
    same(open_dataset(Pets(form), names=NAMES))


def test_a_dataset_that_knows_its_labels_is_not_gone_through():
    pets = Named()
    dataset = open_dataset(pets)
    assert len(pets.asked) < 60 and dataset.names == NAMES
    pets.asked.clear()
    dataset.array([4])
    assert pets.asked == [4]
    same(dataset)


def test_a_dataloader_gives_its_dataset_in_its_own_order():
    same(open_dataset(DataLoader(Named(), batch_size=4, shuffle=True)))


def test_a_loader_that_can_only_be_gone_through_is_held_in_memory():
    same(open_dataset(DataLoader(Rows(), batch_size=4), names=NAMES))


def test_tensors_in_memory():
    tensors = TensorDataset(torch.tensor(UNIT), torch.tensor(LABELS))
    same(open_dataset(tensors, names=NAMES))


def test_a_maite_dataset():
    same(open_dataset(Maite()))


def test_the_maite_package_agrees_that_this_is_its_protocol():
    protocols = pytest.importorskip("maite.protocols.image_classification")
    assert isinstance(Maite(), protocols.Dataset)


def test_a_list_of_paths(tmp_path):
    folder = write_tree(tmp_path / "pets")
    paths = sorted(folder.rglob("*.png"))
    dataset = open_dataset([str(path) for path in paths])
    np.testing.assert_array_equal(dataset.array(), UNIT)


def test_mappings_as_hugging_face_gives_them():
    rows = [{"image": Image.fromarray(PIXELS[n]), "label": int(LABELS[n])} for n in range(6)]
    same(open_dataset(rows, names=NAMES))


def test_analyses_take_all_of_them(tmp_path):
    net = robgui.Classifier.from_callable(
        lambda x: x.flatten(1)[:, :3], (3, 12, 9), NAMES, output="logits"
    )
    paths = [str(path) for path in sorted(write_tree(tmp_path / "pets").rglob("*.png"))]
    one = Subset(Pets(), [0])
    for inputs in (one, DataLoader(one, batch_size=2), Maite(1), paths[:1], [PIXELS[0]]):
        result = robgui.run("zonnscan", net, inputs, samples=16, radii=(0.0, 0.1))
        assert result is not None


def test_normalised_items_are_refused_with_the_way_out():
    class Normalised(Pets):
        def __getitem__(self, place: int) -> tuple[Any, int]:
            return torch.tensor((UNIT[place] - 0.5) / 0.1), 0

    with pytest.raises(DataError, match="mean and std belong to the model's settings"):
        open_dataset(Normalised())


@pytest.mark.parametrize("what", [object(), 7, [], TensorDataset(torch.zeros(0, 3, 4, 4))])
def test_what_is_no_data_is_one_sentence(what):
    with pytest.raises(DataError) as error:
        open_dataset(what)
    assert "\n" not in str(error.value)
