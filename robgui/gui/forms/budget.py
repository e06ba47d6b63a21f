"""What Run will cost, and how long it may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QVBoxLayout, QWidget

from robgui.core.execution.budget.time_limit import BUDGETS
from robgui.core.text.words import roughly
from robgui.gui.widgets.plain import Label, Paragraph, set_tip

if TYPE_CHECKING:
    from robgui.core.execution.budget.cost import Estimate

_NO_LIMIT, _OWN = "No limit", "As set under More"
#: Beyond this a run without a limit is called long.
_LONG = BUDGETS["Normal"]


class Budget(QWidget):
    """Shows the cost of the next run and offers time limits for it.

    Signals:
        chosen: A time limit in seconds, 0 for none.
    """

    chosen = Signal(float)

    def __init__(self) -> None:
        super().__init__()
        self.cost = Paragraph()
        self.cost.setAccessibleName("What a run will cost")
        self.limit = QComboBox()
        self.limit.setAccessibleName("Time limit")
        self.limit.addItem(_NO_LIMIT, 0.0)
        for name, seconds in BUDGETS.items():
            self.limit.addItem(f"{name}, {roughly(seconds)}", seconds)
        set_tip(
            self.limit,
            "How long the run may compute. It then ends with what is known by that time, and says"
            " so.",
        )
        label = Label("Time")
        label.setBuddy(self.limit)
        row = QHBoxLayout()
        row.addWidget(label)
        row.addWidget(self.limit, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(row)
        layout.addWidget(self.cost)
        # Not currentIndexChanged: show_limit sets the box too.
        self.limit.activated.connect(lambda place: self.chosen.emit(self.limit.itemData(place)))

    def show_limit(self, seconds: float) -> None:
        """Shows the limit that the form has."""
        place = self.limit.findData(float(seconds))
        own = self.limit.findText(_OWN)
        if place < 0 and own < 0:
            # -1: to choose it changes nothing, since the field under More has the number.
            self.limit.addItem(_OWN, -1.0)
        elif place >= 0 and own >= 0:
            self.limit.removeItem(own)
        self.limit.setCurrentIndex(place if place >= 0 else self.limit.findText(_OWN))

    def show_estimate(self, estimate: Estimate | None) -> None:
        """Shows what the run will cost, if that is known."""
        self.cost.setVisible(estimate is not None)
        if estimate is None:
            return
        words = estimate.words
        long = not estimate.limit and _LONG < estimate.longest < float("inf")
        if long:
            advice = " Choose a time to have an answer by then."
        else:
            advice = ""
        self.cost.setText(f"{words[:1].upper()}{words[1:]}.{advice}")
