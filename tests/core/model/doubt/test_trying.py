"""Guessing tries the ways of feeding a model, and the order of its class names with each kind."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.dataset import from_arrays
from robgui.core.dataset.opening import open_dataset
from robgui.core.errors import DataError
from robgui.core.model.classifier import Classifier
from robgui.core.model.doubt.trying import REORDERED, try_ways

NAMES = ("dark", "middle", "bright")


class Centred(nn.Module):
    """Dark, middle or bright, if it is given (x - 0.5) / 0.5 and not x itself."""

    def forward(self, x):
        mean = x.flatten(1).mean(1, keepdim=True)
        return torch.cat([-20 * mean, torch.full_like(mean, 4.0), 20 * mean], 1)


def greys(many=90, names=NAMES):
    labels = np.arange(many) % 3
    images = np.asarray([25, 128, 230], np.uint8)[labels][:, None, None].repeat(4, 1).repeat(4, 2)
    return from_arrays(images, labels, names=names, name="greys")


def centred(labels, **settings):
    return Classifier.from_module(Centred(), (1, 4, 4), labels, name="centred", **settings)


class Levels(nn.Module):
    """Six levels of brightness, if it is given (x - 0.5) / 0.5 and not x itself."""

    def forward(self, x):
        mean = x.flatten(1).mean(1, keepdim=True)
        return -20 * (mean - torch.linspace(-1, 1, 6)[None]).abs()


def test_both_the_way_of_feeding_and_the_order_of_the_names_may_be_wrong():
    labels = np.arange(120) % 6
    images = (51 * labels).astype(np.uint8)[:, None, None].repeat(4, 1).repeat(4, 2)
    data = from_arrays(images, labels, names=tuple("abcdef"), name="levels")
    model = Classifier.from_module(Levels(), (1, 4, 4), tuple("bacdef"), name="levels")
    best = try_ways(model, data).ways[0]
    assert best.name.endswith(REORDERED) and best.accuracy == 1
    assert best.settings["labels"] == tuple("abcdef")
    fed = model.with_settings(model.settings.change(**best.settings))
    assert try_ways(fed, data).ways[0].accuracy == 1


def test_a_model_with_names_in_order_is_not_given_others():
    tried = try_ways(centred(NAMES, mean=(0.5,), std=(0.5,)), greys())
    assert tried.remark == "" and not any(REORDERED in way.name for way in tried.ways)


def test_few_inputs_leave_the_order_open():
    tried = try_ways(centred(("middle", "bright", "dark"), mean=(0.5,), std=(0.5,)), greys(12))
    assert "cannot be told for 3 of 3 classes" in tried.remark
    assert not any(REORDERED in way.name for way in tried.ways)


def test_the_names_of_a_model_of_a_table_are_tried_too(tmp_path):
    rows = [f"{value % 3},{0.1 * (value % 7)},{'xyz'[value % 3]}" for value in range(60)]
    (tmp_path / "t.csv").write_text("a,b,label\n" + "\n".join(rows), encoding="utf-8")
    data = open_dataset(tmp_path / "t.csv", label="label")

    def by_a(x):
        return -20 * (x[:, :1] - torch.arange(3)[None]).abs()

    model = Classifier.from_callable(by_a, (2,), labels=["y", "z", "x"], kind="table")
    tried = try_ways(model, data)
    assert [way.name for way in tried.ways] == [REORDERED, "as it is"]
    assert tried.ways[0].settings == {"labels": ("x", "y", "z")}


def test_data_without_labels_are_one_sentence():
    data = from_arrays(np.zeros((20, 4, 4), np.uint8), name="bare")
    with pytest.raises(DataError, match="no labels"):
        try_ways(centred(NAMES), data)
