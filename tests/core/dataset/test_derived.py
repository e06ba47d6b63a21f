"""Derived inputs live in the workspace, keep their trail and can be looked at like any other
input.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui.core.dataset.derived import Ancestor, Derived, DerivedDataset, families
from robgui.core.errors import DataError, WorkspaceError
from robgui.core.execution.request import build_request
from robgui.core.model.classifier import Classifier
from robgui.core.workspace import Workspace
from tests.inline import steps

TRAIL = (
    Ancestor("digits, image 3", dataset="abc", index=3),
    Ancestor("Feature game on tiny", run="17"),
)


def item(name: str = "adversarial example", value: float = 0.5, **changes: object) -> Derived:
    values = np.full((1, 4, 4), value, np.float32)
    return Derived(name, values, "image", "digits", TRAIL, **changes)  # type: ignore[arg-type]


def test_a_derived_input_comes_back_from_the_workspace_with_its_trail(tmp_path):
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (kept,) = workspace.add_derived([item()])
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        (again,) = workspace.derived()
        assert again.trail == TRAIL
        assert again.id == kept.id
        assert again.words() == "adversarial example ← Feature game on tiny ← digits, image 3"
        np.testing.assert_array_equal(again.values, kept.values)


def test_an_unknown_number_is_refused_in_one_sentence(tmp_path):
    with (
        Workspace.open(tmp_path / "w.robgui") as workspace,
        pytest.raises(WorkspaceError, match="no derived input 9"),
    ):
        workspace.derived([9])


def test_inputs_of_one_family_stand_in_one_dataset_and_keep_their_names():
    other = Derived("rendered trap", np.zeros((3, 8, 8), np.float32), "image", "teapot")
    first, second = families([item("a"), other, item("b")])
    assert (len(first), len(second)) == (2, 1)
    assert first.name == "derived from digits"
    assert first.keys() == ["a", "b"]
    assert first.array().shape == (2, 1, 4, 4)


def test_what_does_not_belong_together_is_refused():
    with pytest.raises(DataError, match="one family"):
        DerivedDataset([item(), Derived("row", np.zeros(3, np.float32), "table", "digits")])
    with pytest.raises(DataError, match="no derived input"):
        DerivedDataset([])


def test_a_run_on_a_derived_input_keeps_its_identity_when_the_family_grows(tmp_path):
    torch.manual_seed(0)
    classifier = Classifier.from_module(
        nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).eval(), (1, 4, 4)
    )
    with Workspace.open(tmp_path / "w.robgui") as workspace:
        first = DerivedDataset(workspace.add_derived([item(value=0.2)]))
        asked = build_request(
            "zonnscan", [classifier], first.only([0]), {"radii": (0.0, 0.1), "samples": 32}
        )
        grown = first.with_more(workspace.add_derived([item(value=0.9)]))
        later = build_request(
            "zonnscan", [classifier], grown.only([0]), {"radii": (0.0, 0.1), "samples": 32}
        )
        assert asked.fingerprint == later.fingerprint
        going = steps(asked, workspace, [classifier])
        *_, last = going
        assert float(last.result.input.max()) == pytest.approx(0.2)
