"""The question that stands between a file of weights and a model: what network is it?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import ParamsError
from robgui.core.execution.params.text import parse_value
from robgui.core.model.settings import ModelSettings
from robgui.gui.app.theme import heading_font
from robgui.gui.widgets.plain import Label


class ArchitectureDialog(QDialog):
    """Asks what a file of weights does not tell: architecture, shape, labels.

    After ``exec`` or ``accepted``, ``overrides()`` gives the settings to load the file with.
    """

    def __init__(self, path: Path, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._folder = path.parent
        self.setWindowTitle(f"Open {path.name}")
        title = Label(f"{path.name} needs a little more")
        title.setFont(heading_font())
        said = Label(sentence, wordWrap=True)
        self.architecture = QLineEdit(placeholderText="nets.py:factory")
        self.architecture.setAccessibleName("Architecture")
        self.architecture.setToolTip(
            "file.py:factory, module:factory, timm:name or torchvision:name; empty when the file"
            " knows it"
        )
        self.browse = QPushButton("Browse …")
        self.browse.clicked.connect(self._browse)
        self.shape = QLineEdit(placeholderText="3, 224, 224")
        self.shape.setAccessibleName("Shape of one input")
        self.shape.setToolTip(
            "Without the batch: channels, height, width · features · steps, features"
        )
        self.labels = QPlainTextEdit(placeholderText="One class name per line; may stay empty")
        self.labels.setAccessibleName("Labels, one per line")
        self.labels.setTabChangesFocus(True)
        self.labels.setMinimumHeight(self.fontMetrics().height() * 6)
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.setAccessibleName("What is missing")
        self.problem.setMinimumHeight(self.fontMetrics().lineSpacing() * 2)
        self.open_button = QPushButton("Open", default=True)
        self.open_button.setProperty("role", "primary")
        self.open_button.clicked.connect(self.accept)
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self._lay_out(title, said)
        self.architecture.textChanged.connect(lambda _: self._check())
        self.shape.textChanged.connect(lambda _: self._check())
        self._check()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 70)

    def overrides(self) -> dict[str, Any]:
        """Only what was filled in; ParamsError if the shape cannot be read."""
        found: dict[str, Any] = {}
        if text := self.architecture.text().strip():
            found["architecture"] = text
        if text := self.shape.text().strip():
            found["shape"] = parse_value(
                "shape", ModelSettings.model_fields["shape"], re.sub(r"[×x;()\[\]]", ",", text)
            )
        if names := tuple(
            line.strip() for line in self.labels.toPlainText().splitlines() if line.strip()
        ):
            found["labels"] = names
        return found

    def showEvent(self, event: QShowEvent) -> None:
        """Qt asks wrapped text for its height before it knows the width; here both are known."""
        super().showEvent(event)
        if (layout := self.layout()) is not None:
            self.resize(self.width(), max(self.height(), layout.totalHeightForWidth(self.width())))

    def _lay_out(self, title: QLabel, said: QLabel) -> None:
        first = QHBoxLayout()
        first.addWidget(self.architecture, 1)
        first.addWidget(self.browse)
        form = QFormLayout()
        title_of = Label("&Architecture")
        title_of.setBuddy(self.architecture)
        form.addRow(title_of, first)
        kinds = Label(
            "A Python file and the function in it that builds the network; or module:factory,"
            " timm:name, torchvision:name."
        )
        kinds.setWordWrap(True)
        kinds.setProperty("role", "quiet")
        form.addRow("", kinds)
        form.addRow("&Shape", self.shape)
        form.addRow("&Labels", self.labels)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(self.cancel)
        buttons.addWidget(self.open_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        layout.addWidget(title)
        layout.addWidget(said)
        layout.addLayout(form)
        layout.addWidget(self.problem)
        layout.addLayout(buttons)

    def _browse(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self, "Python file with the network", str(self._folder), "Python (*.py)"
        )
        if path:
            self.architecture.setText(f"{path}:")
            self.architecture.setFocus()

    def _check(self) -> None:
        """The button follows from what is typed; the reason stands above it."""
        reason = ""
        text = self.architecture.text().strip()
        if text and not re.fullmatch(r".+:\S.*", text):
            reason = "After the colon comes the name of the function that builds the network."
        try:
            filled = bool(self.overrides())
        except ParamsError as error:
            filled, reason = False, str(error)
        self.problem.setText(reason)
        self.open_button.setEnabled(filled and not reason)
