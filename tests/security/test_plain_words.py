"""Names come from files of anyone: the window shows them letter by letter and never takes them
for rich text.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import Qt as Guess
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QGraphicsTextItem,
    QGraphicsView,
    QLabel,
    QTextEdit,
    QWidget,
)
from torch import nn

from robgui.core.finding import Finding
from robgui.core.trust import Code, SourceFile
from robgui.gui.app.app import application, leave, open_window
from robgui.gui.model.model_dialog import ModelDialog
from robgui.gui.model.trust_dialog import TrustDialog
from robgui.gui.state.library.opening import Opening
from robgui.gui.widgets.elided import Caption
from robgui.gui.widgets.plain import Label, question, tip

MARK = "hostile"
EVIL = f"<b>{MARK}</b>"
SOURCES = Path(__file__).parent.parent.parent / "robgui" / "gui"


def rendered(text: str, format_: Qt.TextFormat = Qt.TextFormat.AutoText) -> str:
    """What a person sees of ``text`` in a label or a tooltip."""
    if format_ is Qt.TextFormat.PlainText or (
        format_ is Qt.TextFormat.AutoText and not Guess.mightBeRichText(text)
    ):
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


def honest(seen: str) -> bool:
    """Whether every hostile name is seen with its brackets (a name may be cut, but not
    swallowed).
    """
    return seen.count(MARK) == len(re.findall(rf"<b>{MARK}", seen))


def lies(root: QWidget) -> list[str]:
    """Every place below ``root`` that takes a name for rich text."""
    found: list[str] = []

    def look(widget: QWidget, seen: str, where: str) -> None:
        if not honest(seen):
            found.append(f"{where} of {type(widget).__name__} {widget.objectName()}: {seen[:80]!r}")

    for widget in [root, *root.findChildren(QWidget)]:
        look(widget, rendered(widget.toolTip()), "tooltip")
        if isinstance(widget, QLabel):
            # a caption may cut a name in the middle
            words = widget.words if isinstance(widget, Caption) else QLabel.text(widget)
            look(widget, rendered(words, widget.textFormat()), "text")
        elif isinstance(widget, QTextEdit):
            look(widget, widget.toPlainText(), "text")
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            model = widget.model()
            for row in range(min(model.rowCount(QModelIndex()), 20)):
                columns = (
                    1 if isinstance(model, QAbstractListModel) else model.columnCount(QModelIndex())
                )
                for column in range(columns):
                    shown = model.data(model.index(row, column), Qt.ItemDataRole.ToolTipRole)
                    look(
                        widget,
                        rendered(shown if isinstance(shown, str) else ""),
                        "tooltip of an item",
                    )
        elif isinstance(widget, QGraphicsView) and widget.scene() is not None:
            for item in widget.scene().items():
                if isinstance(item, QGraphicsTextItem):
                    look(widget, item.toPlainText(), "text in the picture")
    return found


@pytest.fixture
def files(tmp_path):
    """A model, data and class names that all are called badly."""
    folder = tmp_path / EVIL.replace("/", "_")
    folder.mkdir()
    names = [f"{EVIL} {number}" for number in range(3)]
    torch.manual_seed(0)
    net = nn.Sequential(nn.Flatten(), nn.Linear(64, 8), nn.ReLU(), nn.Linear(8, 3))
    model = folder / f"<b>{MARK}.pt"
    torch.jit.trace(net, torch.rand(2, 1, 8, 8)).save(model)
    (folder / f"{model.name}.toml").write_text(
        f"shape = [1, 8, 8]\nlabels = {names!r}\n".replace("'", '"')
    )
    pixels = np.random.default_rng(0).integers(0, 256, (12, 8, 8), np.uint8)
    np.savez(
        folder / f"<b>{MARK}.npz", images=pixels, labels=np.arange(12) % 3, names=np.array(names)
    )
    return model, folder / f"<b>{MARK}.npz"


@pytest.fixture
def window(qtbot, tmp_path, files):
    application()
    made = open_window(tmp_path / f"<b>{MARK}.robgui")
    made.show()
    qtbot.waitExposed(made)
    store = made.store
    qtbot.waitUntil(lambda: bool(store.analyses) and store.history.workspace is not None)
    store.library.load_dataset(files[1])
    store.library.load_model(Opening(files[0], quiet=True))
    idle(qtbot, store)
    assert store.library.model is not None and MARK in store.library.model.labels[0]
    made.panel("")  # All of them are made now, not turn by turn.
    yield made
    store.runner.stop_all()  # after a failure nobody is there to answer whether to quit
    qtbot.waitUntil(lambda: not store.runner.busy)
    made.close()
    assert leave(made, 0) == 0
    made.deleteLater()


def idle(qtbot, store):
    qtbot.waitUntil(
        lambda: not (store.busy or store.keeping.busy or store.pictures.busy or store.runner.busy),
    )


QUICK = {
    "zonnscan": {"samples": 16, "radii": (0.0, 0.1)},
    "zonnscan_populations": {"samples": 16},
    "deepinspect": {},
    "last_particle": {"particles": 4, "kill": 1, "truth": "predicted", "max_calls": 500},
    "last_particle_table": {"particles": 4, "kill": 1, "truth": "predicted", "max_calls": 500},
    "feature_game": {"max_calls": 300},
}


def test_no_place_of_the_window_takes_a_name_for_rich_text(qtbot, window, files):
    store = window.store
    for name, values in QUICK.items():
        window.show_panel(name)
        params = {
            key: value
            for key, value in values.items()
            if key in store.analyses[name].params.model_fields
        }
        store.next_run.set_params(name, store.analyses[name].params.parse(params))
        request = store.next_run.request(name)
        assert request is not None, store.next_run.obstacle(name)
        store.submit(request)
    idle(qtbot, store)
    assert [run.error for run in store.history.runs if run.error] == []
    workspace = store.history.workspace
    workspace.add_findings(
        workspace.runs()[0].id, [Finding(EVIL, f"{EVIL} is mistaken", 0.9, {"class": EVIL})]
    )
    store.history.refresh()
    idle(qtbot, store)
    for level in ("info", "warning", "error"):
        store.say(level, f"{EVIL} was said.", EVIL)
    found: dict[str, list[str]] = {}
    for page in range(window.pages.count()):
        window.go_to(page)
        QApplication.processEvents()
        found[f"page {page}"] = lies(window)
    for name in QUICK:
        window.show_panel(name)
        QApplication.processEvents()
        idle(qtbot, store)
        found[name] = lies(window)
    assert {place: words for place, words in found.items() if words} == {}
    assert sum(MARK in QLabel.text(label) for label in window.findChildren(QLabel)) > 5, (
        "the names are on show at all"
    )


def test_the_dialogs_of_a_model_take_no_name_for_rich_text(qtbot, window, files, tmp_path):
    store = window.store
    dialog = ModelDialog(store, store.library.model, window)
    dialog.show()
    idle(qtbot, store)
    assert lies(dialog) == []
    assert MARK in dialog.report.facts.text()
    dialog.close()


def test_the_question_of_trust_takes_no_name_for_rich_text(qtbot, tmp_path):
    dialog = TrustDialog(
        Code("0" * 64, tmp_path / EVIL, EVIL, (SourceFile(Path(EVIL), EVIL),), (EVIL,)),
        f"{EVIL} is a pickle.",
    )
    qtbot.addWidget(dialog)
    assert lies(dialog) == []


def test_a_message_box_shows_both_of_its_texts_letter_by_letter(qtbot):
    box = question("Delete", EVIL, f"<h1>{EVIL}</h1>", None)
    qtbot.addWidget(box)
    assert lies(box) == []
    assert sum(MARK in label.text() for label in box.findChildren(QLabel)) == 2


@pytest.mark.parametrize(
    "text", ["plain", EVIL, "a < b > c", "<img src='http://x'>", "line\nline <b>", "&lt;", ""]
)
def test_a_tip_shows_exactly_its_text(text, qtbot):
    assert rendered(tip(text)) == text


def test_the_probe_of_these_tests_finds_a_lie(qtbot):
    root = QWidget()
    qtbot.addWidget(root)
    QLabel(EVIL, root)
    Label(EVIL, root)
    QLabel("fine", root, toolTip=EVIL)
    assert len(lies(root)) == 2


def test_every_label_of_the_window_is_made_plain():
    """A new label is a ``Label``: one that Qt may take for rich text is made nowhere but where
    its words are escaped.
    """
    allowed = {"widgets/plain.py", "panels/panel.py"}
    made = {
        str(path.relative_to(SOURCES))
        for path in SOURCES.rglob("*.py")
        if re.search(r"(?<![\w.])QLabel\(|\(QLabel\)", path.read_text())
    }
    assert made <= allowed
