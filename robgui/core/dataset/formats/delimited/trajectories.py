"""Trajectories in a table: rows with the same id belong together, in the order of their time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import Tracks
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.delimited.columns import (
    TIME_COLUMNS,
    chosen,
    filled,
    must_exist,
    named,
)
from robgui.core.dataset.formats.delimited.reading import Grid
from robgui.core.dataset.labels import LABEL_COLUMNS, label_numbers, read_label_file
from robgui.core.dataset.options import Options
from robgui.core.errors import DataError


def tracks(grid: Grid, track: str, options: Options) -> Dataset:
    """The trajectories of a table whose column ``track`` says which row belongs to which."""
    times = [name for name in named(grid.columns, TIME_COLUMNS) if name != track]
    label = _track_label(grid, track, options)
    if options.features:
        columns = chosen(grid, options)
    else:
        columns = filled(
            [name for name in grid.columns if name not in (track, label, *times)], grid
        )
        if times:
            grid.notes.append(
                f"The column {times[0]} gives the order of the points and is not an input."
            )
    if not columns:
        raise DataError(
            f"{grid.path}: no column of numbers is left beside {track!r}; tracks need at least one."
        )
    ids = _ids(grid, track)
    values = grid.values_of(columns)
    good = ~np.isnan(values).any(1) & np.array([name != "" for name in ids])
    if not good.any():
        raise DataError(
            f"{grid.path}: every point lacks a value; choose complete columns with the option"
            " features.",
            option="features=A,B",
        )
    if not good.all():
        grid.notes.append(
            f"{int((~good).sum()):,} of {len(good):,} points are left out because a value is"
            " missing."
        )
    firsts: dict[str, int] = {}
    # Numbered as they first appear: the rows of a track need not stand together.
    groups = np.array([firsts.setdefault(name, len(firsts)) for name in ids], dtype=np.int64)
    if times:
        time = grid.values_of(times[:1])[:, 0]
    else:
        time = np.zeros(len(groups))
    # The last key sorts first: by track, then by time, then as in the file.
    order = np.lexsort((np.arange(len(groups)), time, groups))
    order = order[good[order]]
    present, starts = np.unique(groups[order], return_index=True)
    keys = [list(firsts)[group] for group in present]
    if label is None or options.labels:
        words = None
    else:
        words = [grid.texts[label][row] for row in order[starts]]
    labels, names = track_labels(keys, words, track, options, grid.path)
    return Dataset(
        Tracks(values[order], np.append(starts, len(order)), keys, columns, grid.skips),
        name=grid.path.name,
        path=grid.path,
        labels=labels,
        names=names,
        features=columns,
        notes=grid.notes,
        options=options.told(),
    )


def _ids(grid: Grid, track: str) -> list[str]:
    if track in grid.texts:
        return grid.texts[track]
    return [f"{value:g}" for value in grid.values_of([track])[:, 0]]


def _track_label(grid: Grid, track: str, options: Options) -> str | None:
    """The column with the label of a track: named so, and constant along each track."""
    if options.label and not options.labels:
        return must_exist(options.label, grid)
    # In a track "y" is a coordinate.
    for name in named(grid.texts, [name for name in LABEL_COLUMNS if name != "y"]):
        pairs = set(zip(_ids(grid, track), grid.texts[name], strict=True))
        if name != track and len(pairs) == len(set(_ids(grid, track))):
            return name
    return None


def track_labels(
    keys: Sequence[str], words: Sequence[object] | None, track: str, options: Options, path: Path
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Labels of tracks: from the labels file in the options, or the words that came with them."""
    if options.labels:
        table = read_label_file(Path(options.labels), options.label, track)
        words = [table.find(key) for key in keys]
        if not any(words):
            raise DataError(
                f"{options.labels}: the file names none of the tracks in {path.name}; its first"
                " column must hold their ids."
            )
    if words is None:
        return None, options.names
    try:
        return label_numbers(words, options.names)
    except DataError as error:
        raise error.at(path) from error
