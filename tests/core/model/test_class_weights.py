"""The weights of the last layer, from every format that can be looked into."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui import resources
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier


def test_a_linear_layer_and_a_convolution_at_the_end_have_one_row_per_class():
    linear = nn.Sequential(nn.Flatten(), nn.Linear(12, 7), nn.ReLU(), nn.Linear(7, 3))
    assert torch.equal(Classifier.from_module(linear, (3, 2, 2)).class_weights(), linear[3].weight)
    pooled = nn.Sequential(
        nn.Conv2d(3, 5, 1), nn.Conv2d(5, 4, 1), nn.AdaptiveAvgPool2d(1), nn.Flatten()
    )
    assert torch.equal(
        Classifier.from_module(pooled, (3, 2, 2)).class_weights(), pooled[1].weight[:, :, 0, 0]
    )


def test_a_transposed_matrix_is_turned():
    class Product(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.w = nn.Parameter(torch.rand(5, 3))

        def forward(self, x: Tensor) -> Tensor:
            return x @ self.w

    classifier = Classifier.from_module(Product(), (5,))
    assert torch.equal(classifier.class_weights(), classifier.backend.module.w.T)


@pytest.mark.parametrize("name", ["fashion_mlp.pt2", "fashion_cnn.safetensors", "fashion_rnn.pt"])
def test_the_models_of_the_demo_show_theirs(name: str):
    weights = load(resources.path("demo", name)).class_weights()
    assert weights.shape[0] == 10 and weights.dtype == torch.float32


def test_a_black_box_has_none():
    assert Classifier.from_callable(np.asarray, (3,)).class_weights() is None
