"""The dialog of the data: parts, names, and which class is which."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image
from PySide6.QtCore import Qt
from torch import nn

from robgui.core.dataset import open_dataset
from robgui.core.model.classifier import Classifier
from robgui.gui.app.theme import theme
from robgui.gui.data.data_dialog import DataDialog
from robgui.gui.state.store import Store

SIGNS = ("Stop", "Yield", "No entry")


class Brightness(nn.Module):
    def forward(self, x):
        return x.flatten(1)[:, :3]


@pytest.fixture
def store(qtbot):
    theme.apply(False)
    made = Store()
    yield made
    assert made.shutdown()


@pytest.fixture
def folder(tmp_path):
    """Folders 00 … 02, once for training and once for testing."""
    for part, many in (("train", 3), ("test", 2)):
        for number in range(3):
            (tmp_path / "signs" / part / f"{number:02}").mkdir(parents=True)
            for place in range(many):
                pixels = np.full((4, 4, 3), 80 * number, np.uint8)
                target = tmp_path / "signs" / part / f"{number:02}" / f"{place}.ppm"
                Image.fromarray(pixels).save(target)
    return tmp_path / "signs"


def settled(qtbot, store) -> None:
    qtbot.waitUntil(lambda: not store.pictures.busy and not store.background.busy)


@pytest.fixture
def open_dialog(qtbot, store, folder):
    def make(labels=SIGNS, **options):
        net = Classifier.from_module(Brightness(), (3, 4, 4), labels, name="net")
        store.library.add_dataset(open_dataset(folder, **options))
        store.library.add_model(store.answers.hold(net))
        dialog = DataDialog(store, store.library.dataset)
        qtbot.addWidget(dialog)
        with qtbot.waitExposed(dialog):
            dialog.show()
        settled(qtbot, store)
        return dialog

    return make


def shown(dialog) -> list[list[str]]:
    table = dialog.table.classes
    return [
        [table.index(row, column).data() for column in range(3)] for row in range(table.rowCount())
    ]


def test_the_classes_are_guessed_and_counted(open_dialog):
    dialog = open_dialog()
    assert shown(dialog) == [["00", "2", "Stop"], ["01", "2", "Yield"], ["02", "2", "No entry"]]
    assert dialog.fitting.text() == "3 of 3 classes are classes of net."
    assert torch.is_tensor(torch.zeros(1))


def test_another_part_is_read_and_used(qtbot, store, open_dialog):
    dialog = open_dialog()
    assert dialog.part.currentText() == "Test"
    dialog.part.setCurrentIndex(dialog.part.findData("train"))
    settled(qtbot, store)
    assert shown(dialog)[0] == ["00", "3", "Stop"]
    qtbot.mouseClick(dialog.use, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: len(store.library.dataset) == 9)
    assert store.library.dataset.options == {"split": "train"}
    settled(qtbot, store)


def test_a_class_that_the_user_corrects_counts_and_comes_back(qtbot, store, open_dialog):
    dialog = open_dialog()
    dialog.table.classes.setData(dialog.table.classes.index(0, 2), "No entry")
    dialog.table.classes.setData(dialog.table.classes.index(2, 2), "")
    dialog.use.click()
    settled(qtbot, store)
    dataset = store.library.dataset
    assert dataset.options["classes"] == {"00": "No entry", "02": ""}
    assert dataset.labels.tolist() == [0, 0, 1, 1, -1, -1]
    assert store.library.predictions.labels.tolist() == [2, 2, 1, 1, -1, -1]
    again = DataDialog(store, dataset)
    qtbot.addWidget(again)
    settled(qtbot, store)
    assert [row[2] for row in shown(again)] == ["No entry", "Yield", "(none: no label)"]
    again.guess.click()
    again.use.click()
    settled(qtbot, store)
    assert "classes" not in store.library.dataset.options


def test_names_come_from_a_file_that_is_named(qtbot, store, open_dialog, tmp_path):
    (tmp_path / "n.csv").write_text("0,Yield\n1,Stop\n2,No entry\n")
    dialog = open_dialog()
    dialog.names_file.setText(str(tmp_path / "n.csv"))
    dialog.names_file.editingFinished.emit()
    settled(qtbot, store)
    assert [row[0] for row in shown(dialog)] == ["Yield", "Stop", "No entry"]
    dialog.names_file.setText(str(tmp_path / "gone.csv"))
    dialog.names_file.editingFinished.emit()
    settled(qtbot, store)
    assert "no such file" in dialog.problem.text() and not dialog.use.isEnabled()


def test_foreign_classes_can_be_taken_in_order(qtbot, store, open_dialog):
    dialog = open_dialog(("cat", "dog", "owl"), classes={"00": "a", "01": "b", "02": "c"})
    assert store.library.predictions.labels is None
    dialog.by_number.click()
    assert dialog.fitting.text() == "3 of 3 classes are classes of net."
    dialog.use.click()
    settled(qtbot, store)
    assert store.library.predictions.labels.tolist() == [0, 0, 1, 1, 2, 2]


def test_that_classes_do_not_fit_is_said_once(qtbot, store, open_dialog):
    said = []
    store.said.connect(lambda level, sentence, details: said.append(sentence))
    open_dialog(("cat", "dog", "owl"), classes={"00": "a", "01": "b", "02": "c"})
    store.library.use_dataset(store.library.dataset)
    settled(qtbot, store)
    store.library.use_dataset(store.library.dataset)
    settled(qtbot, store)
    assert len([each for each in said if "nothing counts as wrong" in each]) == 1
