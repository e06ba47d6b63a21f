"""Populations: two sets of inputs and the index around them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.zonnscan import (
    PopulationsParams,
    PopulationsResult,
    corner_cases,
    fast_gradient,
)
from robgui.analyses.zonnscan.populations import compare
from robgui.analyses.zonnscan.thumbnails import thumbnails
from robgui.core.codec import decode, encode
from robgui.core.dataset import from_arrays
from robgui.core.errors import DataError, ModelError
from robgui.core.execution.registry import find
from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier
from tests.analyses.zonnscan.models import exact_index, linear, small_mlp
from tests.guards import no_deviceless_factories


def populations(
    classifier: Classifier, x: np.ndarray, labels: np.ndarray | None = None, **params: object
) -> list[Step[PopulationsResult]]:
    known = find("zonnscan_populations")
    return list(
        known.engine(
            classifier, from_arrays(x.astype(np.float32), labels), known.params.parse(dict(params))
        )
    )


def test_the_index_of_each_input_is_the_integral_over_its_own_zone() -> None:
    weights, bias = [6.0, -9.0], 1.0
    x = np.array([[0.1, 0.4], [0.9, 0.2], [0.5, 0.5], [0.0, 1.0]])
    result = populations(
        linear(weights, bias), x, against="rest", radius=0.1, samples=2048, target_half_width=0
    )[-1].result
    exact = [
        exact_index(weights, bias, list(np.maximum(v - 0.1, 0)), list(np.minimum(v + 0.1, 1)))
        for v in x
    ]
    assert result.index == pytest.approx(exact, abs=1e-3)
    assert result.second.tolist() == [False, False, True, True]
    assert result.means == pytest.approx([np.mean(exact[:2]), np.mean(exact[2:])], abs=1e-3)


def test_adversarial_twins_are_pushed_over_the_boundary_and_score_higher() -> None:
    classifier = linear([8.0, -8.0], 0.0)
    x = np.random.default_rng(0).uniform(0, 1, (200, 2))
    x = x[np.abs(x[:, 0] - x[:, 1]) > 0.35]
    step = populations(classifier, x, eps=0.25)[-1]
    result = step.result
    assert (
        step.done == step.total
        and len(result.index) == 2 * len(x)
        and result.names == ("test", "adversarial")
    )
    assert result.means[1] > result.means[0] and result.ks_p < 1e-3 and result.auc > 0.7


def test_the_attack_follows_the_gradient_and_stays_in_the_cube() -> None:
    x = torch.tensor([[0.5, 0.05]])
    moved = fast_gradient(linear([3.0, 2.0], 0.0), x, torch.tensor([0]), 0.1)
    assert torch.allclose(moved, torch.tensor([[0.6, 0.15]]))
    assert torch.equal(
        fast_gradient(linear([3.0, 2.0], 0.0), x, torch.tensor([1]), 0.1),
        torch.tensor([[0.4, 0.0]]),
    )


def test_a_black_box_has_no_adversarial_twins_but_two_selections_work() -> None:
    def black_box(x: np.ndarray) -> np.ndarray:
        return np.stack([np.asarray(x)[:, 0], 1 - np.asarray(x)[:, 0]], 1) * np.ones(2)

    classifier = Classifier.from_callable(black_box, (2,), output="probabilities")
    x = np.random.default_rng(0).random((6, 2))
    if not classifier.capabilities.gradients:
        with pytest.raises(ModelError, match="compare two selections instead"):
            populations(classifier, x)
    assert len(populations(classifier, x, against="rest", first=2)[-1].result.index) == 6


def test_comparison_agrees_with_the_closed_forms() -> None:
    rng = np.random.default_rng(0)
    first, second = rng.normal(0, 1, 300).round(1), rng.normal(0.5, 1, 200).round(1)
    known = compare(first, second)
    exact = stats.mannwhitneyu(second, first).statistic / (300 * 200)
    assert known.auc == pytest.approx(exact) and known.ks_p == pytest.approx(
        stats.ks_2samp(first, second).pvalue
    )
    assert known.false_alarms[0] == 0 and known.false_alarms[-1] == known.detected[-1] == 1


@pytest.mark.parametrize(("count", "first"), [(1, 0), (4, 4)])
def test_sets_that_cannot_be_made_are_refused(count: int, first: int) -> None:
    with pytest.raises(DataError, match="Two sets"):
        populations(linear([1.0, 1.0], 0.0), np.full((count, 2), 0.5), against="rest", first=first)


def test_populations_make_every_tensor_on_a_named_device_and_survive_the_workspace() -> None:
    classifier, x = small_mlp(), np.random.default_rng(0).random((5, 1, 6, 6))
    with no_deviceless_factories():
        result = populations(classifier, x, labels=np.array([0, 1, 2, -1, 4]))[-1].result
    again = decode(PopulationsResult, *encode(result))
    assert np.array_equal(again.index, result.index) and again.names == result.names


def test_the_batch_size_never_changes_a_population() -> None:
    x = np.random.default_rng(0).random((9, 1, 6, 6))
    whole, small = (
        populations(small_mlp(), x, against="rest", batch=batch)[-1].result for batch in (0, 5)
    )
    assert np.allclose(whole.index, small.index, atol=1e-6) and np.array_equal(
        whole.samples, small.samples
    )


def test_corner_cases_are_the_inputs_on_which_models_disagree() -> None:
    x = np.array([[0.1], [0.45], [0.55], [0.9]], dtype=np.float32)
    numbers, classes = corner_cases([linear([10.0], -4.0), linear([10.0], -6.0)], x)
    assert numbers.tolist() == [1, 2] and classes.shape == (2, 4)
    with pytest.raises(ModelError, match="at least two models"):
        corner_cases([linear([1.0], 0.0)], x)


def test_a_seeded_choice_bounds_the_inputs_of_each_set() -> None:
    x = np.random.default_rng(0).random((50, 2))
    classifier = linear([6.0, -9.0], 1.0)
    one, same, other = (
        populations(classifier, x, most=10, seed=seed)[-1].result for seed in (0, 0, 1)
    )
    assert len(one.index) == 20 and np.array_equal(one.numbers[:10], one.numbers[10:])
    assert np.array_equal(one.numbers, same.numbers) and not np.array_equal(
        one.numbers, other.numbers
    )
    rest = populations(classifier, x, against="rest", first=20, most=5)[-1].result
    assert (
        (rest.numbers[:5] < 20).all() and (rest.numbers[5:] >= 20).all() and len(rest.index) == 10
    )
    assert find("zonnscan_populations").params.parse({"preset": "paper"}).most == 1000


def test_the_worst_of_the_first_set_become_findings_with_their_pictures() -> None:
    classifier = linear([40.0, -40.0], 0.0)
    x = np.random.default_rng(0).random((300, 2))
    result = populations(classifier, x, most=0, radius=0.05)[-1].result
    findings = find("zonnscan_populations").findings(result, PopulationsParams(radius=0.05))
    assert 0 < len(findings) <= 10 and not result.second[result.notable].any()
    severity = [max(result.index[i], result.crossing[i]) for i in result.notable]
    assert severity == sorted(severity, reverse=True) and [
        f.severity for f in findings
    ] == pytest.approx(severity)
    assert (
        np.allclose(findings[0].input, x[result.numbers[result.notable[0]]], atol=1e-6)
        and findings[0].picture.dtype == np.uint8
    )
    sure = populations(linear([0.0, 0.0], 9.0), x)[-1].result
    assert find("zonnscan_populations").findings(sure, PopulationsParams()) == []


def test_thumbnails_shrink_with_their_number() -> None:
    few, many = (
        thumbnails(np.zeros((3, 1, 100, 50), np.float32), "image"),
        thumbnails(np.zeros((3, 1, 100, 50), np.float32), "image", 10_000),
    )
    assert few.shape == (3, 64, 32, 3) and many.shape[1] <= 16 and few.dtype == np.uint8


def test_a_table_row_has_a_thumbnail_too() -> None:
    result = populations(linear([1.0, 1.0], 0.0), np.random.default_rng(0).random((4, 2)))[
        -1
    ].result
    assert result.thumbnails.shape[0] == 8 and result.thumbnails.shape[3] == 3
