"""Findings: one scale of severity that the user can weight, and near-duplicates told once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robgui.core.execution.request import Reference, Request
from robgui.core.finding import StoredFinding
from robgui.core.finding_groups import counted, failing_models, grouped
from robgui.core.harm import Harm

MODEL = Reference(kind="model", name="m", fingerprint="m" * 16)
DATA = Reference(kind="dataset", name="d", fingerprint="d" * 16)
EQUAL = Harm()


def finding(number: int, severity: float = 0.5, kind: str = "trap", **detail: Any) -> StoredFinding:
    values = {"class": "red", "other_class": "none", **detail}
    return StoredFinding(kind, f"finding {number}", severity, values, id=number, run_id="r")


def request(indices: tuple[int, ...] | None = (4,)) -> dict[str, Request]:
    return {"r": Request(analysis="semantic_map", models=(MODEL,), dataset=DATA, indices=indices)}


def test_six_holes_of_one_map_are_one_entry_with_a_count():
    six = [finding(i, 0.3 + i / 10) for i in range(6)]
    (group,) = grouped(six, request(), EQUAL)
    assert len(group.members) == 6 and group.lead.id == 5 and group.severity == six[5].severity


def test_like_findings_count_as_one_and_the_words_say_how_many_were_merged():
    groups = grouped([finding(1), finding(2), finding(3, other_class="green")], request(), EQUAL)
    assert counted(groups) == "2 findings (3 with those alike)"
    green = [group for group in groups if group.lead.id == 3]
    assert counted(groups, green) == "1 of 2 findings"
    assert counted(groups, groups) == counted(groups), "a filter that hides nothing is not named"
    assert counted(green) == "1 finding" and counted([]) == "0 findings"


def test_a_finding_belongs_to_the_model_it_names_else_to_all_of_its_run():
    other = Reference(kind="model", name="n", fingerprint="n" * 16)
    asked = Request(analysis="semantic_map", models=(MODEL, other), dataset=DATA)
    assert failing_models(finding(1, network="n"), asked) == (other,)
    assert failing_models(finding(1), asked) == (MODEL, other)


def test_another_input_pair_kind_or_shape_is_another_entry():
    known = request((4, 5))
    several = [
        finding(1, place=0),
        finding(2, place=1),
        finding(3, place=0, other_class="green"),
        finding(4, kind="hole", place=0),
        finding(5, place=0, shape="mug"),
        finding(6, place=0),
    ]
    counts = {group.lead.id: len(group.members) for group in grouped(several, known, EQUAL)}
    assert counts == {1: 2, 2: 1, 3: 1, 4: 1, 5: 1}


def test_the_same_run_again_brings_no_new_entry():
    again = replace(finding(2), run_id="s")
    known = request()
    known["s"] = known["r"]
    assert len(grouped([finding(1), again], known, EQUAL)) == 1


def test_what_names_no_confusion_is_alike_only_when_it_says_the_same():
    several = [finding(1, other_class=""), finding(2, other_class="")]
    assert len(grouped(several, request(), EQUAL)) == 2
    assert len(grouped([several[0], replace(several[0], id=7)], request(), EQUAL)) == 1


def test_what_the_user_has_starred_or_noted_is_never_hidden():
    starred = replace(finding(1, 0.1), starred=True)
    noted = replace(finding(2, 0.2), note="look")
    groups = grouped([finding(3, 0.9), starred, noted], request(), EQUAL)
    leads = {group.lead.id: len(group.members) for group in groups}
    assert leads == {1: 2, 2: 1}
    assert groups[0].severity == 0.9, "an entry is as bad as its worst"


def test_the_user_says_which_confusion_is_worst_and_the_list_follows():
    near = finding(1, 0.9)  # red taken for none, with three pixels
    far = finding(2, 0.6, other_class="green")
    assert [group.lead.id for group in grouped([near, far], request(), EQUAL)] == [1, 2]
    harm = Harm.towards("green", ["red", "green", "none"])
    assert [group.lead.id for group in grouped([near, far], request(), harm)] == [2, 1]
    assert harm.severity(near) == 0.45 and harm.severity(far) == 0.6


def test_the_scale_speaks_of_the_size_of_a_change_and_not_of_who_would_see_it():
    said = EQUAL.words(finding(1, 1.0, kind="adversarial"))
    assert "few pixels" in said and "notice" not in said, "two white pixels are seen"


def test_the_severity_is_explained_with_its_weight():
    harm = EQUAL.with_weight("red", "none", 0.25)
    words = harm.words(finding(1, 0.8))
    assert "Severity 0.20" in words and "0.80 times 0.25" in words and "“red” for “none”" in words
    assert "a single wrong answer reaches 0.7" in words
    assert "times" not in EQUAL.words(finding(1, 0.8))


def test_harm_is_kept_by_the_names_of_the_classes():
    harm = Harm.towards("green", ["red", "green", "none"]).with_weight("green", "red", 1.0)
    again = Harm.from_json(harm.to_json())
    assert again == harm and again.of("green", "red") == 1.0 and again.of("none", "red") == 0.5
    assert Harm.from_json({"a": 3, "b": {"c": "x", "d": 7}}).weights == {("b", "d"): 1.0}


def test_a_bias_names_three_classes_and_is_no_confusion():
    assert finding(1, third_class="green").confusion is None


def test_classes_that_only_look_alike_are_taken_for_nothing():
    assert finding(1, true_confusion=0.0).confusion is None
    assert finding(2, true_confusion=0.01).confusion == ("red", "none")
