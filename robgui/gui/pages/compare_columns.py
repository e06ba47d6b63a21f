"""The comparison's pictures: one per run and one of their difference, axes moving together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from robgui.core.view import Bars, Curves, Matrix, View, aligned, difference, is_zero
from robgui.gui.widgets.elided import Caption
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.plots import Plot
from robgui.gui.widgets.views import ViewWidget, view_widget

SAME = (
    "Nothing differs: both runs are of the same model with the same settings. Run a second model to"
    " compare."
)
NO_DIFFERENCE = "Their difference would say nothing; choose two runs that differ in one thing."
_SIDES = ("First", "Second")
IN_ORDER = "the same order as in the first."
NOTHING_IN_COMMON = "The two runs have no picture in common."


def matching(first: Sequence[View], second: Sequence[View]) -> list[tuple[View, View]]:
    """The views that both results have, by title and kind, in the order of the first."""
    others = {(view.title, type(view)): view for view in second}
    pairs = [(view, others.get((view.title, type(view)))) for view in first]
    found = [(view, other) for view, other in pairs if other is not None]
    if not found and first and second and type(first[0]) is type(second[0]):
        return [(first[0], second[0])]  # The picture of the analysis may be named after its input.
    return found


def _is_moved(view: View, shown: View | str) -> bool:
    """Whether the bars or rows of a view stand in another order than its own."""
    if isinstance(view, Bars) and isinstance(shown, Bars):
        own, now = view.names, shown.names
    elif isinstance(view, Matrix) and isinstance(shown, Matrix):
        own, now = view.rows, shown.rows
    else:
        return False
    return tuple(name for name in now if name in own) != tuple(own)


class Columns(QWidget):
    """Three pictures beside each other, drawn in place; their note stands once below them."""

    def __init__(self) -> None:
        super().__init__()
        self.slots = [CaptionedPicture() for _ in range(3)]
        self.note = Label(wordWrap=True)
        self.note.setProperty("role", "quiet")
        self._row = QHBoxLayout()
        for slot in self.slots:
            self._row.addWidget(slot, 5)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        layout.addLayout(self._row, 1)
        layout.addWidget(self.note)

    def set_names(self, names: Sequence[str]) -> None:
        """What stands above the pictures."""
        for slot, name in zip(self.slots, names, strict=True):
            slot.name(name)

    def show_pair(self, pair: tuple[View, View] | None, *, alike: bool, refusal: str = "") -> None:
        """Both sides and their difference; words if there is none, or ``refusal`` instead."""
        if pair is None:
            self._note(None)
            self.slots[2].hide()
            for slot, words in zip(self.slots, (NOTHING_IN_COMMON, "", ""), strict=True):
                slot.show_part(words)
            return
        change = f"{refusal} {NO_DIFFERENCE}" if refusal else difference(*pair)
        parts: list[View | str] = [*aligned(*pair), change]
        if alike and not isinstance(change, str) and is_zero(change):
            parts[2] = SAME
        for slot, part in zip(self.slots, parts, strict=True):
            # The notes stand once, below all three.
            slot.show_part(part if isinstance(part, str) else replace(part, note=""))
        if isinstance(parts[2], str):
            said = parts[2]
        else:
            said = ""
        self.slots[2].setVisible(not said)  # a sentence stands below: both pictures get the room
        self._note(pair, said, in_order_of_first=_is_moved(pair[1], parts[1]))
        self._link(parts)

    def _note(
        self, pair: tuple[View, View] | None, change: str = "", *, in_order_of_first: bool = False
    ) -> None:
        """Shows the views' notes, once if both say the same, and why a difference is not drawn."""
        notes = [view.note for view in pair or ()]
        if in_order_of_first:
            # What a note says of its own order is no longer true of the second.
            notes[1] = IN_ORDER
        named = [f"{name}: {note}" for name, note in zip(_SIDES, notes, strict=False) if note]
        if len(set(notes)) == 1:
            words = notes[0]
        else:
            words = " ".join(named)
        words = " ".join(part for part in (change, words) if part)
        self.note.setText(words)
        self.note.setVisible(bool(words))

    def _link(self, parts: Sequence[View | str]) -> None:
        """Both sides move together.

        The difference of curves and matrices shares their horizontal axis.
        """
        first, second, change = (slot.plot for slot in self.slots)
        if first is None or second is None:
            return
        second.box.setXLink(first.box)
        second.box.setYLink(first.box)
        if change is not None:
            shared = isinstance(parts[2], Curves | Matrix)
            change.box.setXLink(first.box if shared else None)


class CaptionedPicture(QWidget):
    """A caption, and below it a picture or a sentence."""

    def __init__(self) -> None:
        super().__init__()
        self.caption = Caption()
        self._said = ""
        self.caption.setAlignment(Qt.AlignmentFlag.AlignLeft)
        self.words = Label(wordWrap=True, alignment=Qt.AlignmentFlag.AlignCenter)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.widget: ViewWidget | None = None
        self._stack = QStackedWidget()
        self._stack.addWidget(self.words)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.caption)
        layout.addWidget(self._stack, 1)

    @property
    def said(self) -> str:
        """What the run says of itself, in the tip of its name."""
        return self._said

    @said.setter
    def said(self, words: str) -> None:
        self._said = words
        self._tell()

    def name(self, words: str) -> None:
        """What stands above the picture."""
        self.caption.set_words(words)
        self._tell()

    def _tell(self) -> None:
        set_tip(self.caption, "\n".join(one for one in (self.caption.words, self._said) if one))

    @property
    def plot(self) -> Plot | None:
        """The plot on show; None for a sentence or a picture without axes."""
        if self.widget is None or self._stack.currentWidget() is self.words:
            return None
        return self.widget.axes

    def show_part(self, part: View | str) -> None:
        """Shows a view in the widget that is there, if it can draw it, or a sentence."""
        if isinstance(part, str):
            self.words.setText(part)
            self._stack.setCurrentWidget(self.words)
            return
        if self.widget is None or not self.widget.fits(part):
            if self.widget is not None:
                self._stack.removeWidget(self.widget)
                self.widget.deleteLater()
            self.widget = view_widget(part)
            self._stack.addWidget(self.widget)
        else:
            self.widget.show_view(part)
        self._stack.setCurrentWidget(self.widget)
