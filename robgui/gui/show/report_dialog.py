"""Asks what stands on top of a report: title, text and logo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import DataError
from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.sized import resize_within
from robgui.report.own import Own, read_logo

INTRODUCTION = "Kept with the workspace. What you leave empty, the report says by itself."
#: What stands there without a title of the user's.
USUAL_TITLE = "Robustness of …"
_PICTURES = "Pictures (*.png *.jpg *.jpeg *.webp *.bmp *.gif)"


class ReportDialog(QDialog):
    """The user's own words and logo.

    Args:
        own: What was said so far.
    """

    def __init__(self, own: Own, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Report: own text and logo")
        self._logo = own.logo
        self.title = QLineEdit(own.title, placeholderText=USUAL_TITLE)
        self.title.setAccessibleName("Title of the report")
        # Tab leads on through the dialog, as in its other fields.
        self.text = QPlainTextEdit(own.text, tabChangesFocus=True)
        self.text.setAccessibleName("Text below the title")
        self.text.setPlaceholderText("Who it is for, why it was made, what follows from it")
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        self.picture = Label(minimumHeight=48, alignment=middle)
        self.picture.setProperty("role", "quiet")
        self.choose = QPushButton("Choose logo …")
        self.remove = QPushButton("Remove")
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.hide()
        self.choose.clicked.connect(self._choose)
        self.remove.clicked.connect(lambda: self.take_logo(b""))
        self._arrange()
        self.title.textChanged.connect(lambda _: self._preview())
        self.text.textChanged.connect(self._preview)
        # Last: it draws the preview from all the fields.
        self.take_logo(own.logo)

    def own(self) -> Own:
        """What is said now."""
        return Own(self.title.text().strip(), self.text.toPlainText().strip(), self._logo)

    def take_logo(self, logo: bytes) -> None:
        """Shows and takes this logo; empty for none."""
        self._logo = logo
        pixmap = QPixmap()
        if logo:
            pixmap.loadFromData(logo)
            modes = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            pixmap = pixmap.scaled(240, 48, *modes)
        if logo:
            self.picture.setPixmap(pixmap)
            self.shown_logo.setPixmap(pixmap)
        else:
            self.picture.setText("No logo yet")
        self.remove.setEnabled(bool(logo))
        self._preview()

    def read(self, path: Path) -> None:
        """Takes the logo of a file; says so where it is no picture."""
        try:
            self.take_logo(read_logo(path))
        except DataError as error:
            self.problem.setText(str(error))
        else:
            self.problem.setText("")
        self.problem.setVisible(bool(self.problem.text()))

    def _choose(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, "Choose logo", "", _PICTURES)
        if path:
            self.read(Path(path))

    def _arrange(self) -> None:
        logo = QHBoxLayout()
        logo.addWidget(self.picture, 1)
        logo.addWidget(self.choose)
        logo.addWidget(self.remove)
        left = QVBoxLayout()
        left.setSpacing(4)
        for name, widget in (("Title", self.title), ("Text", self.text)):
            label = Label(name)
            label.setBuddy(widget)
            left.addWidget(label)
            left.addWidget(widget)
            left.addSpacing(8)
        left.addWidget(Label("Logo"))
        left.addLayout(logo)
        middle = QHBoxLayout()
        middle.setSpacing(24)
        middle.addLayout(left, 1)
        middle.addWidget(self._make_preview(), 1)
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        words = Label(INTRODUCTION, wordWrap=True)
        words.setProperty("role", "quiet")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(set_heading(Label("On top of every report"), "title"))
        layout.addWidget(words)
        layout.addSpacing(8)
        layout.addLayout(middle, 1)
        layout.addWidget(self.problem)
        layout.addWidget(buttons)
        resize_within(self, 130, 26)

    def _make_preview(self) -> QFrame:
        """The top of the report, as it will look."""
        page = QFrame()
        page.setProperty("role", "card")
        page.setAccessibleName("How the top of the report looks")
        self.shown_logo = Label()
        self.shown_title = set_heading(Label(wordWrap=True), "title")
        self.shown_text = Label(wordWrap=True)
        below = Label("… then the bottom line, the findings and every run.", wordWrap=True)
        below.setProperty("role", "quiet")
        column = QVBoxLayout(page)
        column.setContentsMargins(20, 20, 20, 20)
        column.setSpacing(8)
        for widget in (self.shown_logo, self.shown_title, self.shown_text, below):
            column.addWidget(widget)
        column.addStretch(1)
        return page

    def _preview(self) -> None:
        own = self.own()
        self.shown_title.setText(own.title or USUAL_TITLE)
        self.shown_text.setText("\n".join(own.paragraphs))
        self.shown_text.setVisible(bool(own.paragraphs))
        self.shown_logo.setVisible(bool(self._logo))
