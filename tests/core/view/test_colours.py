"""The colours of a Matrix: the worst is furthest from the ground, the hue is the class."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

from robgui.core.view import Axis, Ink, Matrix, class_ink, class_pixels, colour_map, diverging


def classes(values, winners, names=("red", "shirt")):
    return Matrix(
        "m",
        Axis("x"),
        Axis("y"),
        np.array(values, float),
        Axis("score"),
        (0, 1),
        classes=np.array(winners),
        class_names=names,
    )


@pytest.mark.parametrize("dark", [False, True])
def test_the_worst_is_furthest_from_the_ground(dark):
    ground = np.array([0x1D, 0x21, 0x27]) if dark else np.array([255, 255, 255])
    for worst in ("high", "low"):
        name, turned = colour_map(worst, dark)
        colours = mpl.colormaps[f"{name}_r" if turned else name]
        low, high = (255 * np.array(colours(end)[:3]) for end in (0.0, 1.0))
        bad, good = (high, low) if worst == "high" else (low, high)
        assert np.linalg.norm(bad - ground) > 5 * np.linalg.norm(good - ground)
    assert colour_map("middle", dark)[0] == "diverging"
    assert colour_map("neither", dark)[0] == "cividis"


@pytest.mark.parametrize("dark", [False, True])
def test_a_sure_class_has_its_own_hue_and_an_unsure_one_is_paler(dark):
    sure, unsure, none = class_pixels(classes([[1.0, 0.2, 1.0]], [[0, 0, -1]]), dark)[0]
    assert "#{:02X}{:02X}{:02X}".format(*sure[:3]) == Ink("series", 0, "red").colour(dark)
    ground = 0x1D if dark else 0xFF
    assert abs(int(unsure[1]) - ground) < abs(int(sure[1]) - ground)
    assert (sure[3], unsure[3], none[3]) == (255, 255, 0)


def test_a_value_that_is_not_known_is_the_palest_and_not_an_error():
    known, unknown = class_pixels(classes([[0.0, np.nan]], [[1, 1]]), False)[0]
    assert (known == unknown).all()


def test_a_difference_has_two_ends_and_a_ground_between():
    below, zero, above = diverging(False)
    assert (
        below == Ink("changed").colour()
        and above == Ink("original").colour()
        and zero not in (below, above)
    )


def test_a_class_beside_one_called_green_is_not_drawn_in_a_green():
    view = classes([[1.0, 1.0, 1.0]], [[0, 1, 2]], ("red", "green", "none"))
    red, green, none = (class_ink(view, number).colour() for number in range(3))
    assert (red, green) == (Ink(name="red").colour(), Ink(name="green").colour())
    far = [int(none[at : at + 2], 16) - int(green[at : at + 2], 16) for at in (1, 3, 5)]
    assert sum(part**2 for part in far) > 80**2
