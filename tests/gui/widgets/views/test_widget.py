"""Every kind of View has a widget that draws it in place, in both themes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtWidgets import QApplication, QLabel

from robgui.core.view import (
    Axis,
    Bars,
    Boxes,
    Column,
    Curves,
    Images,
    Ink,
    Line,
    Matrix,
    Table,
    Tree,
)
from robgui.gui.app.colours import DARK, LIGHT
from robgui.gui.app.theme import theme
from robgui.gui.widgets.views import FilmView, view_widget
from tests.gui import sample_views as samples

EVERY = pytest.mark.parametrize("view", samples.ALL.values(), ids=samples.ALL)


def pixels(widget):
    image = widget.grab().toImage()
    return [
        image.pixel(x, y) for x in range(0, image.width(), 7) for y in range(0, image.height(), 7)
    ]


@EVERY
def test_each_kind_is_drawn_and_the_next_view_of_it_makes_no_widget_anew(shown, view):
    widget = shown(view)
    blank = len(set(pixels(widget)))
    assert blank > 1, "something is drawn"
    before = len(QApplication.allWidgets())
    for _ in range(3):
        widget.show_view(view)
        QApplication.processEvents()
    assert len(QApplication.allWidgets()) == before


@EVERY
def test_both_themes_have_their_own_ground(shown, view):
    widget = shown(view)
    light = widget.grab().toImage().pixelColor(widget.width() - 3, widget.height() - 3).name()
    theme.apply(True)
    QApplication.processEvents()
    dark = widget.grab().toImage().pixelColor(widget.width() - 3, widget.height() - 3).name()
    assert (light.upper(), dark.upper()) == (LIGHT.surface, DARK.surface)


@EVERY
def test_a_mini_picture_takes_no_mouse_and_shows_no_words_below(shown, view):
    widget = shown(view, 240, 160, mini=True)
    assert widget.testAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
    assert not widget.foot.isVisible()
    assert not any(legend.isVisible() for legend in [getattr(widget, "legend", None)] if legend)


@pytest.mark.parametrize(
    "view",
    [
        Curves("c", Axis("x"), Axis("y"), np.zeros(0), ()),
        Curves("c", Axis("x"), Axis("y", log=True), np.zeros(2), (Line("a", np.full(2, np.nan)),)),
        Matrix("m", Axis("x"), Axis("y"), np.full((2, 2), np.nan), Axis("v"), (0, 1)),
        Matrix("m", Axis("x"), Axis("y"), np.zeros((0, 0)), Axis("v"), (0, 0)),
        Boxes("b", Axis("x"), Axis("y"), ()),
        Bars("b", Axis("v"), (), ()),
        Images("i", ()),
        Table("t", ()),
        Table("t", (Column("a", ()),)),
        Tree("t", np.zeros(0, int), (), np.zeros(0), np.zeros(0), Axis("v"), Axis("w")),
    ],
    ids=lambda view: type(view).__name__,
)
def test_a_view_with_nothing_in_it_yet_is_drawn_too(shown, view):
    shown(view).show_view(view)


def test_another_kind_is_refused_by_name(shown):
    widget = shown(samples.curves())
    with pytest.raises(TypeError, match="CurvesView draws Curves, not Matrix"):
        widget.show_view(samples.matrix())


def test_words_of_a_view_are_plain_text(shown):
    widget = shown(replace(samples.curves(), note="<b>bold</b> & <img src=x>"))
    assert all(
        label.textFormat() is Qt.TextFormat.PlainText for label in widget.findChildren(QLabel)
    )
    assert "<b>bold</b>" in widget.foot.text()


def test_the_read_out_takes_the_place_of_the_note_and_gives_it_back(qtbot, shown, hover):
    widget = shown(samples.curves())
    height = widget.foot.height()
    assert "Shirt 50.0 %" in hover(widget, widget.plot, 0.5, 0.5)
    assert "Shirt" in widget.foot.text() and widget.foot.height() == height
    widget.tell("")
    assert widget.foot.text() == "The band is the 95\u00a0% interval."


def test_a_film_draws_its_frames_with_the_widget_of_their_kind():
    widget = view_widget(samples.film())
    assert isinstance(widget, FilmView)
    assert widget.fits(samples.film()) and not widget.fits(samples.curves())
    other = replace(samples.film(), frames=(samples.matrix(),) * 3)
    assert not widget.fits(other), "a film of another kind needs another widget"
    widget.deleteLater()


class Painted(QObject):
    """Counts how often something is painted."""

    count = 0

    def eventFilter(self, watched, event):
        self.count += event.type() is QEvent.Type.Paint
        return False


def test_a_view_of_a_run_at_work_is_painted_once(qtbot):
    widget = view_widget(samples.ALL["curves"])
    qtbot.addWidget(widget)
    widget.resize(500, 400)
    with qtbot.waitExposed(widget):
        widget.show()
    qtbot.wait(50)
    painted = Painted()
    widget.plot.viewport().installEventFilter(painted)
    for factor in (2, 3, 4):
        x = factor * np.arange(4.0)
        painted.count = 0
        widget.keep_view(Curves("c", Axis("a"), Axis("b"), x, (Line("one", x**2, Ink("class")),)))
        qtbot.waitUntil(lambda: painted.count > 0)
        qtbot.wait(50)
        assert painted.count == 1


@EVERY
def test_a_pointer_that_leaves_a_picture_before_it_is_drawn_does_no_harm(qtbot, view):
    widget = view_widget(view, unseen=True, by_turns=True)
    qtbot.addWidget(widget)
    assert not widget.built
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
