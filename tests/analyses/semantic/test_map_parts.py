"""A map that is split into parts and merged is the map of the whole, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from robgui.analyses.semantic import MapParams
from robgui.analyses.semantic.maps.maps import map_part
from robgui.core.dataset import Dataset, from_arrays
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from tests.analyses.semantic.toy import FLAT, open_toy, plateau, toy_net, with_hole
from tests.guards import no_deviceless_factories
from tests.parts import assert_same, whole_and_merged

COARSE = {"azimuth": 12, "elevation": 8}


@pytest.fixture
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def small_cnn(seed: int) -> Classifier:
    """A network whose answers depend on the batch in their last bits, as real ones do."""
    generator = torch.Generator("cpu").manual_seed(seed)
    net = nn.Sequential(
        nn.Conv2d(1, 8, 3, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(8 * 144, 64),
        nn.ReLU(),
        nn.Linear(64, 4),
    )
    for parameter in net.parameters():
        parameter.data = (
            torch.randn(parameter.shape, generator=generator)
            * 2
            / max(1, parameter[0].numel()) ** 0.5
        )
    return Classifier.from_module(net, (1, 12, 12), name=f"cnn {seed}", output="logits")


def images(count: int) -> Dataset:
    return from_arrays(
        np.random.default_rng(0).random((count, 1, 12, 12), dtype=np.float32), kind="image"
    )


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("batch", [0, 7])
def test_merged_is_whole_for_real_networks_on_transformed_images(parts: int, batch: int) -> None:
    step = {"rotation": 30, "scale": 10}
    whole, merged = whole_and_merged(
        "semantic_map", (small_cnn(0), small_cnn(1)), images(2), parts, step=step, batch=batch
    )
    assert_same(whole, merged)


@pytest.mark.parametrize("parts", [2, 3])
@pytest.mark.parametrize("batch", [0, 5])
def test_merged_is_whole_for_a_rendered_mesh(parts: int, batch: int) -> None:
    step = {"azimuth": 60, "elevation": 25}
    whole, merged = whole_and_merged(
        "semantic_map", (small_cnn(0),), None, parts, scene="box", step=step, batch=batch
    )
    assert_same(whole, merged)


@pytest.mark.parametrize("parts", [2, 3, 40])
def test_a_class_that_must_be_found_out_first_is_the_same_in_every_part(
    toys: None, parts: int
) -> None:
    nets = (toy_net(FLAT, "a"), toy_net(plateau([(0.0, 360.0), (-10.0, 70.0)]), "b"))
    whole, merged = whole_and_merged(
        "semantic_map", nets, None, parts, scene=("toy", "second"), step=COARSE
    )
    assert (whole.result.target >= 0).all()
    assert_same(whole, merged)


@pytest.mark.parametrize("parts", [2, 3])
def test_a_trap_across_the_border_of_two_parts_is_found(toys: None, parts: int) -> None:
    whole, merged = whole_and_merged(
        "semantic_map", (toy_net(with_hole),), None, parts, scene="toy", target="pot"
    )
    assert len(merged.result.traps.score) == 1
    assert_same(whole, merged)


@pytest.mark.parametrize("batch", [0, 3])
def test_more_units_than_model_calls_leave_parts_empty_and_the_map_whole(
    toys: None, batch: int
) -> None:
    whole, merged = whole_and_merged(
        "semantic_map",
        (toy_net(FLAT),),
        None,
        9,
        scene="toy",
        axes="azimuth",
        step={"azimuth": 90},
        batch=batch,
    )
    assert_same(whole, merged)


def test_a_part_looks_at_its_own_cells_and_at_few_others(toys: None) -> None:
    net, params = toy_net(FLAT), MapParams.parse({"scene": "toy"})
    before = net.calls
    *_, step = map_part((net,), None, params, range(128, 256))
    assert step.done == step.total == pytest.approx(34 * 120 / 2, abs=64)
    assert net.calls - before <= 0.04 * 34 * 120 + step.total
    assert find("semantic_map").shards.units(params, 0) == 256


def test_every_tensor_of_a_part_is_made_on_the_device_of_the_model(toys: None) -> None:
    net = toy_net(FLAT)
    with no_deviceless_factories():
        assert list(
            map_part((net,), None, MapParams.parse({"scene": "toy", "step": COARSE}), range(9))
        )
