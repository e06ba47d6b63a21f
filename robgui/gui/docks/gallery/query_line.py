"""The line in which inputs are searched: it completes what is typed."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QModelIndex, QStringListModel, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QListView, QWidget

from robgui.core.dataset.query.completing import Vocabulary, completions

_SIGNS = (":", "<", ">")
_SHOWN, _WIDEST = 12, 480
TIP = (
    "Conditions beside each other must all hold:\n"
    "label:stop   predicted:coat   wrong   right\n"
    "confidence<0.6   margin<0.1   loss>2\n"
    "name:img_00   index<100   tag:night   finding:trap\n"
    "tagged   found   labelled   unreadable   unpredicted\n"
    'or   not (or -)   ( )   "no entry"   any other word: part of a name, class or tag\n'
    "Press Down for what may come next; F1 explains it all."
)


class QueryLine(QLineEdit):
    """A line that offers the words of the language, class names and tags.

    Args:
        vocabulary: Gives what can be named now.

    Signals:
        left: Escape was pressed: the keyboard goes back to the inputs.
    """

    left = Signal()

    def __init__(self, vocabulary: Callable[[], Vocabulary], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._vocabulary = vocabulary
        self._start = 0
        self._words = QStringListModel(self)
        self.setClearButtonEnabled(True)
        self.setPlaceholderText("Find, as label:shirt wrong")
        self.setAccessibleName("Search the inputs")
        self.setToolTip(TIP)
        self.offers = QCompleter(self._words, self)
        self._popup = QListView()
        self.offers.setPopup(self._popup)
        self.offers.setCompletionMode(QCompleter.CompletionMode.UnfilteredPopupCompletion)
        self.offers.setMaxVisibleItems(_SHOWN)
        # Not setCompleter, which replaces the whole line instead of one word of it.
        self.offers.setWidget(self)
        self.offers.activated.connect(self.take)
        self.textEdited.connect(lambda _: self.offer())

    def offer(self) -> None:
        """Shows what the word before the cursor may become; nothing once it is complete."""
        self._start, words = completions(self.text(), self.cursorPosition(), self._vocabulary())
        typed, popup = self.text()[self._start : self.cursorPosition()], self._popup
        if not words or typed.casefold() in (word.casefold() for word in words):
            popup.hide()
            return
        self._words.setStringList(words)
        # Qt makes the list as wide as the line, which stands in a narrow dock.
        room = popup.sizeHintForColumn(0) + popup.verticalScrollBar().sizeHint().width() + 8
        popup.setMinimumWidth(min(room, _WIDEST))
        self.offers.complete()
        popup.setCurrentIndex(QModelIndex())  # Enter searches for what is typed

    def take(self, word: str) -> None:
        """Puts ``word`` in the place of what was typed of it."""
        text, cursor = self.text(), self.cursorPosition()
        after = "" if word.endswith(_SIGNS) else " "
        self.setText(f"{text[: self._start]}{word}{after}{text[cursor:].lstrip()}")
        self.setCursorPosition(self._start + len(word) + len(after))
        if not after:
            self.offer()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Down asks for what may come next, Escape leaves."""
        key = event.key()
        if self._popup.isVisible() and key in (
            Qt.Key.Key_Return,
            Qt.Key.Key_Enter,
            Qt.Key.Key_Tab,
            Qt.Key.Key_Escape,
        ):
            # Left to the completer, which sees these keys after the line and takes what it ignores.
            event.ignore()
        elif key == Qt.Key.Key_Down:
            self.offer()
        elif key == Qt.Key.Key_Escape:
            self.left.emit()
        else:
            super().keyPressEvent(event)
