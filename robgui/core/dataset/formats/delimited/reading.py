"""Cells of text -> a Grid: columns of numbers, and columns of text that may be ids or labels."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path

import numpy as np

from robgui.core.dataset.formats.delimited.rows import open_rows, parse_number
from robgui.core.dataset.labels import LABEL_COLUMNS
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Skips
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
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
#: Largest number that fits a float32.
LARGEST_NUMBER = 3.4e38
#: Rows examined to determine each column's type.
_SAMPLE = 1000


@dataclass
class Grid:
    """Columns of numbers (NaN if missing) and the few text columns that may be ids or labels."""

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


def read_grid(path: Path, options: Options) -> Grid:
    """Reads the numbers of a CSV file row by row.

    A malformed row is left out and listed.
    """
    skips = Skips()
    with open_rows(path) as table:
        # A file with other delimiters may come from a locale that writes decimals with a comma.
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
    if table.named:
        notes = []
    else:
        notes = [f"{path.name} has no header; its columns are numbered."]
    left_out = [
        name for place, name in enumerate(table.header) if not kinds[place] and place not in texts
    ]
    if left_out:
        notes.append(f"Columns left out because they are not numbers: {', '.join(left_out[:50])}.")
    return columns.grid(path, table.header, notes)


@dataclass
class _Columns:
    """What is kept of a CSV file while reading: numbers in one flat array, and a few texts."""

    numeric: list[int]
    texts: dict[int, list[str]]
    comma: bool
    skips: Skips
    # Eight bytes a number, where a list of floats takes 32.
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
            # Interned: millions of rows share a few labels.
            column.append(self.known.setdefault(row[place], row[place].strip()))

    def grid(self, path: Path, header: list[str], notes: list[str]) -> Grid:
        if self.cells:
            values = np.frombuffer(self.cells)
        else:
            values = np.empty(0)
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
    # One typo must not make words of a column of numbers; the row with it is left out.
    return good > 0 and good >= 0.9 * len(present)


def _numbers(cells: Sequence[str], comma: bool) -> list[float] | str:
    """The numbers in the cells, NaN for a missing one; or the first cell that is neither."""
    try:
        # The fast way first: most rows hold nothing but plain numbers.
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
        # Also catches "inf", which ``float`` accepts; NaN compares false and passes as missing.
        (cell for cell, value in zip(cells, values, strict=True) if abs(value) > LARGEST_NUMBER),
        values,
    )


def text_columns(header: Sequence[str], kinds: Sequence[bool], options: Options) -> list[int]:
    """Columns whose text is kept: what may be the id or the label."""
    wanted = {options.label.casefold(), options.id.casefold(), *LABEL_COLUMNS, *ID_COLUMNS} - {""}
    words = [place for place, kind in enumerate(kinds) if not kind]
    return sorted(
        # Not every column of words: free text would be kept in memory for nothing.
        {place for place, name in enumerate(header) if name.casefold() in wanted} | set(words[-1:])
    )
