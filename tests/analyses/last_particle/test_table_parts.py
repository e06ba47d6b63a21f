"""A table that is split into parts and merged is the table of the whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleTableParams
from robgui.analyses.last_particle.table.many_inputs import table_part
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from tests.guards import no_deviceless_factories
from tests.parts import assert_same, whole_and_merged

TIMES = ("seconds", "certified_seconds", "monte_carlo_seconds")
SETTINGS = {
    "radii": (0.001, 0.03, 0.3),
    "samples": 40,
    "critical": 1e-3,
    "steps": 6,
    "attack_steps": 3,
}


class Columns(nn.Module):
    """Two layers added up column by column: unlike a matrix product, no bit of an answer depends
    on the batch it is in.
    """

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator("cpu").manual_seed(0)
        self.first = nn.Parameter(torch.randn((6, 16), generator=generator, device="cpu"))
        self.second = nn.Parameter(torch.randn((16, 3), generator=generator, device="cpu"))

    def forward(self, x: Tensor) -> Tensor:
        for weights in (self.first, self.second):
            total = x[:, :1] * weights[0]
            for column in range(1, len(weights)):
                total = total + x[:, column : column + 1] * weights[column]
            x = total.relu() if weights is self.first else total
        return x


def columns() -> Classifier:
    return Classifier.from_module(Columns(), (6,), labels=("a", "b", "c"), output="logits")


def products() -> Classifier:
    """The same network out of the usual layers, which have formal bounds."""
    layers = Columns()
    net = nn.Sequential(nn.Linear(6, 16, bias=False), nn.ReLU(), nn.Linear(16, 3, bias=False))
    net[0].weight.data, net[2].weight.data = (
        layers.first.data.T.contiguous(),
        layers.second.data.T.contiguous(),
    )
    return Classifier.from_module(net, (6,), labels=("a", "b", "c"), output="logits")


def rows(classifier: Classifier, count: int = 5, wrong: int = 0) -> Dataset:
    """Random rows labelled by the classifier itself, every second of the first ``2 * wrong``
    wrongly.
    """
    x = np.random.default_rng(0).random((count, 6), dtype=np.float32)
    labels = classifier.infer(x).argmax(1).numpy()
    labels[: 2 * wrong : 2] = (labels[: 2 * wrong : 2] + 1) % 3
    return from_arrays(x, labels=labels, names=("a", "b", "c"), kind="table")


BY_CLASS = {"replicas": 2, "class_wise": True, "particles": 4, "kill": 2}


@pytest.mark.parametrize(
    ("parts", "batch", "params"),
    [
        (2, 24, {}),
        (3, 0, BY_CLASS),
        pytest.param(3, 0, {}, marks=pytest.mark.slow),
        pytest.param(2, 9, BY_CLASS, marks=pytest.mark.slow),
    ],
)
def test_merged_is_whole_bit_for_bit(parts: int, batch: int, params: dict[str, object]) -> None:
    classifier = columns()
    whole, merged = whole_and_merged(
        "last_particle_table",
        classifier,
        rows(classifier),
        parts,
        batch=batch,
        **(SETTINGS | params),
    )
    assert (
        0 < whole.result.validated.sum() < whole.result.validated.size
        and len(whole.result.shown) > 1
    )
    assert_same(whole, merged, but=TIMES)


@pytest.mark.parametrize("parts", [pytest.param(2, marks=pytest.mark.slow), 3])
def test_with_matrix_products_rounding_is_all_that_differs(parts: int) -> None:
    classifier = products()
    whole, merged = whole_and_merged(
        "last_particle_table", classifier, rows(classifier), parts, **SETTINGS
    )
    assert whole.result.certified.any() and not whole.result.certified_reason
    for name in ("names", "places", "classes", "certified"):
        np.testing.assert_array_equal(getattr(merged.result, name), getattr(whole.result, name))
    np.testing.assert_allclose(
        merged.result.certified_lower, whole.result.certified_lower, rtol=1e-5
    )
    assert (merged.result.killed == whole.result.killed).mean() > 0.9
    assert (merged.result.validated == whole.result.validated).mean() > 0.95


@pytest.mark.parametrize("parts", [pytest.param(2, marks=pytest.mark.slow), 3, 9])
def test_inputs_that_the_model_gets_right_are_shared_out_and_a_part_may_be_empty(
    parts: int,
) -> None:
    classifier = columns()
    data = rows(classifier, 9, wrong=4)
    whole, merged = whole_and_merged("last_particle_table", classifier, data, parts, **SETTINGS)
    assert whole.result.left_out == 4 and len(whole.result.places) == 5
    assert_same(whole, merged, but=TIMES)


def test_the_first_failures_of_the_whole_are_kept_and_no_more() -> None:
    classifier = columns()
    whole, merged = whole_and_merged(
        "last_particle_table",
        classifier,
        rows(classifier, 16),
        3,
        **(SETTINGS | {"radii": (0.2, 0.4)}),
    )
    assert len(whole.result.shown) == 12
    assert_same(whole, merged, but=TIMES)


def test_units_are_the_inputs_that_may_be_tested() -> None:
    units = find("last_particle_table").shards.units
    assert [units(LastParticleTableParams(most=most), 9) for most in (5, 9, 100)] == [5, 9, 9]


def test_every_tensor_of_a_part_is_made_on_the_device_of_the_model() -> None:
    classifier = columns()
    data = rows(classifier)
    with no_deviceless_factories():
        *_, step = table_part(classifier, data, LastParticleTableParams(**SETTINGS), range(2, 5))
    assert (
        step.done == step.total
        and step.result.finished.all()
        and step.result.finished.shape == (3, 3)
    )
