"""PairView: an input before and after with the ways to look at it."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from robgui.core.finding_pair import Pair
from robgui.gui.widgets.pair.pair_picture import Mode, PairPicture

_TIPS = {
    Mode.SLIDER: "Drag over the picture, or use the arrow keys",
    Mode.BESIDE: "Both at once",
    Mode.BLINK: "One after the other in the same place: the eye finds what moves",
    Mode.CHANGE: "Only what has changed, enlarged",
}


class PairView(QWidget):
    """The picture, and a row of buttons below it.

    Attributes:
        picture: What is painted.
        buttons: One per way to look at it.
    """

    def __init__(self) -> None:
        super().__init__()
        self.picture = PairPicture()
        self._group = QButtonGroup(self)
        self.buttons: dict[Mode, QToolButton] = {}
        row = QHBoxLayout()
        row.setSpacing(4)
        row.addStretch(1)
        for mode in Mode:
            button = QToolButton(text=mode.value, checkable=True, toolTip=_TIPS[mode])
            button.setProperty("role", "tab")
            button.clicked.connect(lambda _=False, mode=mode: self.set_mode(mode))
            self._group.addButton(button)
            self.buttons[mode] = button
            row.addWidget(button)
        row.addStretch(1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addWidget(self.picture, 1)
        layout.addLayout(row)
        self.set_mode(Mode.SLIDER)

    def show_pair(self, pair: Pair | None) -> None:
        """Shows ``pair``."""
        self.picture.show_pair(pair)

    def set_mode(self, mode: Mode) -> None:
        """Looks at the pair in another way."""
        self.buttons[mode].setChecked(True)
        self.picture.set_mode(mode)
