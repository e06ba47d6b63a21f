"""The language of the gallery: what it finds, what it leaves open, and what it says of mistakes."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robgui.core.dataset.query import InputFacts, Predicted, evaluate, needs, parse
from robgui.core.dataset.query.completing import Vocabulary, completions, quoted
from robgui.core.dataset.query.ordering import ORDERS, arranged
from robgui.core.errors import DataError

NAMES = ("Stop", "No entry", "Speed limit 20", "Speed limit 30")
PREDICTED = Predicted(
    classes=np.array([0, 1, 1, 3, -1, 2, -2, 0]),
    confidence=np.array([0.9, 0.5, 0.8, 0.55, np.nan, 0.99, np.nan, 0.4]),
    margin=np.array([0.8, 0.1, 0.6, 0.2, np.nan, 0.98, np.nan, 0.05]),
    loss=np.array([0.1, 2.0, 0.2, 3.0, np.nan, 0.01, np.nan, np.nan]),
    labels=np.array([0, 0, 1, 2, 3, 2, 1, -1]),
    names=NAMES,
)
FACTS = InputFacts(
    8,
    "signs",
    lambda: [f"0{i}/img ({i}).ppm" for i in range(8)],
    labels=np.array([0, 0, 1, 2, 3, 2, 1, -1]),
    names=("00", "01", "02", "03"),
    predicted=PREDICTED,
    tags={"night": [1, 3], "rain at night": [3, 5]},
    findings={2: [("trap", "No entry becomes Stop at 40°")], 3: [("crossing", "x"), ("trap", "y")]},
)


def found(text: str) -> list[int]:
    return np.flatnonzero(evaluate(parse(text), FACTS).yes).tolist()


def open_ones(text: str) -> list[int]:
    return np.flatnonzero(evaluate(parse(text), FACTS).unknown).tolist()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", [0, 1, 2, 3, 4, 5, 6, 7]),
        ("label:stop", [0, 1]),
        ("label:00", [0, 1]),
        ("label:'no entry'", [2, 6]),
        ("label:speed", [3, 4, 5]),
        ("label=Speed limit 20", [3, 5]),
        ("label=speed limit 20 wrong", [3]),
        ("label:stop wrong confidence<0.6 tag:night", [1]),
        ("wrong", [1, 3]),
        ("right", [0, 2, 5]),
        ("-wrong labelled", [0, 2, 5, 6]),
        ("not right and labelled", [1, 3, 6]),
        ("confidence<60%", [1, 3, 7]),
        ("confidence>=0.8", [0, 2, 5]),
        ("margin<.15", [1, 7]),
        ("loss>1.5", [1, 3]),
        ("predicted:stop", [0, 7]),
        ("predicted!=stop", [1, 2, 3, 5]),
        ("tag:night", [1, 3]),
        ("tag:rain", [3, 5]),
        ("tag~night", [1, 3, 5]),
        ("tag!=night index<3", [0, 2]),
        ("tagged", [1, 3, 5]),
        ("finding:trap", [2, 3]),
        ("finding:40°", [2]),
        ("finding=crossing", [3]),
        ("found -tagged", [2]),
        ("stop", [0, 1, 7]),
        ("img", [0, 1, 2, 3, 4, 5, 6, 7]),
        ('"no entry"', [1, 2, 6]),
        ("rain", [3, 5]),
        ("name:03/", [3]),
        ("name='03/img (3).ppm'", [3]),
        ("(label:stop or label:'no entry') right", [0, 2]),
        ("label:stop or wrong", [0, 1, 3]),
        ("unreadable", [6]),
        ("unpredicted", [4]),
        ("labelled -label:speed", [0, 1, 2, 6]),
        ("LABEL:STOP AND Wrong", [1]),
    ],
)
def test_a_query_finds_its_inputs(text: str, expected: list[int]):
    assert found(text) == expected


@pytest.mark.parametrize(
    ("text", "open_"),
    [
        ("wrong", [4]),
        ("-wrong", [4]),
        ("confidence<0.5", [4]),
        ("wrong index<4", []),
        ("wrong or label:speed", []),
        ("label:stop wrong", []),
        ("predicted:stop or tag:night", [4]),
        ("stop", [4]),
        ("img", []),
        ("found", []),
    ],
)
def test_what_the_model_has_not_answered_yet_is_open_and_never_false(text: str, open_: list[int]):
    assert open_ones(text) == open_
    assert not set(found(text)) & set(open_)


@pytest.mark.parametrize(
    "text",
    [
        "label",
        "label:",
        "label=",
        "label:cat",
        "colour:red",
        "confidence~3",
        "confidence<much",
        "loss<1e",
        "tag:snow",
        "tag<3",
        "finding>1",
        "index~3",
        "name<3",
        "label<stop",
        "wrong and",
        "or wrong",
        "wrong or",
        "not",
        "(wrong",
        "wrong)",
        "=3",
        "(" * 60 + "wrong" + ")" * 60,
        "x" * 3000,
    ],
)
def test_a_mistake_is_one_sentence_that_says_what_to_do(text: str):
    with pytest.raises(DataError) as error:
        evaluate(parse(text), FACTS)
    sentence = str(error.value)
    assert sentence.startswith("the selection") and sentence.endswith(".")
    assert "\n" not in sentence


def test_without_a_model_or_labels_it_is_said_that_they_are_missing():
    bare = InputFacts(3, "bare", lambda: ["a", "b", "c"])
    for text, words in (("wrong", "no model"), ("confidence<1", "no model"), ("label:a", "labels")):
        with pytest.raises(DataError, match=words):
            evaluate(parse(text), bare)


@given(st.text(alphabet="labelwrongtag:=!<>~()-'\" 03.%andor\n", max_size=60))
def test_nothing_else_is_ever_raised_and_known_and_open_never_meet(text: str):
    with suppress(DataError):
        truth = evaluate(parse(text), FACTS)
        assert truth.yes.shape == truth.unknown.shape == (8,)
        assert not (truth.yes & truth.unknown).any()


@given(st.sampled_from(["wrong", "tag:night", "confidence<0.6", "label:stop", "found"]))
def test_a_query_and_its_opposite_and_the_open_ones_are_everything(text: str):
    parts = [*found(text), *found(f"not ({text})"), *open_ones(text)]
    assert sorted(parts) == list(range(8))


def test_a_class_is_found_by_its_folder_and_by_what_it_is_shown_as():
    facts = InputFacts(
        2, "two", lambda: ["a", "b"], np.array([0, 1]), ("n01440764", "n01514859"), ("tench", "hen")
    )
    for text in ("label:n01440764", "label:tench", "label=0", "ten"):
        assert evaluate(parse(text), facts).yes.tolist() == [True, False], text


def test_what_a_query_is_about_tells_whether_it_waits_for_the_model():
    assert needs(parse("label:stop -(wrong or tag:x) img")) == {
        *("label", "wrong", "tag", "name", "text")
    }


@pytest.mark.parametrize(
    ("by", "turned", "expected"),
    [
        ("index", False, [0, 1, 2, 3, 4, 5, 6, 7]),
        ("index", True, [7, 6, 5, 4, 3, 2, 1, 0]),
        ("name", True, [7, 6, 5, 4, 3, 2, 1, 0]),
        ("label", False, [0, 1, 2, 6, 3, 5, 4, 7]),
        ("predicted", False, [0, 7, 1, 2, 5, 3, 4, 6]),
        ("confidence", False, [7, 1, 3, 2, 0, 5, 4, 6]),
        ("confidence", True, [5, 0, 2, 3, 1, 7, 4, 6]),
        ("margin", False, [7, 1, 3, 2, 0, 5, 4, 6]),
        ("loss", False, [3, 1, 2, 0, 5, 4, 6, 7]),
        ("findings", False, [3, 2, 0, 1, 4, 5, 6, 7]),
    ],
)
def test_inputs_are_sorted_and_the_unknown_come_last_either_way(by, turned, expected):
    assert arranged(np.arange(8), FACTS, by, turned=turned).tolist() == expected
    assert by in ORDERS


WORDS = Vocabulary(NAMES, ("night", "rain at night"), ("trap", "crossing"))


@pytest.mark.parametrize(
    ("typed", "start", "some"),
    [
        ("", 0, ["label:", "wrong"]),
        ("la", 0, ["label:", "labelled"]),
        ("label:sp", 0, ['label:"Speed limit 20"', 'label:"Speed limit 30"']),
        ('label:"no', 0, ['label:"No entry"']),
        ("label:limit", 0, ['label:"Speed limit 20"']),
        ("wrong tag:r", 6, ['tag:"rain at night"']),
        ("wrong -pred", 7, ["predicted:"]),
        ("(find", 1, ["finding:"]),
        ("finding:c", 0, ["finding:crossing"]),
        ("confidence<", 0, []),
    ],
)
def test_what_may_come_next_is_offered(typed: str, start: int, some: list[str]):
    begins, words = completions(typed, len(typed), WORDS)
    assert begins == start and set(some) <= set(words)
    assert bool(some) == bool(words)


@pytest.mark.parametrize("name", [*NAMES, "and", "a:b", 'the "old" one', "plain"])
def test_a_completed_value_finds_exactly_its_class(name: str):
    facts = InputFacts(2, "two", lambda: ["x", "y"], labels=np.array([0, 1]), names=(name, "other"))
    assert evaluate(parse(f"label:{quoted(name)}"), facts).yes.tolist() == [True, False]


def test_the_manual_names_every_word_of_the_language():
    from robgui import manual
    from robgui.core.dataset.query.expression import FIELDS, KEYWORDS

    section = manual.page(manual.START).sections["Finding inputs"]
    for word in (*FIELDS, *KEYWORDS, "or", "not"):
        assert f"`{word}" in section, word
    examples = [
        cell for row in re.findall(r"(?m)^\|(.*?)\|", section) for cell in row.split("`")[1::2]
    ]
    assert len(examples) > 15
    for example in examples:
        parse(example)
