"""The numbers of a view: as CSV for a spreadsheet, as arrays for an NPZ file."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from robgui.core.view import Bars, Boxes, Curves, Film, Images, Matrix, Table, Tree, View

Rows = Iterator[Sequence[Any]]


def to_csv(view: View) -> str:
    """The view as CSV: titles with units, then the numbers as they are; nan is an empty cell."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    for row in _rows(view):
        writer.writerow([_cell(value) for value in row])
    return buffer.getvalue()


def to_arrays(view: View) -> dict[str, np.ndarray]:
    """The arrays of a view by name."""
    if isinstance(view, Film):
        made: dict[str, np.ndarray] = {}
        for place, frame in enumerate(view.frames):
            parts = to_arrays(frame).items()
            made |= {f"frame_{place:04d}/{name}": array for name, array in parts}
        return made
    return {name: np.asarray(array) for name, array in _arrays(view)}


def _cell(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        if math.isfinite(value):
            # All digits: a spreadsheet can round, but nothing can bring digits back.
            return repr(float(value))
        return ""
    if value is None:
        return ""
    return value


def _rows(view: View) -> Rows:
    match view:
        case Curves():
            return _curve_rows(view)
        case Matrix():
            return _matrix_rows(view)
        case Boxes():
            return _box_rows(view)
        case Bars():
            return _bar_rows(view)
        case Images():
            return _image_rows(view)
        case Table():
            return _table_rows(view)
        case Tree():
            return _tree_rows(view)
    return _film_rows(view)


def _curve_rows(view: Curves) -> Rows:
    """One column per line where all stand over the same points, else one row per point."""
    if any(line.x is not None for line in view.lines):
        yield ["line", view.x.title, view.y.title, "low", "high"]
        for line in view.lines:
            empty = np.full(line.y.shape, np.nan)
            low, high = (empty if band is None else band for band in (line.low, line.high))
            x = view.at if line.x is None else line.x
            yield from ([line.name, *numbers] for numbers in zip(x, line.y, low, high, strict=True))
        return
    columns = [column for line in view.lines for column in _line_columns(line)]
    yield [view.x.title, *(name for name, _ in columns)]
    yield from zip(view.at, *(values for _, values in columns), strict=True)


def _line_columns(line: Any) -> list[tuple[str, np.ndarray]]:
    return [(line.name, line.y), *_ends(line)]


def _ends(thing: Any) -> list[tuple[str, np.ndarray]]:
    """The two ends of a band or of error bars; none without."""
    if thing.low is None or thing.high is None:
        return []
    return [(f"{thing.name} (low)", thing.low), (f"{thing.name} (high)", thing.high)]


def _matrix_rows(view: Matrix) -> Rows:
    """The rows from the highest to the lowest; with classes one line per cell."""
    rows, columns = _names(view)
    if view.classes is None:
        yield [f"{view.y.title} \\ {view.x.title}", *columns]
        # As in the picture, whose rows rise from the bottom.
        for place in reversed(range(len(rows))):
            yield [rows[place], *view.values[place]]
        return
    if view.guessed is None:
        extra = []
    else:
        extra = ["computed"]
    yield [view.x.title, view.y.title, view.scale.title, "class", *extra]
    for (row, column), value in np.ndenumerate(view.values):
        number = int(view.classes[row, column])
        named = 0 <= number < len(view.class_names)
        name = view.class_names[number] if named else number
        if view.guessed is None:
            computed = []
        else:
            computed = [int(not view.guessed[row, column])]
        yield [columns[column], rows[row], value, name, *computed]


def _names(view: Matrix) -> tuple[Sequence[Any], Sequence[Any]]:
    """What rows and columns are called: by name, or by the middle of their cells."""
    x, y, width, height = view.rect
    rows, columns = view.values.shape
    across = view.columns or tuple(x + width * (np.arange(columns) + 0.5) / max(columns, 1))
    return view.rows or tuple(y + height * (np.arange(rows) + 0.5) / max(rows, 1)), across


def _box_rows(view: Boxes) -> Rows:
    x, y = view.x.title, view.y.title
    yield ["name", f"{x} from", f"{x} to", f"{y} from", f"{y} to"]
    for box in view.boxes:
        yield [box.name, box.x, box.x + box.width, box.y, box.y + box.height]
    for spot in view.spots:
        yield [spot.name, spot.x, spot.x, spot.y, spot.y]


def _bar_rows(view: Bars) -> Rows:
    columns = [column for row in view.series for column in _series_columns(row)]
    titles = [name for name, _ in columns]
    values = [array for _, array in columns]
    if view.edges is not None:
        yield [f"{view.x.title} from", f"{view.x.title} to", *titles]
        yield from zip(view.edges[:-1], view.edges[1:], *values, strict=True)
        return
    yield [view.x.title or "name", *titles]
    yield from zip(view.names, *values, strict=True)


def _series_columns(row: Any) -> list[tuple[str, np.ndarray]]:
    return [(row.name, row.values), *_ends(row)]


def _image_rows(view: Images) -> Rows:
    yield ["caption", "words", "right", "width", "height"]
    for picture in view.pictures:
        right = {True: "yes", False: "no", None: ""}[picture.right]
        height, width = picture.pixels.shape[:2]
        yield [picture.caption, picture.chip, right, width, height]


def _table_rows(view: Table) -> Rows:
    yield [column.title for column in view.columns]
    yield from zip(*(column.cells for column in view.columns), strict=True)


def _tree_rows(view: Tree) -> Rows:
    yield ["node", "parent", "name", view.size.title, view.scale.title, "on the best line"]
    for node, name in enumerate(view.names):
        best = "yes" if node in view.path else "no"
        yield [node, int(view.parent[node]), name, view.weight[node], view.value[node], best]


def _film_rows(view: Film) -> Rows:
    for place, (frame, step) in enumerate(zip(view.frames, view.steps, strict=True)):
        titles, *rows = _rows(frame)
        if not place:
            yield ["step", *titles]
        yield from ([step, *row] for row in rows)


def _arrays(view: Any) -> Iterable[tuple[str, Any]]:
    match view:
        case Curves():
            yield "at", view.at
            for line in view.lines:
                parts = {"": line.y, " x": line.x, " low": line.low, " high": line.high}
                known = {ending: array for ending, array in parts.items() if array is not None}
                yield from ((f"{line.name}{ending}", array) for ending, array in known.items())
        case Matrix():
            yield from (("values", view.values), ("place", view.rect))
            yield from [] if view.classes is None else [("classes", view.classes)]
            yield from [] if view.guessed is None else [("guessed", view.guessed)]
        case Boxes():
            corners = [(box.x, box.y, box.width, box.height) for box in view.boxes]
            yield "boxes", np.array(corners).reshape(-1, 4)
            yield "signs", np.array([(spot.x, spot.y) for spot in view.spots]).reshape(-1, 2)
            yield from ((f"behind {name}", array) for name, array in _arrays(view.behind))
        case Bars():
            yield from [] if view.edges is None else [("edges", view.edges)]
            yield from (column for row in view.series for column in _series_columns(row))
        case Images():
            pictures = enumerate(view.pictures)
            yield from ((f"picture_{place:04d}", picture.pixels) for place, picture in pictures)
        case Table():
            yield from ((column.title, _column(column.cells)) for column in view.columns)
        case Tree():
            yield from (("parent", view.parent), ("path", view.path))
            yield from (("weight", view.weight), ("value", view.value))


def _column(cells: Sequence[Any]) -> np.ndarray:
    """Numbers as numbers, everything else as text; never objects, which only pickle could store."""
    if all(cell is None or isinstance(cell, int | float) for cell in cells):
        return np.array([math.nan if cell is None else float(cell) for cell in cells])
    return np.array(["" if cell is None else str(cell) for cell in cells], dtype=str)
