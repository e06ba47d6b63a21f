"""Hero: the input, the overall status with its reason, and the next step, atop the overview."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPalette
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
)

from robgui.core.verdict import Status, Verdict
from robgui.core.view.ink import status_ink
from robgui.gui.app.theme import set_heading, theme
from robgui.gui.widgets.flow import Flow
from robgui.gui.widgets.inks import colour
from robgui.gui.widgets.pair.confusion_label import ConfusionLabel
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.pair.pair_picture import PairPicture
from robgui.gui.widgets.plain import Label, tip, unbroken

if TYPE_CHECKING:
    from robgui.core.finding_pair import Pair

NOT_ASKED = "Not inspected yet"
AT_WORK = "Being inspected"
WAIT = "Each method takes a first look at this model and input; what it finds stands here then."
ASK = "Press “Inspect everything”: each method takes a first look at this model and input."
#: The picture is as many lines of text high; in a low window the second.
_LINES, _LOW_LINES = 12, 8


@dataclass(frozen=True)
class Overall:
    """What all methods come to.

    Attributes:
        status: The worst of them; None while none was asked.
        reason: What the one that decides says.
        tally: How many methods say what.
        heading: In place of a status where there is none.
    """

    status: Status | None
    reason: str
    tally: str
    heading: str = NOT_ASKED


def overall(
    verdicts: Sequence[Verdict],
    methods: int,
    deciding: Verdict | None,
    stopped: int = 0,
    *,
    failed: int = 0,
    to_come: int = 0,
    at_work: bool = False,
) -> Overall:
    """What the verdicts of several methods come to together.

    Args:
        verdicts: Of the methods that were asked.
        methods: How many apply to the model.
        deciding: The worst of them, the one to be told.
        stopped: How many of them were stopped, or failed, before their end.
        failed: How many others were asked and could not answer.
        to_come: How many others are being asked now, or wait for their turn.
        at_work: Whether that is an inspection.
    """
    # A method that has only begun cannot tell yet: that is no verdict.
    if at_work and (deciding is None or deciding.status is Status.UNKNOWN):
        return Overall(None, WAIT, "", AT_WORK)
    if deciding is None:
        return Overall(None, ASK, "")
    counts = [(status, sum(one.status is status for one in verdicts)) for status in Status]
    said = ", ".join(_of_methods(status, many) for status, many in counts if many)
    if stopped:
        said += f" ({stopped} of them ended early)"
    others = {
        "could not answer": failed,
        "to come": to_come,
        "not asked yet": methods - len(verdicts) - failed - to_come,
    }
    rest = "".join(f"; {many} {words}" for words, many in others.items() if many > 0)
    of = f"So far, of {methods} methods" if to_come or at_work else f"Of {methods} methods"
    return Overall(deciding.status, deciding.sentence, f"{of}: {said}{rest}.")


_OF_METHODS = {
    Status.FAILS: "found a failure",
    Status.AT_RISK: "see a risk",
    Status.UNKNOWN: "cannot tell",
    Status.HOLDS: "found nothing against it",
}


def _of_methods(status: Status, many: int) -> str:
    """How many methods say what: ``1 sees a risk``."""
    words = _OF_METHODS[status]
    if many == 1:
        words = words.replace("see ", "sees ", 1)
    return f"{many} {words}"


class Hero(QFrame):
    """The one-screen answer: picture, status, reason, what next.

    Attributes:
        next: One button per thing to do, in the order of usefulness.

    Signals:
        wants: The name of what to do.
    """

    wants = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._status: Status | None = None
        self.pair, self.alone = PairPicture(), Fitted()
        self.pictures = QStackedWidget()
        self.pictures.addWidget(self.alone)
        self.pictures.addWidget(self.pair)
        # By itself it asks for more than a low hero has.
        self.pair.setMinimumSize(1, 1)
        self.set_low(False)
        self.chips = ConfusionLabel(1.1)
        self.chips.show_confusion(None)
        self.status = set_heading(Label(NOT_ASKED), "title")
        self.reason = Label(ASK, wordWrap=True)
        self.subject = Label(wordWrap=True)
        self.subject.setProperty("role", "quiet")
        self.next: dict[str, QPushButton] = {}
        self._row = Flow()
        self._arrange()
        theme.changed.connect(self._tint)

    def set_low(self, low: bool) -> None:
        """In a low window the picture leaves room for the cards below."""
        high = self.fontMetrics().height() * (_LOW_LINES if low else _LINES)
        # A square, and beside it the close looks, half as wide, with their gap.
        self.pictures.setFixedSize(round(high * 1.55), high)

    def show_overall(self, said: Overall, subject: str) -> None:
        """Status, reason and how many methods say what."""
        self._status = said.status
        if said.status is None:
            words = said.heading
        else:
            words = f"{said.status.sign} {said.status.words}"
        self.status.setText(words)
        self.reason.setText(unbroken(said.reason))
        self.reason.setToolTip(tip(said.reason))
        self.subject.setText(f"{subject}. {said.tally}" if said.tally else subject)
        self._tint()

    def show_input(
        self,
        picture: np.ndarray | None,
        words: str,
        *,
        drawn: bool,
        confusion: tuple[str, str] | None = None,
    ) -> None:
        """One input as it is, while no method has found a pair.

        Args:
            picture: None shows none.
            words: Which input it is.
            drawn: Whether it is no image.
            confusion: Its class and what it is taken for, where that is the failure.
        """
        self.chips.show_confusion(confusion)
        self.alone.show_picture(picture, drawn=drawn)
        self.alone.setAccessibleName(words)
        self.alone.setToolTip(tip(words))
        self.pictures.setCurrentWidget(self.alone)
        self.pictures.setVisible(picture is not None)

    def show_pair(self, pair: Pair) -> None:
        """The failure that decides, before and after."""
        self.chips.show_confusion((pair.taken, pair.given) if pair.taken and pair.given else None)
        self.pair.show_pair(pair)
        self.pictures.setCurrentWidget(self.pair)
        self.pictures.setVisible(True)

    def show_next(self, steps: dict[str, str]) -> None:
        """What to do next: words by the name of what is done; the first is the likeliest."""
        # Recreated at every change, a button could go between its press and its release.
        if list(steps) == list(self.next):
            for name, words in steps.items():
                self.next[name].setText(words)
            return
        self.next = {}
        for place, (name, words) in enumerate(steps.items()):
            button = QPushButton(words)
            button.setProperty("role", "primary" if place == 0 else "")
            button.clicked.connect(lambda _=False, name=name: self.wants.emit(name))
            self.next[name] = button
        self._row.show_items(list(self.next.values()))

    def _arrange(self) -> None:
        words = QVBoxLayout()
        words.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(16)
        head.addWidget(self.status)
        head.addWidget(self.chips, 1)
        words.addLayout(head)
        words.addWidget(self.reason)
        words.addWidget(self.subject)
        words.addStretch(1)
        words.addWidget(self._row)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(16, 12, 16, 12)
        layout.setSpacing(16)
        layout.addWidget(self.pictures, 0, Qt.AlignmentFlag.AlignTop)
        layout.addLayout(words, 1)

    def _tint(self) -> None:
        palette = self.status.palette()
        ink = theme.colours.text if self._status is None else colour(status_ink(self._status))
        palette.setColor(QPalette.ColorRole.WindowText, ink)
        self.status.setPalette(palette)
