"""The picture atop the overview shows what the sentence beside it names."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from PySide6.QtCore import QObject

from robgui.core.dataset import from_arrays
from robgui.core.finding import StoredFinding
from robgui.core.harm import Harm
from robgui.core.verdict import Status, Verdict
from robgui.gui.pages.overview_hero import Hero
from robgui.gui.pages.overview_lead import Lead, shows

DATA = from_arrays(
    np.stack([np.full((4, 4), value, np.float32) for value in (0.0, 0.25, 0.5, 1.0)]),
    np.array([0, 0, 1, 1]),
    name="shapes",
    kind="image",
)
#: What a run over all inputs says of the class of the inputs 2 and 3.
CLASS = Verdict(Status.FAILS, "“triangle” is right in 0 of 2 inputs and taken for “circle” in 2.")
WRONG = {"class": "triangle", "other_class": "circle", "inputs": [3, 2], "wrong": 2}


class _AtOnce:
    def run(self, work, show, key):
        show(work())


@pytest.fixture
def lead(qtbot):
    """Makes the hero for these findings, with input 0, a circle, in use."""
    made = []

    def make(findings, analysis="deepinspect"):
        store = SimpleNamespace(
            analyses={
                "deepinspect": SimpleNamespace(inputs="many"),
                "zonnscan": SimpleNamespace(inputs="one"),
            },
            library=SimpleNamespace(
                dataset=DATA,
                model=SimpleNamespace(labels=("circle", "triangle"), fingerprint="m"),
            ),
            selection=SimpleNamespace(input=0),
            history=SimpleNamespace(
                findings=findings, harm=Harm(), workspace=None, entries=list, runs=[]
            ),
            inspection=SimpleNamespace(running=True),
            subjects=SimpleNamespace(locate=lambda request, place: (DATA, place)),
            pictures=_AtOnce(),
        )
        hero = Hero()
        qtbot.addWidget(hero)
        made.append(Lead(store, hero))
        run = SimpleNamespace(id="r", request=SimpleNamespace(analysis=analysis))
        tile = QObject()
        tile.told, tile.run, tile.is_stopped, tile.alert = CLASS, run, False, False
        made[-1].show([tile], 1, "m on 0 of shapes", to_come=0)
        return hero

    return make


def grey(hero):
    return hero.alone.pixmap().toImage().pixelColor(1, 1).red()


def test_beside_a_class_that_fails_stands_one_of_its_inputs_and_what_it_is_taken_for(lead):
    hero = lead([StoredFinding("class", "", 1.0, WRONG, id=1, run_id="r")])
    assert not hero.pictures.isHidden()
    assert grey(hero) == 255, "input 3, a triangle, and not input 0 which is in use"
    assert "3" in hero.alone.toolTip()
    assert not hero.chips.isHidden()
    assert "triangle" in hero.chips.accessibleName()


def test_where_no_input_of_the_class_is_known_the_input_in_use_is_not_shown_for_it(lead):
    assert lead([]).pictures.isHidden()


def test_beside_what_is_said_of_the_input_in_use_it_is_shown(lead):
    hero = lead([], analysis="zonnscan")
    assert not hero.pictures.isHidden() and grey(hero) == 0


def test_a_sentence_about_one_class_takes_no_picture_of_two_others():
    classes = ("a", "b", "c")
    other = StoredFinding("class", "", 1.0, {"class": "a", "other_class": "b"}, id=1, run_id="r")
    assert not shows(other, "“c” is right in 0 of 30 inputs.", classes)
    assert shows(other, "“a” is right in 0 of 30 inputs.", classes)
