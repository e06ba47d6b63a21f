"""LogView: everything the program said, with time, level and details."""

from __future__ import annotations

import logging
import re
import threading
import time
import warnings
from collections import deque
from typing import TYPE_CHECKING, TextIO

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QSyntaxHighlighter, QTextDocument
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import icon, theme

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: Lines kept; older ones go.
LINES = 5_000
#: Lines of details shown of one message.
_DETAILS = 200
#: A message that wants attention, as ``LogView.add`` writes it.
_LEVEL = re.compile(r"^\d\d:\d\d:\d\d  (?P<level>Error|Critical|Warning) ")


class LogView(QWidget):
    """Read-only text that grows at the end and follows it, unless the user has scrolled up."""

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName("LogView")
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName("Messages of the program")
        self.text.setMaximumBlockCount(LINES)
        self.text.setPlaceholderText("What the program does and warns of appears here.")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.WidgetWidth)
        self.text.setTabChangesFocus(True)
        self.copy_all = QPushButton("Copy all")
        self.copy_all.clicked.connect(
            lambda: QApplication.clipboard().setText(self.text.toPlainText())
        )
        self.clear = QPushButton("Clear")
        self.clear.clicked.connect(self.text.clear)
        self._levels = _Levels(self.text.document())
        self._lay_out()
        self._fonts()
        theme.changed.connect(self._fonts)
        store.said.connect(self.add)
        store.offered.connect(lambda sentence, *_: self.add("info", sentence))
        self.listener = Listener()
        # Queued on this thread too: something may be logged while Qt lays out or paints.
        self.listener.said.connect(self._take, Qt.ConnectionType.QueuedConnection)
        self.destroyed.connect(self.listener.detach)

    def add(self, level: str, sentence: str, details: str = "") -> None:
        """One message: time, level in words, the sentence, the details indented below."""
        lines = [f"{time.strftime('%H:%M:%S')}  {level.capitalize():<8} {sentence}"]
        extra = details.rstrip().splitlines()
        lines += [f"    {line}" for line in extra[:_DETAILS]]
        if len(extra) > _DETAILS:
            lines.append(f"    … {len(extra) - _DETAILS:,} more lines")
        self.text.appendPlainText("\n".join(lines))

    def _take(self) -> None:
        for message in self.listener.take():
            self.add(*message)

    def _lay_out(self) -> None:
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.copy_all)
        buttons.addWidget(self.clear)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self.text, 1)
        layout.addLayout(buttons)

    def _fonts(self) -> None:
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
        # Nothing in the window is smaller than 9 points.
        font.setPointSizeF(max(9.0, QApplication.font().pointSizeF()))
        self.text.setFont(QFont(font))
        side = self.fontMetrics().height()
        for button, symbol in ((self.copy_all, "copy"), (self.clear, "trash")):
            button.setIcon(icon(symbol))
            button.setIconSize(QSize(side, side))


class _Levels(QSyntaxHighlighter):
    """Lines of errors and warnings have a colour, found at a glance among the others."""

    def __init__(self, document: QTextDocument) -> None:
        super().__init__(document)
        theme.changed.connect(self.rehighlight)

    def highlightBlock(self, text: str) -> None:
        """Colours a line by its level; its details stay as they are."""
        found = _LEVEL.match(text)
        if found is not None:
            known = theme.colours
            ink = known.warning if found["level"] == "Warning" else known.bad
            self.setFormat(0, len(text), QColor(ink))


class Listener(QObject):
    """Brings Python's ``logging`` and ``warnings`` to the log, from any thread.

    Messages wait in a bounded queue and one signal announces many, so a flood cannot stop the
    window.
    """

    said = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._waiting: deque[tuple[str, str, str]] = deque(maxlen=LINES)
        self._lock = threading.Lock()
        self._handler = _Handler(self.put)
        self._show_before = warnings.showwarning
        logging.getLogger().addHandler(self._handler)
        # By default Python passes on nothing below a warning, and runs report their states as info.
        logging.getLogger("robgui").setLevel(logging.INFO)
        warnings.showwarning = self.show_warning

    def detach(self) -> None:
        """Listens no more; Python shows warnings as before."""
        logging.getLogger().removeHandler(self._handler)
        # Somebody else may have put theirs on top. Not `is`: each look at a method makes a new one.
        if warnings.showwarning == self.show_warning:
            warnings.showwarning = self._show_before

    def put(self, level: str, sentence: str, details: str) -> None:
        """Queues one message; may be called on any thread."""
        with self._lock:
            first = not self._waiting
            self._waiting.append((level, sentence, details))
        if first:
            self.said.emit()

    def take(self) -> list[tuple[str, str, str]]:
        """Everything that waits."""
        with self._lock:
            messages = list(self._waiting)
            self._waiting.clear()
        return messages

    def show_warning(
        self,
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        first, _, rest = str(message).strip().partition("\n")
        self.put(
            "warning", first, f"{rest}\n{category.__name__} in {filename}, line {lineno}".strip()
        )


class _Handler(logging.Handler):
    def __init__(self, put: object) -> None:
        super().__init__()
        self._put = put

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            level = "warning"
        else:
            level = "info"
        if record.levelno >= logging.ERROR:
            level = "error"
        first, _, rest = record.getMessage().partition("\n")
        if record.exc_info:
            rest = f"{rest}\n{logging.Formatter().formatException(record.exc_info)}".strip()
        self._put(level, f"{record.name}: {first}", rest)  # type: ignore[operator]
