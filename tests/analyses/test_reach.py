"""What holds says of what size or over what range: two methods rarely mean the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import robgui
from robgui import analyses as package
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import analyses
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, from_json, to_json


def sides() -> nn.Module:
    """Tells dark rows from bright ones with a wide margin."""
    layer = nn.Linear(4, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[-10.0] * 4, [10.0] * 4]))
        layer.bias.copy_(torch.tensor([20.0, -20.0]))
    return layer.eval()


def said(name: str, **params):
    dark, bright = np.full((60, 4), 0.1, np.float32), np.full((60, 4), 0.9, np.float32)
    values, truth = np.concatenate([dark, bright]), np.repeat([0, 1], 60)
    data = from_arrays(values, truth, ("dark", "bright"), "sides")
    model = Classifier.from_module(sides(), (4,), ("dark", "bright"), name="sides")
    known = analyses()[name]
    given = data.subset([0]) if known.inputs == "one" else data
    result = robgui.run(name, model, given, **params)
    return known.verdict(result, known.params.parse(params))


@pytest.mark.parametrize(
    ("name", "params", "reach"),
    [
        ("zonnscan", {"samples": 16, "radii": (0.05, 0.1), "hold_radius": 0.05}, "at most 0.05"),
        ("accuracy", {"least": 0.8}, "at 80.0 % asked for in every class"),
        ("tolerance", {"most": 2, "sizes": 2, "hold": 0.02}, "by up to 0.02"),
    ],
)
def test_what_holds_tells_its_size(name, params, reach):
    verdict = said(name, **params)
    assert verdict.status is Status.HOLDS, verdict
    assert reach in verdict.reach
    assert from_json(to_json(verdict)) == verdict, "and a workspace keeps it"


def test_every_method_that_can_hold_says_of_what():
    for path in Path(package.__file__).parent.rglob("*.py"):
        words = path.read_text(encoding="utf-8")
        if "Status.HOLDS" in words:
            assert "reach=" in words, f"{path} says Holds without saying of what size"
