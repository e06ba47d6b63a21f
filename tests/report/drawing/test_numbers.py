"""The numbers of every view: as CSV with titles and units, as arrays that need no pickle."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import numpy as np
import pytest

from robgui.core.view import Axis, Curves, Line
from robgui.report.drawing import to_arrays, to_csv
from tests.report.drawing import samples

ALL = {
    f"{group}: {name}": view
    for group in ("usual", "empty", "odd")
    for name, view in getattr(samples, group)().items()
}


def rows_of(view) -> list[list[str]]:
    return list(csv.reader(io.StringIO(to_csv(view))))


@pytest.mark.parametrize("name", ALL)
def test_every_view_is_a_table_of_equal_rows_and_a_set_of_plain_arrays(name):
    rows = rows_of(ALL[name])
    assert len({len(row) for row in rows}) <= 1
    buffer = io.BytesIO()
    np.savez(
        buffer, **{key.replace("/", "_"): array for key, array in to_arrays(ALL[name]).items()}
    )
    with np.load(io.BytesIO(buffer.getvalue()), allow_pickle=False) as stored:
        assert all(stored[key].dtype.kind != "O" for key in stored)


def test_numbers_are_exact_and_a_missing_one_is_an_empty_cell():
    view = Curves(
        "c",
        Axis("Time", "s"),
        Axis("y"),
        np.array([0.1, 1 / 3]),
        (Line("a", np.array([1e-300, np.nan])),),
    )
    assert rows_of(view) == [["Time (s)", "a"], ["0.1", "1e-300"], [repr(1 / 3), ""]]


def test_lines_over_points_of_their_own_have_a_row_per_point():
    view = Curves(
        "c",
        Axis("x"),
        Axis("y"),
        np.zeros(1),
        (Line("a", np.ones(1)), Line("b", np.ones(2), x=np.arange(2.0))),
    )
    assert rows_of(view)[0] == ["line", "x", "y", "low", "high"] and len(rows_of(view)) == 4


def test_a_matrix_stands_as_it_is_drawn():
    rows = rows_of(samples.matrix())
    assert rows[0] == [r"True class \ Seen as", *samples.GARMENTS] and [
        row[0] for row in rows[1:]
    ] == [*samples.GARMENTS[::-1]]
    assert float(rows[1 + 9 - 6][1 + 4]) == 0.41
    assert rows_of(samples.class_map())[0] == ["Rotation (°)", "Brightness", "Confidence", "class"]


def test_a_histogram_has_both_edges_of_every_bar():
    rows = rows_of(samples.histogram())
    assert (
        rows[0] == ["Uncertainty from", "Uncertainty to", "clean inputs", "attacked inputs"]
        and len(rows) == 21
    )


def test_a_film_says_the_step_of_every_row():
    rows = rows_of(samples.film())
    assert rows[0][0] == "step" and rows[1][0] == "step 1 of 6" and rows[-1][0] == "step 6 of 6"
    assert "frame_0005/values" in to_arrays(samples.film())


def test_cells_that_were_not_computed_are_named_in_the_numbers():
    view = samples.class_map()
    guessed = np.zeros(view.values.shape, dtype=bool)
    guessed[5, 7] = True
    rows = rows_of(replace(view, guessed=guessed))
    assert rows[0][-1] == "computed" and [row[-1] for row in rows].count("0") == 1
    assert to_arrays(replace(view, guessed=guessed))["guessed"].sum() == 1
