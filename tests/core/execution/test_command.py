from __future__ import annotations

import shlex

import numpy as np
import pytest
from torch import nn

from robgui.cli.options import values_of
from robgui.cli.run import parser
from robgui.core.dataset import from_arrays
from robgui.core.execution.command import command_line
from robgui.core.execution.params.text import indices
from robgui.core.execution.registry import find
from robgui.core.execution.request import build_request
from robgui.core.model.classifier import Classifier
from robgui.core.model.settings import write_side_file


@pytest.fixture
def classifier(tmp_path):
    model = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(12, 2)),
        (1, 3, 4),
        ("a b", "c"),
        mean=(0.5,),
        name="net",
    )
    model.path = tmp_path / "my net.pt2"
    return model


@pytest.fixture
def dataset(tmp_path):
    data = from_arrays(np.zeros((30, 3, 4), np.uint8), name="zeros")
    data.path = tmp_path / "zeros.npz"
    return data


def request(classifier, dataset, **params):
    return build_request("zonnscan", [classifier], dataset, params, indices=[3, 4, 5, 9])


def read_back(line):
    words = shlex.split(line)
    assert words[:3] == ["robgui", "run", "zonnscan"]
    return parser(find("zonnscan")).parse_args(words[3:])


def test_the_command_line_says_what_the_request_says(classifier, dataset):
    asked = request(classifier, dataset, samples=77, seed=5, radii=(0.0, 0.25))
    given = read_back(command_line(asked))
    assert given.model == [str(classifier.path)]
    assert given.data == str(dataset.path)
    assert indices("--index", given.index) == [3, 4, 5, 9]
    assert (
        find("zonnscan")
        .params.parse(values_of(given, find("zonnscan").params))
        .model_dump(mode="json")
        == asked.params
    )


def test_settings_at_their_default_are_left_out(classifier, dataset):
    assert "--set" not in command_line(request(classifier, dataset))


def test_model_settings_are_named_unless_the_side_file_says_the_same(classifier, dataset):
    asked = request(classifier, dataset)
    assert "mean=0.5" in read_back(command_line(asked)).model_set
    write_side_file(classifier.path, classifier.settings)
    assert read_back(command_line(asked)).model_set == []


def test_what_lives_in_memory_only_is_left_to_fill_in(classifier, dataset):
    dataset.path = None
    assert "'<zeros>'" in command_line(request(classifier, dataset))
