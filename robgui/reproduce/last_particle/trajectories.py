"""Aircraft trajectories from ADS-B records, as the paper's Section 4 uses them.

Pieces of flight in 72 numbers each.

A folder holds ``NAME.json.gz`` (flat records: icao24, timestamp in ms, groundspeed in knots, track
in degrees, vertical_rate in feet per minute) and ``NAME_aircraft_types.csv`` (icao24 and ICAO type
designators).
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robgui.core.dataset.limits import read_json
from robgui.core.errors import DataError
from robgui.core.regular import read_regular

#: Kinematic series along a trajectory; the paper has nine, "among them speed, acceleration,
#: curvature and torsion in 2 or 3 dimensions".
SERIES = (
    *("ground speed", "speed", "vertical speed", "ground acceleration", "acceleration"),
    *("turn rate", "ground curvature", "curvature", "torsion"),
)
#: Statistics of a series; the paper: smallest and largest value, first four moments, quantiles.
STATISTICS = (
    "lowest",
    "highest",
    "mean",
    "deviation",
    "skewness",
    "kurtosis",
    "lower quartile",
    "upper quartile",
)
FEATURES = tuple(f"{statistic} of {series}" for series in SERIES for statistic in STATISTICS)
# Three classes by range, where the paper's six go by kind, size and
# engines: records name the type only.
NAMES = ("business or small", "long-haul", "short-haul")
#: ICAO designators begin so; whatever has a type and is neither is a business jet or smaller.
_LONG_HAUL = ("A30", "A31", "A33", "A34", "A35", "A38", "B74", "B76", "B77", "B78", "MD11")
_SHORT_HAUL = (
    "A20N",
    "A21N",
    "A318",
    "A319",
    "A320",
    "A321",
    "B73",
    "B38M",
    "B39M",
    "B75",
    "BCS",
    "E17",
    "E19",
    "E75",
    "F100",
    "MD8",
)
#: Seconds between points, points of a piece, and the longest gap that still joins two points, in
#: seconds.
STEP = 10
POINTS = 30
_GAP = 15
# In metres per second: 1852 / 3600 and 0.3048 / 60.
_KNOT, _FOOT_PER_MINUTE = 0.514444, 0.00508
_LARGEST_LIST = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Trajectories:
    """Pieces of flight.

    Attributes:
        features: ``(n, 72)`` in their own units, columns as in FEATURES.
        labels: ``(n,)`` places in NAMES.
        airframes: n ICAO addresses; pieces of one airframe are alike, so a split goes by them.
    """

    features: np.ndarray
    labels: np.ndarray
    airframes: tuple[str, ...]


def read_trajectories(folder: Path) -> Trajectories:
    """Reads every pair of records and types in ``folder``.

    Raises:
        DataError: There is none, or nothing in them can be used; the sentence names the file.
    """
    if folder.is_dir():
        files = sorted(folder.glob("*.json.gz"))
    else:
        files = []
    pairs = [
        (file, folder / f"{file.name.removesuffix('.json.gz')}_aircraft_types.csv")
        for file in files
    ]
    pairs = [(file, types) for file, types in pairs if types.is_file()]
    if not pairs:
        raise DataError(
            f"{folder}: there are no ADS-B records here; they are NAME.json.gz with"
            " NAME_aircraft_types.csv beside it."
        )
    features, labels, airframes = [], [], []
    for file, types in pairs:
        classes = _classes(types)
        for airframe, points in _tracks(file):
            if airframe in classes:
                for piece in _pieces(points):
                    features.append(describe(piece))
                    labels.append(classes[airframe])
                    airframes.append(airframe)
    if not features:
        raise DataError(
            f"{folder}: no trajectory has {POINTS} points in a row and a known aircraft type."
        )
    return Trajectories(np.array(features), np.array(labels), tuple(airframes))


def _classes(path: Path) -> dict[str, int]:
    """Airframe -> class; airframes without a type are left out."""
    try:
        content = read_regular(path, _LARGEST_LIST).decode()
        rows = list(csv.DictReader(io.StringIO(content)))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: the list of aircraft types cannot be read ({error}).") from error
    known = {}
    for row in rows:
        types = [
            value
            for name, value in row.items()
            if name and "type" in name and isinstance(value, str) and value
        ]
        if types and row.get("icao24"):
            known[str(row["icao24"])] = kind_of_aircraft(types[-1])
    return known


def kind_of_aircraft(designator: str) -> int:
    """The place in NAMES of an ICAO type designator."""
    if designator.startswith(_LONG_HAUL):
        return NAMES.index("long-haul")
    return NAMES.index("short-haul" if designator.startswith(_SHORT_HAUL) else "business or small")


def _tracks(path: Path) -> Iterator[tuple[str, np.ndarray]]:
    """Airframe and its points ``(t, 4)``.

    Seconds, ground speed, track in radians, vertical speed, in metres and seconds.
    """
    document: Any = read_json(path)
    if not isinstance(document, list) or not all(isinstance(record, dict) for record in document):
        raise DataError(f"{path}: this is no list of ADS-B records.")
    found: dict[str, list[tuple[float, ...]]] = {}
    for record in document:
        values = [
            record.get(name) for name in ("timestamp", "groundspeed", "track", "vertical_rate")
        ]
        # Missing fields and nan are left out, and with them the whole record.
        numbers = [
            float(value) for value in values if isinstance(value, int | float) and abs(value) < 1e15
        ]
        if len(numbers) == len(values) and isinstance(record.get("icao24"), str):
            found.setdefault(record["icao24"], []).append(tuple(numbers))
    for airframe, rows in found.items():
        # By time, the first column: gaps and interpolation rely on it.
        points = np.array(sorted(rows))
        yield airframe, points * (1e-3, _KNOT, np.pi / 180, _FOOT_PER_MINUTE)


def _pieces(points: np.ndarray) -> Iterator[np.ndarray]:
    """Pieces ``(POINTS, 4)`` without a gap, one point every STEP seconds."""
    # Across a longer gap a straight line would invent a flight.
    for part in np.split(points, np.flatnonzero(np.diff(points[:, 0]) > _GAP) + 1):
        times = np.arange(part[0, 0], part[-1, 0] + 1e-6, STEP)
        unwrapped = part.copy()
        # From 359 to 1 degree is a turn of 2, not of -358, also between interpolated points.
        unwrapped[:, 2] = np.unwrap(part[:, 2])
        rows = np.column_stack(
            [times, *(np.interp(times, part[:, 0], unwrapped[:, column]) for column in (1, 2, 3))]
        )
        # Without overlap: pieces that share points would count twice.
        for start in range(0, len(rows) - POINTS + 1, POINTS):
            yield rows[start : start + POINTS]


def describe(piece: np.ndarray) -> np.ndarray:
    """The 72 numbers of a piece ``(t, 4)``: eight statistics of each series."""
    series = np.stack(_series(piece))
    mean, deviation = series.mean(1), series.std(1)
    # Standardised, so skewness and kurtosis have no unit; a constant series gives 0.
    normal = (series - mean[:, None]) / np.maximum(deviation, 1e-9)[:, None]
    columns = (
        *(series.min(1), series.max(1), mean, deviation, (normal**3).mean(1), (normal**4).mean(1)),
        *np.quantile(series, (0.25, 0.75), axis=1),
    )
    return np.stack(columns, 1).ravel()


def _series(piece: np.ndarray) -> list[np.ndarray]:
    """The nine kinematic series of a piece, in the order of SERIES."""
    seconds, ground, track, vertical = piece.T
    velocity = np.stack([ground * np.sin(track), ground * np.cos(track), vertical])
    acceleration = np.gradient(velocity, seconds, axis=1)
    jerk = np.gradient(acceleration, seconds, axis=1)
    speed = np.linalg.norm(velocity, axis=0)
    turning = np.cross(velocity, acceleration, axis=0)
    turned = np.linalg.norm(turning, axis=0)
    rate = np.gradient(track, seconds)
    # τ = (v × a)·j / |v × a|²; the floor keeps straight flight, where both vanish, finite.
    torsion = (turning * jerk).sum(0) / np.maximum(turned, 1e-3) ** 2
    flat = np.linalg.norm(acceleration[:2], axis=0)
    return [
        *(ground, speed, vertical, flat, np.linalg.norm(acceleration, axis=0)),
        *(
            rate,
            # Below 1 m/s curvature is noise over almost nothing.
            rate / np.maximum(ground, 1),
            # κ = |v × a| / |v|³.
            turned / np.maximum(speed, 1) ** 3,
            # Bounded, since torsion of nearly straight flight has no scale of its own.
            np.arctan(1000 * torsion),
        ),
    ]
