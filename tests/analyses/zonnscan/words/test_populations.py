"""What a comparison of two sets says."""

from __future__ import annotations

import numpy as np

from robgui.analyses.zonnscan import PopulationsParams
from robgui.analyses.zonnscan.words.populations import findings, offers, verdict
from robgui.core.verdict import Status
from tests.analyses.zonnscan.results import compared

LOW, HIGH = [0.01 * i for i in range(20)], [0.5 + 0.01 * i for i in range(20)]
ATTACK, REST = PopulationsParams(), PopulationsParams(against="rest")


def changed(count: int) -> np.ndarray:
    return np.r_[np.zeros(20), np.ones(count), np.zeros(20 - count)].astype(np.int64)


def test_an_attack_that_changes_classes_is_a_failure_that_the_sentence_tells_first() -> None:
    told = verdict(compared(LOW, HIGH, predicted=changed(18)), ATTACK)
    assert told.status is Status.FAILS
    assert (
        told.sentence
        == "An attack that moves each value by 0.1 changes the class of 18 of 20 inputs; "
        "the uncertainty gives 100 % of the attacked copies away at 5.0 % false alarms."
    )
    hidden = verdict(compared(LOW, LOW, predicted=changed(18)), ATTACK)
    assert (
        hidden.sentence.endswith("the uncertainty does not give the attacked copies away.")
        and "18 of 20 attacked copies" in hidden.because[0]
    )


def test_sets_that_differ_are_no_good_or_bad_news_by_themselves() -> None:
    told = verdict(compared(LOW, HIGH, names=("first", "second")), REST)
    assert told.status is Status.UNKNOWN and told.number.better == "neither"
    assert (
        told.sentence
        == "The uncertainty is higher around the second set than around the first set (mean 0.595"
        " against 0.095)."
    )
    same = verdict(compared(LOW, LOW, names=("first", "second")), REST)
    assert "does not tell the second set from the first set" in same.sentence


def test_a_sample_that_changes_class_is_a_failure() -> None:
    crossing = np.zeros(40)
    crossing[3] = 0.02
    told = verdict(compared(LOW, LOW, names=("first", "second"), crossing=crossing), REST)
    assert told.status is Status.FAILS and told.because[0].startswith(
        "Around 1 of 20 inputs (first) a random change"
    )


def test_the_test_stands_in_the_reasons_and_not_in_the_sentence() -> None:
    told = verdict(compared(LOW, HIGH), ATTACK)
    assert (
        "Kolmogorov" not in told.sentence
        and "KS" not in told.sentence
        and any("Kolmogorov" in words for words in told.because)
    )
    assert (
        told.scope == "20 inputs (test) and 20 (adversarial), zones of radius 0.025, 2,560 samples."
    )
    assert told.because[-1] == "2,560 model calls."


def test_a_mean_nobody_can_measure_is_not_spelt_out() -> None:
    told = verdict(compared([1e-7] * 20, [3e-7] * 20), ATTACK)
    assert "10⁻⁷" not in told.text and "below 0.001" in told.text


def test_the_worst_inputs_are_findings_and_offered() -> None:
    crossing = np.zeros(40)
    crossing[4] = 0.4
    inputs = np.full((1, 1, 4, 4), 0.3, dtype=np.float32)
    result = compared(LOW, HIGH, crossing=crossing, notable=np.array([4]), notable_inputs=inputs)
    (finding,) = findings(result, ATTACK)
    assert (
        finding.title == "image 4: 40.0 % of the samples leave shirt within radius 0.025"
        and finding.severity == 0.4
    )
    (offer,) = offers(result, ATTACK)
    assert offer.places == (4,) and offer.names == ("image 4",)
    assert offers(compared(LOW, HIGH), ATTACK) == []


def test_a_comparison_on_its_way_says_so() -> None:
    result = compared([0.1] * 20, [0.8] * 20, finished=False)
    told = verdict(result, PopulationsParams())
    assert told.sentence.startswith("So far, ") and "samples so far" in told.scope
    done = verdict(compared([0.1] * 20, [0.8] * 20), PopulationsParams())
    assert "so far" not in done.text.casefold()
