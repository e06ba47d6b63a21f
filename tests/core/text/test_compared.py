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


def test_without_intervals_it_says_that_nothing_tells_how_sure_it_is():
    said = compared(("cnn", "cnn"), (wrong(8), wrong(10)))
    assert said.startswith("The first run does better than the second")
    assert said.endswith("how sure that is, is not told.")
    higher = [Quantity("Radius", value, better="high") for value in (0.1, 0.2)]
    assert compared(("a", "b"), tuple(higher)).startswith("b does better than a: radius 0.2")


def test_equal_numbers_are_called_equal():
    assert (
        compared(("a", "b"), (wrong(8), wrong(8))) == "a and b do equally well: wrong answers 8 %."
    )


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
