"""The table over inputs and sizes of noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from robgui import resources
from robgui.analyses.last_particle import (
    LastParticleTableParams,
    LastParticleTableResult,
    last_particle_table,
)
from robgui.analyses.last_particle.sampling.chance import combined
from robgui.analyses.last_particle.table import many_inputs
from robgui.core.codec import decode, encode
from robgui.core.dataset import Dataset, from_arrays, open_dataset
from robgui.core.errors import DataError, ParamsError
from robgui.core.execution.registry import find
from robgui.core.execution.step import Pace
from robgui.core.loading import load
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, Verdict
from tests.analyses.last_particle.scores import views_of
from tests.guards import no_deviceless_factories

ANALYSIS = find("last_particle_table")


def said(result: LastParticleTableResult, **params: Any) -> Verdict:
    return ANALYSIS.verdict(result, LastParticleTableParams(**params))


def network() -> Classifier:
    generator = torch.Generator("cpu").manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    for parameter in net.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator, device="cpu")
    return Classifier.from_module(net, (6,), labels=("a", "b", "c"))


def rows(classifier: Classifier, wrong: int = 0, count: int = 12) -> Dataset:
    """Random rows labelled by the classifier itself, the first ``wrong`` of them wrongly."""
    x = np.random.default_rng(0).random((count, 6), dtype=np.float32)
    labels = classifier.infer(x).argmax(1).numpy()
    labels[:wrong] = (labels[:wrong] + 1) % 3
    return from_arrays(x, labels=labels, names=("a", "b", "c"), kind="table")


def table(classifier: Classifier, dataset: Dataset, **params: Any) -> LastParticleTableResult:
    settings = {
        "radii": (0.001, 0.03, 0.3),
        "samples": 200,
        "critical": 1e-6,
        "steps": 15,
        "attack_steps": 20,
        **params,
    }
    *_, step = last_particle_table(classifier, dataset, LastParticleTableParams(**settings))
    assert step.done == step.total
    return step.result


@pytest.fixture(scope="module")
def result() -> LastParticleTableResult:
    return table(network(), rows(network()))


def test_larger_noise_validates_and_certifies_no_more_inputs(
    result: LastParticleTableResult,
) -> None:
    assert result.validated.shape == (3, 12) and result.finished.all()
    assert (np.diff(result.validated.mean(1)) <= 0).all() and (
        np.diff(result.certified.mean(1)) <= 0
    ).all()
    assert 0 < result.validated.sum() < 36 and result.certified.any()


def test_what_is_certified_is_validated_and_never_fails(result: LastParticleTableResult) -> None:
    assert not result.contradictions.any()
    assert (result.monte_carlo_failures[result.certified] == 0).all()
    assert not result.counterexample[result.certified].any()
    assert (result.certified_lower[result.certified] > 0).all() and not result.certified_reason


def test_false_positives_are_split_by_counterexamples(result: LastParticleTableResult) -> None:
    over = result.false_positives
    assert (over == (result.validated & ~result.certified)).all() and (
        result.attacked == over
    ).all()
    assert not (result.counterexample & ~over).any()


def test_inputs_that_pass_but_have_a_counterexample_are_in_the_headline(
    result: LastParticleTableResult,
) -> None:
    passing = np.ones_like(result.finished)
    some = np.zeros_like(passing)
    some[:, :5] = True
    none = np.zeros_like(passing)
    table = replace(
        result,
        finished=passing,
        validated=passing,
        certified=none,
        inconclusive=none,
        monte_carlo_failures=np.zeros_like(result.monte_carlo_failures),
    )
    told = said(replace(table, counterexample=some))
    assert "5 pass the test but fail in a gradient search" in told.sentence
    assert told.status is not Status.HOLDS
    assert "gradient search" not in said(replace(table, counterexample=none)).sentence


def test_failing_inputs_are_kept_with_the_smallest_noise_that_fails(
    result: LastParticleTableResult,
) -> None:
    classifier = network()
    assert 0 < len(result.shown) <= 12 and len(set(result.shown[:, 1])) == len(result.shown)
    for (e, i), failing, klass in zip(
        result.shown, result.shown_failure, result.shown_class, strict=True
    ):
        assert int(classifier.infer(failing[None]).argmax()) == klass != result.classes[i]
        failed = np.flatnonzero(~result.validated[:, i] & ~result.inconclusive[:, i])
        assert e == failed[0]
    assert len(ANALYSIS.findings(result, LastParticleTableParams())) == len(result.shown)


def test_the_table_is_put_into_words_and_drawn(result: LastParticleTableResult) -> None:
    words = said(result, critical=1e-6)
    assert words.status is Status.FAILS and words.sentence.startswith(
        "At noise 0.3, of 12 inputs: "
    )
    assert f"{result.model_calls:,} calls" in words.scope and "below 10⁻⁶" in words.text
    bars = views_of("last_particle_table", result, critical=1e-6)[0]
    assert bars.stacked and (sum(row.values for row in bars.series) == 12).all()
    document, blob = encode(result)
    assert np.array_equal(
        decode(LastParticleTableResult, document, blob).validated, result.validated
    )


def test_inputs_that_the_model_gets_wrong_are_left_out() -> None:
    classifier = network()
    result = table(
        classifier, rows(classifier, wrong=4), most=3, radii=(0.01,), samples=0, attack_steps=0
    )
    assert (
        result.places.tolist() == [4, 5, 6]
        and result.left_out == 4
        and result.names[0] == rows(classifier).key(4)
    )
    with pytest.raises(DataError, match="gets none of the 3 inputs"):
        table(classifier, rows(classifier, wrong=3, count=3))


def test_a_pair_of_the_table_is_the_same_whatever_the_batch() -> None:
    classifier = network()
    first, second = (
        table(
            classifier, rows(classifier), batch=batch, samples=100, most=6, steps=8, attack_steps=0
        )
        for batch in (0, 5)
    )
    assert (first.killed == second.killed).mean() > 0.9 and (
        first.validated == second.validated
    ).all()
    assert np.array_equal(first.monte_carlo_failures, second.monte_carlo_failures)


@pytest.mark.parametrize(("noise", "words"), [("l2", "box or clip"), ("gaussian", "box or clip")])
def test_noise_without_formal_bounds_says_so(noise: str, words: str) -> None:
    classifier = network()
    result = table(
        classifier, rows(classifier), noise=noise, radii=(0.01,), samples=0, attack_steps=0, most=2
    )
    assert (
        words in result.certified_reason
        and not result.certified.any()
        and not result.false_positives.any()
    )


def test_a_forest_always_ends_and_has_formal_bounds() -> None:
    classifier = load(resources.path("demo", "table_forest.skops"))
    dataset = open_dataset(resources.path("demo", "table.csv"))
    result = table(classifier, dataset, most=10, radii=(0.001, 0.2), samples=0, steps=5)
    assert result.finished.all() and not result.certified_reason and result.certified[0].any()
    assert not result.contradictions.any() and result.attack_note


def test_a_proof_counts_where_the_test_of_a_forest_is_inconclusive() -> None:
    classifier = load(resources.path("demo", "table_forest.skops"))
    dataset = open_dataset(resources.path("demo", "table.csv"))
    result = table(classifier, dataset, most=10, radii=(0.0001, 0.001), samples=0, steps=5)
    assert (
        result.inconclusive[0].all() and result.certified[0].all() and not result.undecided[0].any()
    )
    assert said(result).status is Status.HOLDS and "10 certified" in said(result).sentence
    without = table(classifier, dataset, most=10, radii=(0.0001,), samples=0, steps=5, proof=False)
    assert said(without).status is Status.UNKNOWN and "10 unclear" in said(without).sentence
    stopped = replace(
        without,
        finished=np.zeros_like(without.finished),
        inconclusive=np.zeros_like(without.inconclusive),
    )
    assert said(stopped).status is Status.UNKNOWN and "10 still open" in said(stopped).sentence
    assert said(stopped).number.words.endswith("10 still open"), "none of them holds yet or fails"


def test_while_it_runs_failed_passed_and_open_inputs_are_counted_apart(
    result: LastParticleTableResult,
) -> None:
    """Failures are decided first: half-way nothing but failures may be known, and no share of
    "validated" is told.
    """
    failing = result.finished & ~result.validated & ~result.inconclusive
    early = replace(
        result,
        finished=failing,
        validated=np.zeros_like(failing),
        certified=np.zeros_like(failing),
        counterexample=np.zeros_like(failing),
    )
    words = said(early)
    assert (
        f"{int((~failing).sum())} of 36 tests still open" in words.scope
        and "validated" not in words.sentence
    )
    assert words.because[0].startswith("So far the smallest noise at which an input fails is")
    shares = views_of("last_particle_table", early)[1]
    undecided = ~failing.all(1)
    for line in shares.lines:  # no share where inputs are open, and a band as far as they may lead
        assert np.isnan(line.y[undecided]).all()
        assert (line.high >= (~failing).mean(1)).all()
    bars = views_of("last_particle_table", early)[0]
    assert {row.name for row in bars.series} == {"fails", "open"} and (
        sum(row.values for row in bars.series) == 12
    ).all()


def test_inputs_left_out_are_told() -> None:
    classifier = network()
    result = table(
        classifier, rows(classifier, wrong=4), most=3, radii=(0.01,), samples=0, attack_steps=0
    )
    assert "4 inputs that the model gets wrong without noise were left out" in said(result).scope


def test_a_size_of_zero_is_refused() -> None:
    with pytest.raises(ParamsError, match="a size must be greater than 0"):
        LastParticleTableParams.parse({"radii": (0.0, 0.1)})


def test_every_tensor_is_made_on_a_named_device() -> None:
    classifier = network()
    dataset = rows(classifier)
    with no_deviceless_factories():
        table(classifier, dataset, radii=(0.1,), most=3, samples=70)


def test_which_inputs_are_tested_is_said(result: LastParticleTableResult) -> None:
    """They are no random sample, and without labels nobody knows what is right."""
    inputs = result.validated.shape[1]
    assert said(result, most=inputs).scope.startswith(
        f"The first {inputs} inputs that the model gets right,"
    )
    assert said(result, most=inputs + 1).scope.startswith(f"All {inputs} inputs")
    unlabelled = said(result, truth="predicted").scope
    assert "with the class that the model gives each" in unlabelled and "right" not in unlabelled


def test_probabilities_are_combined_only_when_something_new_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[int] = []

    def counted(*known: Any) -> Any:
        made.append(1)
        return combined(*known)

    monkeypatch.setattr(many_inputs, "combined", counted)
    monkeypatch.setattr(Pace, "awaited", True)  # a Step after every batch
    classifier = network()
    params = LastParticleTableParams(
        radii=(0.001, 0.03), samples=200, critical=1e-6, steps=15, attack_steps=5, guided=False
    )
    steps = [step.result for step in last_particle_table(classifier, rows(classifier), params)]
    seen = {
        (one.finished.sum(), (one.monte_carlo_failures >= 0).sum(), one.looked.sum())
        for one in steps
    }
    assert len(seen) <= len(made) < len(steps) / 2
