"""Names for class folders and class numbers, read from a file.

It may be ``ClassId,SignName`` as CSV, ``n01440764 tench`` as text, a list, or JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from robgui.core.dataset.formats.delimited.rows import read_rows
from robgui.core.dataset.limits import Member, open_text, read_json
from robgui.core.errors import DataError

_SUFFIXES = (".csv", ".tsv", ".txt", ".json")
#: Common names of such files, the likeliest first; other text files are tried after them.
_LIKELY = re.compile(
    r"(class|label|sign|synset|categor|meta)s?.*(name|map|word|title)|names|classes|labels"
)
#: How many files are tried, and the largest size of one.
_LOOKED_INTO = 12
_LARGEST = 4 * 2**20
_MOST_ROWS = 100_000


def candidates(names: Iterable[str]) -> list[str]:
    """The files of a folder that may hold class names, the likeliest first."""
    texts = [name for name in names if name.casefold().endswith(_SUFFIXES)]
    # A stable sort: among equally likely files the order of the listing stays.
    texts.sort(key=lambda name: not is_likely(name))
    return texts[:_LOOKED_INTO]


def is_likely(name: str) -> bool:
    """Whether a file has a name that class-name files commonly have."""
    return _LIKELY.search(name.casefold()) is not None


def names_in(path: Path | Member, classes: Sequence[str]) -> tuple[str, ...] | None:
    """The name of each of ``classes`` (folder names, or numbers as text), in order.

    None unless the file names each of them, and all differently.

    Raises:
        DataError: The file cannot be read.
    """
    rows = _rows(path)
    wanted = [_key(name) for name in classes]
    for place in range(max(map(len, rows), default=0)):
        # Reversed, so that the first row with a key wins.
        known = {_key(row[place]): row for row in reversed(rows) if len(row) > place}
        if not all(key in known for key in wanted):
            continue
        found = [known[key] for key in wanted]
        for other in _likely_columns(rows, place):
            if all(len(row) > other for row in found):
                names = tuple(row[other].strip() for row in found)
                # Columns of sizes or counts differ from row to row too, but name nothing.
                if all(names) and len(set(names)) == len(names) and not _all_numbers(names):
                    return names
    return None


def _likely_columns(rows: list[list[str]], key: int) -> list[int]:
    """The other columns, those with "name" in their heading first."""
    others = [place for place in range(max(map(len, rows))) if place != key]
    head = rows[0]
    return sorted(
        others, key=lambda place: place >= len(head) or "name" not in head[place].casefold()
    )


def _key(name: str) -> str:
    """A class as it is looked up: ``00007``, ``7`` and ``class_7`` are the same."""
    word = name.strip().casefold()
    number = re.fullmatch(r"(?:class|label|c)?[-_ ]?0*(\d{1,9})", word)
    if number:
        return number[1]
    return word


def _all_numbers(names: Iterable[str]) -> bool:
    return all(re.fullmatch(r"[-+.\d]+", name) for name in names)


def _rows(path: Path | Member) -> list[list[str]]:
    kind = path.suffix.casefold()
    if kind == ".json":
        return _from_json(read_json(path))
    if kind in (".csv", ".tsv"):
        table = read_rows(path)
        rows = [row for _, row in table.rows][:_MOST_ROWS]
        if table.named:
            return [table.header, *rows]
        return rows
    with open_text(path, _LARGEST) as stream:
        lines = [line.strip() for line in stream.read().splitlines() if line.strip()]
    pairs = [re.split(r"\s*[\t:,;=]\s*|\s+", line, maxsplit=1) for line in lines[:_MOST_ROWS]]
    if all(len(pair) == 2 for pair in pairs):
        # Two words per line may also be one name each, such as "traffic light": both readings are
        # offered.
        return [*pairs, *_numbered(lines)]
    return _numbered(lines)


def _numbered(names: Sequence[str]) -> list[list[str]]:
    """A plain list of names: the first is class 0."""
    return [[str(number), name] for number, name in enumerate(names)]


def _from_json(document: object) -> list[list[str]]:
    if isinstance(document, list) and all(isinstance(name, str) for name in document):
        return _numbered([str(name) for name in document])
    if not isinstance(document, dict):
        return []
    rows = []
    for key, value in document.items():
        if isinstance(value, list):
            parts = value
        else:
            parts = [value]
        if not all(isinstance(part, str | int) for part in parts):
            return []
        rows.append([key, *map(str, parts)])
    # Both ways round: {"0": "cat"} and {"cat": 0} are equally common.
    return [*rows, *([row[1], row[0]] for row in rows if len(row) == 2)]


def names_of(path: str, classes: Sequence[str]) -> tuple[str, ...]:
    """Like ``names_in``, for a file the user chose.

    Raises:
        DataError: It does not name the classes.
    """
    found = names_in(Path(path), classes)
    if found is None:
        raise DataError(
            f"{path}: the file does not give each class a name of its own; the classes are:"
            f" {', '.join(classes[:10])}."
        )
    return found
