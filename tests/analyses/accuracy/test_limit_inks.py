from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex

from robgui.analyses.accuracy.views import by_limit
from robgui.core.view import Axis, Bars, Ink, Series
from robgui.report.drawing import draw_view


def test_a_bar_has_the_colour_of_what_its_interval_says_about_the_limit():
    low, high = np.array([0.1, 0.85, 0.9]), np.array([0.4, 0.99, 1.0])
    assert by_limit(low, high, 0.9) == (Ink("fails"), Ink("risk"), Ink("holds"))


def test_the_report_draws_every_bar_in_its_own_colour():
    each = (Ink("fails"), Ink("holds"))
    row = Series("recognised", np.array([0.2, 0.95]), each=each)
    figure = draw_view(Bars("Recall", Axis("share"), ("a", "b"), (row,)))
    patches = [patch for axes in figure.axes for patch in axes.patches]
    drawn = {to_hex(patch.get_facecolor()).upper() for patch in patches}
    assert {ink.colour() for ink in each} <= drawn
    with pytest.raises(ValueError, match="inks"):
        Series("recognised", np.ones(3), each=each)
