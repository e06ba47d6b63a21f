"""Tables of numbers from CSV or JSON records, as rows of a table or points of tracks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import TableRows
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.delimited.columns import (
    chosen,
    filled,
    id_column,
    must_exist,
    named,
    without_counter,
)
from robgui.core.dataset.formats.delimited.reading import Grid, read_grid
from robgui.core.dataset.formats.delimited.trajectories import tracks
from robgui.core.dataset.labels import LABEL_COLUMNS, label_numbers
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError


def open_csv(path: Path, options: Options) -> Dataset:
    """Opens a CSV file as a table, or as trajectories if a column like track_id groups its rows."""
    return dataset_of(read_grid(path, options), options)


def dataset_of(grid: Grid, options: Options) -> Dataset:
    """Tracks if an id column repeats its values, else a table."""
    if not len(grid.lines):
        raise DataError(
            f"{grid.path}: no row can be read; a table needs a header and rows of numbers."
        )
    if options.kind == "table":
        track = None
    else:
        track = id_column(grid, options)
    if track is None and options.kind == "sequence":
        raise DataError(
            f"{grid.path}: no column tells which track a row belongs to; name it with the"
            " option id.",
            option="id=COLUMN",
        )
    if track is None:
        return _table(grid, options)
    return tracks(grid, track, options)


def _table(grid: Grid, options: Options) -> Dataset:
    label = _label_column(grid, options)
    if not options.features:
        columns = [name for name in grid.columns if name != label]
    else:
        columns = chosen(grid, options)
    if not options.features:
        columns = without_counter(filled(columns, grid), grid)
    if not columns:
        raise DataError(
            f"{grid.path}: no column holds numbers; a table needs at least one, and the delimiter"
            " must be one of , ; tab |."
        )
    values = grid.values_of(columns)
    missing = np.isnan(values)
    for row in np.flatnonzero(missing.any(1)):
        grid.skips.add(
            f"row {grid.lines[row]}", f"{columns[int(np.argmax(missing[row]))]} is missing"
        )
    keep = np.flatnonzero(~missing.any(1))
    if not len(keep):
        raise DataError(
            f"{grid.path}: every row lacks a value; choose complete columns with the option"
            " features.",
            option="features=A,B",
        )
    if len(keep) < len(values):
        grid.notes.append(
            f"{len(values) - len(keep):,} of {len(values):,} rows are left out because a value is"
            " missing."
        )
    if label:
        labels, names = _labels([grid.texts[label][row] for row in keep], options, grid.path)
    else:
        labels, names = (None, options.names)
    return Dataset(
        TableRows(values[keep], grid.lines[keep], grid.skips),
        name=grid.path.name,
        path=grid.path,
        labels=labels,
        names=names,
        features=columns,
        notes=grid.notes,
        options=options.told(),
    )


def _labels(
    words: Sequence[str], options: Options, path: Path
) -> tuple[np.ndarray, tuple[str, ...]]:
    try:
        return label_numbers(words, options.names)
    except DataError as error:
        raise error.at(path) from error


def _label_column(grid: Grid, options: Options) -> str | None:
    if options.label:
        return must_exist(options.label, grid)
    known = named(grid.texts, LABEL_COLUMNS)
    words = [name for name in grid.texts if name not in grid.columns]
    if known or words:
        # Of several columns of words, the last: that is where classes usually stand.
        return (known or words[::-1])[0]
    if not options.features:
        return _last_column(grid)
    return None


def _last_column(grid: Grid) -> str | None:
    """The last column if it holds classes: few whole numbers from 0 or 1 on, without a gap."""
    if len(grid.columns) < 2:
        return None
    values = np.unique(grid.values[:, -1])
    if (
        # More values, or hardly any repeated, are measurements rather than classes.
        not 2 <= len(values) <= min(20, len(grid.lines) // 2)
        or values[0] not in (0, 1)
        or not (np.diff(values) == 1).all()
    ):
        return None
    name = grid.columns[-1]
    grid.texts[name] = [str(int(value)) for value in grid.values[:, -1]]
    grid.notes.append(f"The last column, {name}, is taken for the label.")
    return name
