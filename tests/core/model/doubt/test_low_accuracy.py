"""A low accuracy is doubted with its reason; a good one is left alone."""

from __future__ import annotations

import pytest

from robgui.core.model.doubt.low_accuracy import (
    Rightness,
    clearly_better,
    suspicion,
    verdict_of,
)
from robgui.core.model.preprocessing import Tried


@pytest.mark.parametrize(("right", "classes"), [(350, 10), (500, 10), (350, 3), (600, 2)])
def test_a_third_or_a_half_right_is_doubted_and_compared_with_guessing(right, classes):
    known = Rightness(right, 1000, classes)
    words = suspicion(known)
    assert known.doubtful and "guessing" in words
    for suspect in ("mean, std", "channel order", "resizing", "order of the class names"):
        assert suspect in words


@pytest.mark.parametrize(("right", "classes"), [(900, 10), (900, 2), (800, 10), (760, 1000)])
def test_a_good_model_is_not_doubted(right, classes):
    assert suspicion(Rightness(right, 1000, classes)) == ""


def test_a_handful_of_inputs_proves_nothing():
    assert suspicion(Rightness(3, 10, 10)) == ""


def test_what_guessing_reaches_is_said_to_be_guessing():
    known = Rightness(11, 100, 10)
    assert known.guessed
    assert "11.0 % right is hardly better than guessing (10.0 %)" in suspicion(known)


def way(name, right, counted=100):
    return Tried(name, {}, right, counted)


def test_a_way_that_is_clearly_better_is_named_with_its_share():
    tried = [way("as it is", 36), way("none", 20, 16), way("CIFAR-10", 91)]
    assert clearly_better(tried) is tried[2]
    words = verdict_of(Rightness(350, 1000, 10), tried)
    assert words.startswith("Only 35.0 % are right, guessing gives 10.0 %, but “CIFAR-10” gets 91")
    assert "of 100 inputs right" in words


def test_a_way_that_is_better_by_luck_is_not_recommended():
    tried = [way("as it is", 50), way("CIFAR-10", 61)]
    assert clearly_better(tried) is None
    words = verdict_of(Rightness(500, 1000, 10), tried)
    assert "None of 1 usual way of feeding it does clearly better" in words
