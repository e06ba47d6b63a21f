"""The defaults: which ranges and which class are looked at."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from robgui import resources
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.regions.params import RegionsParams, starts_on
from robgui.analyses.semantic.scene.own_class import own_class
from robgui.analyses.semantic.scene.space import ScoredClass, open_space, target_classes
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.dataset import from_arrays, inputs, open_dataset
from robgui.core.execution.params.params import Params
from robgui.core.execution.registry import find
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status


@pytest.fixture(scope="module")
def cnn() -> Classifier:
    return load(resources.path("demo", "fashion_cnn.safetensors"), device="cpu")


def test_an_image_is_turned_and_scaled_where_its_class_has_a_chance(cnn: Classifier) -> None:
    one = open_dataset(resources.path("demo", "fashion.npz")).subset([3])

    def ends(**settings: object) -> list[tuple[float, float, bool]]:
        space = open_space("image", cnn, one, MapParams.parse(settings))
        return [(axis.low, axis.high, axis.periodic) for axis in space.axes]

    assert ends() == [(-45, 45, False), (70, 130, False)]
    assert ends(span="whole") == ends(preset="paper") == [(-180, 180, True), (50, 150, False)]
    assert ends(ranges={"rotation": (-90, 90)})[0] == (-90, 90, False)
    assert ends(axes=("blur",))[0][:2] == (0.0, 2.0)
    known, params = find("semantic_map"), MapParams(step={"rotation": 15, "scale": 20})
    *_, last = known.engine((cnn,), one, params)
    assert "rotation -45° to 45°, scale 70 % to 130 %" in known.verdict(last.result, params).scope


def test_regions_of_a_large_network_start_once_unless_more_is_asked_for() -> None:
    """From four starts they take 10,000 calls and more, a quarter of an hour on 224 pixels."""
    shapes = ((1, 28, 28), (3, 128, 128), (3, 224, 224))
    assert [starts_on(RegionsParams(), shape) for shape in shapes] == [4, 4, 1]
    assert [starts_on(RegionsParams(start_count=3), shape) for shape in shapes] == [3, 3, 3]


def test_what_stands_beyond_the_border_of_an_image_is_said(cnn: Classifier) -> None:
    one = open_dataset(resources.path("demo", "fashion.npz")).subset([3])
    known, said = find("semantic_map"), {}
    for axes in (("scale",), ("brightness",)):
        params = MapParams(axes=axes, step={axes[0]: 30})
        *_, last = known.engine((cnn,), one, params)
        said[axes[0]] = known.verdict(last.result, params).text
    assert "its border pixels are stretched outwards" in said["scale"]
    assert "border" not in said["brightness"]


@pytest.mark.parametrize("params", [RegionsParams, SrvrParams])
def test_the_setting_says_that_another_batch_may_move_a_bound(params: type[Params]) -> None:
    assert "may move a bound by a fraction of a step" in str(
        params.model_fields["batch"].description
    )


def test_more_of_the_usual_range_keeps_the_class_than_of_the_whole(cnn: Classifier) -> None:
    some = open_dataset(resources.path("demo", "fashion.npz")).subset([3, 8, 20, 40, 77, 101])
    known, shares = find("semantic_map"), {}
    for span in ("usual", "whole"):
        params = MapParams(span=span, step={"rotation": 15, "scale": 15})
        *_, last = known.engine((cnn,), some, params)
        kept = last.result.tops == last.result.target[None, :, None, None]
        shares[span] = float(kept.mean())
    assert shares["usual"] > 1.4 * shares["whole"], shares


@pytest.mark.parametrize(
    ("spec", "labels", "place"),
    [
        ("scanned_mug", ("cup", "coffee mug", "teapot"), 1),
        ("teapot", ("cup", "coffee mug", "teapot"), 2),
        ("files/mug.obj", ("Mug", "coffee mug"), 0),
        ("scanned_pitcher", ("soup bowl", "pitcher, ewer"), 1),
        ("scanned_mug", ("beer mug", "coffee mug"), -1),
        ("box", ("box turtle", "cat"), -1),
        ("scanned_mug", tuple(str(c) for c in range(1000)), 504),
        ("scanned_mug", tuple(str(c) for c in range(10)), -1),
    ],
)
def test_a_mesh_is_its_own_class_where_the_labels_know_it(
    spec: str, labels: tuple[str, ...], place: int
) -> None:
    assert own_class(spec, labels) == place


@pytest.mark.parametrize("params", [MapParams, RegionsParams, SrvrParams])
def test_the_bundled_mug_is_looked_at_as_a_mug_and_a_class_that_is_asked_for_wins(
    params: type[MapParams] | type[RegionsParams] | type[SrvrParams],
) -> None:
    net = Classifier.from_callable(
        lambda x: torch.zeros(len(x), 3), (3, 8, 8), ("cup", "coffee mug", "vase"), "net"
    )
    assert target_classes(net, None, params(scene="scanned_mug")) == [ScoredClass(1)]
    assert target_classes(net, None, params(scene="scanned_mug", target="vase")) == [ScoredClass(2)]
    assert target_classes(net, None, params(scene="torus")) == [ScoredClass(-1)]


def test_an_image_with_a_label_is_looked_at_as_what_it_is_not_as_what_it_is_taken_for(
    cnn: Classifier,
) -> None:
    some = open_dataset(resources.path("demo", "fashion.npz"))
    answers = cnn.infer(inputs(cnn, some, range(200))).argmax(1).numpy()
    assert some.labels is not None
    wrong = int((answers != some.labels[:200]).nonzero()[0][0])
    one = some.subset([wrong])
    label, seen = int(some.labels[wrong]), int(answers[wrong])
    assert target_classes(cnn, one, MapParams()) == [ScoredClass(label, seen)]
    assert target_classes(cnn, one.unlabelled(cnn.labels), MapParams()) == [ScoredClass(seen, seen)]
    known, params = find("semantic_map"), MapParams(step={"rotation": 15, "scale": 15})
    *_, last = known.engine((cnn,), one, params)
    middle = last.result.tops[0, 0][tuple(size // 2 for size in last.result.tops.shape[2:])]
    assert middle == answers[wrong] != last.result.target[0], "the usual pose is lost already"


@pytest.mark.parametrize("mode", ["box", "robust"])
def test_no_region_elsewhere_makes_up_for_a_wrong_answer_to_the_image_itself(mode: str) -> None:
    """Brighter than by 2 % it is right: a box of half the range holds, and not the input."""

    def answers(x: torch.Tensor) -> torch.Tensor:
        bright = 200 * (x.flatten(1).mean(1) - 0.42)
        return torch.stack([-bright, bright], 1).softmax(1)

    dark = np.full((1, 1, 16, 16), 0.4, np.float32)
    net = Classifier.from_callable(answers, (1, 16, 16), ("dark", "bright"), "net")
    known = find("semantic_regions")
    params = RegionsParams.parse({"axes": ("brightness",), "mode": mode, "iterations": 30})
    told = {}
    for label in (0, 1):
        one = from_arrays(dark, np.array([label]), names=net.labels)
        *_, last = known.engine(net, one, params)
        told[label] = known.verdict(last.result, params)
    assert told[1].status is Status.FAILS
    assert told[1].sentence.startswith("net says “dark” to image 0 as it is, but the label says")
    assert "net says" not in told[0].sentence
