"""A path through a semantic map: the picture turns until the answer flips; a spot is starred."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent

from robgui.gui.panels.semantic.path import STEPS, even, to_another_class

GRID = {"step": {"rotation": 60.0, "scale": 25.0}, "span": "whole"}


@pytest.fixture
def mapped(bench, run):
    panel, pane = bench("semantic_map")
    run(panel, pane, **GRID)
    return panel


def test_the_steps_of_a_path_are_as_far_apart_as_one_another():
    path = even(np.array([[0.0, 0.0], [90.0, 0.0], [90.0, 10.0]]))
    assert len(path) == STEPS and path[0].tolist() == [0, 0] and path[-1].tolist() == [90, 10]
    steps = np.hypot(*(np.diff(path, axis=0) / [90, 10]).T)
    assert np.sort(steps)[1:] == pytest.approx(2 / (STEPS - 1)), "but for the one at the corner"


def test_a_path_that_nobody_has_drawn_goes_to_the_nearest_other_class(mapped):
    result = mapped.result
    start, end = to_another_class(result, 0, 0)
    assert start == tuple(axis.default for axis in result.axes)
    lost = result.tops[0, 0] != result.target[0]
    assert lost.any()
    row, column = np.abs(result.y - end[1]).argmin(), np.abs(result.x - end[0]).argmin()
    assert lost[row, column] or start != end


def test_while_a_path_plays_the_picture_turns_and_the_answer_flips(qtbot, mapped):
    seen, shown = [], mapped.here
    qtbot.waitUntil(lambda: shown.caption.property("role") is not None, timeout=60_000)
    mapped.path.play.click()
    assert mapped.path.play.text() == "Stop" and len(mapped.path.points) == STEPS

    def over():
        seen.append((shown.caption.text(), shown.caption.property("role")))
        return not mapped.path.play.isChecked()

    qtbot.waitUntil(over)
    assert len({words for words, _ in seen}) > STEPS // 2, "a picture for nearly every step"
    assert {role for _, role in seen} == {"good", "bad"}, "the answer flips on the way"
    assert mapped.path.play.text() == "Play path"


def test_a_path_drawn_with_ctrl_held_is_played_and_a_plain_drag_draws_none(qtbot, mapped):
    port = mapped.view.matrix.heat.plot.viewport()
    kinds, held = QEvent.Type, Qt.KeyboardModifier.ControlModifier

    def drag(modifier):
        for kind, x in ((kinds.MouseButtonPress, 0.4), (kinds.MouseMove, 0.6)):
            mouse(port, kind, x, modifier)
        mouse(port, kinds.MouseButtonRelease, 0.6, modifier)

    drag(Qt.KeyboardModifier.NoModifier)
    assert not len(mapped.path.points)
    drag(held)
    assert len(mapped.path.points) == STEPS and mapped.path.play.isChecked()
    (x, y), (far_x, far_y) = mapped.path.points[0], mapped.path.points[-1]
    assert far_x > x and far_y == pytest.approx(y)
    mapped.path.stop()


def mouse(port, kind, x, modifier):
    from PySide6.QtWidgets import QApplication

    at = QPointF(port.width() * x, port.height() * 0.5)
    button, none = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton
    held = none if kind is QEvent.Type.MouseButtonRelease else button
    QApplication.sendEvent(
        port, QMouseEvent(kind, at, port.mapToGlobal(at), button, held, modifier)
    )


def test_a_spot_with_another_answer_is_starred_and_becomes_a_finding(qtbot, store, mapped):
    result = mapped.result
    row, column = (int(places[0]) for places in np.nonzero(result.tops[0, 0] != result.target[0]))
    assert not mapped.star.isEnabled(), "nothing has been clicked"
    mapped.view.matrix.heat.clicked.emit(float(result.x[column]), float(result.y[row]))
    qtbot.waitUntil(mapped.star.isEnabled)
    before = len(store.history.findings)
    mapped.star.click()
    qtbot.waitUntil(lambda: len(store.history.findings) > before)
    kept = next(one for one in store.history.findings if one.kind == "spot")
    assert kept.starred and kept.detail["seen_as"] == result.labels[result.tops[0, 0, row, column]]
