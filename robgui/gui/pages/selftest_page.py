"""The page of the self-test: what it has said so far, then the proofs, to be read and copied."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontDatabase, QTextCursor
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import icon, theme
from robgui.gui.state.selftest import SelfTest
from robgui.gui.widgets.plain import Label

_ABOUT = (
    "Every analysis runs on the device and on the processor, on the demo, and what comes out is"
    " compared. This takes some minutes; the window can be used meanwhile."
)
_ENDED = (
    "Every analysis on the device and on the processor, on the demo, side by side. Copy the page"
    " into any report about a device."
)
#: Width and height in characters and lines, with what is around the page.
_WIDE, _HIGH = 118, 42


class SelfTestPage(QDialog):
    """Follows a self-test; closing it does not end the test."""

    def __init__(self, test: SelfTest, parent: QWidget) -> None:
        super().__init__(parent)
        self._test = test
        self.setWindowTitle("Test of the device")
        self.about = Label(_ABOUT)
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName("Page of the self-test")
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setPlaceholderText("Starting …")
        self.copy = QPushButton("Copy page")
        self.copy.clicked.connect(lambda: QApplication.clipboard().setText(test.text))
        self.stop = QPushButton("Stop")
        self.stop.clicked.connect(test.stop)
        self.leave = QPushButton("Close")
        self.leave.clicked.connect(self.close)
        self._lay_out()
        self._fonts()
        theme.changed.connect(self._fonts)
        test.changed.connect(self._update)
        self._update()

    def _lay_out(self) -> None:
        self.about.setWordWrap(True)
        buttons = QHBoxLayout()
        buttons.addWidget(self.copy)
        buttons.addStretch(1)
        buttons.addWidget(self.stop)
        buttons.addWidget(self.leave)
        layout = QVBoxLayout(self)
        layout.addWidget(self.about)
        layout.addWidget(self.text, 1)
        layout.addLayout(buttons)

    def _fonts(self) -> None:
        font = QFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        # Nothing in the window is smaller than 9 points.
        font.setPointSizeF(max(9.0, QApplication.font().pointSizeF()))
        self.text.setFont(font)
        letter = self.text.fontMetrics()
        # A window's frame and title bar come on top of its size.
        wanted = self.screen().availableGeometry().size() * 0.9
        wide, high = letter.horizontalAdvance("0") * _WIDE, letter.lineSpacing() * _HIGH
        self.resize(min(wide, wanted.width()), min(high, wanted.height()))
        self.copy.setIcon(icon("copy"))

    def _update(self) -> None:
        self.text.setPlainText(self._test.text)
        self.about.setText(_ABOUT if self._test.running else _ENDED)
        if self._test.running:
            # setPlainText scrolls to the top: right for a finished page, not while it grows.
            self.text.moveCursor(QTextCursor.MoveOperation.End)
        self.copy.setEnabled(bool(self._test.text))
        self.stop.setVisible(self._test.running)
