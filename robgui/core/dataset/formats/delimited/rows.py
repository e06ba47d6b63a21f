"""CSV files as rows of text; encoding, delimiter and header are detected."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path

from robgui.core.dataset.limits import Member, lines, open_text
from robgui.core.errors import DataError

_DELIMITERS = ",;\t|"
#: Lines from which the delimiter is told; a table need not be read twice for it.
_SAMPLE = 50
#: Most columns of a table; an image of 3 x 128 x 128 as a row still fits.
LARGEST_COLUMNS = 65_536
#: Most rows of a text file; reading them takes about half a minute.
LARGEST_ROWS = 5_000_000


@dataclass(frozen=True, slots=True)
class Rows:
    """The header and the rows of a CSV file, each with the number of its line."""

    header: list[str]
    rows: Iterator[tuple[int, list[str]]]
    delimiter: str
    named: bool


@contextmanager
def open_rows(path: Path | Member) -> Iterator[Rows]:
    """Opens a CSV file; the rows come one by one.

    A first line of numbers, or of numbers and a known word, is not a header.
    """
    with open_text(path) as stream:
        numbered = enumerate(lines(stream, path), 1)
        sample = [(number, line) for number, line in islice(numbered, _SAMPLE)]
        delimiter = _delimiter([line for _, line in sample])
        rows = _parsed(chain(sample, numbered), delimiter, path)
        number, first = next(rows, (0, []))
        if not first:
            raise DataError(f"{path}: the file is empty; a table needs a header and rows.")
        if len(first) > LARGEST_COLUMNS:
            raise DataError(
                f"{path}: the table has {len(first):,} columns, more than {LARGEST_COLUMNS:,}; use"
                " NPZ for such data."
            )
        named = not _is_data(first, _below(sample, delimiter))
        if named:
            header = _unique(first)
        else:
            header = [f"column {place}" for place in range(1, len(first) + 1)]
        yield Rows(header, rows if named else chain([(number, first)], rows), delimiter, named)


def read_rows(path: Path | Member) -> Rows:
    """All rows at once, for small files."""
    with open_rows(path) as table:
        return Rows(table.header, iter(list(table.rows)), table.delimiter, table.named)


def parse_number(cell: str, comma: bool = False) -> float:
    """The number in a cell; with ``comma`` also "1,5". ValueError if there is none."""
    return float(
        cell.replace(",", ".") if comma and cell.count(",") == 1 and "." not in cell else cell
    )


def _parsed(
    numbered: Iterator[tuple[int, str]], delimiter: str, path: object
) -> Iterator[tuple[int, list[str]]]:
    """Rows with the line they end on; empty lines are left out."""
    place = 0

    def text() -> Iterator[str]:
        nonlocal place
        for number, line in numbered:
            place = number
            yield line

    try:
        # ``place`` follows the generator: a quoted cell may run over several lines.
        for row in csv.reader(text(), delimiter=delimiter, skipinitialspace=True):
            if place > LARGEST_ROWS:
                raise DataError(
                    f"{path}: the table has more than {LARGEST_ROWS:,} rows; use NPZ for such data."
                )
            if row and (len(row) > 1 or row[0].strip()):
                yield place, row
    except csv.Error as error:
        raise DataError(
            f"{path}: line {place:,} cannot be read as CSV ({error}); correct the file."
        ) from error


def _delimiter(sample: list[str]) -> str:
    """The delimiter that gives the most columns in the most lines that agree with the first."""

    def score(delimiter: str) -> tuple[int, int]:
        try:
            counts = [
                len(row)
                for row in csv.reader(sample, delimiter=delimiter, skipinitialspace=True)
                if row
            ]
        except csv.Error:
            return (0, 0)
        if counts and counts[0] > 1:
            agree = sum(count == counts[0] for count in counts)
        else:
            agree = 0
        return (agree, counts[0] if counts else 0)

    # On a tie ``max`` keeps the first, so a single column counts as comma-separated.
    return max(_DELIMITERS, key=score)


def _is_data(first: list[str], below: list[list[str]]) -> bool:
    """Whether the first line is data and not a header.

    A table without a header whose last column is the class name begins with numbers and a word that
    comes again below; a header has a distinct word over every column of numbers.
    """
    numbers = [_is_number(cell) for cell in first]
    if all(numbers):
        return True
    fitting = [row for row in below if len(row) == len(first)]
    words = [place for place, number in enumerate(numbers) if not number]
    headed = any(all(_is_number(row[place]) for row in fitting) for place in words)
    again = any(
        first[place].strip() and first[place] in {row[place] for row in fitting} for place in words
    )
    return any(numbers) and bool(fitting) and not headed and again


def _below(sample: list[tuple[int, str]], delimiter: str) -> list[list[str]]:
    """The first rows under the first line."""
    try:
        rows = [
            row
            for row in csv.reader(
                [line for _, line in sample], delimiter=delimiter, skipinitialspace=True
            )
            if row
        ]
    except csv.Error:  # Reading the rows will report it, with the line.
        return []
    return rows[1:]


def _is_number(cell: str) -> bool:
    try:
        # Decimal commas too: this only tells data from headings.
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _unique(cells: list[str]) -> list[str]:
    """Column names without blanks and repetitions."""
    seen: dict[str, int] = {}
    names = []
    for place, cell in enumerate(cells, 1):
        name = cell.strip() or f"column {place}"
        seen[name] = seen.get(name, 0) + 1
        # Options and queries choose columns by name, so each needs one of its own.
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names
