"""True confusion, disparity and the figures of merit against hand-made cases and the letter of
the definitions.
"""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.deepinspect import (
    aucec,
    avg_cd,
    cost_curve,
    report,
    type1conf,
    type2conf,
)
from robgui.analyses.deepinspect.counting import truth
from robgui.analyses.deepinspect.counting.kernels import worst_thirds
from robgui.analyses.deepinspect.counting.truth import quality
from robgui.analyses.deepinspect.matrices import confusions
from robgui.analyses.deepinspect.pairs import beyond, top_share
from robgui.core.class_errors import class_errors
from tests.analyses.deepinspect import slow


def test_type_1_confusion_of_a_hand_made_case():
    found = type1conf(np.array([0, 0, 0, 0, 1, 1, -1]), np.array([0, 1, 1, 2, 0, 1, 2]), 4)
    assert found[0, 1] == found[1, 0] == (2 / 4 + 1 / 2) / 2
    assert (
        found[0, 2] == 1 / 4
        and found[1, 2] == 0
        and math.isnan(found[2, 3])
        and not found.diagonal().any()
    )


def test_type_1_confusion_is_the_definition():
    rng = np.random.default_rng(0)
    y, yhat = rng.integers(0, 6, 200), rng.integers(0, 7, 200)
    assert np.allclose(type1conf(y, yhat, 7), slow.type1conf(y, yhat, 7))
    assert np.allclose(
        type1conf(torch.from_numpy(y), torch.from_numpy(yhat), 7), slow.type1conf(y, yhat, 7)
    )


def test_type_2_confusion_is_the_definition_and_few_images_are_not_counted():
    rng = np.random.default_rng(1)
    Y, P = rng.random((80, 5)) > 0.6, rng.random((80, 5)) > 0.5
    Y[:, 4] = False
    Y[:3, 4] = True
    for fewest in (1, 10, 25):
        assert np.allclose(type2conf(Y, P, fewest), slow.type2conf(Y, P, fewest), equal_nan=True)
    assert np.array_equal(type2conf(Y, P), type2conf(Y, P, 10), equal_nan=True)
    assert np.isnan(type2conf(Y, P, 100)[0, 1:]).all()


