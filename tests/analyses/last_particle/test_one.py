"""The last particle on classifiers: images, tables, sequences, forests, and what it says in
words.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from robgui import resources
from robgui.analyses.last_particle import (
    LastParticleParams,
    LastParticleResult,
    Law,
    last_particle,
    power,
)
from robgui.analyses.last_particle.particles import kernel
from robgui.analyses.last_particle.particles.lanes import Lane
from robgui.analyses.last_particle.particles.outcome import outcome
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays, open_dataset
from robgui.core.errors import DataError, ModelError, ParamsError
from robgui.core.execution.registry import find
from robgui.core.execution.step import Pace
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from tests.analyses.last_particle.scores import Linear, examine, linear_classifier, said, views_of
from tests.guards import count_host_syncs, no_deviceless_factories

HALF = np.full(8, 0.5)
QUICK: dict[str, Any] = {"samples": 0, "attack_steps": 0}
ANALYSIS = find("last_particle")


@pytest.mark.parametrize("noise", ["box", "clip", "l2", "gaussian"])
def test_the_interval_holds_the_known_probability_of_a_linear_classifier(noise: str) -> None:
    result = examine(
        linear_classifier(1e-5, noise, 0.05),
        HALF,
        noise=noise,
        eps=0.05,
        replicas=20,
        steps=25,
        critical=1e-12,
        **QUICK,
    )
    assert not result.validated and not result.inconclusive and result.mixed
    low, high = stats.poisson.ppf([0.001, 0.999], -40 * np.log(1e-5))
    assert low <= result.killed <= high
    assert result.p_low < result.p_estimate < result.p_high and result.p_estimate == pytest.approx(
        1e-5, rel=2
    )


def test_a_robust_input_is_validated_in_the_words_of_the_manual() -> None:
    result = examine(linear_classifier(1e-9, "box", 0.1), HALF, eps=0.01)
    words = said(result, eps=0.01)
    assert result.validated
    assert "validated; uniform noise (at most 0.01 of the range" in words.sentence
    assert (
        "with probability below 10⁻¹⁰ (99 % confidence)" in words.sentence
        and "5,945 calls of the test with leaps along a gradient (white-box)" in words.scope
    )
    assert "the diagnostics found no sign against it" in words.text
    assert (
        result.failure is None
        and result.counterexample is None
        and not ANALYSIS.findings(result, LastParticleParams())
    )
    assert result.monte_carlo_failures == 0 and result.monte_carlo_bound == pytest.approx(
        -np.log(0.01) / 2500
    )
    assert words.status is Status.HOLDS


def test_the_published_setting_has_two_particles_and_one_repetition() -> None:
    result = examine(linear_classifier(1e-9, "box", 0.1), HALF, eps=0.01, preset="paper", samples=0)
    words = said(result, eps=0.01, preset="paper", samples=0)
    assert result.validated and result.m == 64 and "2,562 calls of the test" in words.scope
    assert "one repetition can hardly check that" in words.text


def test_ten_repetitions_validate_one_in_a_trillion_nearly_always() -> None:
    ten, one = (power(1e-12, particles=2, replicas=replicas) for replicas in (10, 1))
    assert LastParticleParams().replicas == 10 and ten > 0.95 and one < 0.14


def test_a_failing_input_shows_its_failure() -> None:
    classifier = linear_classifier(1e-2, "box", 0.1)
    result = examine(classifier, HALF, eps=0.1)
    assert result.failure is not None and result.failure_class == 1
    assert classifier.infer(result.failure[None]).argmax() == 1
    assert np.abs(result.failure - result.input).max() <= 0.1 + 1e-6
    words = said(result, eps=0.1)
    assert (
        words.status is Status.FAILS
        and "changes the class with probability about 0.0" in words.sentence
    )
    assert (
        "95 % interval" in words.sentence
        and words.number.low < words.number.value < words.number.high
    )
    found, attacked = ANALYSIS.findings(result, LastParticleParams(eps=0.1))
    assert attacked.kind == "rare failure" and attacked.severity < found.severity
    assert (
        found.kind == "noise failure"
        and found.picture is not None
        and found.input is result.failure
    )
    assert result.monte_carlo_failures > 0


def test_a_failure_that_plain_samples_know_well_is_not_sampled_around_its_likeliest_points() -> (
    None
):
    often, seldom = (
        examine(linear_classifier(p, "gaussian", 0.05), np.full(8, 0.5), noise="gaussian", eps=0.05)
        for p in (0.4, 1e-5)
    )
    assert often.monte_carlo_failures >= 100 and often.around_samples == 0
    assert f"{often.monte_carlo_failures:,} of" in often.around_note
    assert often.p_low <= 0.4 <= often.p_high
    assert seldom.around_samples > 0 and not seldom.around_note


def test_a_validated_input_with_a_counterexample_is_shown_as_such() -> None:
    result = examine(
        linear_classifier(1e-14, "box", 0.1, dim=12),
        np.full(12, 0.5),
        eps=0.1,
        seed=1,
        replicas=20,
        steps=20,
        samples=0,
    )
    assert (
        result.validated and result.counterexample is not None and result.counterexample_class == 1
    )
    words = said(result, eps=0.1, replicas=20)
    assert (
        words.status is Status.AT_RISK
        and "somebody who chooses the change within the noise turns it into “1”" in words.sentence
        and "but chance hardly ever does" in words.sentence
    )
    assert (
        words.because[0].startswith("A gradient search finds") and "validated" not in words.sentence
    )


def _demo(model: str, data: str, **params: Any) -> LastParticleResult:
    classifier, dataset = (
        load(resources.path("demo", model)),
        open_dataset(resources.path("demo", data)).subset([0]),
    )
    *_, last = last_particle(
        classifier, dataset, LastParticleParams(truth="predicted", **QUICK, **params)
    )
    assert last.done == last.total
    return last.result


def test_formal_bounds_prove_what_the_test_cannot_say_of_a_forest() -> None:
    result = _demo("table_forest.skops", "table.csv", eps=1e-4)
    assert (
        result.inconclusive
        and result.certified
        and result.certified_lower > 0
        and not result.certified_reason
    )
    words = said(result, eps=1e-4)
    certified = "certified; no noise of at most 0.0001 of each value's range changes the class."
    assert certified in words.sentence
    assert words.status is Status.HOLDS and not ANALYSIS.findings(
        result, LastParticleParams(eps=1e-4)
    )


def test_a_network_is_validated_and_certified_or_says_why_there_is_no_proof() -> None:
    both = _demo("table_mlp.onnx", "table.csv", eps=1e-4)
    assert both.validated and both.certified and "move freely" not in said(both, eps=1e-4).text
    for settings, words in (
        ({"noise": "gaussian"}, "limits how far every value moves"),
        ({"rounded": ("1",)}, "rounded features"),
        ({"proof": False}, "not asked for"),
    ):
        without = _demo("table_mlp.onnx", "table.csv", eps=1e-4, **settings)
        assert (
            not without.certified
            and words in without.certified_reason
            and "certified" not in said(without, eps=1e-4, **settings).sentence
        )


class Decoy(nn.Module):
    """Class 1 climbs in a broad lobe but never wins; class 2 wins in a small one."""

    def forward(self, x: Tensor) -> Tensor:
        first, second = (x[:, 0] - 0.5) * 10, (x[:, 1] - 0.5) * 10
        lobe = torch.clamp(first, max=0.999) - 1
        trap = torch.where(second > 0.8, second - 0.8, -3 + 0.1 * second)
        return torch.stack([torch.zeros_like(lobe), lobe, trap], 1)


def test_testing_class_by_class_finds_the_failure_behind_a_decoy() -> None:
    classifier = Classifier.from_module(Decoy(), (2,), output="logits")
    fooled = [
        examine(classifier, [0.5, 0.5], eps=0.1, seed=seed, critical=1e-6, **QUICK).validated
        for seed in range(2)
    ]
    result = examine(classifier, [0.5, 0.5], eps=0.1, class_wise=True, critical=1e-6, **QUICK)
    assert result.test_class.tolist() == [1, 2] and result.test_p.shape == (2,)
    assert not result.validated, fooled


def test_validated_is_never_said_beside_a_failed_plain_sample() -> None:
    classifier = Classifier.from_module(Decoy(), (2,), output="logits")
    for seed in range(6):
        result = examine(
            classifier, [0.5, 0.5], eps=0.1, seed=seed, critical=1e-6, samples=2500, attack_steps=0
        )
        words = said(result, eps=0.1, critical=1e-6)
        assert result.monte_carlo_failures > 0  # class 2 wins in a tenth of the box
        assert words.status is Status.FAILS and "validated" not in words.sentence
        assert words.number.low <= 0.1 <= words.number.high
        if result.validated:
            assert words.because[0].startswith("The test alone would have passed")


def test_a_result_of_the_first_edition_still_opens() -> None:
    document, blob = encode(examine(linear_classifier(1e-2, "box", 0.1), HALF, eps=0.1, **QUICK))
    copies = {
        "eps": 0.1,
        "noise": "box",
        "critical": 1e-10,
        "risk": 0.01,
        "n_particles": 2,
        "kill": 1,
        "steps": 40,
    }
    document["fields"] |= {**copies, "replicas": 1, "class_wise": False}
    assert decode(LastParticleResult, document, blob).finished


@pytest.mark.parametrize(
    ("model", "data", "eps"),
    [
        ("fashion_mlp.pt2", "fashion.npz", 0.3),
        ("table_mlp.onnx", "table.csv", 0.2),
        ("table_forest.skops", "table.csv", 0.3),
    ],
)
def test_the_demo_models_get_an_answer(model: str, data: str, eps: float) -> None:
    classifier, dataset = (
        load(resources.path("demo", model)),
        open_dataset(resources.path("demo", data)).subset([0]),
    )
    *_, step = last_particle(classifier, dataset, LastParticleParams(eps=eps, samples=128, steps=8))
    assert step.done == step.total and step.result.finished
    assert step.result.failure is not None and step.result.p_low > 0
    assert bool(step.result.attack_note) is (model == "table_forest.skops")


def test_a_forest_that_cannot_tell_says_so_and_ends() -> None:
    classifier, dataset = (
        load(resources.path("demo", "table_forest.skops")),
        open_dataset(resources.path("demo", "table.csv")).subset([0]),
    )
    *_, step = last_particle(classifier, dataset, LastParticleParams(eps=1e-4, samples=0, steps=5))
    assert step.result.inconclusive and "score too coarse" in said(step.result, eps=1e-4).text


class LastPoint(nn.Module):
    """A sequence is of class 1 if its last point is high."""

    def forward(self, x: Tensor) -> Tensor:
        height = 10 * (x[:, -1].mean(1) - 0.57)
        return torch.stack([torch.zeros_like(height), height], 1)


def test_the_padding_of_a_sequence_repeats_its_noisy_last_point() -> None:
    classifier = Classifier.from_module(
        LastPoint(), (6, 2), kind="sequence", low=(0.0,), high=(1.0,), output="logits"
    )
    dataset = from_arrays(np.full((1, 6, 2), 0.5, dtype=np.float32), kind="sequence")
    dataset.lengths = lambda indices=None: np.array([3])  # type: ignore[method-assign]
    *_, step = last_particle(classifier, dataset, LastParticleParams(eps=0.1, **QUICK))
    failure = step.result.failure
    assert failure is not None and (failure[3:] == failure[2]).all() and (failure[2] != 0.5).any()


def test_frozen_features_stay_and_whole_numbers_stay_whole() -> None:
    classifier = Classifier.from_module(
        Linear(np.ones(3), -1.62), (3,), features=("age", "count", "size"), low=(0.0,), high=(10.0,)
    )
    classifier = classifier.with_settings(classifier.settings.change(mean=(0.0,), std=(10.0,)))
    result = examine(
        classifier,
        [5, 5, 5],
        eps=0.2,
        frozen=("age",),
        rounded=("2",),
        scale=(1.0, 1.0, 0.5),
        **QUICK,
    )
    assert result.failure is not None
    assert result.failure[0] == 0.5 and result.failure[1] * 10 == pytest.approx(
        round(float(result.failure[1] * 10))
    )
    assert abs(result.failure[2] - 0.5) <= 0.1 + 1e-6
    bounded = examine(classifier, [5, 5, 5], eps=0.2, upper=(5.5,), **QUICK)
    assert bounded.failure is None or bounded.failure.max() <= 0.55 + 1e-6
    with pytest.raises(ParamsError, match="no feature 'weight'"):
        examine(classifier, [5, 5, 5], frozen=("weight",))
    with pytest.raises(ParamsError, match="scale has 2 numbers"):
        examine(classifier, [5, 5, 5], scale=(1.0, 2.0))


def test_every_step_is_complete_and_can_be_stored() -> None:
    dataset = from_arrays(HALF[None].astype(np.float32), kind="table")
    seen = []
    for step in last_particle(
        linear_classifier(1e-4, "box", 0.1),
        dataset,
        LastParticleParams(eps=0.1, replicas=3, samples=100, steps=10),
    ):
        document, blob = encode(step.result)
        again = decode(LastParticleResult, document, blob)
        assert (
            np.array_equal(again.levels, step.result.levels)
            and again.validated == step.result.validated
        )
        assert said(step.result, eps=0.1, replicas=3).sentence
        if len(seen) in (0, 20):
            views = views_of("last_particle", step.result, eps=0.1, replicas=3)
            ways = next(view for view in views if view.title == "Failure probability by each way")
            assert ways.value.log and (ways.series[0].values > 0).all(), "higher is more likely"
            assert (ways.series[0].low > 0).all()
            assert [mark.name for mark in ways.levels] == ["critical"], "a limit is no way to fail"
        seen.append(step.done)
    assert seen == sorted(seen) and step.done == step.total
    assert step.result.replica_killed.shape == (3,) and step.result.p_trace.shape == (
        step.result.replica_levels.shape[1],
        3,
    )


def test_a_test_that_still_climbs_says_how_far_it_is_and_not_that_it_was_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Pace, "due", lambda self: True)
    monkeypatch.setattr(kernel, "BREATH", 0.0)
    dataset = from_arrays(HALF[None].astype(np.float32), kind="table")
    params = LastParticleParams(eps=0.01, **QUICK)
    steps = last_particle(linear_classifier(1e-9, "box", 0.1), dataset, params)
    early = [step.result for step, _ in zip(steps, range(100), strict=False)][-1]
    assert not early.finished and early.killed > 0
    words = said(early, eps=0.01)
    assert f"Not finished: {early.killed} of 512 rounds over 10 repetitions." in words.scope
    assert f"{early.model_calls:,} calls" in words.scope
    assert "so far" in words.sentence and "with probability below" in words.sentence
    first = said(dataclasses.replace(early, killed=2), eps=0.01)
    assert "no answer yet" in first.sentence, "two rounds of twenty lines say next to nothing"
    assert first.number.words == "not finished" and words.number.words == "below 0.02 so far"
    assert words.status is Status.UNKNOWN


def test_the_same_seed_gives_the_same_result_whatever_the_batch() -> None:
    results = [
        examine(
            linear_classifier(1e-4, "box", 0.1),
            HALF,
            eps=0.1,
            batch=batch,
            replicas=4,
            samples=300,
            steps=10,
            attack_steps=5,
        )
        for batch in (0, 3)
    ]
    first, second = results
    assert (
        np.allclose(first.levels, second.levels, atol=1e-5)
        and (first.replica_killed == second.replica_killed).all()
    )
    assert first.monte_carlo_failures == second.monte_carlo_failures


@pytest.mark.parametrize("preset", ["ams20", "ams100"])
def test_presets_set_what_the_user_has_not(preset: str) -> None:
    params = LastParticleParams(preset=preset, steps=7)
    assert (
        params.steps == 7
        and (params.particles, params.kill) == {"ams20": (20, 15), "ams100": (100, 75)}[preset]
    )
    assert (
        LastParticleParams(preset="paper").noise == "clip" and LastParticleParams().noise == "box"
    )


class TwoHills(nn.Module):
    """The failure is on one hill; the other is as likely and looks the same until just below it."""

    def forward(self, x: Tensor) -> Tensor:
        t = (x[:, 0] - 0.5) / 0.05
        dead = torch.where(t > -4.8, -t - 5, -0.2 / (-3.8 - t))
        height = torch.where(t > 0, t - 5, dead)
        return torch.stack([torch.zeros_like(height), height], 1)


def test_repetitions_that_contradict_each_other_make_the_verdict_inconclusive() -> None:
    classifier = Classifier.from_module(TwoHills(), (2,), output="logits")
    result = examine(
        classifier,
        [0.5, 0.5],
        noise="gaussian",
        eps=0.05,
        replicas=12,
        steps=20,
        critical=1e-12,
        **QUICK,
    )
    assert (
        result.inconclusive and not result.mixed and not result.validated and result.dispersion > 3
    )
    assert "not mixed" in said(result, noise="gaussian", eps=0.05, replicas=12).text
    assert "not mixed" in [
        found.kind
        for found in ANALYSIS.findings(result, LastParticleParams(noise="gaussian", eps=0.05))
    ]


def test_particles_that_never_move_make_the_verdict_inconclusive() -> None:
    said = outcome(Law(2), 10, [Lane(killed=10, moved=10, stuck=3)], ended=True)
    assert said.inconclusive and not said.mixed and not said.validated
    assert outcome(Law(2), 10, [Lane(killed=10, moved=10, stuck=2)], ended=True).validated


@pytest.mark.parametrize(
    ("setting", "value"),
    [("eps", -1), ("particles", 1), ("critical", 1), ("critical", 2), ("risk", 0)],
)
def test_a_setting_out_of_range_is_refused_by_name(setting: str, value: float) -> None:
    with pytest.raises(ParamsError, match=f"^{setting} = {value}: "):
        LastParticleParams.parse({setting: value})


def test_an_input_that_is_misclassified_from_the_start_is_refused_in_one_sentence() -> None:
    classifier = linear_classifier(1e-4, "box", 0.1)
    dataset = from_arrays(HALF[None].astype(np.float32), labels=[1], kind="table")
    with pytest.raises(
        DataError,
        match=(
            "says “0” without any noise; choose an input it gets right, or set truth to predicted"
        ),
    ):
        next(last_particle(classifier, dataset, LastParticleParams()))
    *_, step = last_particle(
        classifier,
        dataset,
        LastParticleParams(truth="predicted", eps=0.001, critical=1e-2, **QUICK),
    )
    assert step.result.validated


def test_scores_that_are_not_numbers_are_refused_in_one_sentence() -> None:
    class Broken(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            height = torch.where(x[:, 0] == 0.5, -1.0, float("nan"))
            return torch.stack([torch.zeros_like(height), height], 1)

    with pytest.raises(ModelError, match="not finite numbers"):
        examine(Classifier.from_module(Broken(), (3,), output="logits"), [0.5, 0.5, 0.5])


def test_a_score_that_becomes_infinite_during_the_moves_is_refused_too() -> None:
    asked = 0

    def broken(x: Tensor) -> Tensor:
        nonlocal asked
        asked += 1
        # Of a class that is far behind: the margin stays a number.
        behind = torch.full_like(x[:, 0], -9.0 if asked < 300 else -torch.inf)
        return torch.stack([0.1 * x[:, 0], torch.full_like(behind, 0.5), behind], 1)

    classifier = Classifier.from_callable(broken, (3,), output="logits")
    with pytest.raises(ModelError, match="not finite numbers"):
        examine(classifier, [0.5, 0.5, 0.5], samples=0, attack_steps=0, importance=0)


@pytest.mark.parametrize("noise", ["box", "clip", "l2", "gaussian"])
def test_every_tensor_is_made_on_a_named_device(noise: str) -> None:
    classifier = linear_classifier(1e-2, "box", 0.1)
    with no_deviceless_factories():
        examine(
            classifier,
            HALF,
            noise=noise,
            eps=0.1,
            samples=100,
            replicas=2,
            class_wise=True,
            critical=1e-3,
            steps=8,
            attack_steps=4,
        )


def test_host_waits_follow_the_model_calls() -> None:
    classifier = linear_classifier(1e-9, "box", 0.1)
    with count_host_syncs() as syncs:
        result = examine(classifier, HALF, eps=0.01, critical=1e-2, **QUICK)
    # one particle moves at a time; each model call looks once whether its scores are finite
    batches = result.model_calls
    assert syncs.total < 2 * batches
