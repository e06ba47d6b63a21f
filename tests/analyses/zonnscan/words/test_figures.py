"""Numbers are never finer than the samples."""

from __future__ import annotations

import math

import pytest

from robgui.analyses.zonnscan.words.figures import (
    chance,
    mean_uncertainty,
    rounded_up,
    short_names,
    uncertainty,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0036, 0.004), (0.058, 0.06), (0.1, 0.1), (0.12, 0.2), (0.95, 1.0), (0.003, 0.003)],
)
def test_a_bound_is_rounded_up(value: float, shown: float) -> None:
    assert rounded_up(value) == pytest.approx(shown) and rounded_up(value) >= value - 1e-12


def test_an_uncertainty_that_could_be_zero_is_a_bound_not_a_number() -> None:
    assert uncertainty(1e-7, 0, 2e-7, 1024) == "below 0.004"
    assert uncertainty(3e-4, 0, 8e-4, 64) == "below 0.06"
    assert uncertainty(0.0219, 0.02, 0.024, 1024) == "0.0219 ± 0.002"
    assert uncertainty(0.001, 0, 0.2, 1024) == "below 0.2"


def test_a_mean_below_a_thousandth_is_not_spelt_out() -> None:
    assert mean_uncertainty(1.1e-7) == "below 0.001" and mean_uncertainty(0.125) == "0.125"


def test_a_probability_of_zero_is_said_to_be_too_small_for_a_number() -> None:
    assert chance(0.0) == "a probability below 10⁻³⁰⁰" and chance(0.0143) == "probability 0.0143"
    assert "n/a" in chance(math.nan) or chance(math.nan).startswith("a probability")


def test_names_of_models_lose_what_all_of_them_share() -> None:
    assert short_names(("fashion_mlp.pt2", "fashion_rnn.pt")) == ["mlp", "rnn"] and short_names(
        ("a.onnx",)
    ) == ["a"]
