"""A verdict in words, in order of gravity, and as a workspace keeps it."""

from __future__ import annotations

import json
import math

import pytest

from robgui.core.verdict import Quantity, Status, Verdict, from_json, of_several, to_json, worst_of


def judged(status: Status, value: float = math.nan, better: str = "neither") -> Verdict:
    return Verdict(status, "A sentence.", Quantity("Share", value, better=better))


def test_the_worst_status_wins_whatever_the_numbers():
    verdicts = [judged(Status.HOLDS, 0, "high"), judged(Status.FAILS, 9, "high")]
    assert worst_of([*verdicts, judged(Status.AT_RISK, 1, "high")]) == 1
    assert worst_of([judged(Status.HOLDS), judged(Status.UNKNOWN)]) == 1


@pytest.mark.parametrize(("better", "worst"), [("high", 1), ("low", 2), ("neither", 1)])
def test_between_equal_statuses_the_worst_number_wins(better, worst):
    assert worst_of([judged(Status.FAILS, value, better) for value in (2, 1, 3)]) == worst


def test_a_verdict_without_a_number_never_passes_one_with_a_number():
    silent = Verdict(Status.FAILS, "A sentence.")
    for other in (silent, judged(Status.FAILS), judged(Status.FAILS, math.inf, "high")):
        assert worst_of([other, judged(Status.FAILS, 5, "high")]) == 1


def test_a_subset_is_named_first_for_the_whole_and_for_each_model():
    each = Verdict(Status.HOLDS, "It holds.")
    both = Verdict(Status.HOLDS, "Both hold.", models=(each,))
    said = both.among("2 of 9 inputs")
    assert said.sentence == "Only 2 of 9 inputs: Both hold."
    assert said.models[0].sentence == "Only 2 of 9 inputs: It holds."
    assert both.among("") is both
    assert Verdict(Status.UNKNOWN, "").among("2 of 9 inputs").sentence == ""


def test_a_model_has_its_own_verdict_where_there_is_one():
    each = [Verdict(Status.HOLDS, "First."), Verdict(Status.FAILS, "Second.")]
    both = Verdict(Status.FAILS, "Both.", models=tuple(each))
    assert [both.of(0), both.of(1), both.of(2)] == [*each, both]


def test_a_quantity_reads_with_unit_and_interval():
    assert Quantity("Radius", 0.25, "pixels").words == "0.25 pixels"
    assert Quantity("Share", 0.5, low=0.25, high=0.75).words == "0.5 (0.25 to 0.75)"
    assert Quantity("Share", 0.5, low=0.25, high=math.inf).words == "0.5"
    assert Quantity("Share", 0.5, low=math.nan, high=0.75).words == "0.5"
    assert Quantity("Radius", math.nan, text="none up to radius 1").words == "none up to radius 1"


def test_a_workspace_gives_back_the_verdict_it_was_given():
    verdict = Verdict(
        Status.AT_RISK,
        "A sentence.",
        Quantity("Share", 0.5, "%", 0.25, 0.75, "low"),
        "all inputs",
        ("one reason",),
        (Verdict(Status.HOLDS, "A model."),),
        about=0,
    )
    assert from_json(to_json(verdict)) == verdict
    assert from_json(to_json(verdict.cut(60))) == verdict.cut(60)
    assert from_json("") is None
    assert from_json("Words of the first edition.") == Verdict(
        Status.UNKNOWN, "Words of the first edition."
    )


def of_two() -> Verdict:
    each = Verdict(Status.HOLDS, "It holds."), Verdict(Status.FAILS, "It fails.")
    return of_several(("a", "b"), each, "The first is better.", "all inputs")


def test_a_verdict_on_several_models_says_which_of_them_its_sentence_is_about():
    assert of_two().about == 1
    assert of_two().among("2 of 9 inputs").cut(60).stopped().about == 1
    assert Verdict(Status.FAILS, "a: b: They disagree.", models=of_two().models).about is None


def test_a_run_that_ran_out_of_time_says_so_in_a_field_and_words_alone_say_nothing():
    assert of_two().cut(60).is_cut and all(one.is_cut for one in of_two().cut(60).models)
    assert of_two().cut(60).among("2 of 9 inputs").is_cut
    assert not Verdict(Status.HOLDS, "Cut at its time limit of 1 s. A class of this name.").is_cut


@pytest.mark.parametrize(
    ("said", "about", "cut"),
    [
        (of_two(), 1, False),
        (of_two().among("2 of 9 inputs").cut(60), 1, True),
        (Verdict(Status.FAILS, "They disagree.", models=of_two().models), None, False),
    ],
)
def test_a_verdict_stored_before_its_facts_were_fields_still_tells_them(said, about, cut):
    fields = json.loads(to_json(said))
    for one in (fields, *fields["models"]):
        del one["about"], one["is_cut"]
    opened = from_json(json.dumps(fields))
    assert (opened.about, opened.is_cut) == (about, cut)
    assert opened == said


def test_numbers_that_json_lacks_come_back_as_nan():
    for missing in (math.nan, math.inf, -math.inf):
        text = to_json(judged(Status.HOLDS, missing))
        assert json.loads(text)["number"]["value"] is None
        back = from_json(text)
        assert back is not None
        assert back.number is not None
        assert math.isnan(back.number.value)


@pytest.mark.parametrize(
    "damage",
    [
        {"sentence": 3},
        {"because": [3]},
        {"scope": None},
        {"status": "perhaps"},
        {"number": 3},
        {"number": {"better": "often"}},
        {"number": {"better": "low", "name": 3}},
        {"models": [3]},
    ],
)
def test_a_damaged_verdict_is_refused(damage):
    fields = {"status": "holds", "sentence": "A sentence."} | damage
    with pytest.raises(ValueError, match=r"verdict|Status"):
        from_json(json.dumps(fields))
