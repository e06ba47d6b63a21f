"""The claims of the paper on scenes whose answers are known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, MissingExtraError
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.reproduce.claim import Claim, Setting
from robgui.reproduce.semantic import bench as benches
from robgui.reproduce.semantic import claims as all_claims
from robgui.reproduce.semantic.bench import (
    SemanticBench,
    SemanticSize,
    imagenet_network,
    open_bench,
)
from robgui.reproduce.semantic.claims import claims
from robgui.reproduce.semantic.order import order_differs
from robgui.reproduce.semantic.region_claims import overlaps
from tests.analyses.semantic.toy import FLAT, open_toy, plateau, toy_net, with_hole

SIZE = SemanticSize(1, {"azimuth": 12.0, "elevation": 12.0}, 1, 12, 12.0, 7.0, True)
WIDE = plateau([(60.0, 280.0), (0.0, 80.0)])


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def network(score, name: str) -> Classifier:
    return toy_net(score, name)


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> SemanticBench:
    """Two networks, and a dataset of inputs that both take for the class pot."""
    middle = np.zeros((1, 1, 4, 4), dtype=np.float32)
    middle[:, 0, 0, :3] = (140 / 360, 0.5, 0.5)
    monkeypatch.setattr(all_claims, "IMAGENET_CLASS", {"teapot": 1})
    monkeypatch.setattr(all_claims, "NEAR", ((140.0, 40.0),))
    networks = (network(with_hole, "holed"), network(WIDE, "wide"))
    return SemanticBench(
        networks,
        from_arrays(middle, kind="image"),
        (0.95, 0.9),
        networks,
        "",
        SIZE,
        Setting(),
        2000,
    )


def run(bench: SemanticBench, monkeypatch: pytest.MonkeyPatch) -> dict[str, Claim]:
    monkeypatch.setattr(all_claims, "open_bench", lambda setting: bench)
    return {claim.statement: claim for claim in claims(bench.setting)}


def test_every_claim_is_decided_by_what_was_found(
    bench: SemanticBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = run(bench, monkeypatch)
    fall = found["azimuth of the teapot: the score falls from high to almost nothing"]
    assert (
        fall.holds
        and fall.detail["highest"].min() > 0.8
        and fall.figures[0].analysis == "semantic_map"
    )
    traps = found["azimuth × elevation of the teapot: low spots inside regions of high score"]
    assert traps.holds and traps.detail["maps_with_traps"] == 1
    table = found[
        "rotation × scale of inputs: the order of 2 networks by SRVR is not that by accuracy"
    ]
    # one start of one shape has no standard error
    assert table.holds is None and "Cannot tell" in table.note
    assert "InceptionV3 7.92 %" in table.paper and "Accuracy on 2,000 inputs: " in table.note
    unknown = found[
        "azimuth × elevation of meshes: the order of 2 networks by SRVR is not that by accuracy"
    ]
    assert unknown.holds is None and "not known here" in unknown.note
    same = [claim for statement, claim in found.items() if "same bounds" in statement]
    assert same and all(
        claim.holds is None or claim.holds == (np.median(claim.detail["overlaps"]) >= 0.8)
        for claim in same
    )
    smaller = [
        claim for statement, claim in found.items() if "naive regions are smaller" in statement
    ]
    for claim in smaller:
        volumes = claim.detail["volumes"]
        count = sum(
            naive < min(others)
            for naive, *others in zip(
                *(volumes[method] for method in ("naive", "oir_b", "oir_w")), strict=True
            )
        )
        assert (
            claim.holds == (count > len(volumes["naive"]) / 2)
            and claim.ours == f"smallest from {count} of {len(volumes['naive'])} starts"
        )


def test_a_network_that_always_sees_the_class_fulfils_no_claim_of_falling(
    bench: SemanticBench,
) -> None:
    steady = find("semantic_map")
    *_, step = steady.engine(
        (network(lambda u: 0 * u[:, 0] + 0.9, "steady"),),
        None,
        steady.params(scene="toy", step={"azimuth": 30}, target="pot"),
    )
    assert all_claims.drop_claim(step.result, "it falls", "x").holds is False
    assert all_claims.traps_claim(step.result, "it has traps").holds is False


def test_regions_across_the_seam_are_compared_on_the_same_turn() -> None:
    known = find("semantic_regions")
    around = network(lambda u: plateau([(-30.0, 30.0)])((u[:, :1] + 180) % 360 - 180), "around")
    params = known.params(
        scene="toy", mode="robust", axes=("azimuth",), target="pot", starts=((350,), (10,))
    )
    *_, step = known.engine(around, None, params)
    shares = list(overlaps(step.result))
    assert len(shares) == 3 and min(shares) > 0.95


def test_regions_of_different_size_are_compared_although_the_smaller_one_lacks_the_other_start() -> (
    None
):
    known = find("semantic_regions")
    params = known.params(
        scene="toy", mode="robust", axes=("azimuth",), target="pot", starts=((130,), (160,))
    )
    *_, step = known.engine(network(plateau([(100.0, 180.0)]), "flat"), None, params)
    cut = step.result.high.copy()
    cut[:3] = 150.0  # the regions of the first start no longer reach the second
    assert max(overlaps(replace(step.result, high=cut))) < 0.8


def volumes(*networks: list[float]) -> np.ndarray:
    return np.array(networks)[:, :, None, None]


def test_the_order_of_networks_differs_only_beyond_the_standard_errors() -> None:
    names, accurate = ("exact", "plain"), (0.95, 0.90)
    higher = volumes([0.10, 0.12, 0.11, 0.09], [0.20, 0.22, 0.20, 0.19])
    assert order_differs(higher, accurate, 2000, names)[0] is True
    assert order_differs(higher[::-1], accurate, 2000, names)[0] is False
    holds, why = order_differs(
        volumes([0.1, 0.3, 0.0, 0.2], [0.2, 0.1, 0.3, 0.1]), accurate, 2000, names
    )
    assert holds is None and "exact and plain (SRVR)" in why
    holds, why = order_differs(higher, (0.901, 0.900), 2000, names)
    assert holds is None and "exact and plain (accuracy)" in why
    # one region has no standard error
    assert order_differs(higher[:, :1], accurate, 2000, names)[0] is None


def test_without_a_network_of_imagenet_the_mesh_claims_say_what_to_install(
    bench: SemanticBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing() -> Classifier:
        raise MissingExtraError("A network", "imagenet")

    monkeypatch.setattr(benches, "imagenet_network", missing)
    bare = open_bench(Setting(models=(), quick=True))
    assert (
        not bare.imagenet
        and "robgui[imagenet]" in bare.lacking
        and len(bare.networks) == 3
        and len(bare.dataset) == 2
    )
    only_mesh = SemanticBench((), None, (), (), bare.lacking, SIZE, Setting())
    found = run(only_mesh, monkeypatch)
    assert all(claim.holds is None for claim in found.values()) and any(
        "robgui[imagenet]" in claim.note for claim in found.values()
    )


def test_inputs_are_those_that_every_network_gets_right() -> None:
    chosen = open_bench(Setting(quick=True)).dataset
    assert len(chosen) == 2
    with pytest.raises(DataError, match="no labels"):
        benches.sure_inputs(
            (network(FLAT, "a"),),
            from_arrays(np.zeros((2, 1, 4, 4), dtype=np.float32), kind="image"),
            1,
            0,
        )


def test_the_network_of_the_extra_sees_a_thousand_classes() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    net = imagenet_network()
    assert (
        net.classes == 1000 and net.shape == (3, 224, 224) and net.settings.mean == (127 / 255,) * 3
    )
