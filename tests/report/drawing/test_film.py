"""A film as GIF or MP4: every frame with its step, the same size, the same colours."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from PIL import Image, ImageSequence

from robgui.core.errors import RobguiError
from robgui.core.view import Film, Ink, steadied
from robgui.report.drawing import save_film
from robgui.report.drawing.film import MOST_FRAMES, chosen
from tests.report.drawing import samples


def test_a_gif_has_every_frame_and_rests_on_the_last(tmp_path: Path) -> None:
    path = save_film(samples.film(), tmp_path / "a.gif", title="Map", width=320)
    with Image.open(path) as gif:
        frames = [
            (frame.info["duration"], np.asarray(frame.convert("RGB")))
            for frame in ImageSequence.Iterator(gif)
        ]
    assert (
        len(frames) == 6
        and frames[-1][0] == 2000
        and {frame.shape for _, frame in frames} == {frames[0][1].shape}
    )
    assert frames[0][0] < 100 and not np.array_equal(frames[0][1], frames[-1][1])


def test_a_colour_means_the_same_in_every_frame(tmp_path: Path) -> None:
    assert {frame.levels for frame in steadied(samples.film()).frames} == {
        (0, samples.film().frames[-1].levels[1])
    }
    path = save_film(samples.film(), tmp_path / "a.gif", width=320)
    with Image.open(path) as gif:
        bars = [
            np.asarray(frame.convert("RGB"))[60:180, -45:] for frame in ImageSequence.Iterator(gif)
        ]
    for bar in bars[1:]:
        np.testing.assert_array_equal(bar, bars[0], "the colour bar stands still")


def test_a_thin_line_keeps_its_colour(tmp_path: Path) -> None:
    film = Film("f", (samples.boxes(), samples.boxes()), ("1", "2"))
    with Image.open(save_film(film, tmp_path / "a.gif", width=500)) as gif:
        pixels = np.asarray(gif.convert("RGB")).reshape(-1, 3).astype(int)
    for ink in (Ink("series", 0), Ink("series", 2)):
        wanted = [int(ink.colour()[place : place + 2], 16) for place in (1, 3, 5)]
        assert np.abs(pixels - wanted).sum(1).min() < 40, ink


def test_an_mp4_can_be_played(tmp_path: Path) -> None:
    path = save_film(samples.film(), tmp_path / "a.mp4", width=321, frames_per_second=10)
    video = cv2.VideoCapture(str(path))
    frames = 0
    while video.read()[0]:
        frames += 1
    assert frames == 6 + 20 and video.get(cv2.CAP_PROP_FRAME_WIDTH) == 322


def test_axes_stand_still_in_a_film_of_curves() -> None:
    curve = samples.log_curves()
    grown = tuple(
        replace(
            curve,
            at=curve.at[:n],
            lines=(replace(curve.lines[0], y=curve.lines[0].y[:n], low=None, high=None),),
        )
        for n in (3, 40)
    )
    first, last = steadied(Film("f", grown, ("1", "2"))).frames
    assert (first.x, first.y) == (last.x, last.y) and first.x.high == 40


def test_a_long_film_is_thinned_and_keeps_its_end() -> None:
    assert chosen(3) == [0, 1, 2]
    assert len(chosen(1000)) <= MOST_FRAMES + 1 and chosen(1000)[-1] == 999


def test_a_wrong_ending_and_a_place_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(RobguiError, match=r"a\.avi: an animation is written as \.gif, \.mp4"):
        save_film(samples.film(), tmp_path / "a.avi")
    with pytest.raises(RobguiError, match="cannot be written"):
        save_film(samples.film(), tmp_path / "missing" / "a.gif", width=200)
    with pytest.raises(RobguiError, match="cannot be written"):
        save_film(samples.film(), tmp_path / "missing" / "a.mp4", width=200)
