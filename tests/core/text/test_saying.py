"""What a run says names how many inputs it looked at, once."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from robgui.core.execution.registry import find
from robgui.core.execution.request import Reference, Request
from robgui.core.text.saying import said_by
from robgui.core.verdict import Status, Verdict, from_json, to_json

EACH = Verdict(Status.UNKNOWN, "It keeps them.")
BOTH = Verdict(Status.UNKNOWN, "Both keep them.", models=(EACH, EACH))


def said(looked: int, offered: int, indices: int | None, chosen: str = "") -> Verdict:
    known = replace(
        find("corruptions"), verdict=lambda *_: BOTH, coverage=lambda _: (looked, offered)
    )
    data = Reference(kind="dataset", name="cars", fingerprint="d" * 16)
    places = None if indices is None else tuple(range(indices))
    request = Request(analysis="corruptions", dataset=data, indices=places, chosen=chosen)
    return said_by(known, object(), object(), request)


def test_a_run_that_looks_at_fewer_than_it_was_offered_names_those_alone() -> None:
    one = said(8, 267, 267, "267 of 800 inputs (evenly spread)")
    assert one.sentence == "Only 8 of 800 inputs (evenly spread): Both keep them."
    assert [each.inputs for each in (one, *one.models)] == [8, 8, 8]
    assert "267" not in one.text and from_json(to_json(one)) == one


def test_a_run_that_looks_at_all_that_it_was_offered_says_which() -> None:
    one = said(267, 267, 267, "267 of 800 inputs (evenly spread)")
    assert one.sentence.startswith("Only 267 of 800 inputs (evenly spread): ")
    assert one.inputs is None
    assert said(800, 800, None) == BOTH


def test_a_run_that_has_looked_at_none_claims_no_number() -> None:
    one = said(0, 267, 267, "267 of 800 inputs (evenly spread)")
    assert one.sentence == BOTH.sentence and one.inputs == 0


def test_a_limit_below_all_of_the_data_is_known_without_a_choice() -> None:
    one = said(16, 800, None)
    assert one.sentence == BOTH.sentence and one.inputs == 16


@pytest.mark.parametrize("name", ["accuracy", "corruptions", "pipeline_audit", "tolerance"])
def test_analyses_that_limit_themselves_tell_how_many_they_looked_at(name: str) -> None:
    coverage = find(name).coverage
    assert coverage is not None
    assert coverage(SimpleNamespace(done=8, labelled=267, available=267)) == (8, 267)


@pytest.mark.parametrize("inputs", ["8", -1, True, 1.5])
def test_a_number_of_inputs_that_is_none_is_refused(inputs: object) -> None:
    text = to_json(EACH).replace('"inputs": null', f'"inputs": {str(inputs).lower()!r}')
    with pytest.raises(ValueError, match="inputs"):
        from_json(text.replace("'", '"'))
