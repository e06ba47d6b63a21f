"""Tables of numbers from CSV or JSON records, and what they are: rows of a table, or points of
tracks.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

from robgui.core.dataset.arrays import TableRows, Tracks
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.rows import open_rows, parse_number
from robgui.core.dataset.labels import LABEL_COLUMNS, label_numbers, read_label_file
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Skips
from robgui.core.errors import DataError
from robgui.core.text.words import count

ID_COLUMNS = (
    "track_id",
    "trajectory_id",
    "flight_id",
    "sequence_id",
    "series_id",
    "trip_id",
    "icao24",
    "mmsi",
    "id",
    "trajectory",
    "flight",
    "track",
    "sequence",
    "series",
    "trip",
)
_TIME_COLUMNS = ("timestamp", "time", "datetime", "date", "t")
_COUNTERS = ("id", "index", "row", "unnamed: 0", "column 1")
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
#: What a float32 can hold.
LARGEST_NUMBER = 3.4e38
#: Rows from which the type of each column is told.
_SAMPLE = 1000


@dataclass
class Grid:
    """Columns of numbers (NaN where a value is missing) and the few columns of text that may be
    ids or labels.
    """

    path: Path
    columns: list[str]
    values: np.ndarray
    texts: dict[str, list[str]]
    lines: np.ndarray
    notes: list[str] = field(default_factory=list)
    skips: Skips = field(default_factory=Skips)

    def values_of(self, columns: Sequence[str]) -> np.ndarray:
        """The numbers of these columns ``(n, len(columns))``."""
        return self.values[:, [self.columns.index(column) for column in columns]]

    def dataset(self, options: Options) -> Dataset:
        """Tracks if an id column repeats its values, else a table."""
        if not len(self.lines):
            raise DataError(
                f"{self.path}: no row can be read; a table needs a header and rows of numbers."
            )
        track = None if options.kind == "table" else _id_column(self, options)
        if track is None and options.kind == "sequence":
            raise DataError(
                f"{self.path}: no column tells which track a row belongs to; name it with the"
                " option id.",
                option="id=COLUMN",
            )
        return _table(self, options) if track is None else _tracks(self, track, options)


def open_csv(path: Path, options: Options) -> Dataset:
    """Opens a CSV file: a table, or trajectories when a column such as track_id or icao24 groups
    its rows.
    """
    return read_grid(path, options).dataset(options)


def read_grid(path: Path, options: Options) -> Grid:
    """Reads the numbers of a CSV file row by row.

    A row that does not fit is left out and listed.
    """
    skips = Skips()
    with open_rows(path) as table:
        comma = table.delimiter != ","
        fitting = (row for row in table.rows if _fits(row, len(table.header), skips))
        sample = list(islice(fitting, _SAMPLE))
        kinds = [
            _is_numeric([row[place] for _, row in sample], comma)
            for place in range(len(table.header))
        ]
        texts = text_columns(table.header, kinds, options)
        columns = _Columns(
            [place for place, kind in enumerate(kinds) if kind],
            {place: [] for place in texts},
            comma,
            skips,
        )
        for line, row in chain(sample, fitting):
            columns.add(line, row)
    notes = [] if table.named else [f"{path.name} has no header; its columns are numbered."]
    left_out = [
        name for place, name in enumerate(table.header) if not kinds[place] and place not in texts
    ]
    if left_out:
        notes.append(f"Columns left out because they are not numbers: {', '.join(left_out[:50])}.")
    return columns.grid(path, table.header, notes)


@dataclass
class _Columns:
    """What is kept of a CSV file while it is read: the numbers in one flat array, and a few
    texts.
    """

    numeric: list[int]
    texts: dict[int, list[str]]
    comma: bool
    skips: Skips
    cells: array[float] = field(default_factory=lambda: array("d"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    known: dict[str, str] = field(default_factory=dict)

    def add(self, line: int, row: list[str]) -> None:
        values = _numbers([row[place] for place in self.numeric], self.comma)
        if isinstance(values, str):
            self.skips.add(f"row {line}", f"{values[:80]!r} is not a number")
            return
        self.cells.extend(values)
        self.lines.append(line)
        for place, column in self.texts.items():
            column.append(self.known.setdefault(row[place], row[place].strip()))

    def grid(self, path: Path, header: list[str], notes: list[str]) -> Grid:
        values = np.frombuffer(self.cells) if self.cells else np.empty(0)
        values = values.reshape(len(self.lines), len(self.numeric))
        texts = {header[place]: column for place, column in self.texts.items()}
        return Grid(
            path,
            [header[place] for place in self.numeric],
            values,
            texts,
            np.array(self.lines, dtype=np.int64),
            notes,
            self.skips,
        )


def _fits(row: tuple[int, list[str]], columns: int, skips: Skips) -> bool:
    if len(row[1]) != columns:
        skips.add(f"row {row[0]}", f"it has {count(len(row[1]), 'cell')}, the header has {columns}")
    return len(row[1]) == columns


def _is_numeric(cells: Iterable[str], comma: bool) -> bool:
    present = [cell for cell in cells if cell.strip().casefold() not in _MISSING]
    good = sum(not isinstance(_numbers([cell], comma), str) for cell in present)
    return good > 0 and good >= 0.9 * len(present)


def _numbers(cells: Sequence[str], comma: bool) -> list[float] | str:
    """The numbers in the cells, NaN for a missing one; or the first cell that is neither."""
    try:
        values = list(map(float, cells))
    except ValueError:
        values = []
        for cell in cells:
            try:
                values.append(
                    math.nan if cell.strip().casefold() in _MISSING else parse_number(cell, comma)
                )
            except ValueError:
                return cell
    return next(
        (cell for cell, value in zip(cells, values, strict=True) if abs(value) > LARGEST_NUMBER),
        values,
    )


def text_columns(header: Sequence[str], kinds: Sequence[bool], options: Options) -> list[int]:
    """Columns whose text is kept: what may be the id or the label."""
    wanted = {options.label.casefold(), options.id.casefold(), *LABEL_COLUMNS, *ID_COLUMNS} - {""}
    words = [place for place, kind in enumerate(kinds) if not kind]
    return sorted(
        {place for place, name in enumerate(header) if name.casefold() in wanted} | set(words[-1:])
    )


def _named(names: Iterable[str], wanted: Sequence[str]) -> list[str]:
    """The names that are among ``wanted``, in the order of ``wanted``."""
    lower = {name.casefold(): name for name in names}
    return [lower[name] for name in wanted if name in lower]


def _must_exist(column: str, grid: Grid) -> str:
    names = [*grid.texts, *grid.columns]
    found = _named(names, [column.casefold()])
    if not found:
        raise DataError(
            f"{grid.path}: there is no column {column!r}; the columns are: {', '.join(names[:50])}."
        )
    return found[0]


def _id_column(grid: Grid, options: Options) -> str | None:
    if options.id:
        return _must_exist(options.id, grid)
    for name in _named(grid.texts, ID_COLUMNS):
        fractions = name in grid.columns and (grid.values_of([name]) % 1 != 0).any()
        if (
            not fractions
            and 2 * len(set(grid.texts[name])) <= len(grid.lines)
            and any(grid.texts[name])
        ):
            return name
    return None


def _table(grid: Grid, options: Options) -> Dataset:
    label = _label_column(grid, options)
    columns = (
        [name for name in grid.columns if name != label]
        if not options.features
        else _chosen(grid, options)
    )
    if not options.features:
        columns = _without_counter(_filled(columns, grid), grid)
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
    labels, names = (
        _labels([grid.texts[label][row] for row in keep], options, grid.path)
        if label
        else (None, options.names)
    )
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
        return _must_exist(options.label, grid)
    named = _named(grid.texts, LABEL_COLUMNS)
    words = [name for name in grid.texts if name not in grid.columns]
    if named or words:
        return (named or words[::-1])[0]
    return _last_column(grid) if not options.features else None


def _last_column(grid: Grid) -> str | None:
    """The last column if it counts classes: few whole numbers from 0 or 1 on without a gap."""
    if len(grid.columns) < 2:
        return None
    values = np.unique(grid.values[:, -1])
    if (
        not 2 <= len(values) <= min(20, len(grid.lines) // 2)
        or values[0] not in (0, 1)
        or not (np.diff(values) == 1).all()
    ):
        return None
    name = grid.columns[-1]
    grid.texts[name] = [str(int(value)) for value in grid.values[:, -1]]
    grid.notes.append(f"The last column, {name}, is taken for the label.")
    return name


def _chosen(grid: Grid, options: Options) -> list[str]:
    for name in options.features:
        if name not in grid.columns:
            raise DataError(
                f"{grid.path}: there is no column of numbers {name!r}; there are:"
                f" {', '.join(grid.columns[:50])}."
            )
    return list(options.features)


def _filled(columns: Sequence[str], grid: Grid) -> list[str]:
    """The columns that hold a value in at least half of the rows."""
    empty = [name for name in columns if np.isnan(grid.values_of([name])).mean() > 0.5]
    if empty:
        grid.notes.append(
            f"Columns left out because most values are missing: {', '.join(empty[:50])}."
        )
    return [name for name in columns if name not in empty]


def _without_counter(columns: list[str], grid: Grid) -> list[str]:
    """Leaves out a first column that only counts the rows."""
    if (
        len(columns) < 2
        or columns[0].casefold() not in _COUNTERS
        or (np.diff(grid.values_of(columns[:1])[:, 0]) != 1).any()
    ):
        return columns
    grid.notes.append(f"The column {columns[0]} only counts the rows and is left out.")
    return columns[1:]


def _tracks(grid: Grid, track: str, options: Options) -> Dataset:
    times = [name for name in _named(grid.columns, _TIME_COLUMNS) if name != track]
    label = _track_label(grid, track, options)
    if options.features:
        columns = _chosen(grid, options)
    else:
        columns = _filled(
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
    groups = np.array([firsts.setdefault(name, len(firsts)) for name in ids], dtype=np.int64)
    time = grid.values_of(times[:1])[:, 0] if times else np.zeros(len(groups))
    order = np.lexsort((np.arange(len(groups)), time, groups))
    order = order[good[order]]
    present, starts = np.unique(groups[order], return_index=True)
    keys = [list(firsts)[group] for group in present]
    words = (
        None
        if label is None or options.labels
        else [grid.texts[label][row] for row in order[starts]]
    )
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
    return (
        grid.texts[track]
        if track in grid.texts
        else [f"{value:g}" for value in grid.values_of([track])[:, 0]]
    )


def _track_label(grid: Grid, track: str, options: Options) -> str | None:
    """The column that holds the label of a track: named so, and the same on the whole track."""
    if options.label and not options.labels:
        return _must_exist(options.label, grid)
    for name in _named(grid.texts, [name for name in LABEL_COLUMNS if name != "y"]):
        pairs = set(zip(_ids(grid, track), grid.texts[name], strict=True))
        if name != track and len(pairs) == len(set(_ids(grid, track))):
            return name
    return None


def track_labels(
    keys: Sequence[str], words: Sequence[object] | None, track: str, options: Options, path: Path
) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Labels of tracks: from the labels file of the options, or else the words that came with
    them.
    """
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
