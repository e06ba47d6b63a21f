"""Numbers as people say them."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from robgui.core.text import words


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0123, "12 ms"),
        (2.14, "2.1 s"),
        (200, "3 min 20 s"),
        (7500, "2 h 5 min"),
        (None, "unknown"),
        (float("inf"), "unknown"),
    ],
)
def test_durations(seconds, said):
    assert words.duration(seconds) == said


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (12345.6, "12,346"),
        (3.14159, "3.14"),
        (1000000, "1,000,000"),
        (0.25, "0.25"),
        (0, "0"),
        (3.14e-5, "3.1·10⁻⁵"),
        (-1e-10, "-10⁻¹⁰"),
        (9.99e-5, "10⁻⁴"),
        (float("nan"), "n/a"),
    ],
)
def test_numbers(value, said):
    assert words.number(value) == said


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.9123, "91.2 %"),
        (0, "0 %"),
        (1, "100 %"),
        (1e-5, "0.001 %"),
        (0.99999, "over 99.9 %"),
        (float("nan"), "n/a"),
    ],
)
def test_shares(share, said):
    assert words.percent(share) == said


@pytest.mark.parametrize(
    ("p", "said"),
    [
        (0.0234, "0.02"),
        (1, "1"),
        (0, "0"),
        (7.2e-7, "7·10⁻⁷"),
        (1e-10, "10⁻¹⁰"),
        (1e-4, "10⁻⁴"),
        (float("nan"), "n/a"),
    ],
)
def test_probabilities(p, said):
    assert words.probability(p) == said


def test_one_is_not_a_plural():
    assert [words.count(many, "input") for many in (0, 1, 2000)] == [
        "0 inputs",
        "1 input",
        "2,000 inputs",
    ]
    assert [words.count(2, noun) for noun in ("class", "box", "batch", "pass")] == [
        "2 classes",
        "2 boxes",
        "2 batches",
        "2 passes",
    ]


def test_sizes():
    assert words.amount(1_500_000_000) == "1.5 GB"
    assert words.amount(12) == "12 B"


@pytest.mark.parametrize(
    ("share", "said"),
    [
        (0.0, "0 %"),
        (0.004, "under 1 %"),
        (0.42, "42 %"),
        (0.996, "over 99 %"),
        (1.0, "100 %"),
        (float("nan"), "n/a"),
    ],
)
def test_a_rough_share_is_all_or_nothing_only_when_it_is(share, said):
    assert words.rough_percent(share) == said


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "almost done"),
        (0.4, "almost done"),
        (31.24, "about 31 s left"),
        (59.8, "about 1 min 0 s left"),
        (200, "about 3 min 20 s left"),
    ],
)
def test_the_time_left_is_never_told_to_the_millisecond(seconds, said):
    assert words.time_left(seconds) == said


@pytest.mark.parametrize("total", [2000, 400, 200])
def test_a_share_and_what_is_left_of_it_add_up_to_a_hundred(total):
    for some in range(2, total - 1):
        for kind in (float, np.float32):
            shares = [words.percent(kind(part / total)) for part in (some, total - some)]
            assert sum(Decimal(one.removesuffix(" %")) for one in shares) == 100, shares
            rough = [words.rough_percent(kind(part / total)) for part in (some, total - some)]
            if not any(one.startswith(("under", "over")) for one in rough):
                assert sum(int(one.removesuffix(" %")) for one in rough) == 100, rough


def test_173_wrong_of_2000_and_1827_right_are_said_alike():
    assert words.percent(173 / 2000) == "8.6 %" and words.percent(1827 / 2000) == "91.4 %"


def test_a_fall_is_rounded_as_a_rise_is():
    for share in (0.000833, 0.04, 0.14, 0.182, 0.9):
        assert words.percent(-share) == f"-{words.percent(share)}"
    assert words.percent(-0.9999) == "below -99.9 %" and words.percent(-1.5) == "-150 %"


@pytest.mark.parametrize(("name", "said"), [("cat", "cat 42 %"), ("24", "24: 42 %"), ("", " 42 %")])
def test_a_class_called_by_a_number_is_kept_apart_from_its_share(name: str, said: str) -> None:
    assert words.with_share(name, "42 %") == said
