"""JSON documents: tracks with their points, or flat records grouped by an id column."""

from __future__ import annotations

import math
from itertools import chain
from pathlib import Path
from types import NoneType

import numpy as np

from robgui.core.dataset.arrays import Tracks
from robgui.core.dataset.dataset import Dataset
from robgui.core.dataset.formats.delimited.grid import dataset_of
from robgui.core.dataset.formats.delimited.reading import LARGEST_NUMBER, Grid, text_columns
from robgui.core.dataset.formats.delimited.rows import LARGEST_COLUMNS, LARGEST_ROWS
from robgui.core.dataset.formats.delimited.trajectories import track_labels
from robgui.core.dataset.labels import LABEL_COLUMNS
from robgui.core.dataset.limits import LARGEST_ARRAY, read_json
from robgui.core.dataset.options import Options
from robgui.core.dataset.source import Skips
from robgui.core.errors import DataError

_POINTS = (
    "points",
    "track",
    "positions",
    "trajectory",
    "path",
    "coordinates",
    "sequence",
    "values",
)
_KEYS = ("id", "name", "key", "track_id", "flight", "icao24")
_LISTS = ("tracks", "trajectories", "sequences", "data", "records", "items")


def open_json(path: Path, options: Options) -> Dataset:
    """Opens a JSON file: a list of tracks, or a list of flat records."""
    document = read_json(path)
    features = options.features
    if isinstance(document, dict):
        names = document.get("features", document.get("columns"))
        features = features or (tuple(map(str, names)) if isinstance(names, list) else ())
        document = next(
            (document[name] for name in _LISTS if isinstance(document.get(name), list)), None
        )
    if not isinstance(document, list) or not document:
        raise DataError(
            f'{path}: this JSON file holds no list of tracks; write for example [{{"points": [[0,'
            ' 1], [2, 3]], "label": "a"}].'
        )
    if len(document) > LARGEST_ROWS:
        raise DataError(
            f"{path}: the file has more than {LARGEST_ROWS:,} records; use NPZ for such data."
        )
    if all(isinstance(item, dict) for item in document) and _points_name(document) is None:
        return dataset_of(_grid(document, path, options), options)
    return _tracks(document, tuple(features), path, options)


def _points_name(document: list[dict[str, object]]) -> str | None:
    keys: set[str] = set().union(*document)
    return next(
        (
            name
            for name in _POINTS
            if name in keys and any(isinstance(item.get(name), list) for item in document)
        ),
        None,
    )


def _grid(records: list[dict[str, object]], path: Path, options: Options) -> Grid:
    """Flat records; a key is a numeric column if every value is a number, true, false or null."""
    # In the order in which they first occur.
    keys = list(dict.fromkeys(chain.from_iterable(records)))
    # Records with a key each would make a square table of a small file.
    if len(keys) > LARGEST_COLUMNS or len(keys) * len(records) * 8 > LARGEST_ARRAY:
        raise DataError(
            f"{path}: the records have {len(keys):,} different keys; a table needs the same few in"
            " each."
        )
    types = {key: {type(record.get(key)) for record in records} for key in keys}
    columns = [
        key
        for key in keys
        if types[key] <= {int, float, bool, NoneType} and types[key] != {NoneType}
    ]
    words = [
        key for key in keys if key in columns or types[key] <= {str, int, float, bool, NoneType}
    ]
    values = np.empty((len(records), len(columns)))
    for place, column in enumerate(columns):
        values[:, place] = [_number(record.get(column)) for record in records]
    kept = [
        words[place] for place in text_columns(words, [key in columns for key in words], options)
    ]
    texts = {key: [_text(record.get(key)) for record in records] for key in kept}
    left_out = [key for key in keys if key not in columns and key not in kept]
    if left_out:
        notes = [f"Columns left out because they are not numbers: {', '.join(left_out[:50])}."]
    else:
        notes = []
    return Grid(path, columns, values, texts, np.arange(len(records)), notes)


def _number(value: object) -> float:
    """A number that a float32 can hold, NaN for anything else."""
    # JSON has no bound on integers, and a huge one does not convert to a float.
    if isinstance(value, int | float) and abs(value) < LARGEST_NUMBER:
        return float(value)
    return math.nan


def _text(value: object) -> str:
    if value is None:
        return ""
    return str(value)


def _tracks(
    document: list[object], features: tuple[str, ...], path: Path, options: Options
) -> Dataset:
    skips = Skips()
    points: list[np.ndarray] = []
    keys: list[str] = []
    words: list[object] = []
    for place, item in enumerate(document):
        if isinstance(item, dict):
            record = item
        else:
            record = {}
        name = next((name for name in _POINTS if isinstance(record.get(name), list)), None)
        key = _text(
            next(
                (record[key] for key in _KEYS if isinstance(record.get(key), str | int)),
                f"track {place}",
            )
        )
        found, columns = _points(record[name] if name else item)
        # The first track that can be read sets the number of columns.
        if found is None or (points and found.shape[1] != points[0].shape[1]):
            skips.add(key, "its points are not rows of finite numbers, all of one length")
            continue
        features = features or columns
        points.append(found)
        keys.append(key)
        words.append(
            next(
                (record[label] for label in (options.label, *LABEL_COLUMNS) if label in record),
                None,
            )
        )
    if not points:
        raise DataError(
            f"{path}: no track can be read; its points must be rows of numbers such as [[0, 1], [2,"
            " 3]]."
        )
    return _dataset(points, keys, words, features, path, options, skips)


def _points(value: object) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """The points of one track ``(t, f)`` and their column names, if named.

    None if they are not points.
    """
    if not isinstance(value, list) or not value:
        return None, ()
    if isinstance(value[0], dict):
        columns = tuple(key for key, number in value[0].items() if isinstance(number, int | float))
    else:
        columns = ()
    rows = [_row(point, columns) for point in value]
    if not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        return None, ()
    found = np.array(rows, dtype=np.float64)
    if np.isfinite(found).all():
        return (found, columns)
    return (None, ())


def _row(point: object, columns: tuple[str, ...]) -> list[float]:
    """The numbers of one point, NaN for anything else."""
    if isinstance(point, dict):
        return [_number(point.get(column)) for column in columns]
    if isinstance(point, list):
        return [_number(value) for value in point]
    return [_number(point)]


def _dataset(
    points: list[np.ndarray],
    keys: list[str],
    words: list[object],
    features: tuple[str, ...],
    path: Path,
    options: Options,
    skips: Skips,
) -> Dataset:
    width = points[0].shape[1]
    if features and len(features) != width:
        raise DataError(
            f"{path}: {len(features)} columns are named, but a point has {width} numbers."
        )
    names = features or tuple(f"column {place}" for place in range(1, width + 1))
    if any(word is not None for word in words):
        given = words
    else:
        given = None
    labels, classes = track_labels(keys, given, "", options, path)
    starts = np.concatenate([[0], np.cumsum([len(track) for track in points])])
    source = Tracks(np.concatenate(points), starts, keys, names, skips)
    return Dataset(
        source,
        name=path.name,
        path=path,
        labels=labels,
        names=classes,
        features=names,
        options=options.told(),
    )
