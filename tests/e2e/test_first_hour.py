"""The first hour with own files: from a folder of photos and a network to its three worst failures.

The photos are of mixed sizes, PPM, in folders "00" … "42"; the names of the classes are in a CSV
file; nobody knows how the network was fed. What a person has to click and type is counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog

from robgui.gui.model.model_dialog import ModelDialog
from tests.e2e.signs import NAMES, make_network, make_photos
from tests.e2e.steps import idle, press


@dataclass
class Hand:
    """Does what a person does, and counts it."""

    qtbot: object
    clicks: int = 0
    typed: list[str] = field(default_factory=list)

    def click(self, button):
        press(self.qtbot, button)
        self.clicks += 1

    def row(self, table, row):
        place = table.visualRect(table.model().index(row, 0)).center()
        self.qtbot.mouseClick(table.viewport(), Qt.MouseButton.LeftButton, pos=place)
        self.clicks += 1

    def type(self, line, text):
        self.qtbot.keyClicks(line, text)
        self.typed.append(text)

    def choose(self, box, words):
        box.setCurrentIndex(next(i for i in range(box.count()) if words in box.itemText(i)))
        self.clicks += 2


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signs")
    make_photos(folder, each=4)
    make_network(folder / "signs.pt2", each=24, rounds=6)
    return folder


def test_from_own_photos_to_the_three_worst_failures(qtbot, start, files, monkeypatch):
    window, hand = start(), Hand(qtbot)
    store = window.store
    # the file dialogs of the desktop: one click and one name each
    monkeypatch.setattr(
        QFileDialog,
        "getExistingDirectory",
        lambda *_: hand.typed.append("photos") or str(files / "photos"),
    )
    asked = iter(("signs.pt2", "signnames.csv"))

    def name_file(*_):
        hand.typed.append(name := next(asked))
        return str(files / name), ""

    monkeypatch.setattr(QFileDialog, "getOpenFileName", name_file)
    hand.click(window.welcome.button("open_folder"))
    idle(qtbot, window)
    assert len(store.library.dataset) == 4 * 43
    hand.click(window.welcome.button("open_model"))
    dialog = None

    def opened():
        nonlocal dialog
        dialog = next(
            (
                w
                for w in QApplication.topLevelWidgets()
                if isinstance(w, ModelDialog) and w.isVisible()
            ),
            None,
        )
        return dialog is not None and "right on" in dialog.verdict.text()

    qtbot.waitUntil(opened)
    before = float(dialog.verdict.text().split()[0])
    hand.click(dialog.form.guess)
    qtbot.waitUntil(lambda: "labelled inputs" in dialog.ways.said.text())
    hand.row(dialog.ways.table, 0)
    hand.click(dialog.ways.close_button)
    hand.click(dialog.form.open_labels)
    qtbot.waitUntil(lambda: dialog.candidate is not None and dialog.candidate.labels == NAMES)
    qtbot.waitUntil(lambda: "right on" in dialog.verdict.text())
    assert float(dialog.verdict.text().split()[0]) > before + 10, "the guess is worth its click"
    hand.click(dialog.use)
    qtbot.waitUntil(lambda: store.library.predictions.complete)
    idle(qtbot, window)

    gallery = window.gallery
    hand.click(gallery.filter.wrong)
    hand.choose(gallery.filter.order.box, "loss")
    qtbot.waitUntil(lambda: gallery.filter.shown.open == 0)
    worst = [gallery.model.entry(row) for row in range(3)]
    told = store.library.predictions.told(())
    failed = np.flatnonzero((told.classes != told.labels) & (told.labels >= 0))
    expected = failed[np.argsort(-told.loss[failed], kind="stable")][:3]
    assert [entry.index for entry in worst] == expected.tolist()
    assert all(entry.guess in NAMES and entry.right is False for entry in worst)
    assert all(entry.title in NAMES for entry in worst), "no class is called “00”"
    assert gallery.filter.classes.findText("Stop") > 0
    label = NAMES[int(told.labels[expected[0]])]
    hand.type(gallery.filter.text, f'label:"{label}"')
    qtbot.waitUntil(lambda: len(gallery.model.rows) <= 4)
    assert expected[0] in gallery.model.rows
    assert hand.clicks <= 10 and len(hand.typed) == 4, (hand.clicks, hand.typed)