def test_disparity_is_the_definition_with_and_without_gaps(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(2)
    conf = rng.random((7, 7))
    conf = (conf + conf.T) / 2
    np.fill_diagonal(conf, 0)
    assert np.allclose(avg_cd(conf), slow.avg_cd(conf))
    conf[1, 3] = conf[3, 1] = np.nan
    conf[5, 0] = conf[0, 5] = np.nan
    monkeypatch.setattr(truth, "PORTION", 1)
    assert np.allclose(avg_cd(conf), slow.avg_cd(conf))


def test_disparity_without_a_third_class_is_not_known():
    assert math.isnan(avg_cd(np.array([[0, 0.5], [0.5, 0]]))[0, 1])


def test_area_is_the_definition_and_ties_count_half():
    rng = np.random.default_rng(3)
    scores, true = rng.permutation(60).astype(float), rng.random(60) > 0.8
    assert aucec(scores, true) == pytest.approx(slow.aucec(scores, true), abs=1e-12)
    assert aucec(np.ones(60), true) == pytest.approx(0.5)
    share = true.mean()
    assert aucec(true, true) == pytest.approx(1 - share / 2) and aucec(
        ~true, true
    ) == pytest.approx(share / 2)


def test_area_of_a_matrix_counts_every_pair_once_and_nothing_true_has_none():
    scores = np.array([[9, 3, 2], [3, 9, 1], [2, 1, 9.0]])
    true = np.array([[True, True, False], [True, True, False], [False, False, True]])
    assert aucec(scores, true) == pytest.approx(1 - 1 / 6)
    assert math.isnan(aucec(scores, np.zeros((3, 3))))


def test_the_cost_curve_starts_at_nothing_and_ends_with_all():
    cost, found = cost_curve(np.array([3.0, 2, 2, 1]), np.array([1, 0, 1, 0]))
    assert cost.tolist() == [0, 0.25, 0.75, 1] and found.tolist() == [0, 0.5, 1, 1]


def test_reported_pairs_are_strictly_beyond_the_limit_and_sorted():
    distance = np.array([[0, 1, 5, 5], [1, 0, 5, 2], [5, 5, 0, 5], [5, 2, 5, 0.0]])
    values = np.array([1, 5, 5, 5, 2, 5.0])
    found = report(-distance, 1, 20)
    assert -found.limit == pytest.approx(values.mean() - values.std())
    assert found.pairs.tolist() == [[0, 1], [1, 3]] and found.top.tolist() == [[0, 1], [1, 3]]
    assert report(-distance, 1, 0.1).top.tolist() == [[0, 1]]


@pytest.mark.parametrize(("percent", "count"), [(1, 1), (10, 5), (11.2, 6), (100, 45)])
def test_the_top_per_cent_is_rounded_up(percent: float, count: int):
    assert top_share(np.random.default_rng(0).random(45), percent).sum() == count


def test_equal_scores_and_no_scores_report_nothing():
    assert not beyond(np.full(7, 0.1), 1)[0].any() and not beyond(np.full(7, 0.1), 0)[0].any()
    unknown = np.full((3, 3), np.nan)
    assert report(unknown, 1, 1).pairs.shape == report(unknown, 1, 1).top.shape == (0, 2)
    assert report(np.zeros((1, 1)), 1, 1).top.shape == (0, 2)


def test_quality_holds_reported_pairs_against_true_ones():
    rng = np.random.default_rng(4)
    suspicion, true = (np.triu(rng.random((9, 9)), 1) for _ in range(2))
    suspicion, true = suspicion + suspicion.T, true + true.T
    found = quality(suspicion, true, suspicion, 1, 5)
    upper = np.triu_indices(9, 1)
    score, error = suspicion[upper], true[upper]
    is_true, reported = error > error.mean() + error.std(), score > score.mean() + score.std()
    assert (
        found.hits == (is_true & reported).sum()
        and found.reported == reported.sum()
        and len(found.true_pairs) == is_true.sum()
    )
    assert found.precision == pytest.approx((is_true & reported).sum() / reported.sum())
    assert found.recall == pytest.approx((is_true & reported).sum() / is_true.sum())
    assert (
        found.aucec == found.aucec_mode == pytest.approx(slow.aucec(score, is_true))
        and found.gain_mode == 0
    )
    assert found.gain_random == pytest.approx(2 * found.aucec - 1)
    assert found.spearman == pytest.approx(stats.spearmanr(score, error).statistic)
    assert found.top_reported == 2 and np.interp(0.5, found.cost, found.found_optimal) == 1


def test_quality_leaves_unknown_pairs_out_and_never_divides_by_nothing():
    suspicion = np.full((4, 4), np.nan)
    nothing = quality(suspicion, np.zeros((4, 4)), None, 1, 1)
    assert (
        nothing.pairs == 0
        and math.isnan(nothing.precision)
        and math.isnan(nothing.aucec)
        and math.isnan(nothing.spearman)
    )
    suspicion[0, 1] = suspicion[1, 0] = 1
    one = quality(suspicion, np.zeros((4, 4)), None, 1, 1)
    assert (
        one.pairs == 1
        and one.top_reported == 1
        and math.isnan(one.top_recall)
        and one.true_pairs.shape == (0, 2)
    )


def test_the_worst_third_class_is_a_near_one_with_the_largest_bias():
    distance = np.array([[0, 5, 1, 9], [5, 0, 4, 1.5], [1, 4, 0, 6], [9, 1.5, 6, 0.0]])
    triplets, value = worst_thirds(distance, np.array([[0, 1], [0, 2]]), "none")
    assert triplets.tolist() == [[0, 1, 3], [0, 2, 3]] and value == pytest.approx(
        [7.5 / 10.5, 3 / 15]
    )
    assert worst_thirds(distance[:2, :2], np.zeros((0, 2), int), "low")[0].shape == (0, 3)


def test_colours_of_confusions_are_comparable_between_a_good_and_a_bad_model():
    order = np.arange(2)
    tops = []
    for wrong in (1, 12):
        predicted = np.r_[np.zeros(20 - wrong, int), np.ones(wrong, int), np.ones(20, int)]
        errors = class_errors(np.repeat([0, 1], 20), predicted, 2)
        shown = confusions(SimpleNamespace(classes=("a", "b")), errors, order)
        tops.append(shown.levels[1])
    assert tops == [0.25, 0.6], "5 % is pale, and more than a quarter reaches the darkest colour"
