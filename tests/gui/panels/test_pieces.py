"""The pieces that panels share: heat map, input view, sheet, timeline, legend."""

from __future__ import annotations

import numpy as np
import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage, QPen

from robgui.gui.app.colours import DARK, LIGHT
from robgui.gui.app.theme import theme
from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.heat import Heat, lookup
from robgui.gui.widgets.legend import Legend, LegendKey
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.sheets.sheet import Sheet
from robgui.gui.widgets.timeline import Timeline


def frame_of(widget):
    """The widget as it looks, as uint8 ``(h, w, 3)``."""
    image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
    pixels = np.frombuffer(image.constBits(), np.uint8).reshape(
        image.height(), image.bytesPerLine()
    )
    return pixels[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()


@pytest.fixture
def shown(qtbot):
    def show(widget, width=480, height=360):
        qtbot.addWidget(widget)
        widget.resize(width, height)
        with qtbot.waitExposed(widget):
            widget.show()
        return widget

    return show


def test_a_heat_map_tells_where_the_mouse_points_in_the_units_of_its_axes(qtbot, shown):
    heat = shown(Heat())
    heat.show_values(np.eye(3), (0, -10, 360, 100))
    box = heat.plot.box
    with qtbot.waitSignal(heat.hovered) as seen:
        heat.plot.scene().sigMouseMoved.emit(box.mapViewToScene(QPointF(120, 40)))
    assert seen.args[0] == pytest.approx((120, 40), abs=2)
    viewport = heat.plot.viewport()
    place = heat.plot.mapFromScene(box.mapViewToScene(QPointF(300, 80)))
    with qtbot.waitSignal(heat.clicked) as pressed:
        qtbot.mouseClick(viewport, Qt.MouseButton.LeftButton, pos=place)
    assert tuple(pressed.args) == pytest.approx((300, 80), abs=3)


def test_a_heat_map_keeps_the_users_zoom_while_it_is_redrawn(shown):
    heat = shown(Heat())
    heat.show_values(np.zeros((4, 4)), (0, 0, 4, 4))
    heat.plot.box.setRange(xRange=(1, 2), yRange=(1, 2), padding=0)
    heat.show_values(np.ones((4, 4)), (0, 0, 4, 4))
    assert heat.plot.box.viewRange()[0] == pytest.approx([1, 2], abs=0.01)


def test_the_diverging_colours_are_neutral_at_zero_and_unlike_at_the_ends():
    table = lookup("diverging").astype(int)
    assert np.ptp(table[127, :3]) < 12
    assert table[0, 0] > table[0, 2] and table[-1, 2] > table[-1, 0]


def test_a_sheet_sorts_by_a_column_with_the_unknown_last_and_points_by_the_given_row(qtbot, shown):
    sheet = shown(Sheet("pairs"))
    sheet.show_columns({"pair": ["a", "b", "c"], "distance": np.array([0.5, np.nan, 0.25])})
    sheet.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [sheet.model().index(row, 0).data() for row in range(3)] == ["c", "a", "b"]
    assert sheet.model().index(2, 1).data() == "n/a"
    with qtbot.waitSignal(sheet.pointed) as pointed:
        sheet.selectRow(0)
    assert pointed.args == [2]
    sheet.show_columns({"pair": ["a", "b", "c"], "distance": np.array([0.1, 0.2, 0.3])})
    assert sheet.current == 2


def test_a_timeline_follows_the_newest_until_it_is_moved_and_plays_to_the_end(qtbot, shown):
    line = shown(Timeline("step"))
    line.set_count(5)
    assert line.place == 4
    line.slider.setValue(2)
    line.set_count(9)
    assert line.place == 2
    line.play.click()
    qtbot.waitUntil(lambda: not line.play.isChecked())
    assert line.place == 8
    line.set_count(10)
    assert line.place == 9


def test_a_hidden_plot_takes_over_the_theme_when_it_is_next_shown(qtbot, shown):
    plot = shown(Plot("x", "y"))
    background = lambda: plot.backgroundBrush().color().name().upper()  # noqa: E731
    assert background() == LIGHT.surface
    theme.apply(True)
    assert background() == DARK.surface
    plot.hide()
    theme.apply(False)
    assert background() == DARK.surface, "nobody looks at it"
    plot.show()
    assert background() == LIGHT.surface


def test_a_legend_below_a_plot_takes_as_many_rows_as_its_width_asks_for(qtbot, shown):
    legend = shown(Legend(row=True), width=2000)
    legend.show_keys([LegendKey(f"the meaning of line {i}", QPen()) for i in range(6)])
    one = legend.height()

    rows = lambda: len(legend.page.rows(legend.viewport().width()))  # noqa: E731
    assert rows() == 1
    legend.resize(legend.fontMetrics().horizontalAdvance("the meaning of line 0") * 3, one)
    qtbot.waitUntil(lambda: legend.height() > one and rows() > 1)
    places = [box for box, _ in legend.page.places()]
    assert not any(a.intersects(b) for i, a in enumerate(places) for b in places[i + 1 :])
    assert max(box.right() for box in places) <= legend.viewport().width()
    legend.resize(2000, legend.height())
    qtbot.waitUntil(lambda: legend.height() == one)


def test_a_word_too_long_for_a_legend_is_cut_in_its_middle_and_whole_in_the_tool_tip(qtbot, shown):
    legend = shown(Legend(), width=300)
    name = f"a class with {'a very long name ' * 6}that ends in 80"
    legend.show_keys([LegendKey(name, QPen())])
    cut = legend.page.wrapped(legend.keys[0])
    assert len(cut) == 1 and "…" in cut[0] and cut[0].endswith("80")
    assert legend.keys[0].words == name


def test_a_table_with_nothing_to_show_says_what_to_do(shown):
    blank, told = (frame_of(shown(Sheet("rows", words))) for words in ("", "Choose a pair first."))
    assert (blank != told).any()


def test_words_too_long_for_a_box_are_shortened_in_the_middle_and_kept_in_its_list(shown):
    box = ElidedBox()
    box.addItems(
        [
            "14:53:53 fashion_cnn.safetensors on input 6 of fashion.npz",
            "14:53:53 fashion_cnn.safetensors of fashion.npz",
        ]
    )
    shown(box, width=200, height=28)
    narrow = frame_of(box)
    assert box.currentText().endswith("on input 6 of fashion.npz")
    box.setItemText(0, "14:53:53 fashion_mlp.safetensors on input 7 of fashion.npz")
    assert (frame_of(box) == narrow).all(), "begin and end are the same, what differs is left out"
