"""An axis reads its numbers with their unit, and with nothing that is none."""

from __future__ import annotations

from robgui.core.view import Axis


def test_a_remark_stands_beside_the_axis_and_behind_no_number():
    axis = Axis("uncertainty", low=0, high=1, remark="0 sure, 1 unsure")
    assert axis.title == "uncertainty (0 sure, 1 unsure)"
    assert axis.words(0.25) == "0.25"
    assert Axis("rotation", "px").words(2) == "2 px"
