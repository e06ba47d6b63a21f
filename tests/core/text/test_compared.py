"""Which of two runs does better is said only as far as their numbers tell."""

from __future__ import annotations

import math

from robgui.core.text.compared import compared
from robgui.core.verdict import Quantity


def wrong(value, low=math.nan, high=math.nan):
    return Quantity("Wrong answers", value, "%", low, high, "low")


def test_the_better_one_is_named_with_both_numbers_when_their_intervals_do_not_meet():
    said = compared(("cnn", "mlp"), (wrong(8, 7, 9), wrong(12, 11, 13)))
    assert said == (
        "cnn does better than mlp: wrong answers 8 % (7 to 9) against 12 % (11 to 13);"
        " the 95 % intervals do not meet."
    )
    assert compared(("cnn", "mlp"), (wrong(12, 11, 13), wrong(8, 7, 9))).startswith("mlp does")


def test_a_difference_that_may_be_chance_has_no_winner():
    said = compared(("cnn", "mlp"), (wrong(8, 6, 11), wrong(10, 9, 13)))
    assert said.startswith("No difference is proven") and "better" not in said
    assert "8 % (6 to 11) for cnn" in said and "10 % (9 to 13) for mlp" in said


def test_without_intervals_no_one_wins():
    said = compared(("cnn", "cnn"), (wrong(8), wrong(10)))
    assert said == (
        "No difference is known: wrong answers 8 % for the first run, 10 % for the second;"
        " neither comes with an interval."
    )
    assert compared(("a", "b"), (wrong(8), wrong(8))).startswith("No difference is known")
    assert compared(("a", "b"), (wrong(8, 7, 9), wrong(12))).startswith("No difference is known")


def test_two_upper_bounds_that_read_alike_have_no_winner():
    name = "Probability of failure"
    bounds = [Quantity(name, p, better="low", text="below 1e-10") for p in (3e-11, 9e-11)]
    said = compared(("a", "b"), tuple(bounds))
    assert said.startswith("No difference is known: probability of failure below 1e-10 for a,")
    apart = [
        Quantity(name, p, low=p * 0.9, high=p * 1.1, better="low", text="about 3 %")
        for p in (0.0299, 0.0301 * 1.3)
    ]
    assert compared(("a", "b"), tuple(apart)).startswith("No difference is known")


def test_equal_estimates_are_called_equal_only_where_they_are_exact():
    said = compared(("a", "b"), (wrong(80, 44, 97), wrong(80, 44, 97)))
    assert said.startswith("No difference is") and "equally" not in said
    exact = compared(("a", "b"), (wrong(8, 8, 8), wrong(8, 8, 8)))
    assert exact == "a and b do equally well: wrong answers 8 % (8 to 8)."


def test_nothing_is_said_of_numbers_that_do_not_tell_who_is_better():
    other = Quantity("Radius", 0.3, better="high")
    neither = Quantity("Pictures", 3.0)
    for pair in (
        (None, wrong(8)),
        (wrong(8), other),
        (neither, neither),
        (wrong(8), wrong(math.nan)),
    ):
        assert compared(("a", "b"), pair) == ""
