"""The sweep against closed forms, quadrature and its own contract."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch import nn

from robgui.analyses.zonnscan import ZonnscanParams, ZonnscanResult, zone_samples
from robgui.analyses.zonnscan.zone import EVEN, Zone, fitted_radii
from robgui.core.codec import decode, encode
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.model.classifier import Classifier
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import (
    all_steps,
    binary_entropy,
    exact_index,
    last_step,
    linear,
    small_mlp,
    sweep,
)

SAMPLERS = ("sobol", "antithetic", "plain")


@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize(("scores", "index"), [([0.0, 0.0, 0.0], 1.0), ([500.0, 0.0, 0.0], 0.0)])
def test_index_of_a_constant_classifier_is_one_when_unsure_and_zero_when_sure(
    sampler: str, scores: list[float], index: float
) -> None:
    result = sweep(
        Classifier.from_module(Constant(scores), (4,)),
        [0.1, 0.5, 0.9, 1.0],
        sampler=sampler,
        samples=64,
    )
    assert np.allclose(result.index, index, atol=1e-6)
    assert (result.ci_low <= index + 1e-6).all() and (result.ci_high >= index - 1e-6).all()
    assert (
        not result.crossing.any()
        and math.isnan(result.crossing_radius)
        and len(result.witness) == 0
    )
    assert np.allclose(result.mutual_information, 0, atol=1e-6)


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_index_of_a_linear_classifier_in_one_dimension_is_the_integral(sampler: str) -> None:
    weights, bias, x = [12.0], -5.0, 0.3
    result = sweep(linear(weights, bias), [x], sampler=sampler, samples=8192, target_half_width=0)
    exact = [
        exact_index(weights, bias, [max(0, x - r)], [min(1, x + r)])
        if r
        else binary_entropy(12 * x - 5)
        for r in result.radii
    ]
    tolerance = 2e-4 if sampler == "sobol" else 0.015
    assert np.abs(result.index - exact).max() < tolerance


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_index_of_a_linear_classifier_in_two_dimensions_is_the_integral(sampler: str) -> None:
    weights, bias, x = [6.0, -9.0], 1.0, np.array([0.1, 0.4])
    radii = (0.05, 0.2, 0.6, 1.0)
    result = sweep(
        linear(weights, bias), x, radii=radii, sampler=sampler, samples=8192, target_half_width=0
    )
    exact = [
        exact_index(weights, bias, list(np.maximum(x - r, 0)), list(np.minimum(x + r, 1)))
        for r in radii
    ]
    assert np.abs(result.index - exact).max() < (1e-3 if sampler == "sobol" else 0.015)


def test_crossing_of_a_linear_classifier_is_the_share_beyond_its_boundary() -> None:
    result = sweep(
        linear([12.0], -5.0), [0.3], radii=(0.1, 0.2, 0.5), samples=4096, target_half_width=0
    )
    boundary = 5 / 12
    exact = [
        max(0, min(1, 0.3 + r) - boundary) / (min(1, 0.3 + r) - max(0, 0.3 - r))
        for r in result.radii
    ]
    assert np.abs(result.crossing - exact).max() < 2e-3
    assert (result.crossing_low <= exact).all() and (result.crossing_high >= exact).all()
    assert np.allclose(result.vote_share.sum(1), 1) and np.allclose(
        result.vote_share[:, 1], result.crossing
    )
    assert result.crossing_radius == pytest.approx(boundary - 0.3, abs=2e-4)
    assert result.witness_class == 1 and result.witness[0, 0] == pytest.approx(boundary, abs=2e-4)


def test_index_at_radius_zero_is_the_entropy_of_the_output() -> None:
    step = last_step(linear([4.0, 1.0], -1.0), [0.2, 0.7], radii=(0.0,))
    result = step.result
    assert result.index[0] == pytest.approx(float(binary_entropy(4 * 0.2 + 0.7 - 1)), abs=1e-6)
    assert result.ci_low[0] == result.ci_high[0] == result.index[0] == result.entropy_of_mean[0]
    assert (
        result.model_calls == 1 and result.samples.tolist() == [1] and step.done == step.total == 0
    )


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_from_radius_one_on_every_input_gives_the_same(sampler: str) -> None:
    classifier = small_mlp()
    rng = np.random.default_rng(1)
    first, second = (
        sweep(classifier, rng.random((1, 6, 6)), radii=(1.0, 1.7), sampler=sampler, samples=128)
        for _ in range(2)
    )
    assert np.allclose(first.index, second.index, atol=1e-6) and first.index[0] == pytest.approx(
        first.index[1], abs=1e-6
    )
    assert np.array_equal(first.mean_confidence[0], first.mean_confidence[1])


def test_entropy_survives_a_confidence_that_rounds_to_one() -> None:
    result = sweep(
        Classifier.from_module(Constant([60.0, 0.0]), (1,)), [0.5], radii=(0.0, 0.5), samples=32
    )
    exact = math.exp(-60) * 61 / math.log(2)
    assert result.index == pytest.approx(exact, rel=1e-2)


def test_mutual_information_sees_a_sharp_boundary_that_the_index_does_not() -> None:
    result = sweep(linear([4000.0], -2000.0), [0.45], radii=(0.2,), samples=1024)
    assert (
        result.index[0] < 0.02 and result.mutual_information[0] > 0.8 and result.crossing[0] > 0.3
    )


def test_the_first_step_holds_the_whole_curve_and_later_ones_sharpen_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    steps = all_steps(small_mlp(), np.full((1, 6, 6), 0.5), samples=256, target_half_width=0)
    first, last = steps[0].result, steps[-1].result
    assert np.isfinite(first.index).all() and (first.samples[1:] == 32).all()
    assert (last.samples[1:] == 256).all() and (last.ci_high - last.ci_low).mean() < (
        first.ci_high - first.ci_low
    ).mean() / 2
    dones = [step.done for step in steps]
    assert dones == sorted(dones) and steps[-1].done == steps[-1].total


def test_a_radius_stops_when_its_interval_is_narrow_enough() -> None:
    result = sweep(small_mlp(), np.full((1, 6, 6), 0.5), samples=8192, target_half_width=0.02)
    half = (result.ci_high - result.ci_low) / 2
    assert (
        (half <= 0.02 + 1e-9).all()
        and result.samples[1:].min() < 8192
        and result.samples[1:].min() >= 64
    )
    assert result.model_calls >= result.samples.sum()


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_the_batch_size_never_changes_the_result(sampler: str) -> None:
    classifier = small_mlp()
    x = np.random.default_rng(0).random((1, 6, 6))
    whole, small = (
        sweep(classifier, x, sampler=sampler, samples=300, batch=batch) for batch in (0, 7)
    )
    for name in (
        "index",
        "ci_low",
        "mean_confidence",
        "crossing",
        "shown_class",
        "samples",
        "vote_share",
    ):
        assert np.allclose(getattr(whole, name), getattr(small, name), atol=1e-6), name
    assert whole.model_calls == small.model_calls


def test_running_out_of_memory_does_not_change_the_result() -> None:
    classifier = small_mlp()
    x = np.random.default_rng(0).random((1, 6, 6))
    expected = sweep(classifier, x, samples=256)
    call, calls = small_mlp().backend, iter(range(10_000))

    class Starving:
        device, capabilities = call.device, call.capabilities

        def __call__(self, raw: torch.Tensor) -> torch.Tensor:
            if next(calls) in (3, 4, 10):  # the first is made at loading
                raise torch.OutOfMemoryError("out of memory")
            return call(raw)

    starved = Classifier(Starving(), classifier.settings, name="starved")
    result = sweep(starved, x, samples=256)
    assert (
        np.allclose(result.index, expected.index, atol=1e-6)
        and result.model_calls == expected.model_calls
    )


def test_the_same_seed_gives_the_same_result_bit_for_bit() -> None:
    first, second, other = (
        sweep(small_mlp(), np.full((1, 6, 6), 0.4), samples=128, seed=seed) for seed in (3, 3, 4)
    )
    assert np.array_equal(first.index, second.index) and not np.array_equal(
        first.index, other.index
    )


def test_shown_samples_can_be_drawn_again_with_the_classes_the_run_gave_them() -> None:
    classifier = small_mlp()
    for sampler in SAMPLERS:
        result = sweep(classifier, np.full((1, 6, 6), 0.4), samples=128, sampler=sampler)
        for i in (0, 5, len(result.radii) - 1):
            pictures = zone_samples(
                result, ZonnscanParams(samples=128, sampler=sampler), float(result.radii[i])
            )
            assert pictures.shape == (8, 1, 6, 6)
            assert np.array_equal(
                classifier.infer(pictures).argmax(1).numpy(), result.shown_class[i]
            )


def test_a_box_between_two_inputs_is_swept_around_its_centre() -> None:
    corners = np.array([[0.1, 0.9], [0.5, 0.4]])
    result = sweep(
        linear([6.0, -9.0], 1.0),
        corners,
        zone="box",
        radii=(0.0, 0.5, 1.0),
        samples=4096,
        target_half_width=0,
    )
    assert result.input == pytest.approx([0.3, 0.65])
    assert result.index[2] == pytest.approx(
        exact_index([6.0, -9.0], 1.0, [0.1, 0.4], [0.5, 0.9]), abs=1e-3
    )
    assert result.index[1] == pytest.approx(
        exact_index([6.0, -9.0], 1.0, [0.2, 0.525], [0.4, 0.775]), abs=1e-3
    )
    assert zone_samples(result, ZonnscanParams(zone="box"), 1.0).min() >= 0.1


def test_a_multi_label_model_counts_every_label_on_its_own() -> None:
    classifier = Classifier.from_module(Constant([0.0, 200.0]), (1,), multi_label=True)
    result = sweep(classifier, [0.5], radii=(0.0, 0.5), samples=32)
    assert (
        np.allclose(result.index, 0.5)
        and np.allclose(result.entropy_of_mean, 0.5)
        and not result.crossing.any()
    )


def test_above_the_dimensions_of_sobol_plain_sampling_stands_in_and_is_named() -> None:
    classifier = Classifier.from_module(Constant([1.0, 0.0]), (1, 200, 107))
    step = last_step(classifier, np.zeros((1, 200, 107)), radii=(0.1,), samples=32)
    assert "21,201" in step.note and step.result.sampler == "plain"


def test_a_table_of_one_feature_and_a_sequence_can_be_swept() -> None:
    class Mean(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            score = x.mean((1, 2))
            return torch.stack([score, 1 - score], 1)

    result = sweep(Classifier.from_module(Mean(), (5, 3)), np.full((5, 3), 0.2), samples=64)
    assert result.input.shape == (5, 3) and result.kind == "sequence"


@pytest.mark.parametrize("samples", [1, 2, 5, 17, 31, 33, 100])
@pytest.mark.parametrize("sampler", SAMPLERS)
def test_every_number_of_samples_works(sampler: str, samples: int) -> None:
    result = sweep(
        small_mlp(), np.full((1, 6, 6), 0.4), samples=samples, sampler=sampler, radii=(0.0, 0.2)
    )
    assert (
        0 < result.samples[1] <= samples
        and 0 <= result.ci_low[1] <= result.index[1] <= result.ci_high[1] <= 1
    )


def test_the_preset_paper_is_plain_sampling_with_ten_thousand_samples_unless_told_otherwise() -> (
    None
):
    paper = ZonnscanParams.parse({"preset": "paper"})
    assert (paper.sampler, paper.samples, paper.target_half_width) == ("plain", 10_000, 0.0)
    own = ZonnscanParams.parse({"preset": "paper", "samples": 50})
    assert own.samples == 50 and ZonnscanParams.parse(own.model_dump()) == own


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"samples": 0}, "samples = 0: "),
        ({"radii": (-0.1, 0.2)}, "must not be negative"),
        ({"radii": tuple(range(1001))}, "at most 1,000 radii"),
        ({"sampler": "halton"}, "sampler = 'halton'"),
        ({"target_half_width": float("nan")}, "target_half_width"),
        ({"radius": 1}, "there is no setting 'radius'"),
    ],
)
def test_a_bad_setting_is_refused_in_one_sentence(values: dict[str, object], words: str) -> None:
    with pytest.raises(ParamsError, match=r"\.$") as refused:
        ZonnscanParams.parse(values)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_more_or_fewer_inputs_than_one_are_refused() -> None:
    with pytest.raises(DataError, match="exactly one input, not 2"):
        sweep(linear([1.0], 0.0), [[0.1], [0.2]])
    with pytest.raises(DataError, match="two inputs"):
        sweep(linear([1.0], 0.0), [[0.1]], zone="box")


def test_a_score_that_is_infinite_for_some_samples_only_is_refused() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        # Of a class that is far behind: its probability stays a number.
        behind = torch.where(x[:, 0] > 0.55, -torch.inf, -9.0)
        return torch.stack([x[:, 0], torch.zeros_like(behind), behind], 1)

    classifier = Classifier.from_callable(broken, (1,), output="logits")
    with pytest.raises(ModelError, match="not finite"):
        sweep(classifier, [[0.5]])


def test_a_model_that_returns_nan_is_refused() -> None:
    classifier = Classifier.from_module(Constant([1.0, 0.0]), (2,))
    classifier.backend.module.scores.data[0] = float("nan")
    with pytest.raises(ModelError, match="not finite"):
        sweep(classifier, [0.1, 0.2])


def test_the_result_survives_the_workspace() -> None:
    result = sweep(small_mlp(), np.full((1, 6, 6), 0.4), samples=64)
    again = decode(ZonnscanResult, *encode(result))
    assert (
        np.array_equal(again.index, result.index)
        and again.labels == result.labels
        and again.witness.shape == result.witness.shape
    )


@pytest.mark.parametrize(
    ("zone", "dims", "kind", "largest"),
    [
        ("linf", 784, "image", 1.0),
        ("linf", 30, "table", 1.0),
        ("box", 30, "table", 1.0),
        ("l2", 784, "image", 28.0),
        ("l1", 784, "image", 784.0),
        ("l2_clipped", 4, "table", 2.0),
    ],
)
def test_radii_fit_the_zone_and_tables(zone: Zone, dims: int, kind: str, largest: float) -> None:
    radii = fitted_radii(zone, dims, kind)
    assert radii[0] == 0 and radii[-1] == largest and len(radii) in (20, 21)
    assert list(radii) == sorted(set(radii))
    if kind == "table" or zone not in ("linf", "box"):
        assert sum(0 < radius < 0.2 * largest for radius in radii) >= 9


def test_the_radii_of_a_run_are_fitted_unless_they_are_given_and_the_paper_keeps_its_own() -> None:
    model, x = linear([3.0] * 30, -40.0), [0.5] * 30
    assert tuple(sweep(model, x, samples=64, added=0).radii) == fitted_radii("linf", 30, "table")
    first = fitted_radii("linf", 30, "table", few=True)
    assert set(first) <= set(sweep(model, x, samples=64).radii)
    assert ZonnscanParams.parse({"preset": "paper"}).radii == EVEN
    assert ZonnscanParams.parse({"preset": "paper", "radii": (0.5,)}).radii == (0.5,)
