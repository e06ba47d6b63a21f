"""Every kind of view as a figure: whole, readable, in the colours of its inks, the same bytes on
every thread.
"""

from __future__ import annotations

import io
import itertools
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text
from PIL import Image

from robgui.core.view import Axis, Curves, Ink, Line, View
from robgui.core.view.colours import GROUND
from robgui.report.drawing import Plate, draw, draw_view, pixels, save
from robgui.report.drawing.legend import GROUP
from robgui.report.drawing.rules import rules_of
from tests.report.drawing import samples

WORDS = {
    "title": "zoNNscan",
    "subject": "net on input 3 of fashion",
    "provenance": "net 1a2b, fashion 3c4d, settings 5e6f, seed 0",
}
SVG = "{http://www.w3.org/2000/svg}"
ALL = {
    f"{group}: {name}": view
    for group in ("usual", "empty", "odd")
    for name, view in getattr(samples, group)().items()
}


@pytest.fixture(scope="module", params=ALL, ids=lambda name: name)
def view(request: pytest.FixtureRequest) -> View:
    return ALL[request.param]


@pytest.fixture(scope="module")
def figure(view: View) -> Plate:
    return draw_view(view, **WORDS)


def shown(figure: Plate) -> list[Text]:
    """Every text around the data: titles, notes, names of axes, tick labels, legends."""
    figure.draw_without_rendering()  # legends and ticks take their places when they are drawn
    texts = [*figure.texts]
    for axes in figure.axes:
        if axes.axison:
            texts += rules_of(axes).texts
    return [text for text in texts if text.get_visible() and text.get_text().strip()]


def test_no_two_words_around_the_data_cover_each_other(figure: Plate) -> None:
    boxes = [
        (text.get_text(), text.get_window_extent(figure.canvas.get_renderer()))
        for text in shown(figure)
    ]
    for (one, first), (other, second) in itertools.combinations(boxes, 2):
        across = min(first.x1, second.x1) - max(first.x0, second.x0)
        down = min(first.y1, second.y1) - max(first.y0, second.y0)
        assert across < 2 or down < 3, f"{one!r} and {other!r}"


def test_nothing_leaves_the_figure_in_any_size(figure: Plate) -> None:
    ground = [int(GROUND[0][place : place + 2], 16) for place in (1, 3, 5)]
    for width in (420, 900):
        picture = pixels(figure, width)[..., :3]
        assert picture.shape[1] == width
        for edge in (picture[:, 0], picture[:, -1], picture[0], picture[-1]):
            assert (edge == ground).all()


def test_the_legend_stands_beside_the_data_and_never_over_them(figure: Plate) -> None:
    for text in (one for one in figure.texts if one.get_gid() == GROUP):
        box = text.get_window_extent(figure.canvas.get_renderer())
        for axes in figure.axes:
            data = axes.get_window_extent()
            assert box.y1 <= data.y0 + 1 or box.y0 >= data.y1 - 1


def test_title_subject_view_and_provenance_are_said(view: View, figure: Plate) -> None:
    said = " ".join(text.get_text() for text in figure.texts)
    for words in WORDS.values():
        assert words in said
    assert view.title.split()[0][:6] in said


def test_a_dark_figure_is_a_well_formed_picture_that_names_no_file(view: View) -> None:
    root = ET.fromstring(save(draw_view(view, dark=True, **WORDS), "svg"))
    width, height = (float(root.get(name).removesuffix("pt")) for name in ("width", "height"))
    assert [float(part) for part in root.get("viewBox").split()] == [
        0,
        0,
        pytest.approx(width),
        pytest.approx(height),
    ]
    assert GROUND[1].lower() in ET.tostring(root).decode().lower()


@pytest.mark.parametrize(
    ("kind", "start"), [("svg", b"<?xml"), ("png", b"\x89PNG"), ("pdf", b"%PDF")]
)
def test_every_file_carries_title_and_provenance_in_its_records(kind: str, start: bytes) -> None:
    data = save(draw_view(samples.curves(), **WORDS), kind)
    assert data.startswith(start)
    if kind == "png":
        assert Image.open(io.BytesIO(data)).text["Source"] == WORDS["provenance"]
    elif kind == "svg":
        assert WORDS["title"] in data.decode() and WORDS["provenance"] in data.decode()
    else:
        assert WORDS["title"].encode() in data and WORDS["provenance"].encode() in data


