"""A film as GIF or MP4: the same colours, axes and size in every frame, with title and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robgui.core.errors import RobguiError
from robgui.core.view import Bars, Boxes, Curves, Film, Matrix, Still
from robgui.report.drawing.figure import draw_view, pixels
from robgui.report.drawing.look import Look

ENDINGS = (".gif", ".mp4")
#: A film has at most this many frames; of a longer one every second, third, … is taken.
MOST_FRAMES = 120
#: The last frame stays this many seconds.
_LAST = 2.0
_COLOURS = 256


def save_film(
    film: Film,
    path: str | Path,
    *,
    title: str = "",
    subject: str = "",
    provenance: str = "",
    dark: bool = False,
    width: int = 900,
    frames_per_second: float = 12,
) -> Path:
    """Writes a film as GIF or MP4, by the ending of ``path``; returns its path.

    Args:
        film: What to write.
        path: Where.
        title: Above every frame.
        subject: Below the title.
        provenance: Small at the bottom of every frame.
        dark: On a dark ground.
        width: Of a frame, in pixels.
        frames_per_second: How fast it goes.
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        advice = f"is written as {', '.join(ENDINGS)}; choose one of these endings"
        raise RobguiError(f"{target.name}: an animation {advice}.")
    words = {"title": title, "subject": subject, "provenance": provenance}
    frames = _one_size(list(frames_of(film, words, dark, width)), dark)
    try:
        if target.suffix.lower() == ".gif":
            _gif(frames, target, frames_per_second)
        else:
            _mp4(frames, target, frames_per_second)
    except OSError as error:
        advice = "choose a folder you may write to"
        raise RobguiError(f"{target} cannot be written ({error.strerror}); {advice}.") from error
    return target


def frames_of(film: Film, words: dict[str, str], dark: bool, width: int) -> Iterator[np.ndarray]:
    """The frames painted one after the other, as uint8 ``(h, w, 3)``."""
    steady = steadied(film)
    for place in chosen(len(film.frames)):
        figure = draw_view(
            steady,
            title=words["title"],
            subject=words["subject"],
            provenance=words["provenance"],
            dark=dark,
            frame=place,
        )
        yield pixels(figure, width)[..., :3]


def chosen(count: int) -> list[int]:
    """Which of so many frames are taken: evenly spread, the last one always."""
    stride = max(1, -(-count // MOST_FRAMES))
    return list(dict.fromkeys([*range(0, count, stride), count - 1]))


def steadied(film: Film) -> Film:
    """The same film with the same levels and ranges in every frame: only what changes moves."""
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
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (np.nan, np.nan)


def _first(stated: float, found: float) -> float:
    return stated if np.isfinite(stated) else found


def _one_size(frames: list[np.ndarray], dark: bool) -> list[np.ndarray]:
    """Frames of one even size: longer notes and legends make some of them higher."""
    height, width = (max(frame.shape[side] for frame in frames) for side in (0, 1))
    ground = [int(Look(dark).ground[place : place + 2], 16) for place in (1, 3, 5)]
    made = []
    for frame in frames:
        whole = np.full((height + height % 2, width + width % 2, 3), ground, np.uint8)
        whole[: frame.shape[0], : frame.shape[1]] = frame
        made.append(whole)
    return made


def _gif(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    """One table of colours for all frames: a colour means the same from the first to the last."""
    from PIL import Image

    some = sorted({0, len(frames) // 2, len(frames) - 1})
    sample = Image.fromarray(np.concatenate([frames[place] for place in some]))
    plain = Image.Dither.NONE
    table = sample.quantize(_COLOURS, dither=plain)
    made = [Image.fromarray(frame).quantize(palette=table, dither=plain) for frame in frames]
    first, *others = made
    pause = round(1000 / frames_per_second)
    durations = [pause] * len(others) + [round(1000 * _LAST)]
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0)


def _mp4(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    import cv2

    height, width = frames[0].shape[:2]
    code = cv2.VideoWriter.fourcc(*"mp4v")
    writer = cv2.VideoWriter(str(path), code, frames_per_second, (width, height))
    if not writer.isOpened():
        advice = "choose another folder, or write a GIF"
        raise RobguiError(f"{path} cannot be written as MP4 here; {advice}.")
    for frame in [*frames, *[frames[-1]] * round(_LAST * frames_per_second)]:
        writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    writer.release()
