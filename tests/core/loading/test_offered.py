"""The networks of a Python file are found without running it."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from robgui.core.loading.offered import fitting, networks_beside, networks_in, parts_of

SOURCE = b"""
raise SystemExit("this file must not run")
import torch.nn as nn
from torch import nn as other

class Config:
    pass

class Base(nn.Module):
    def __init__(self, classes=10):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 8, 3)

class Small(Base):
    def __init__(self, classes, *, width):
        super().__init__()
        self.fc = nn.Linear(8, classes)
        self.relu: nn.Module = nn.ReLU()

class Row(other.Sequential):
    pass

def make(depth=3):
    return Small(depth, width=2)

def unrelated():
    return 3
"""


def test_classes_and_functions_that_build_networks_are_listed_with_what_they_need():
    found = {each.name: each for each in networks_in(SOURCE)}
    assert list(found) == ["Base", "Small", "Row", "make"]
    assert found["Small"].needs == ("classes", "width") and found["make"].needs == ()
    assert found["Small"].parts == {"conv1", "fc", "relu"}
    assert networks_in(b"not ( python") == [] and networks_in(b"class A(A): pass") == []


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 2)


@pytest.mark.parametrize("kind", ["zip", "legacy", "nested", "wrapped", "safetensors"])
def test_the_names_of_the_weights_choose_the_network(tmp_path, kind):
    path, weights = tmp_path / "w.pth", Net().state_dict()
    if kind == "safetensors":
        save_file(weights, path)
    elif kind == "wrapped":
        torch.save({f"module.{name}": value for name, value in weights.items()}, path)
    else:
        stored = {"state_dict": weights, "epoch": 3} if kind == "nested" else weights
        torch.save(stored, path, _use_new_zipfile_serialization=kind != "legacy")
    assert parts_of(path) == {"conv1", "fc"}
    (tmp_path / "nets.py").write_bytes(SOURCE)
    ((where, networks),) = networks_beside(path).items()
    assert where.name == "nets.py"
    chosen = fitting(networks, parts_of(path))
    assert chosen is not None and chosen.name == "make", "it needs no values"
    assert fitting(networks, frozenset({"head"})) is None


def test_what_is_no_file_of_weights_has_no_names(tmp_path):
    (tmp_path / "w.pth").write_bytes(b"hello world, these are no weights")
    assert parts_of(tmp_path / "w.pth") == frozenset()
    assert parts_of(tmp_path / "none.pth") == frozenset()


FUNCTIONS = b"""
import torch
from torch import nn
from other import Net

def build(width=8):
    return Net(width)

def stack():
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 2))

def told() -> nn.Module:
    made = Net(3)
    return made

def make_model(width):
    return Net(width)

def helper():
    return 3

def accuracy(x=0):
    return x + 1

def main():
    torch.save(build(), "x.pth")
"""


def test_functions_that_build_a_network_of_another_file_are_offered_and_others_are_not():
    assert [one.name for one in networks_in(FUNCTIONS)] == ["build", "stack", "told"]
