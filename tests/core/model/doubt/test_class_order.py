"""Class names in another order than the outputs are noticed, and only then."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.core.model.doubt.class_order import other_order, untold

NAMES = tuple("abcdefghij")


def answers(places, per_class, share, seed=0):
    """Inputs of ten classes; the output of each is ``places`` of its class, or any by chance."""
    chance = np.random.default_rng(seed)
    truths = np.arange(10 * per_class) % 10
    guesses = np.asarray(places)[truths]
    wrong = chance.random(len(truths)) >= share
    guesses[wrong] = chance.integers(0, 10, int(wrong.sum()))
    return truths, guesses


def test_names_in_another_order_are_put_right():
    places = [3, 0, 1, 2, 4, 6, 5, 7, 8, 9]
    found = other_order(NAMES, *answers(places, 40, 0.9))
    assert found is not None
    assert found.places == tuple(places)
    assert [found.labels[place] for place in places] == list(NAMES)
    assert found.before / found.counted == pytest.approx(0.37, abs=0.04)
    assert found.right / found.counted == pytest.approx(0.91, abs=0.04)
    assert found.sentence.endswith("with them re-ordered 88.0 % are right, now 34.8 %.")


@pytest.mark.parametrize("share", [0.0, 0.1, 0.35, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("per_class", [1, 4, 8, 40])
def test_a_model_with_its_names_in_order_is_never_suspected(share, per_class):
    for seed in range(20):
        assert other_order(NAMES, *answers(range(10), per_class, share, seed)) is None


def test_one_class_taken_for_another_is_no_other_order():
    truths, guesses = answers(range(10), 40, 1.0)
    guesses[truths == 3] = 4
    assert other_order(NAMES, truths, guesses) is None, "two classes cannot share one output"
    assert other_order(NAMES, truths, np.full_like(truths, 2)) is None


def test_half_of_a_swap_is_no_swap():
    truths, guesses = answers([1, 0, *range(2, 10)], 40, 1.0)
    guesses[(truths == 1) & (np.arange(len(truths)) % 3 > 0)] = 1
    assert other_order(NAMES, truths, guesses) is None


def test_too_few_inputs_are_said_to_be_too_few():
    truths, guesses = answers([1, 2, 3, 4, 5, 6, 7, 8, 9, 0], 3, 1.0)
    assert other_order(NAMES, truths, guesses) is None
    assert "cannot be told for 10 of 10 classes: they have fewer than 8" in untold(truths, 10)
    assert untold(answers(range(10), 8, 1.0)[0], 10) == ""


def test_the_share_is_that_of_inputs_that_did_not_choose_the_order():
    """Every class has few inputs and the answers are chance: no order may look good."""
    found = [other_order(NAMES, *answers(range(10), 8, 0.0, seed)) for seed in range(300)]
    assert not any(found)
