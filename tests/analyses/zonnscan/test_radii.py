"""Radii are added where the curve bends, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.zonnscan.sampling.bends import BEND, bends, next_radius
from robgui.analyses.zonnscan.zone import EVEN_FIRST
from tests.analyses.zonnscan.models import all_steps, exact_index, linear, small_mlp, sweep

FIRST = np.array(EVEN_FIRST, dtype=float)


def refined(curve, radii: np.ndarray = FIRST, most: int = 40) -> np.ndarray:
    """Radii after adding as many as it takes to a curve without noise."""
    for _ in range(most):
        more = next_radius(radii, curve(radii)[:, None])
        if more is None:
            break
        radii = np.sort(np.append(radii, more))
    return radii


def test_a_straight_line_gets_no_radius_and_a_gap_has_no_bend() -> None:
    assert next_radius(FIRST, (0.1 + 0.8 * FIRST)[:, None]) is None
    assert not bends(FIRST, (0.1 + 0.8 * FIRST)[:, None]).round(12).any()
    assert next_radius(FIRST[:2], np.array([[0.0], [1.0]])) is None


@pytest.mark.parametrize("step", [0.07, 0.27, 0.66])
def test_a_step_is_closed_in_on_from_both_sides(step: float) -> None:
    radii = refined(lambda r: 1.0 * (r > step))
    below, above = radii[radii <= step].max(), radii[radii > step].min()
    assert above - below <= 0.0125 * (1 + 2 * (step > 0.2)) and len(radii) - len(FIRST) < 14


def test_what_bends_near_the_input_comes_first() -> None:
    curve = 0.5 * ((FIRST > 0.08) & (FIRST < 0.5)).astype(float)
    assert next_radius(FIRST, curve[:, None]) in (0.075, 0.025, 0.15)


def test_the_lines_drawn_follow_the_curve_more_closely_than_even_radii_do() -> None:
    fine = np.linspace(0, 1, 4001)

    def curve(r: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(r - 0.11) / 0.01))

    def error(radii: np.ndarray) -> float:
        return float(np.abs(np.interp(fine, radii, curve(radii)) - curve(fine)).mean())

    radii = refined(curve)
    even = np.linspace(0, 1, 21)
    assert len(radii) < 21 and error(radii) < error(even) / 2


def test_a_sweep_adds_radii_where_it_bends_and_its_values_are_the_integrals() -> None:
    """A boundary at .33 of a side: the share of changes turns sharply where the zone meets it."""
    weights, bias, x = [60.0], -22.8, 0.3
    result = sweep(linear(weights, bias), [x], samples=8192, target_half_width=0)
    added = sorted(
        set(result.radii) - set(np.float64([0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1]))
    )
    assert added and list(result.radii) == sorted(set(result.radii))
    assert min(abs(radius - 0.08) for radius in added) < 0.03
    for radius, index in zip(result.radii[1:], result.index[1:], strict=True):
        exact = exact_index(weights, bias, [max(0, x - radius)], [min(1, x + radius)])
        assert index == pytest.approx(exact, abs=1e-3)
    assert (result.samples[1:] == 8192).all() and result.model_calls >= result.samples.sum()


def test_radii_of_ones_own_stay_and_none_is_added_where_none_may_be() -> None:
    model, x = small_mlp(), np.full((1, 6, 6), 0.5)
    assert sweep(model, x, samples=64, radii=(0.1, 0.9)).radii.tolist() == [0.1, 0.9]
    assert len(sweep(model, x, samples=64, added=0).radii) == 21
    assert len(sweep(model, x, samples=64, added=1).radii) <= len(FIRST) + 1


def test_every_step_is_complete_while_radii_are_added(monkeypatch) -> None:
    monkeypatch.setattr("robgui.core.execution.step.Pace.due", lambda self: True)
    steps = all_steps(linear([60.0], -22.8), [0.3], samples=256)
    sizes = [len(step.result.radii) for step in steps]
    assert sizes == sorted(sizes) and sizes[-1] > sizes[0]
    for step in steps:
        result = step.result
        assert (np.diff(result.radii) > 0).all() and np.isfinite(result.index).all()
        assert len(result.shown_class) == len(result.radii) == len(result.samples)
    assert steps[-1].done == steps[-1].total


def test_bends_are_told_apart_from_what_need_not_be_known() -> None:
    slight = np.zeros(len(FIRST))
    slight[4] = 0.9 * BEND
    assert next_radius(FIRST, slight[:, None]) is None