def test_the_axes_of_an_svg_file_fit_its_curve() -> None:
    """A curve from corner to corner meets the first and the last tick of both axes."""
    ends = np.array([0.0, 1.0])
    view = Curves(
        "c", Axis("x", low=0, high=1), Axis("y", low=0, high=2), ends, (Line("a", 2 * ends),)
    )
    root = ET.fromstring(save(draw_view(view), "svg"))
    groups = {group.get("id", ""): group for group in root.iter(f"{SVG}g")}
    (curve,) = [
        [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
        for path in root.iter(f"{SVG}path")
        if Ink().colour().lower() in path.get("style", "")
        and path.get("d").count("L") == 1
        and path.get("clip-path")
    ]

    def places(side: str) -> list[float]:
        """Where the lines of the ticks begin: x and y of all "M x y L x y"."""
        (group,) = (group for key, group in groups.items() if key.startswith(f"{side}ticks"))
        (path,) = group.iter(f"{SVG}path")
        numbers = [float(number) for number in re.findall(r"-?[\d.]+", path.get("d"))]
        return numbers[0 if side == "x" else 1 :: 4]

    x, y = places("x"), places("y")
    assert [min(x), max(x)] == pytest.approx([curve[0], curve[2]], abs=0.01)
    assert [max(y), min(y)] == pytest.approx([curve[1], curve[3]], abs=0.01)


@pytest.mark.parametrize("dark", [False, True])
def test_lines_have_the_colours_of_their_inks(dark: bool) -> None:
    view = samples.curves()
    (axes,) = draw_view(view, dark=dark).axes
    drawn = {to_hex(line.get_color()) for line in axes.lines}
    assert {line.ink.colour(dark).lower() for line in view.lines} <= drawn


def test_a_figure_is_laid_out_once_and_then_only_painted() -> None:
    figure = draw_view(samples.heat_map(), **WORDS)
    before = [axes.get_position().bounds for axes in figure.axes]
    pixels(figure, 300)
    save(figure, "png", dpi=50)
    assert [axes.get_position().bounds for axes in figure.axes] == before


def test_threads_draw_light_and_dark_at_the_same_time_as_if_alone() -> None:
    def picture(dark: bool) -> bytes:
        return save(draw_view(samples.lanes(), dark=dark, **WORDS), "svg")

    alone = {dark: picture(dark) for dark in (False, True)}
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(picture, [False, True] * 4))
    assert together == [alone[False], alone[True]] * 4 and alone[False] != alone[True]


def test_several_views_stand_in_one_figure_the_first_one_largest() -> None:
    views = [
        samples.heat_map(),
        samples.log_curves(),
        samples.histogram(),
        samples.table(),
        samples.pairs(),
        samples.film(),
    ]
    figure = draw(views, **WORDS)
    said = " ".join(text.get_text() for text in figure.texts)
    for one in views:
        assert one.title in said
    first, *others = [
        axes.get_position() for axes in figure.axes if axes.axison and axes.get_xlabel()
    ]
    assert all(first.width * first.height > other.width * other.height for other in others)
    second, third = others[:2]
    assert second.y0 == pytest.approx(third.y0, abs=0.03) and third.x0 > second.x1, (
        "two that read well at half the width"
    )


def test_a_narrow_figure_is_readable_too() -> None:
    figure = draw_view(samples.curves(), width=3.2)
    assert figure.size[0] == pytest.approx(3.2) and len(shown(figure)) > 10
    test_no_two_words_around_the_data_cover_each_other(figure)
    test_nothing_leaves_the_figure_in_any_size(figure)


def test_drawing_needs_neither_pyplot_nor_qt() -> None:
    code = (
        "import sys, robgui.report.drawing; print(sorted({'matplotlib.pyplot', 'PySide6', 'torch'}"
        " & set(sys.modules)))"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout.strip()
        == "[]"
    )
