"""Thresholds and coverage: one pass each, against the single analysis and against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy import stats

from robgui.analyses.deepinspect import CoverageResult, ThresholdsResult
from robgui.analyses.deepinspect.studies.coverage import (
    cohens_d,
    effect_shares,
    kruskal,
    top_neurons,
)
from robgui.core.codec import decode, encode
from robgui.core.errors import ParamsError
from robgui.core.execution.registry import find
from tests.analyses.deepinspect.nets import images, inspect, run, said, small_cnn, told
from tests.guards import no_deviceless_factories


def test_one_pass_over_several_thresholds_equals_one_pass_each():
    classifier, dataset = small_cnn(), images()
    with no_deviceless_factories():
        result = run("deepinspect_thresholds", classifier, dataset, thresholds=(0.6, 0.3, 0.5))[
            -1
        ].result
    assert (
        result.thresholds.tolist() == [0.3, 0.5, 0.6]
        and result.reference == 1
        and result.model_calls == 90
    )
    assert (np.diff(result.active) < 0).all() and result.confusion.agreement[1] == 1
    for place, threshold in enumerate(result.thresholds):
        alone = inspect(classifier, dataset, threshold=float(threshold))
        assert result.confusion.reported[place] == len(
            alone.confusion_pairs
        ) and result.bias.reported[place] == len(alone.bias_pairs)
        for name in ("precision", "recall", "aucec", "spearman", "top_precision"):
            for ours, single in ((result.confusion, alone.confusion), (result.bias, alone.bias)):
                assert getattr(ours, name)[place] == pytest.approx(
                    getattr(single, name), nan_ok=True
                ), name
    assert "at 3 thresholds" in said("deepinspect_thresholds", result).text
    assert (
        decode(ThresholdsResult, *encode(result)).confusion.reported.tolist()
        == result.confusion.reported.tolist()
    )


def test_thresholds_without_labels_show_agreement_only():
    result = run("deepinspect_thresholds", small_cnn(), images(labels=False))[-1].result
    assert (
        not result.labelled
        and np.isnan(result.confusion.precision).all()
        and np.isfinite(result.confusion.agreement).any()
    )


@pytest.mark.parametrize("thresholds", [(), (1.0,), (-0.1,)])
def test_impossible_thresholds_are_refused(thresholds: tuple[float, ...]):
    with pytest.raises(ParamsError, match="thresholds"):
        find("deepinspect_thresholds").params.parse({"thresholds": thresholds})


@pytest.mark.parametrize("memory", [10**9, 20], ids=["a byte a mark", "a bit a mark"])
def test_coverage_is_what_loops_over_inputs_and_neurons_say(
    memory: int, monkeypatch: pytest.MonkeyPatch
):
    """The profile is taken of all inputs, not of each class, and the setting says so."""
    monkeypatch.setattr("robgui.analyses.deepinspect.studies.sections.LARGEST", memory)
    told_of = find("deepinspect_coverage").params.model_fields["profile_percent"].description
    assert told_of.startswith("Per cent of all inputs ")
    rng = np.random.default_rng(0)
    x = rng.random((60, 5)).astype(np.float32)
    x[:, 2] *= 0.1
    classifier, dataset = told(x, 3)
    with no_deviceless_factories():
        result = run(
            "deepinspect_coverage",
            classifier,
            dataset,
            sections=4,
            profile_percent=50,
            top=2,
            batch=7,
        )[-1].result
    predicted = x[:, :3].argmax(1)
    scaled = (x - x.min(1, keepdims=True)) / np.ptp(x, axis=1, keepdims=True)
    assert np.array_equal(result.predicted, predicted) and np.allclose(
        result.coverage, (scaled > 0.5).mean(1)
    )
    profile = np.sort(np.random.default_rng(0).permutation(60)[:30])
    rest = np.setdiff1d(np.arange(60), profile)
    for c in range(3):
        mine = np.flatnonzero(predicted == c)
        if not len(mine):
            assert math.isnan(result.neuron[c])
            continue
        assert result.neuron[c] == pytest.approx((scaled[mine] > 0.5).any(0).mean())
        tops = [frozenset(np.argsort(-x[i])[:2].tolist()) for i in mine]
        assert result.patterns[c] == len(set(tops)) and result.top[c] == pytest.approx(
            len(frozenset().union(*tops)) / 5
        )
        known, others = x[np.intersect1d(mine, profile)], x[np.intersect1d(mine, rest)]
        if not len(known):
            continue
        low, high = known.min(0), known.max(0)
        assert result.strong[c] == pytest.approx((others > high).any(0).mean())
        assert result.boundary[c] == pytest.approx(
            ((others > high).any(0).mean() + (others < low).any(0).mean()) / 2
        )
        reached = set()
        for row in others:
            for j in range(5):
                if low[j] <= row[j] <= high[j]:
                    reached.add((j, min(3, int((row[j] - low[j]) / ((high[j] - low[j]) or 1) * 4))))
        assert result.multisection[c] == pytest.approx(len(reached) / 20)
    assert result.done == result.model_calls == 60
    assert "Coverage cannot tell" in said("deepinspect_coverage", result).text
    assert decode(CoverageResult, *encode(result)).done == 60


def test_kruskal_and_cohen_are_those_of_the_textbook():
    rng = np.random.default_rng(1)
    groups = [rng.normal(mean, 1, 30) for mean in (0, 0.1, 3)]
    assert kruskal(groups) == pytest.approx(tuple(stats.kruskal(*groups)))
    effect = cohens_d([*groups, np.array([1.0]), np.zeros(0)])
    pooled = math.sqrt((groups[0].var(ddof=1) + groups[2].var(ddof=1)) / 2)
    assert (
        effect[0, 2] == pytest.approx(abs(groups[0].mean() - groups[2].mean()) / pooled)
        and np.isnan(effect[3:]).all()
    )
    assert effect_shares(effect).tolist() == pytest.approx([1 / 3, 0, 0, 2 / 3])
    assert kruskal([np.ones(3), np.ones(4)]) == (0.0, 1.0) and math.isnan(
        kruskal([np.ones(3), np.zeros(0)])[1]
    )
    assert np.isnan(effect_shares(np.full((2, 2), np.nan))).all()


def test_equal_sets_of_top_neurons_have_equal_numbers_whatever_their_order():
    first = torch.tensor([[3.0, 2.0, 1.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]])
    top, pattern = top_neurons([first, first], 2)
    assert top.sum().item() == 12 and pattern[0] == pattern[1] != pattern[2]


def test_one_input_one_class_and_too_many_sections_are_handled(monkeypatch: pytest.MonkeyPatch):
    classifier, dataset = told(np.tile([0.9, 0.1, 0.2], (1, 1)), 3)
    result = run("deepinspect_coverage", classifier, dataset)[-1].result
    assert "cannot be compared" in said("deepinspect_coverage", result).text and any(
        "never predicted" in said for said in result.remarks
    )
    monkeypatch.setattr("robgui.analyses.deepinspect.studies.sections.LARGEST", 20)
    with pytest.raises(ParamsError, match="choose at most 16 sections"):
        run("deepinspect_coverage", classifier, dataset)


def test_the_stable_thresholds_are_those_without_a_gap_around_the_one_compared_with() -> None:
    from dataclasses import replace

    from robgui.analyses.deepinspect.studies.words import thresholds_verdict

    params = find("deepinspect_thresholds").params()
    result = run("deepinspect_thresholds", small_cnn(), images(90))[-1].result
    assert len(result.thresholds) == 5 and result.reference == 2
    agreement = np.array([0.9, 0.1, 1.0, 0.8, 0.2])
    gap = replace(result, confusion=replace(result.confusion, agreement=agreement))
    low, high = result.thresholds[2], result.thresholds[3]
    assert f"from {low:g} to {high:g}" in thresholds_verdict(gap, params).sentence
    early = replace(gap, complete=False)
    assert thresholds_verdict(early, params).sentence.startswith("So far, which classes")
    none = replace(early.confusion, agreement=np.full(len(early.thresholds), np.nan))
    unknown = thresholds_verdict(replace(early, confusion=none), params)
    assert unknown.sentence.startswith("So far no pair of classes is known to stand out")
