"""A film with the same levels and ranges in every frame, for both renderers: only changes move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robgui.core.view.views import Bars, Boxes, Curves, Film, Matrix, Still


def steadied(film: Film) -> Film:
    """The same film with the same levels and ranges in every frame: only changes move."""
    first = film.frames[0]
    frames: Sequence[Still] = film.frames
    if isinstance(first, Matrix):
        frames = _same_levels([frame for frame in frames if isinstance(frame, Matrix)])
    elif isinstance(first, Curves):
        frames = _same_ranges([frame for frame in frames if isinstance(frame, Curves)])
    elif isinstance(first, Bars):
        frames = _same_values([frame for frame in frames if isinstance(frame, Bars)])
    elif isinstance(first, Boxes):
        frames = _same_ground([frame for frame in frames if isinstance(frame, Boxes)])
    return replace(film, frames=tuple(frames))


def _same_levels(frames: Sequence[Matrix]) -> list[Matrix]:
    levels = (min(frame.levels[0] for frame in frames), max(frame.levels[1] for frame in frames))
    return [replace(frame, levels=levels) for frame in frames]


def _same_ranges(frames: Sequence[Curves]) -> list[Curves]:
    owners = [(frame, line) for frame in frames for line in frame.lines]
    # Over all frames: by its own ends, each frame would move the axis instead of the line.
    x = _ends([frame.at if line.x is None else line.x for frame, line in owners])
    parts = [part for _, line in owners for part in (line.y, line.low, line.high)]
    y = _ends([part for part in parts if part is not None])
    return [
        replace(
            frame,
            x=replace(frame.x, low=_first(frame.x.low, x[0]), high=_first(frame.x.high, x[1])),
            y=replace(frame.y, low=_first(frame.y.low, y[0]), high=_first(frame.y.high, y[1])),
        )
        for frame in frames
    ]


def _same_values(frames: Sequence[Bars]) -> list[Bars]:
    stacked = [frame for frame in frames if frame.stacked and frame.series]
    sums = [np.nansum([row.values for row in frame.series], axis=0) for frame in stacked]
    # Bars stand on zero, so zero is always part of the range.
    ends = _ends([*sums, *(row.values for frame in frames for row in frame.series), np.zeros(1)])
    made = []
    for frame in frames:
        low, high = _first(frame.value.low, ends[0]), _first(frame.value.high, ends[1])
        made.append(replace(frame, value=replace(frame.value, low=low, high=high)))
    return made


def _same_ground(frames: Sequence[Boxes]) -> list[Boxes]:
    grounds = [frame.behind for frame in frames if frame.behind is not None]
    if len(grounds) < len(frames):
        return list(frames)
    pairs = zip(frames, _same_levels(grounds), strict=True)
    return [replace(frame, behind=ground) for frame, ground in pairs]


def _ends(arrays: Sequence[np.ndarray]) -> tuple[float, float]:
    values = np.concatenate([np.ravel(array) for array in arrays] or [np.empty(0)])
    # NaN is a gap in a line, and infinity has no place on an axis.
    values = values[np.isfinite(values)]
    if len(values):
        return (float(values.min()), float(values.max()))
    return (np.nan, np.nan)


def _first(stated: float, found: float) -> float:
    if np.isfinite(stated):
        return stated
    return found
