"""In which order the gallery shows its inputs."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QToolButton, QWidget

from robgui.core.dataset.query.ordering import LARGEST_FIRST, ORDERS
from robgui.gui.widgets.elided import ElidedBox


class OrderBox(QWidget):
    """What the inputs are sorted by, and a button that turns the order round.

    Signals:
        changed: Another order is wanted.
    """

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.box = ElidedBox()
        self.box.setAccessibleName("Sort the inputs by")
        for name, title in ORDERS.items():
            self.box.addItem(f"Sorted by {title}" if name != "index" else "In data order", name)
        self.box.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        # A combo box is as wide as its longest entry by default, which would set the width of the
        # dock.
        self.box.setMinimumContentsLength(8)
        self.turn = QToolButton(checkable=True, autoRaise=True)
        self.turn.setAccessibleName("Turn the order round")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.box, 1)
        layout.addWidget(self.turn)
        self.box.currentIndexChanged.connect(lambda _: self._told())
        self.turn.toggled.connect(lambda _: self._told())
        self._show()

    @property
    def by(self) -> str:
        """One of ORDERS."""
        return str(self.box.currentData())

    @property
    def turned(self) -> bool:
        """Whether it is the other way round."""
        return self.turn.isChecked()

    def set(self, by: str, turned: bool) -> None:
        """Chooses an order without a word."""
        with QSignalBlocker(self.box), QSignalBlocker(self.turn):
            self.box.setCurrentIndex(max(0, self.box.findData(by)))
            self.turn.setChecked(turned)
        self._show()

    def _told(self) -> None:
        self._show()
        self.changed.emit()

    def _show(self) -> None:
        # Some orders start with the largest; the arrow shows the way it really goes, not the
        # button.
        falling = (self.by in LARGEST_FIRST) != self.turned
        self.turn.setArrowType(Qt.ArrowType.DownArrow if falling else Qt.ArrowType.UpArrow)
        if falling:
            now, other = ("largest", "smallest")
        else:
            now, other = ("smallest", "largest")
        if self.by in ("index", "name"):
            if falling:
                now, other = ("last", "first")
            else:
                now, other = ("first", "last")
        self.turn.setToolTip(f"The {now} first; click for the {other} first.")
