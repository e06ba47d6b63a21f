"""A film as GIF or MP4: the same colours, axes and size in every frame, with title and step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from robgui.core.errors import RobguiError
from robgui.core.view import Film, steadied
from robgui.report.drawing.figure import draw_view, pixels
from robgui.report.drawing.look import Look

ENDINGS = (".gif", ".mp4")
#: A film has at most this many frames; of a longer one every second, third, … is taken.
MOST_FRAMES = 120
#: The last frame stays this many seconds.
_LAST = 2.0
#: The most that a GIF file can name.
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
    """Which of ``count`` frames are taken: evenly spread, the last one always."""
    stride = max(1, -(-count // MOST_FRAMES))
    return list(dict.fromkeys([*range(0, count, stride), count - 1]))


def _one_size(frames: list[np.ndarray], dark: bool) -> list[np.ndarray]:
    """Frames of one even size: longer notes and legends make some of them higher."""
    height, width = (max(frame.shape[side] for frame in frames) for side in (0, 1))
    ground = [int(Look(dark).ground[place : place + 2], 16) for place in (1, 3, 5)]
    made = []
    for frame in frames:
        # Even sides: encoders keep one colour for every two by two pixels.
        whole = np.full((height + height % 2, width + width % 2, 3), ground, np.uint8)
        whole[: frame.shape[0], : frame.shape[1]] = frame
        made.append(whole)
    return made


def _gif(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    """One table of colours for all frames: a colour means the same from the first to the last."""
    from PIL import Image

    some = sorted({0, len(frames) // 2, len(frames) - 1})
    # Three frames tell the colours of all: axes and inks stay the same throughout.
    sample = Image.fromarray(np.concatenate([frames[place] for place in some]))
    plain = Image.Dither.NONE
    # Few pixels of a colour, such as a thin line, count as much as many: the legend stays true.
    table = sample.quantize(_COLOURS, Image.Quantize.MAXCOVERAGE, dither=plain)
    made = [Image.fromarray(frame).quantize(palette=table, dither=plain) for frame in frames]
    first, *others = made
    pause = round(1000 / frames_per_second)
    durations = [pause] * len(others) + [round(1000 * _LAST)]
    first.save(path, save_all=True, append_images=others, duration=durations, loop=0)


def _mp4(frames: Sequence[np.ndarray], path: Path, frames_per_second: float) -> None:
    import cv2

    height, width = frames[0].shape[:2]
    # What OpenCV's wheels can write everywhere; most bring no encoder for H.264.
    code = cv2.VideoWriter.fourcc(*"mp4v")
    writer = cv2.VideoWriter(str(path), code, frames_per_second, (width, height))
    if not writer.isOpened():
        advice = "choose another folder, or write a GIF"
        raise RobguiError(f"{path} cannot be written as MP4 here; {advice}.")
    # MP4 knows one rate for all frames: the last one is repeated instead.
    for frame in [*frames, *[frames[-1]] * round(_LAST * frames_per_second)]:
        writer.write(cv2.cvtColor(frame, cv2.COLOR_RGB2BGR))
    writer.release()
