"""A slide on a plate of 16 by 9: the picture on the left, the words on the right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from robgui.core.dataset.drawing import on_ground
from robgui.core.finding_pair import Pair, PixelSquare
from robgui.core.view import Ink, status_ink
from robgui.report.drawing import draw_view, pixels
from robgui.report.drawing.look import Look
from robgui.report.drawing.plate import Plate
from robgui.report.lettering import elide, line_height, wrap
from robgui.report.story.slides import Slide

#: Inches of a slide, its margin, and where the words stand beside a picture.
WIDTH, HEIGHT, MARGIN = 13.333, 7.5, 0.6
_WORDS = 7.7
#: Sizes of letters in points.
_NUMBER, _TITLE, _TEXT, _SIDE, _SMALL = 60.0, 30.0, 17.0, 13.0, 11.0
#: Where the pictures lie, in inches from the upper left corner: x, y, width, height.
PICTURE = (MARGIN, 0.9, 6.6, 5.6)
#: Pixels of a painted view, and of the gap between a picture and its close look.
_VIEW, _GAP = 1400, 12


@dataclass(frozen=True, slots=True)
class SlideArea:
    """A rectangle in inches."""

    x: float
    y: float
    width: float
    height: float


def has_picture(slide: Slide) -> bool:
    """Whether the left half holds anything."""
    shown = any(one is not None for one in (slide.pair, slide.picture, slide.view))
    return shown or bool(slide.pictures)


def paint(slide: Slide, place: int, total: int, moved: float = 0.5, *, dark: bool = False) -> Plate:
    """The slide with its words alone; the pictures are put onto it, covered as far as ``moved``."""
    look = Look(dark)
    plate = Plate(WIDTH, HEIGHT, look)
    x = _WORDS if has_picture(slide) else MARGIN
    width = WIDTH - MARGIN - x
    height = sum(len(lines) * line_height(size) for lines, size, _, _ in _lines(slide, width, look))
    y = max(MARGIN, (HEIGHT - height) / 2 - 0.2)
    for lines, size, colour, bold in _lines(slide, width, look):
        for line in lines:
            plate.put(line, x, y, size, colour=colour, bold=bold)
            y += line_height(size)
        y += 0.12
    if slide.pair is not None:
        _name_sides(plate, slide.pair, moved)
    foot = HEIGHT - 0.5
    room = WIDTH - 2 * MARGIN - 1
    plate.put(elide(slide.subject, _SMALL, room), MARGIN, foot, _SMALL, colour=look.faded)
    number = f"{place + 1} / {total}"
    plate.put(number, WIDTH - MARGIN, foot, _SMALL, colour=look.faded, align="right")
    return plate


def _name_sides(plate: Plate, pair: Pair, moved: float) -> None:
    """Which half of a pair is before and which after, below it."""
    spot = fitted(wiped(pair, moved), SlideArea(*PICTURE))
    y, colour = spot.y + spot.height + 0.1, plate.look.faded
    # Square or not, the pair is as high as its close look, which stands at its right.
    right = spot.x + spot.height * pair.before.shape[1] / pair.before.shape[0]
    if moved > 0:
        plate.put("before", spot.x, y, _SIDE, colour=colour)
    if moved < 1:
        plate.put("after", right, y, _SIDE, colour=colour, align="right")
    if pair.close() is not None:
        edge = spot.x + spot.width
        plate.put("both, close up", edge, y, _SIDE, colour=colour, align="right")


def _lines(slide: Slide, width: float, look: Look) -> list[tuple[list[str], float, str, bool]]:
    """The paragraphs of a slide: lines, size, colour, bold."""
    found: list[tuple[list[str], float, str, bool]] = []
    if slide.status is not None:
        words = f"{slide.status.sign} {slide.status.words}"
        found.append(([words], _TEXT, look.colour(status_ink(slide.status)), True))
    if slide.number:
        if len(slide.number) < 10:
            size = _NUMBER
        else:
            size = _TITLE
        lines = wrap(slide.number, size, width, bold=True, most=2)
        found.append((lines, size, look.colour(Ink("class")), True))
    found.append((wrap(slide.title, _TITLE, width, bold=True, most=6), _TITLE, look.text, True))
    parts = (wrap(part, _TEXT, width, most=6) for part in slide.text.splitlines())
    return [*found, *((lines, _TEXT, look.text, False) for lines in parts)]


def exhibit(slide: Slide, moved: float = 0.5, *, dark: bool = False) -> np.ndarray | None:
    """What stands on the left of a slide, uint8 ``(h, w, 3)``; None for nothing.

    Args:
        slide: The slide.
        moved: Of a pair, the share of the width that shows the input before.
        dark: On a dark ground.
    """
    if slide.pair is not None:
        return wiped(slide.pair.on(_ground(dark)), moved, dark=dark)
    if slide.picture is not None:
        return _enlarged(_grounded(slide, slide.picture, dark), 900)
    if slide.view is not None:
        return pixels(draw_view(slide.view, dark=dark), _VIEW)[..., :3]
    if slide.pictures:
        return mosaic([_grounded(slide, one, dark) for one in slide.pictures], dark=dark)
    return None


def _grounded(slide: Slide, picture: np.ndarray, dark: bool) -> np.ndarray:
    """A picture of a slide; a drawing has the ground of the slide instead of white."""
    if slide.drawn:
        return on_ground(picture, _ground(dark))
    return picture


def mosaic(pictures: Sequence[np.ndarray], *, dark: bool = False, side: int = 900) -> np.ndarray:
    """Pictures as squares, two in a row, with the ground between them."""
    columns = min(2, len(pictures))
    rows = -(-len(pictures) // columns)
    cell = (side - _GAP * (columns - 1)) // columns
    wide, high = (cell * many + _GAP * (many - 1) for many in (columns, rows))
    whole = np.full((high, wide, 3), _ground(dark), np.uint8)
    for place, picture in enumerate(pictures):
        row, column = divmod(place, columns)
        top, left = row * (cell + _GAP), column * (cell + _GAP)
        whole[top : top + cell, left : left + cell] = _square(_middle(picture), cell)
    return whole


def _middle(picture: np.ndarray) -> np.ndarray:
    """The square in the middle of a picture."""
    side = min(picture.shape[:2])
    top, left = ((length - side) // 2 for length in picture.shape[:2])
    return picture[top : top + side, left : left + side]


def _ground(dark: bool) -> list[int]:
    return [int(Look(dark).ground[at : at + 2], 16) for at in (1, 3, 5)]


def wiped(pair: Pair, moved: float, *, dark: bool = False, side: int = 900) -> np.ndarray:
    """A pair uncovered from right to left, and beside it the close look before and after."""
    whole = pair.before.copy()
    edge = round(moved * whole.shape[1])
    whole[:, edge:] = pair.after[:, edge:]
    main = _enlarged(whole, side)
    line = min(max(0, round(moved * main.shape[1])), main.shape[1] - 1)
    if 0 < moved < 1:
        main[:, max(0, line - 2) : line + 3] = 255
    box = pair.close()
    if box is None:
        return main
    cut = (slice(box.top, box.top + box.side), slice(box.left, box.left + box.side))
    _frame(main, np.array(cut_pixels(box, main.shape[1] / whole.shape[1])))
    half = (main.shape[0] - _GAP) // 2
    ground = _ground(dark)
    column = np.full((main.shape[0], half, 3), ground, np.uint8)
    column[:half] = _square(pair.before[cut], half)
    # From below: an odd height leaves its pixel to the gap.
    column[-half:] = _square(pair.after[cut], half)
    gap = np.full((main.shape[0], _GAP, 3), ground, np.uint8)
    return np.concatenate([main, gap, column], axis=1)


def cut_pixels(box: PixelSquare, scale: float) -> tuple[int, int, int, int]:
    """Left, top, right and bottom of a close look in an enlarged picture."""
    ends = (box.left, box.top, box.left + box.side, box.top + box.side)
    first, second, third, fourth = (round(one * scale) for one in ends)
    return first, second, third, fourth


def _frame(picture: np.ndarray, ends: np.ndarray) -> None:
    left, top, right, bottom = (int(one) for one in ends)
    right, bottom = min(right, picture.shape[1] - 1), min(bottom, picture.shape[0] - 1)
    # White on black is seen on every picture.
    for thick, shade in ((4, 0), (2, 255)):
        for offset in range(thick):
            near = offset - thick // 2
            rows = np.clip([top + near, bottom + near], 0, picture.shape[0] - 1)
            columns = np.clip([left + near, right + near], 0, picture.shape[1] - 1)
            picture[rows, left:right] = shade
            picture[top:bottom, columns] = shade


def _enlarged(picture: np.ndarray, side: int) -> np.ndarray:
    """A small picture with its pixels as squares."""
    times = max(1, side // max(picture.shape[:2]))
    return np.ascontiguousarray(picture.repeat(times, 0).repeat(times, 1))


def _square(picture: np.ndarray, side: int) -> np.ndarray:
    image = Image.fromarray(np.ascontiguousarray(picture))
    return np.asarray(image.resize((side, side), Image.Resampling.NEAREST))


def fitted(picture: np.ndarray, area: SlideArea) -> SlideArea:
    """Where a picture lies in an area: as large as it fits, in the middle."""
    scale = min(area.width / picture.shape[1], area.height / picture.shape[0])
    width, height = picture.shape[1] * scale, picture.shape[0] * scale
    x, y = area.x + (area.width - width) / 2, area.y + (area.height - height) / 2
    return SlideArea(x, y, width, height)
