"""What a sweep says is what is known."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.zonnscan import ZonnscanParams
from robgui.analyses.zonnscan.result import ATTACK_TO_COME
from robgui.analyses.zonnscan.words.sweep import findings, offers, verdict
from robgui.core.execution.registry import find
from robgui.core.model.classifier import Classifier
from robgui.core.verdict import Status, from_json, to_json
from tests.analyses.simple_modules import Constant
from tests.analyses.zonnscan.models import sweep
from tests.analyses.zonnscan.results import RADII, attacked_at, begun, sampled_at, swept

PARAMS = ZonnscanParams(radii=tuple(RADII))


def test_the_nearer_of_sample_and_attack_decides_whoever_found_it() -> None:
    attack = verdict(swept(**sampled_at(0.341), **attacked_at(0.02)), PARAMS)
    assert attack.status is Status.FAILS and attack.number.value == 0.02
    assert attack.sentence == (
        "image 7: a change of each value by at most 0.02 of its range is enough to turn “shirt”"
        " into “boot”."
    )
    assert attack.number.words == "radius 0.02, by a gradient attack"
    sample = verdict(swept(**sampled_at(0.03), **attacked_at(0.2)), PARAMS)
    assert (
        sample.status is Status.FAILS
        and "“coat”" in sample.sentence
        and "random sample" in sample.number.words
    )


@pytest.mark.parametrize(
    ("radius", "hold", "status"),
    [
        (0.1, 0.0, Status.FAILS),
        (0.11, 0.0, Status.AT_RISK),
        (0.3, 0.0, Status.AT_RISK),
        (0.31, 0.0, Status.HOLDS),
        (0.31, 0.4, Status.FAILS),
        (0.02, 0.005, Status.HOLDS),
    ],
)
def test_the_radius_that_should_hold_is_a_setting_and_decides(
    radius: float, hold: float, status: Status
) -> None:
    params = PARAMS.model_copy(update={"hold_radius": hold})
    assert verdict(swept(**attacked_at(radius)), params).status is status
    because = " ".join(verdict(swept(**attacked_at(radius)), params).because)
    assert f"Limits: the class should hold up to radius {hold or 0.1:g}; a change up to" in because


def test_no_gradient_attack_is_never_a_green_tick() -> None:
    for note, calls in (
        ("the model gives no gradients: a black box", 0),
        ("its gradients are 0 around this input", 90),
        ("", 0),
    ):
        for more in ({}, sampled_at(0.9)):
            result = swept(attack_note=note, attack_calls=calls, **more)
            assert verdict(result, PARAMS).status is Status.UNKNOWN
            assert any(
                words.startswith("No gradient attack") for words in verdict(result, PARAMS).because
            )


def test_nothing_found_by_samples_and_attack_holds_and_says_how_far() -> None:
    told = verdict(swept(), PARAMS)
    assert told.status is Status.HOLDS
    assert (
        told.sentence
        == "image 7: up to radius 1, neither 3,072 random samples nor a gradient attack changes"
        " “shirt”."
    )
    assert told.number.words == "none up to radius 1" and np.isnan(told.number.value)


def test_a_class_that_plain_noise_keeps_is_no_sign_of_robustness_and_that_is_said() -> None:
    assert "plain noise, which the model takes for “shirt” too" in verdict(swept(), PARAMS).text
    assert "plain noise" not in verdict(swept(**begun(3)), PARAMS).text
    assert "plain noise" not in verdict(swept(**sampled_at(0.9)), PARAMS).text


def test_a_partial_sweep_speaks_of_the_radii_that_are_computed() -> None:
    told = verdict(swept(**begun(3)), PARAMS)
    assert told.status is Status.UNKNOWN
    assert (
        "so far, up to radius 0.25, none of 2,048 random samples changes “shirt”" in told.sentence
    )
    assert (
        told.scope.startswith("So far, radii up to 0.25 of 1, 2,048 samples")
        and told.number.words == "none up to radius 0.25 so far"
    )
    assert "radius 1 " not in told.text.replace("of 1,", "") and "up to radius 1" not in told.text
    nothing = verdict(swept(**begun(1)), PARAMS)
    assert nothing.status is Status.UNKNOWN and "nothing around it was sampled" in nothing.sentence


def test_every_step_of_a_run_speaks_of_no_more_than_it_has(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.analyses.zonnscan.models import all_steps

    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    classifier = Classifier.from_module(Constant([9.0, 0.0]), (40,))
    for step in all_steps(classifier, np.full(40, 0.5), samples=64, batch=16, target_half_width=0):
        known = step.result.radii[step.result.samples > 0]
        words = verdict(step.result, ZonnscanParams()).text
        if known[-1] < 1:
            assert "up to radius 1" not in words and "o far" in words


def test_a_label_that_the_model_misses_is_a_failure_whatever_the_samples_say() -> None:
    told = verdict(swept(truth=1), PARAMS)
    assert (
        told.status is Status.FAILS
        and told.sentence == "image 7: the model says “shirt”, but the label says “coat”."
    )
    assert verdict(swept(truth=0), PARAMS).status is Status.HOLDS


def test_below_what_the_samples_resolve_there_is_no_number() -> None:
    tiny = {"index": np.full(4, 1.1e-7), "ci_low": np.full(4, 1e-8), "ci_high": np.full(4, 2.1e-7)}
    words = verdict(swept(**tiny), PARAMS).text
    assert "the uncertainty is below 0.004" in words and "10⁻" not in words and "±" not in words
    assert "below 0.06" in verdict(swept(each=64, **tiny), PARAMS).text
    assert "the uncertainty is 0.2 ± 0.01" in verdict(swept(), PARAMS).text


def test_a_random_search_is_called_one() -> None:
    told = verdict(swept(**sampled_at(0.341)), PARAMS)
    assert any(
        "at radius 0.341; random samples seldom find the nearest change" in words
        for words in told.because
    )
    assert told.because[-1] == "3,073 model calls and 400 of the attack."


def test_while_the_sample_is_not_drawn_again_its_class_is_the_one_most_samples_have() -> None:
    votes = np.tile([0.8, 0.15, 0.05], (4, 1))
    told = verdict(swept(crossing_radius=0.25, vote_share=votes), PARAMS)
    assert "into “coat”" in told.sentence


@pytest.mark.parametrize(
    ("zone", "words"),
    [("l2", "a change of length 0.3"), ("l1", "a change of total size 0.3"), ("box", "of the box")],
)
def test_the_sentence_says_what_the_radius_measures(zone: str, words: str) -> None:
    assert words in verdict(swept(**attacked_at(0.3)), ZonnscanParams(zone=zone)).sentence


def test_a_verdict_survives_the_workspace() -> None:
    told = verdict(swept(**attacked_at(0.02)), PARAMS)
    assert from_json(to_json(told)) == told


def test_no_word_of_the_paper_stands_in_a_sentence() -> None:
    for result in (
        swept(),
        swept(**begun(2)),
        swept(**attacked_at(0.02)),
        swept(**sampled_at(0.4)),
    ):
        told = verdict(result, PARAMS)
        assert not [
            word
            for word in ("index", "zone", "linf", "entropy", "sobol")
            if word in told.sentence.lower()
        ]


def test_a_near_change_is_a_finding_with_both_pictures_and_the_failing_input() -> None:
    result = swept(**sampled_at(0.08), **attacked_at(0.02))
    (finding,) = findings(result, PARAMS)
    assert (
        finding.title == "image 7: “shirt” becomes “boot” at radius 0.02"
        and finding.severity == pytest.approx(0.8)
    )
    assert (
        np.array_equal(finding.input, result.attack[0])
        and finding.picture.shape[1] > 2 * finding.picture.shape[0]
    )
    assert (
        finding.detail["other_class"] == "boot"
        and finding.detail["found_by"] == "a gradient attack"
    )
    assert not findings(swept(**attacked_at(0.2)), PARAMS)
    (jump,) = findings(swept(index=np.array([0.1, 0.4, 0.4, 0.4])), PARAMS)
    assert "the uncertainty rises by 0.3" in jump.title and np.array_equal(jump.input, result.input)


def test_a_change_that_is_a_risk_is_shown_beside_the_uncertainty_that_rises_before_it() -> None:
    rising = swept(index=np.array([0.1, 0.4, 0.4, 0.4]), **sampled_at(0.15))
    assert verdict(rising, PARAMS).status is Status.AT_RISK
    (finding,) = findings(rising, PARAMS)
    assert finding.title.startswith("image 7: “shirt” becomes “coat” at radius 0.15; the uncert")
    assert np.array_equal(finding.input, rising.witness[0])
    assert finding.confusion == ("shirt", "coat") and finding.severity == pytest.approx(0.3)
    assert finding.detail["beyond"], "what holds within the required radius still holds"


def test_the_input_and_both_changes_are_offered_the_nearest_first() -> None:
    offered = offers(swept(**sampled_at(0.3), **attacked_at(0.02)), PARAMS)
    assert [offer.title for offer in offered] == [
        "The input, image 7",
        "The nearest change of class by a gradient attack",
        "The nearest change of class by a random sample",
    ]
    assert offered[1].inputs.shape == (1, 1, 4, 4) and all(
        offer.places == (0,) for offer in offered
    )
    assert offers(swept(), ZonnscanParams(zone="box")) == []


def test_the_record_gives_the_same_words() -> None:
    known = find("zonnscan")
    result = sweep(
        Classifier.from_module(Constant([9.0, 0.0]), (1, 6, 6)), np.full((1, 6, 6), 0.5), samples=32
    )
    assert known.verdict(result, ZonnscanParams(samples=32)) == verdict(
        result, ZonnscanParams(samples=32)
    )
    assert known.findings(result, ZonnscanParams()) == []


def test_a_sweep_whose_attack_is_still_to_come_says_so_far() -> None:
    early = verdict(swept(attack_note=ATTACK_TO_COME, attack_calls=0), PARAMS)
    assert early.scope.startswith("So far, radii up to")
    assert verdict(swept(), PARAMS).scope.startswith("Radii up to")
