"""Traps on maps drawn by hand, and the order in which a map is filled."""

from __future__ import annotations

import numpy as np
import pytest

from robgui.analyses.semantic import pieces
from robgui.analyses.semantic.maps.grid import COARSE, axis_values, levels
from robgui.analyses.semantic.maps.params import MapParams
from robgui.analyses.semantic.maps.traps import find_traps
from robgui.analyses.semantic.regions.scan import spread
from robgui.core.errors import ParamsError
from tests.analyses.semantic.toy import AZIMUTH, ELEVATION, LIGHT


def high(shape: tuple[int, int] = (12, 20)) -> np.ndarray:
    return np.full(shape, 0.9)


def test_a_hole_in_a_region_of_high_score_is_a_trap_at_its_lowest_cell() -> None:
    score = high()
    score[4:6, 7:9] = 0.3
    score[5, 8] = 0.05
    (trap,) = find_traps(score, 0.2, 0.5)
    assert (trap.row, trap.column, trap.cells) == (5, 8, 4)
    assert trap.score == pytest.approx(0.05) and trap.wall == pytest.approx(0.9)


def test_a_dip_that_is_not_deep_a_bay_and_a_large_lake_are_no_traps() -> None:
    shallow, bay, lake = high(), high(), high()
    shallow[5, 5] = 0.3
    bay[0, 3:5] = 0.0
    lake[1:11, 1:19] = 0.0
    assert (
        not find_traps(shallow, 0.2, 0.5)
        and not find_traps(bay, 0.2, 0.5)
        and not find_traps(lake, 0.2, 0.5)
    )


def test_a_trap_across_the_seam_of_a_periodic_axis_is_one_trap_and_a_band_around_is_none() -> None:
    score = high()
    score[5, :2] = score[5, -2:] = 0.1
    assert not find_traps(score, 0.2, 0.5), "without the seam it reaches the end"
    (trap,) = find_traps(score, 0.2, 0.5, (False, True))
    assert trap.cells == 4
    score[5] = 0.1
    assert not find_traps(score, 0.2, 0.5, (False, True))


def test_a_narrow_gap_between_two_high_stretches_of_a_curve_is_a_trap() -> None:
    curve = np.array([[0.0, 0.1, 0.9, 0.95, 0.1, 0.9, 0.9, 0.2, 0.0]])
    (trap,) = find_traps(curve, 0.2, 0.5)
    assert trap.column == 4
    round_trip = np.full((1, 36), 0.8)
    round_trip[0, 10] = 0.0
    assert len(find_traps(round_trip, 0.2, 0.5, (False, True))) == 1


def test_traps_come_worst_first_and_an_unfinished_map_has_none() -> None:
    score = high()
    score[3, 3], score[8, 12] = 0.15, 0.01
    assert [trap.score for trap in find_traps(score, 0.2, 0.5)] == [0.01, 0.15]
    score[0, 0] = np.nan
    assert not find_traps(score, 0.2, 0.5)


@pytest.mark.parametrize(("height", "width"), [(34, 120), (33, 33), (1, 120), (5, 7), (1, 1)])
def test_every_cell_comes_exactly_once_and_the_coarse_round_covers_the_map(
    height: int, width: int
) -> None:
    rounds = levels(height, width)
    cells = np.concatenate([level.cells for level in rounds])
    assert len(cells) == height * width == len({tuple(cell) for cell in cells})
    covered = np.zeros((height, width), dtype=bool)
    for row, column in rounds[0].cells:
        covered[row : row + rounds[0].stride, column : column + rounds[0].stride] = True
    assert covered.all() and rounds[-1].stride == 1
    if height * width > 100:
        assert len(rounds[0].cells) <= COARSE * height * width


def test_the_published_grid_has_120_by_34_cells() -> None:
    x, y = (axis_values(axis, MapParams(preset="paper")) for axis in (AZIMUTH, ELEVATION))
    assert (len(x), len(y)) == (120, 34) and (x[-1], y[0], y[-1]) == (357, -10, 89)
    assert (len(axis_values(AZIMUTH, MapParams())), len(axis_values(ELEVATION, MapParams()))) == (
        120,
        34,
    )
    assert (
        len(axis_values(LIGHT, MapParams())) == 33
        and len(axis_values(LIGHT, MapParams(step={"light": 0.5}))) == 3
    )
    with pytest.raises(ParamsError, match="azimuth"):
        axis_values(AZIMUTH, MapParams(step={"azimuth": 1e-9}))


def test_a_region_across_the_seam_is_drawn_in_two_pieces() -> None:
    assert pieces(AZIMUTH, -30, 30) == [(330, 360), (0, 30)] and pieces(AZIMUTH, 330, 390) == [
        (330, 360),
        (0, 30),
    ]
    assert pieces(AZIMUTH, 10, 20) == [(10, 20)] and pieces(AZIMUTH, -90, 270) == [(0, 360)]
    assert pieces(ELEVATION, -40, 30) == [(-10, 30)]


@pytest.mark.parametrize("n", [1, 2, 4])
def test_spread_points_are_even(n: int) -> None:
    points = spread(256, n)
    assert ((points >= 0) & (points < 1)).all() and np.allclose(points[0], 0.5)
    assert np.abs(points.mean(0) - 0.5).max() < 0.02 and np.abs(points.var(0) - 1 / 12).max() < 0.02
