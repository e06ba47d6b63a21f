"""How bad is it to take one class for another? A small table that weights the findings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QHeaderView,
    QTableWidget,
    QVBoxLayout,
    QWidget,
)

from robgui.core.harm import LEVELS, WORST, Harm
from robgui.core.view import Ink
from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.plain import Label, tip
from robgui.gui.widgets.sized import resize_within

if TYPE_CHECKING:
    from robgui.gui.state.history.history import History

INTRODUCTION = (
    "Choose how much each mistake matters to you: findings are ordered by it. A mistake that is"
    " worst keeps its full severity, bad counts half, nuisance a quarter, harmless nothing."
)
#: What a level is written with.
INKS = {"worst": Ink("fails"), "bad": Ink("risk"), "harmless": Ink("unknown")}
#: So few classes share the width of the dialog among them.
FEW = 5
EQUAL, TOWARDS, OWN = "equal", "towards", "own"
#: Most classes in the table, which is filled in by hand. Those of the findings come first.
MOST = 24


class HarmDialog(QDialog):
    """Asks for the harm of each confusion of some classes.

    Args:
        harm: What was said so far; it stays for classes that are not asked about.
        names: The classes, those that matter most first.
    """

    def __init__(self, harm: Harm, names: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("How bad is each confusion?")
        self._kept = harm
        self.names = list(dict.fromkeys(names))[:MOST]
        self.boxes: dict[tuple[str, str], QComboBox] = {}
        self.preset = QComboBox(accessibleName="Begin with")
        self.preset.addItem("Every confusion is equally bad", (EQUAL, ""))
        for name in self.names:
            self.preset.addItem(f"Seeing “{name}” where it is not is worst", (TOWARDS, name))
        self.preset.addItem("My own choice, as in the table", (OWN, ""))
        self.table = self._table()
        self.show_harm(harm)
        self.preset.setCurrentIndex(0 if not harm.weights else self.preset.count() - 1)
        self.preset.activated.connect(self._take_preset)
        self._arrange(len(dict.fromkeys(names)) - len(self.names))

    def harm(self) -> Harm:
        """What the table says."""
        said = self._kept
        for (taken, given), box in self.boxes.items():
            said = said.with_weight(taken, given, float(box.currentData()))
        return said

    def show_harm(self, harm: Harm) -> None:
        """Puts weights into the table."""
        for (taken, given), box in self.boxes.items():
            weight = harm.of(taken, given)
            place = min(range(len(LEVELS)), key=lambda at: abs(list(LEVELS.values())[at] - weight))
            box.setCurrentIndex(place)

    def _take_preset(self) -> None:
        kind, name = self.preset.currentData()
        if kind != OWN:
            self.show_harm(Harm() if kind == EQUAL else Harm.towards(name, self.names))

    def _table(self) -> QTableWidget:
        many = len(self.names)
        table = QTableWidget(many, many, accessibleName="Harm of each confusion")
        table.setHorizontalHeaderLabels([f"taken for {name}" for name in self.names])
        table.setVerticalHeaderLabels(self.names)
        for row, taken in enumerate(self.names):
            for column, given in enumerate(self.names):
                if row != column:
                    table.setCellWidget(row, column, self._box(taken, given))
                else:
                    right = Label("right", alignment=_CENTRE)
                    right.setProperty("role", "quiet")
                    table.setCellWidget(row, column, right)
        modes = QHeaderView.ResizeMode
        if many <= FEW:
            mode = modes.Stretch
        else:
            mode = modes.ResizeToContents
        table.horizontalHeader().setSectionResizeMode(mode)
        table.setShowGrid(False)
        table.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        return table

    def _box(self, taken: str, given: str) -> QComboBox:
        box = self.boxes[taken, given] = QComboBox()
        box.setAccessibleName(f"Harm of taking {taken} for {given}")
        box.setToolTip(tip(f"How bad is it to take “{taken}” for “{given}”?"))
        for words, weight in LEVELS.items():
            box.addItem(words, weight)
        # Not currentIndexChanged: a preset that fills the table is no choice of the user's own.
        box.activated.connect(lambda _: self.preset.setCurrentIndex(self.preset.count() - 1))
        box.currentTextChanged.connect(lambda words: _tint(box, words))
        _tint(box, box.currentText())
        return box

    def _arrange(self, left_out: int) -> None:
        if left_out > 0:
            more = f" {left_out:,} classes without a finding are not shown."
        else:
            more = ""
        words = Label(f"{INTRODUCTION}{more}", wordWrap=True)
        words.setProperty("role", "quiet")
        begin = QHBoxLayout()
        begin.addWidget(Label("Begin with"))
        begin.addWidget(self.preset, 1)
        buttons = QDialogButtonBox(
            QDialogButtonBox.StandardButton.Ok | QDialogButtonBox.StandardButton.Cancel
        )
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(set_heading(Label("How bad is each confusion?"), "title"))
        layout.addWidget(words)
        layout.addLayout(begin)
        layout.addWidget(self.table, 1)
        layout.addWidget(buttons)
        resize_within(self, 110, 14 + 2 * len(self.names))


def _tint(box: QComboBox, words: str) -> None:
    """A level in its colour; a nuisance in that of text."""
    # Not a copy of the box's palette, which still has the last colour.
    palette = QPalette()
    if words in INKS:
        for role in (QPalette.ColorRole.ButtonText, QPalette.ColorRole.Text):
            palette.setColor(role, colour(INKS[words]))
    box.setPalette(palette)


_CENTRE = Qt.AlignmentFlag.AlignCenter


def classes_to_ask(history: History, known: Sequence[str]) -> list[str]:
    """The classes that findings name, the worst first, then all others that are known."""
    pairs = [group.lead.confusion for group in history.entries()]
    found = [name for pair in pairs if pair is not None for name in pair]
    weighed = [
        name for pair, weight in history.harm.weights.items() if weight < WORST for name in pair
    ]
    return list(dict.fromkeys([*found, *weighed, *known]))
