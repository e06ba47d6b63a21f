"""The stage: the parts of a presentation and where they stand."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QApplication,
    QHBoxLayout,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.widgets.pair import PairView
from robgui.gui.widgets.pair.fitted import Fitted
from robgui.gui.widgets.plain import Label

#: What the keys do, where nothing else is said.
KEYS = "← → go through the story, Esc leaves"


class SlideStage(QWidget):
    """Picture left, words right, buttons below; what they do is the presentation's."""

    def __init__(self, parent: QWidget, flags: Qt.WindowType) -> None:
        super().__init__(parent, flags)
        self._make_words()
        self._make_controls()
        self._arrange()

    def _make_words(self) -> None:
        self.count, self.status, self.number = Label(), Label(), Label()
        self.title, self.text, self.subject = Label(), Label(), Label()
        for label in (self.status, self.number, self.title, self.text, self.subject):
            label.setWordWrap(True)
        for label in (self.count, self.subject):
            label.setProperty("role", "quiet")
        self.title_edit, self.text_edit = QPlainTextEdit(), QPlainTextEdit()
        for editor, name in ((self.title_edit, "Title"), (self.text_edit, "Text")):
            editor.setAccessibleName(f"{name} of the slide")
            # An editor takes Tab for a letter by default: the keyboard could not leave it.
            editor.setTabChangesFocus(True)
            editor.hide()
        self.pair, self.alone = PairView(), Fitted()
        self.pictures = QStackedWidget()
        self.pictures.addWidget(self.pair)
        self.pictures.addWidget(self.alone)

    def _make_controls(self) -> None:
        self.edit = QPushButton("Edit", checkable=True)
        self.again = QPushButton("Own words away")
        self.export = QPushButton("Export …")
        self.back, self.forward, self.leave = (
            QPushButton("Back"),
            QPushButton("Next"),
            QPushButton("Leave"),
        )
        for button, tip in (
            (self.edit, "Write other words on this slide; they are kept"),
            (self.again, "What the slide says by itself"),
            (self.export, "As PDF, as a film (MP4) or as one HTML file"),
            (self.back, "Left arrow"),
            (self.forward, "Right arrow"),
            (self.leave, "Esc"),
        ):
            button.setToolTip(tip)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # A click leaves the keys to the story.
            button.installEventFilter(self)
        self.keys = Label(KEYS)
        self.keys.setProperty("role", "quiet")
        self.keys.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        # The hint is what gives way first where the row is too narrow for all buttons.
        self.keys.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def _arrange(self) -> None:
        words = QWidget()
        column = QVBoxLayout(words)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        column.addStretch(1)
        for widget in (self.status, self.number, self.title, self.title_edit):
            column.addWidget(widget)
        for widget in (self.text, self.text_edit, self.subject):
            column.addWidget(widget)
        column.addStretch(1)
        self._scroll = QScrollArea(
            widgetResizable=True,
            frameShape=QScrollArea.Shape.NoFrame,
            # With the focus it would take the arrow keys for itself.
            focusPolicy=Qt.FocusPolicy.NoFocus,
        )
        # Words wrap; they never need to be moved sideways.
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setWidget(words)
        middle = QHBoxLayout()
        middle.setSpacing(48)
        middle.addWidget(self.pictures, 6)
        middle.addWidget(self._scroll, 5)
        controls = QHBoxLayout()
        controls.addWidget(self.count)
        controls.addWidget(self.keys, 1)
        for button in (self.again, self.edit, self.export, self.back, self.forward, self.leave):
            controls.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(48, 40, 48, 24)
        layout.setSpacing(24)
        layout.addLayout(middle, 1)
        layout.addLayout(controls)


def font_of(pixels: float, bold: bool) -> QFont:
    """The font of the program in another size."""
    font = QFont(QApplication.font())
    # Not points: the size is a share of the height of the screen.
    font.setPixelSize(round(pixels))
    font.setWeight(QFont.Weight.DemiBold if bold else QFont.Weight.Normal)
    return font
