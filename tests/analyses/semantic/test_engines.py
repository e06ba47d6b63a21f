"""Maps, regions and the safe share of the range on scenes whose score is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from robgui.analyses.semantic import (
    MapParams,
    RegionsParams,
    SrvrParams,
    network_map,
    scene_of,
    table,
)
from robgui.analyses.semantic.regions.scan import CoarseScan
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.execution.analysis import Requirements
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, to_json
from tests.analyses.semantic.toy import (
    FLAT,
    SIDES,
    ToyScene,
    open_toy,
    overlap,
    plateau,
    run,
    steps,
    toy_net,
    with_hole,
)
from tests.guards import no_deviceless_factories


@pytest.fixture(autouse=True)
def toys(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scenes toy, second and image; an image scene has exact gradients."""
    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_toy)


def images(count: int = 1):
    return from_arrays(
        np.random.default_rng(0).random((count, 1, 4, 4), dtype=np.float32), kind="image"
    )


def test_a_map_holds_the_score_and_the_class_of_every_cell() -> None:
    result = run("semantic_map", toy_net(FLAT), target="pot")
    assert result.score.shape == result.top1.shape == (34, 120) and result.scores.shape == (
        1,
        1,
        34,
        120,
    )
    points = torch.tensor(np.stack([g.ravel() for g in np.meshgrid(result.x, result.y)], 1))
    assert np.allclose(result.score.ravel(), FLAT(points).numpy(), atol=1e-4)
    assert ((result.top1 == 1) == (result.score > 0.5)).mean() > 0.99
    assert (
        result.model_calls == 34 * 120
        and result.computed.all()
        and result.axes[0].name == "azimuth"
    )


def test_the_whole_coarse_map_is_there_after_four_per_cent_of_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    made = steps(
        "semantic_map", (toy_net(FLAT), toy_net(with_hole)), scene=("toy", "second"), target="pot"
    )
    whole = next(step for step in made if np.isfinite(step.result.scores).all())
    assert whole.done / whole.total <= 0.04 and whole.total == 4 * 34 * 120
    final = made[-1].result.scores
    assert np.abs(whole.result.scores - final).mean() < 0.15
    dones = [step.done for step in made]
    assert dones == sorted(dones) and made[-1].done == made[-1].total


def test_maps_are_averaged_over_shapes_and_networks() -> None:
    result = run(
        "semantic_map",
        (toy_net(FLAT, "a"), toy_net(with_hole, "b")),
        scene=("toy", "second"),
        step={"azimuth": 20, "elevation": 20},
    )
    assert (
        np.allclose(result.score, result.scores.mean((0, 1)))
        and result.networks == ("a", "b")
        and result.shapes == ("toy", "second")
    )
    assert np.allclose(network_map(result, 1), result.scores[1].mean(0))


def test_a_map_over_one_parameter_is_a_curve_with_the_others_fixed() -> None:
    result = run(
        "semantic_map", toy_net(FLAT), axes="azimuth", fixed={"elevation": 0.0}, target="pot"
    )
    assert result.score.shape == (1, 120) and result.score.max() < 0.1 and len(result.axes) == 1
    assert run("semantic_map", toy_net(FLAT), axes="azimuth", target="pot").score.max() > 0.9


def test_a_trap_becomes_a_finding_with_its_input_and_its_picture() -> None:
    result = run("semantic_map", toy_net(with_hole), target="pot")
    assert len(result.traps.score) == 1
    known = find("semantic_map")
    (finding,) = known.findings(result, known.params())
    assert (
        finding.kind == "trap"
        and finding.input.shape == (1, 4, 4)
        and finding.picture.shape[2] == 3
    )
    assert (
        abs(finding.detail["at"]["azimuth"] - 150) <= 3
        and abs(finding.detail["at"]["elevation"] - 40) <= 3
    )
    assert finding.severity > 0.6 and "falls from" in finding.title
    assert "One trap" in known.verdict(result, known.params()).because[0]


