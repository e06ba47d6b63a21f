"""Asks what stands on top of a report: title, text and logo."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QPixmap
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
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
        self.title = QLineEdit(own.title, placeholderText="as the report makes it")
        self.title.setAccessibleName("Title of the report")
        self.text = QPlainTextEdit(own.text, tabChangesFocus=True)
        self.text.setAccessibleName("Text below the title")
        self.text.setPlaceholderText("For whom, why, what follows")
        middle = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
        self.picture = Label(minimumHeight=48, alignment=middle)
        self.picture.setProperty("role", "quiet")
        self.choose = QPushButton("Choose logo …")
        self.remove = QPushButton("No logo")
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.hide()
        self.choose.clicked.connect(self._choose)
        self.remove.clicked.connect(lambda: self.take_logo(b""))
        self._arrange()
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
        else:
            self.picture.setText("No logo yet")
        self.remove.setEnabled(bool(logo))

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
        form = QFormLayout()
        form.addRow("Title", self.title)
        form.addRow("Text", self.text)
        name = Label("Logo", minimumHeight=48)
        name.setAlignment(Qt.AlignmentFlag.AlignVCenter)
        form.addRow(name, logo)
        kinds = QDialogButtonBox.StandardButton
        buttons = QDialogButtonBox(kinds.Ok | kinds.Cancel)
        buttons.accepted.connect(self.accept)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(8)
        layout.addWidget(set_heading(Label("On top of every report"), "title"))
        layout.addLayout(form)
        layout.addWidget(self.problem)
        layout.addWidget(buttons)
        resize_within(self, 80, 22)
