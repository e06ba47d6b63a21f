"""How long several runs still take."""

from __future__ import annotations

import pytest

from robgui.core.execution.budget.rest import Stretch, rest_of, share_of


def waiting(expected):
    return Stretch(expected, 0.0, 0.0, ended=False)


def test_a_long_run_that_waits_counts_as_long_as_it_takes():
    quick = [Stretch(1.0, 1.0, 1.0, ended=True) for _ in range(8)]
    runs = [*quick, waiting(60.0)]
    assert share_of(runs) == pytest.approx(8 / 68), "eight of nine are done, most of it is not"
    assert rest_of(runs) == pytest.approx(60.0)


def test_the_pace_so_far_corrects_what_was_expected_and_one_quick_run_does_not_decide():
    slow = [Stretch(20.0, 100.0, 1.0, ended=True), waiting(20.0)]
    assert 80 < rest_of(slow) < 100
    blink = [Stretch(1.0, 0.01, 1.0, ended=True), waiting(20.0)]
    assert 10 < rest_of(blink) < 20


def test_a_run_under_way_is_judged_by_its_own_pace():
    half = Stretch(5.0, 30.0, 0.5, ended=False)
    assert rest_of([half]) == pytest.approx(30.0)
    begun = Stretch(5.0, 0.5, 0.001, ended=False)
    assert 0 < rest_of([begun]) < 6


def test_a_run_that_failed_says_nothing_of_the_others():
    failed = Stretch(30.0, 0.1, 0.0, ended=True, telling=False)
    assert rest_of([failed, waiting(10.0)]) == pytest.approx(10.0)
    assert rest_of([]) == 0 and share_of([]) == 0
