"""A card of the overview is whole at any size: nothing of its picture is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QRect

from robgui.core.verdict import Quantity, Status, Verdict
from robgui.gui.pages.tile import Tile
from robgui.gui.panels import pages
from tests.gui import sample_views as samples

SAID = Verdict(
    Status.AT_RISK,
    "It is close.",
    Quantity("Nearest change of class found", 0.00418, better="high"),
)


@pytest.fixture
def tile(qtbot):
    made = Tile(pages()[0])
    qtbot.addWidget(made)
    made.show()
    return made


def shown_in(qtbot, tile, view, width, height):
    tile.show_live(SAID, view)
    tile.resize(width, height)
    qtbot.wait(20)
    picture = tile.picture
    return QRect(picture.mapTo(tile, QPoint()), picture.size())


@pytest.mark.parametrize("name", ["curves", "matrix", "images", "bars"])
def test_in_a_low_card_the_picture_stands_beside_the_words_and_is_whole(qtbot, tile, name):
    picture = shown_in(qtbot, tile, samples.ALL[name], 336, 148)
    assert tile.rect().contains(picture)
    assert tile.minimumSizeHint().height() <= 148, "nine of them fit into a small window"
    assert picture.left() > tile.number.mapTo(tile, tile.number.rect().topLeft()).x() + 100


def test_a_small_plot_has_no_titles_and_a_large_one_has(qtbot, tile):
    shown_in(qtbot, tile, samples.curves(), 336, 148)
    axis = tile.picture.axes.axis("bottom")
    assert not axis.label.isVisible()
    picture = shown_in(qtbot, tile, samples.curves(), 420, 460)
    assert axis.label.isVisible() and picture.top() > tile.scale.geometry().bottom()


def test_the_bar_of_a_run_keeps_its_place_so_that_nothing_jumps(qtbot, tile):
    before = shown_in(qtbot, tile, samples.curves(), 336, 148)
    tile.set_progress(0.5)
    qtbot.wait(20)
    assert QRect(tile.picture.mapTo(tile, QPoint()), tile.picture.size()) == before


def test_a_failure_in_the_workspace_counts_more_than_what_a_new_run_says_so_far(tile):
    failed = Verdict(Status.FAILS, "2 pixels turn it.")
    tile.set_run(None, failed)
    for so_far in (Verdict(Status.FAILS, "9 pixels turn it."), SAID):
        tile.show_live(so_far, None)
        assert tile.told is failed
    tile.set_run(None, SAID)
    tile.show_live(failed, None)
    assert tile.told is failed, "unless the new one says worse"


def test_names_that_would_stand_upright_in_a_small_picture_are_left_out(qtbot, tile):
    names = tuple(f"a long name {number}" for number in range(8))
    many = replace(samples.matrix(), values=np.eye(8), rows=names, columns=names, spots=())
    shown_in(qtbot, tile, many, 336, 148)
    axis = tile.picture.axes.axis("bottom")
    assert not axis.upright and axis.tickValues(0, 8, 100) == []
    shown_in(qtbot, tile, many, 420, 460)
    assert axis.upright and axis.tickValues(0, 8, 300)


@pytest.mark.parametrize("height", [148, 300])
def test_two_cards_that_hold_say_of_what_size(qtbot, height):
    reaches = ("against a change of each value by at most 0.1", "up to severity 2")
    cards = []
    for reach in reaches:
        card = Tile(pages()[0])
        qtbot.addWidget(card)
        card.show_live(replace(SAID, status=Status.HOLDS, reach=reach), samples.curves())
        card.resize(336, height)
        card.show()
        cards.append(card)
    qtbot.wait(20)
    for card, reach in zip(cards, reaches, strict=True):
        said = card.scale.text().replace("\N{NO-BREAK SPACE}", " ")
        assert said.startswith(f"Holds {reach}") and card.scale.isVisible()
        assert card.scale.height() >= card.scale.heightForWidth(card.scale.width())
        assert card.rect().contains(card.scale.geometry())
    cards[0].show_live(replace(SAID, reach=reaches[0]), None)
    assert "Holds" not in cards[0].scale.text(), "what is at risk does not hold"