def test_the_class_is_the_one_asked_for_or_the_one_most_often_seen() -> None:
    often = plateau([(-100.0, 300.0), (-50.0, 120.0)])
    assert run("semantic_map", toy_net(often), step={"azimuth": 30}).target.tolist() == [1]
    assert run("semantic_map", toy_net(FLAT), step={"azimuth": 30}).target.tolist() == [0]
    for target in ("POT", "1", 1):
        assert run(
            "semantic_map", toy_net(FLAT), target=target, step={"azimuth": 60}
        ).target.tolist() == [1]


def test_an_image_scene_looks_at_the_predicted_class_of_each_input() -> None:
    net, data = toy_net(FLAT), images(3)
    result = run("semantic_map", net, data, scene="image", axes="azimuth", step={"azimuth": 60})
    assert result.target.tolist() == net.infer(data.array()).argmax(
        1
    ).tolist() and result.shapes == tuple(data.keys())


@pytest.mark.parametrize("mode", ["robust", "adversarial"])
def test_regions_of_all_methods_and_starts_are_found(mode: str) -> None:
    f = FLAT if mode == "robust" else (lambda u: 1 - FLAT(u))
    result = run(
        "semantic_regions", toy_net(f), target="pot", mode=mode, starts=((140, 40), (120, 30))
    )
    assert (
        result.low.shape == (6, 2)
        and result.method == ("naive", "oir_b", "oir_w") * 2
        and result.start_number.tolist() == [0, 0, 0, 1, 1, 1]
    )
    assert min(overlap(a, b, SIDES) for a, b in zip(result.low, result.high, strict=True)) >= 0.9
    assert (
        result.trace.shape[0] == 6
        and result.trace.shape[2:] == (2, 2)
        and result.loss.shape == (6, result.trace.shape[1] - 1)
    )
    assert (
        result.holds.all()
        and result.converged.all()
        and not result.warnings
        and not result.hit_domain.any()
    )
    mean = result.inside_mean if mode == "robust" else 1 - result.inside_mean
    assert (
        (mean > 0.85).all()
        and (result.inside_var < 0.05).all()
        and (result.inside_total == 256).all()
    )
    assert result.inside_pictures.shape[:2] == (6, 3) and (result.outside_scores < 0.5).all() == (
        mode == "robust"
    )


def test_adversarial_regions_are_robust_regions_of_one_less_the_score() -> None:
    robust = run("semantic_regions", toy_net(FLAT), target="pot", starts=((140, 40),))
    adversarial = run(
        "semantic_regions",
        toy_net(lambda u: 1 - FLAT(u)),
        target="pot",
        starts=((140, 40),),
        mode="adversarial",
    )
    assert np.allclose(robust.low, adversarial.low, atol=0.05) and np.allclose(
        robust.high, adversarial.high, atol=0.05
    )
    params = RegionsParams(mode="adversarial")
    kinds = {finding.kind for finding in find("semantic_regions").findings(adversarial, params)}
    assert kinds == {"adversarial region"}


def test_starts_are_chosen_where_the_class_holds_and_far_from_each_other() -> None:
    two = lambda u: torch.maximum(FLAT(u), plateau([(240.0, 300.0), (20.0, 60.0)])(u))  # noqa: E731
    result = run("semantic_regions", toy_net(two), target="pot", start_count=2)
    starts = result.start[::3]
    assert (result.start_score > 0.5).all() and abs(starts[0, 0] - starts[1, 0]) > 60
    assert (
        result.map_score.shape == (13, 25) and result.low[:, 0].max() > 200 > result.low[:, 0].min()
    )


