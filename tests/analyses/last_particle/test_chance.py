"""One probability from everything that was sampled: the rule, case by case, and what is said."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats
from torch import Tensor, nn

from robgui.analyses.last_particle import LastParticleParams, LastParticleTableParams
from robgui.analyses.last_particle.sampling.chance import (
    AROUND,
    NOTHING,
    PLAIN,
    TEST,
    Ends,
    combined,
)
from robgui.core.dataset import from_arrays
from robgui.core.execution.registry import find
from robgui.core.intervals import clopper_pearson
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status
from tests.analyses.last_particle.scores import (
    Linear,
    examine,
    linear_classifier,
    said,
    views_of,
)
from tests.bench.studies.decoys import DIM, EPS, with_gradients, without_gradients

UNKNOWN = Ends(np.nan, np.nan, np.nan)
PASSED = Ends(5e-12, 0.0, 5e-11)
HALF = np.full(8, 0.5)


def numbers(test: Ends, around: Ends, failures: int, samples: int = 2500) -> tuple[float, ...]:
    found = combined(test, around, failures, samples)
    return float(found.p), float(found.low), float(found.high), int(found.source), bool(found.agree)


def test_ten_failing_plain_samples_give_the_probability() -> None:
    p, low, high, source, agree = numbers(Ends(0.08, 0.003, 0.4), UNKNOWN, 188)
    ends = clopper_pearson(188, 2500)
    assert (p, source, agree) == (188 / 2500, PLAIN, True)
    assert (low, high) == (float(ends[0]), float(ends[1]))


def test_fewer_leave_it_to_the_test_whose_interval_then_holds_their_share() -> None:
    p, low, high, source, agree = numbers(Ends(5e-4, 1e-4, 1e-3), UNKNOWN, 4)
    assert (p, source, agree) == (5e-4, TEST, True)
    assert low == 1e-4 and high == 4 / 2500


def test_a_failed_sample_beside_a_pass_sets_the_number_and_is_a_contradiction() -> None:
    p, low, high, source, agree = numbers(PASSED, UNKNOWN, 1)
    ends = clopper_pearson(1, 2500)
    assert (p, source, agree) == (1 / 2500, PLAIN, False)
    assert (low, high) == (float(ends[0]), float(ends[1]))


def test_samples_around_failures_go_before_the_test_and_a_disagreement_holds_both() -> None:
    around = Ends(1e-6, 8e-7, 1.2e-6)
    assert numbers(Ends(2e-6, 1e-7, 9e-6), around, 0) == (1e-6, 8e-7, 1.2e-6, AROUND, True)
    assert numbers(PASSED, around, 0) == (1e-6, 8e-7, 1.2e-6, AROUND, False)
    # the test has met more than what lies around the failures: the interval reaches up to it
    assert numbers(Ends(1e-4, 5e-5, 2e-4), around, 0) == (1e-6, 8e-7, 2e-4, AROUND, False)


def test_where_plain_samples_and_those_around_failures_exclude_each_other_the_interval_holds_both() -> (
    None
):
    """Seven of 2,500 fail once in seventy times where one in a thousand does: neither is right by
    itself, and the estimate never lies outside its own interval.
    """
    around = Ends(9.55e-4, 8.98e-4, 1.02e-3)
    low, high = (float(each) for each in clopper_pearson(7, 2500))
    assert low > 1.02e-3
    for test in (UNKNOWN, PASSED):
        assert numbers(test, around, 7) == (9.55e-4, 8.98e-4, high, AROUND, False)


def test_a_test_that_fails_far_more_rarely_than_plain_samples_gives_no_number() -> None:
    """It has met one way to fail and missed the common one."""
    p, low, high, source, agree = numbers(Ends(5e-10, 1e-10, 1e-9), UNKNOWN, 3)
    assert (p, source, agree) == (3 / 2500, PLAIN, False)
    assert low <= p <= high


@pytest.mark.parametrize("failures", [0, 1, 3, 7, 9, 10, 40])
def test_the_estimate_lies_within_its_interval_whatever_contradicts_whatever(failures: int) -> None:
    ways = [UNKNOWN, *(Ends(p, p / 3, min(1.0, 3 * p)) for p in (1e-9, 1e-5, 1e-3, 0.02, 0.5))]
    for test in (*ways, PASSED):
        for around in ways:
            p, low, high, source, _ = numbers(test, around, failures)
            assert source == NOTHING or low <= p <= high, (test, around)


def test_where_the_test_cannot_tell_only_plain_samples_bound_what_was_not_found() -> None:
    around = Ends(1e-6, 8e-7, 1.2e-6)
    p, low, high, source, _ = numbers(UNKNOWN, around, 0)
    assert (p, low, source) == (1e-6, 8e-7, AROUND)
    assert high == pytest.approx(float(clopper_pearson(0, 2500)[1]))
    assert np.isnan(numbers(UNKNOWN, UNKNOWN, 0)[0]) and numbers(UNKNOWN, UNKNOWN, 0)[3] == NOTHING


def test_the_rule_works_on_whole_tables() -> None:
    test = Ends(*(np.array([[0.1, 5e-12], [np.nan, 2e-3]]) * k for k in (1, 0.5, 2)))
    nothing = Ends(*np.full((3, 2, 2), np.nan))
    found = combined(test, nothing, np.array([[300, 0], [0, 3]]), np.full((2, 2), 2500))
    assert found.source.tolist() == [[PLAIN, TEST], [NOTHING, TEST]]


@pytest.mark.parametrize(
    ("p", "seeds"),
    [
        (0.3, 20),
        (1e-3, 20),
        # test_importance.py has the samples around a rarer failure, which decide here
        pytest.param(1e-6, 20, marks=pytest.mark.slow),
        *(pytest.param(p, 60, marks=pytest.mark.slow) for p in (0.3, 1e-3, 1e-6)),
    ],
)
def test_the_interval_that_is_shown_covers_from_common_to_rare(p: float, seeds: int) -> None:
    """Whatever it comes from: plain samples, the test, or samples around the failure."""
    classifier = linear_classifier(p, "gaussian", 0.1)
    settings: dict[str, Any] = {"noise": "gaussian", "eps": 0.1, "steps": 20, "replicas": 5}
    found = [
        examine(classifier, HALF, seed=seed, samples=500, importance=2000, **settings)
        for seed in range(40, 40 + seeds)
    ]
    held = np.mean([each.p_low <= p <= each.p_high for each in found])
    assert held >= 0.9
    assert not any(each.validated for each in found)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))]
)
@pytest.mark.parametrize("make", [with_gradients, without_gradients])
@pytest.mark.parametrize("p", [3e-4, 1e-6])
def test_a_failure_behind_a_decoy_is_found_with_and_without_gradients(
    make: Any, p: float, seed: int
) -> None:
    known = find("last_particle")
    params = {"noise": "gaussian", "eps": EPS, "seed": seed}
    result = examine(make(p), np.full(DIM, 0.5), **params)
    words = known.verdict(result, LastParticleParams(**params))
    assert words.status is Status.FAILS and not result.validated
    assert result.p_low <= p <= result.p_high
    if result.passed:
        assert words.because[0].startswith("The test alone would have passed, but")


def test_a_table_finds_what_hides_behind_a_decoy() -> None:
    data = from_arrays(np.full((2, DIM), 0.5, dtype=np.float32), kind="table")
    known, params = find("last_particle_table"), {"noise": "gaussian", "radii": (EPS,)}
    *_, step = known.engine(with_gradients(1e-6), data, LastParticleTableParams(**params))
    result = step.result
    assert result.passed.any() and not result.validated.any()
    words = known.verdict(result, LastParticleTableParams(**params))
    assert words.status is Status.FAILS and "would have passed the test alone" in words.text
    assert (result.p_low <= 1e-6).all() and (result.p_high >= 1e-6).all()


def test_what_could_not_be_excluded_is_said() -> None:
    """More classes than are tested one by one, and no gradients."""
    weights = np.zeros((40, 3), dtype=np.float32)
    weights[0] = 1

    def scores(x: np.ndarray) -> np.ndarray:
        return np.asarray(x, dtype=np.float32) @ weights.T + np.eye(40)[0] * 5

    names = [str(i) for i in range(40)]
    classifier = Classifier.from_callable(scores, (3,), names, output="logits")
    result = examine(classifier, [0.5, 0.5, 0.5], eps=0.01, samples=0)
    text = said(result, eps=0.01, samples=0).text
    assert result.validated and "Not excluded: a failure hidden behind a class" in text


class Overlapping(nn.Module):
    """Two other classes win in overlapping halves; truth as the plain samples say."""

    def forward(self, x: Tensor) -> Tensor:
        z = (x - 0.5) / 0.1
        one, two = z[:, 0] - 0.6, 0.98 * z[:, 0] + 0.2 * z[:, 1] - 0.6
        return torch.stack([torch.zeros_like(one), one, two], 1)


def test_class_by_class_the_probability_is_that_of_any_failure_not_a_sum_of_overlaps() -> None:
    points = np.random.default_rng(0).normal(size=(2_000_000, 2))
    one, two = points[:, 0] - 0.6, 0.98 * points[:, 0] + 0.2 * points[:, 1] - 0.6
    truth = float((np.maximum(one, two) > 0).mean())
    assert truth < 0.75 * (stats.norm.sf(0.6) + float((two > 0).mean()))
    classifier = Classifier.from_module(Overlapping(), (2,), output="logits")
    result = examine(
        classifier,
        [0.5, 0.5],
        noise="gaussian",
        eps=0.1,
        class_wise=True,
        replicas=60,
        samples=0,
        importance=0,
    )
    assert result.p_low < truth < result.p_high
    assert result.p_estimate == pytest.approx(truth, rel=0.15)


def test_the_band_reaches_down_to_nothing_until_the_test_has_failed() -> None:
    settings: dict[str, Any] = {"samples": 0, "attack_steps": 0, "importance": 0, "eps": 0.1}
    for p, certified in ((1e-14, False), (1e-3, False)):
        result = examine(linear_classifier(p, "box", 0.1), HALF, **settings)
        band = views_of("last_particle", result, **settings)[1].lines[0]
        floor = band.low.min()
        assert (band.low[:-1] == floor).all()
        assert (band.low[-1] > floor) == (not result.validated), certified


def test_a_multi_label_model_is_named() -> None:
    classifier = Classifier.from_module(Linear(np.ones(3), -3.0), (3,), multi_label=True)
    result = examine(classifier, [0.5, 0.5, 0.5], eps=0.01, truth="predicted", samples=0)
    assert "may give several classes at once" in said(result, eps=0.01).text


def test_a_failure_that_a_test_on_its_way_has_met_is_told_at_once() -> None:
    """However rare the samples so far say it is."""
    params = LastParticleParams(noise="box", eps=0.1, samples=0, attack_steps=0, importance=0)
    data = from_arrays(HALF[None].astype(np.float32), kind="table")
    known = find("last_particle")
    steps = [
        each.result for each in known.engine(linear_classifier(1e-4, "box", 0.1), data, params)
    ]
    last = steps[-1]
    early = replace(last, finished=False, validated=False, p_source=0)
    assert last.failure is not None
    words = known.verdict(early, params)
    assert words.status is Status.AT_RISK
    assert words.because[0].startswith("The test has met an input within the noise that the model")
    assert known.verdict(replace(early, failure=None), params).status is Status.UNKNOWN
