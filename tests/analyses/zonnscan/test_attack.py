"""The fast gradient sign attack on models that cannot be attacked."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from robgui.analyses.zonnscan import fast_gradient
from robgui.core.errors import ModelError
from robgui.core.model.classifier import Classifier
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import linear

X, CLASSES = torch.full((2, 3), 0.5), torch.tensor([0, 1])


class Detached(nn.Module):
    """Scores of the input that keep no way back to it, beside weights that are not used."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.detach()[:, :2]


@pytest.mark.parametrize("module", [Constant([1.0, 0.0]), Detached()])
def test_a_model_that_ignores_its_input_cannot_be_attacked_and_one_sentence_says_so(
    module: nn.Module,
) -> None:
    classifier = Classifier.from_module(module, (3,), name="deaf")
    with pytest.raises(ModelError, match=r"^The scores of deaf do not depend on its input.*\.$"):
        fast_gradient(classifier, X, CLASSES, 0.1)


def test_every_value_moves_by_the_attack_size_away_from_the_class() -> None:
    moved = fast_gradient(linear([1.0, -2.0, 3.0], 0.0), X, CLASSES, 0.1)
    assert torch.allclose(moved, torch.tensor([[0.6, 0.4, 0.6], [0.4, 0.6, 0.4]]))
