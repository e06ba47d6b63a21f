"""Decides which columns of a table are ids, times and inputs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robgui.core.dataset.formats.delimited.reading import ID_COLUMNS, Grid
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError

TIME_COLUMNS = ("timestamp", "time", "datetime", "date", "t")
# "Unnamed: 0" is what pandas calls the index it wrote to a CSV file; "column 1" is the first of a
# file without a header.
_COUNTERS = ("id", "index", "row", "unnamed: 0", "column 1")


def named(names: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The names that are among ``wanted``, in the order of ``wanted``."""
    lower = {name.casefold(): name for name in names}
    return [lower[name] for name in wanted if name in lower]


def must_exist(column: str, grid: Grid) -> str:
    """The column of that name, as the table spells it; DataError if there is none."""
    names = [*grid.texts, *grid.columns]
    found = named(names, [column.casefold()])
    if not found:
        raise DataError(
            f"{grid.path}: there is no column {column!r}; the columns are: {', '.join(names[:50])}."
        )
    return found[0]


def id_column(grid: Grid, options: Options) -> str | None:
    """The column that assigns rows to tracks: one whose values repeat."""
    if options.id:
        return must_exist(options.id, grid)
    for name in named(grid.texts, ID_COLUMNS):
        fractions = name in grid.columns and (grid.values_of([name]) % 1 != 0).any()
        if (
            not fractions
            # Two rows per id on average; an id of its own for each row is a key, not a track.
            and 2 * len(set(grid.texts[name])) <= len(grid.lines)
            and any(grid.texts[name])
        ):
            return name
    return None


def chosen(grid: Grid, options: Options) -> list[str]:
    """The columns that the options name."""
    for name in options.features:
        if name not in grid.columns:
            raise DataError(
                f"{grid.path}: there is no column of numbers {name!r}; there are:"
                f" {', '.join(grid.columns[:50])}."
            )
    return list(options.features)


def filled(columns: Sequence[str], grid: Grid) -> list[str]:
    """The columns that hold a value in at least half of the rows."""
    empty = [name for name in columns if np.isnan(grid.values_of([name])).mean() > 0.5]
    if empty:
        grid.notes.append(
            f"Columns left out because most values are missing: {', '.join(empty[:50])}."
        )
    return [name for name in columns if name not in empty]


def without_counter(columns: list[str], grid: Grid) -> list[str]:
    """Drops a first column that only counts the rows."""
    if (
        len(columns) < 2
        or columns[0].casefold() not in _COUNTERS
        or (np.diff(grid.values_of(columns[:1])[:, 0]) != 1).any()
    ):
        return columns
    grid.notes.append(f"The column {columns[0]} only counts the rows and is left out.")
    return columns[1:]