@pytest.mark.parametrize(
    "axes", [("azimuth",), ("azimuth", "elevation"), ("azimuth", "elevation", "light")]
)
def test_regions_show_the_scene_after_the_first_pictures_and_often_before_they_grow(
    axes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    made = steps("semantic_regions", toy_net(FLAT), axes=axes, iterations=2)
    looking = [step for step in made if not step.result.method]
    calls = [step.result.model_calls for step in looking]
    assert calls[0] <= 16 and max(np.diff(calls)) <= 16 and all(step.done == 0 for step in looking)
    assert "1 of " in looking[0].note and "pictures" in looking[0].note
    known, params = find("semantic_regions"), RegionsParams(scene="toy", axes=axes)
    assert "no region has begun" in known.verdict(looking[0].result, params).sentence
    if len(axes) < 3:
        whole = next(step for step in looking if np.isfinite(step.result.map_score).all())
        assert whole.result.model_calls <= 0.06 * calls[-1]
    assert known.views(looking[0].result, params) and made[-1].result.method


def test_a_look_that_was_cut_short_shows_the_coarser_cells_and_a_whole_one_every_cell() -> None:
    net = toy_net(with_hole)
    looked = CoarseScan(scene_of(RegionsParams(scene="toy"), net))
    pauses = looked.look()
    while looked.looked < 40:
        next(pauses)
    coarse = looked.map_of(1)
    assert np.isfinite(coarse).all() and len(np.unique(coarse)) <= 40
    list(pauses)
    direct = torch.stack(
        [torch.from_numpy(grid.ravel()) for grid in np.meshgrid(looked.x, looked.y)], 1
    )
    np.testing.assert_allclose(
        looked.map_of(1).ravel(), with_hole(direct).clamp(1e-6, 1 - 1e-6), atol=1e-4
    )
    assert looked.usual_class() == 0 and looked.looked == len(looked.points)


def test_a_start_without_the_class_gets_a_warning_and_no_region() -> None:
    result = run("semantic_regions", toy_net(FLAT), target="pot", starts=((300, 0), (140, 40)))
    assert (
        len(result.warnings) == 1
        and "Start 1" in result.warnings[0]
        and "other" in result.warnings[0]
    )
    assert (
        result.grown.tolist() == [False] * 3 + [True] * 3
        and result.never_grew[:3].all()
        and not result.never_grew[3:].any()
    )
    holding = run(
        "semantic_regions", toy_net(FLAT), target="pot", starts=((140, 40),), mode="adversarial"
    )
    assert "start where it fails" in holding.warnings[0] and not holding.grown.any()
    said = find("semantic_regions").verdict(holding, RegionsParams(mode="adversarial"))
    assert "no region that loses “pot” grew" in said.sentence and said.status is Status.UNKNOWN


def test_regions_grow_across_the_seam_and_in_three_parameters() -> None:
    def f(u: Tensor) -> Tensor:
        angle = (u[:, 0] + 180) % 360 - 180
        return 0.02 + 0.98 * torch.sigmoid((angle + 30) / 2) * torch.sigmoid(
            (30 - angle) / 2
        ) * torch.sigmoid((u[:, 2] - 0.3) / 0.02)

    result = run(
        "semantic_regions",
        toy_net(f),
        target="pot",
        axes=("azimuth", "elevation", "light"),
        starts=((350, 40, 0.6),),
    )
    assert np.allclose(result.low[:, 0], 330, atol=6) and np.allclose(
        result.high[:, 0], 390, atol=6
    )
    assert np.allclose(result.high[:, 1] - result.low[:, 1], 100) and np.allclose(
        result.low[:, 2], 0.3, atol=0.05
    )
    assert result.hit_domain.all() and result.map_score.size == 0


def test_autograd_and_differences_give_the_same_regions() -> None:
    net, settings = (
        toy_net(FLAT),
        {"scene": "image", "target": "pot", "starts": ((140, 40),), "methods": "oir_w"},
    )
    results = [
        run("semantic_regions", net, images(), gradient=gradient, **settings)
        for gradient in ("auto", "autograd", "differences")
    ]
    assert np.array_equal(results[0].low, results[1].low), "an image scene has exact gradients"
    assert np.allclose(results[1].low, results[2].low, atol=1) and np.allclose(
        results[1].high, results[2].high, atol=1
    )


def test_the_batch_size_never_changes_a_result() -> None:
    net = toy_net(with_hole)
    for name, extra in (
        ("semantic_map", {"step": {"azimuth": 20}}),
        ("semantic_regions", {"iterations": 20}),
        ("srvr", {"iterations": 20}),
    ):
        one, other = (run(name, net, batch=batch, target="pot", **extra) for batch in (0, 7))
        fields = ("score", "top1") if name == "semantic_map" else ("low", "high")
        assert all(
            np.allclose(getattr(one, field), getattr(other, field), atol=1e-4, equal_nan=True)
            for field in fields
        )
        assert one.model_calls == other.model_calls


def test_model_calls_are_counted() -> None:
    for name in ("semantic_map", "semantic_regions", "srvr"):
        net = toy_net(FLAT)
        before = net.calls
        extra = {"step": {"azimuth": 20}} if name == "semantic_map" else {"iterations": 10}
        assert run(name, net, **extra).model_calls == net.calls - before, name


@pytest.mark.parametrize("preset", ["default", "paper"])
def test_every_tensor_is_made_on_a_named_device(preset: str) -> None:
    net = toy_net(FLAT)
    with no_deviceless_factories():
        run("semantic_map", net, step={"azimuth": 40})
        run("semantic_regions", net, target="pot", iterations=5, preset=preset)
        run(
            "semantic_regions",
            net,
            images(),
            scene="image",
            target="pot",
            iterations=5,
            preset=preset,
        )
        run("srvr", net, iterations=5, preset=preset)


def test_srvr_is_the_mean_volume_over_shapes_starts_and_methods() -> None:
    nets = (toy_net(FLAT, "small"), toy_net(plateau([(60.0, 280.0), (0.0, 80.0)]), "large"))
    result = run("srvr", nets, scene=("toy", "second"), target="pot", starts=((140, 40), (300, 0)))
    assert result.volume.shape == (2, 2, 2, 3) and np.allclose(
        result.srvr, result.volume.mean((1, 2, 3))
    )
    assert (
        result.srvr[0] == pytest.approx(80 * 40 / 36000 / 2, rel=0.1)
        and result.srvr[1] > 4 * result.srvr[0]
    )
    assert (
        result.regions.tolist() == [12, 12]
        and result.never_grew.tolist() == [6, 6] == result.bad_starts.tolist()
    )
    assert result.unconverged.tolist() == [0, 0] and result.hits.tolist() == [0, 0]
    heading, rows = table(result)
    assert rows[0][0] == "large" and len(heading) == len(rows[0]) and heading[0] == "network"
    blind = run("srvr", toy_net(lambda u: FLAT(u) * 0.01), target="pot", starts=((140, 40),))
    assert (
        blind.srvr[0] == 0
        and find("srvr").findings(blind, SrvrParams())[0].kind == "not recognised"
    )


def test_the_same_seed_gives_the_same_result_bit_for_bit() -> None:
    first, second, other = (
        run("semantic_regions", toy_net(FLAT), target="pot", iterations=10, seed=seed)
        for seed in (3, 3, 4)
    )
    assert np.array_equal(first.inside_mean, second.inside_mean) and not np.array_equal(
        first.inside_mean, other.inside_mean
    )


def test_results_survive_the_workspace_on_the_way_and_at_the_end(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    for name in ("semantic_map", "semantic_regions", "srvr"):
        known = find(name)
        extra = (
            {"step": {"azimuth": 40, "elevation": 10}}
            if name == "semantic_map"
            else {"iterations": 2}
        )
        made = steps(name, toy_net(with_hole), **extra)
        for step in (made[0], made[len(made) // 2], made[-1]):
            again = decode(known.result, *encode(step.result))
            params = known.params()
            assert to_json(known.verdict(again, params)) == to_json(
                known.verdict(step.result, params)
            )
            assert known.verdict(again, params).scope
            assert known.views(again, params)
            known.findings(again, params)
            known.offers(again, params)


def test_the_picture_at_any_point_can_be_made_again() -> None:
    net = toy_net(FLAT)
    for name, params in (
        ("semantic_map", MapParams(scene="toy", ranges={"azimuth": (0, 180)})),
        ("semantic_regions", RegionsParams(scene="toy", iterations=1)),
    ):
        result = run(name, net, **params.model_dump(exclude_defaults=True))
        point = torch.tensor([[150.0, 30.0]], dtype=torch.float64)
        space = scene_of(params, net)
        assert space.axes == result.axes and np.array_equal(space.values, result.values)
        assert float(net.probs(space.images(point))[0, 1]) == pytest.approx(
            float(FLAT(point)), abs=1e-4
        )


def test_a_mesh_needs_no_input_and_an_image_scene_one_or_several() -> None:
    for name, most in (("semantic_map", None), ("semantic_regions", 1), ("srvr", None)):
        known = find(name)
        assert known.takes(known.params.parse({"scene": "teapot"})) == Requirements(
            fewest_inputs=0, most_inputs=0
        )
        assert known.takes(known.params()) == Requirements(fewest_inputs=1, most_inputs=most)


def test_a_range_can_be_narrowed_and_a_full_turn_stays_periodic() -> None:
    space = scene_of(
        MapParams(scene="toy", ranges={"azimuth": (-180, 180), "elevation": (0, 45)}), toy_net(FLAT)
    )
    assert space.axes[0].periodic and (space.axes[0].low, space.axes[1].high) == (-180, 45)
    assert (
        not scene_of(MapParams(scene="toy", ranges={"azimuth": (0, 90)}), toy_net(FLAT))
        .axes[0]
        .periodic
    )


@pytest.mark.parametrize(
    ("name", "params", "error", "words"),
    [
        ("semantic_map", {"axes": ("azimuth", "zoom")}, ParamsError, "no parameter 'zoom'"),
        ("semantic_map", {"axes": ("azimuth", "elevation", "light")}, ParamsError, "one or two"),
        ("semantic_map", {"ranges": {"elevation": (0, 120)}}, ParamsError, "-10 to 90"),
        ("semantic_map", {"ranges": {"elevation": (50, 20)}}, ParamsError, "smaller to a larger"),
        ("semantic_map", {"fixed": {"light": 3.0}}, ParamsError, "light = 3"),
        ("semantic_map", {"target": "pott"}, ParamsError, "did you mean pot"),
        ("semantic_map", {"step": {"azimuth": 0.0}}, ParamsError, "larger than 0"),
        ("semantic_map", {"step": {"azimuth": 0.01}}, ParamsError, "larger step"),
        ("semantic_map", {"trap_floor": 0.8}, ParamsError, "above trap_floor"),
        ("semantic_map", {"scene": "image"}, DataError, "needs an input"),
        (
            "semantic_regions",
            {"starts": ((1.0,),)},
            ParamsError,
            "one for each of azimuth, elevation",
        ),
        ("semantic_regions", {"starts": ((1.0, 95.0),)}, ParamsError, "elevation = 95"),
        ("semantic_regions", {"beta": 0.7}, ParamsError, "beta"),
        ("semantic_regions", {"methods": ()}, ParamsError, "methods"),
        ("srvr", {"methods": ("naive", "best")}, ParamsError, "methods"),
    ],
)
def test_bad_settings_are_said_in_one_sentence(
    name: str, params: dict, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        run(name, toy_net(FLAT), **params)


def test_models_of_different_classes_cannot_be_compared_and_a_black_box_has_no_autograd() -> None:
    other = Classifier.from_callable(lambda x: x.reshape(len(x), -1)[:, :2], (1, 4, 4), name="two")
    with pytest.raises(ModelError, match="2 and 3 classes"):
        run("semantic_map", (toy_net(FLAT), other))
    box = Classifier.from_callable(
        lambda x: np.asarray(x).reshape(len(x), -1)[:, :3], (1, 4, 4), name="box"
    )
    with pytest.raises(ModelError, match="choose differences"):
        run("semantic_regions", box, gradient="autograd", starts=((140, 40),))
    assert run("semantic_regions", box, images(), scene="image", iterations=3).low.shape[1] == 2


def test_a_network_of_another_size_gets_its_own_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    def open_scene(
        spec: str, classifier: Classifier, dataset=None, seed: int = 0, up: str = "auto"
    ) -> ToyScene:
        return replace(ToyScene(spec), size=classifier.shape[1])

    monkeypatch.setattr("robgui.analyses.semantic.scene.space.open_scene", open_scene)
    small, large = (
        toy_net(with_hole),
        Classifier.from_module(toy_net(with_hole).backend.module, (1, 6, 6), name="large"),
    )
    result = run("semantic_map", (small, large), target="1", step={"azimuth": 6, "elevation": 6})
    assert (
        np.allclose(result.scores[0], result.scores[1], atol=1e-4) and len(result.traps.score) == 3
    )
