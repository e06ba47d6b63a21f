"""The question that stands between a file of weights and a model: what network is it?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
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
from robgui.core.loading.offered import (
    Offered,
    fitting,
    networks_beside,
    networks_of,
    parts_of,
)
from robgui.core.model.settings import ModelSettings
from robgui.gui.app.theme import heading_font
from robgui.gui.widgets.plain import Label


class ArchitectureDialog(QDialog):
    """Asks what a file of weights does not tell: architecture, shape, labels.

    After ``exec`` or ``accepted``, ``overrides()`` gives the settings to load the file with.
    """

    def __init__(self, path: Path, sentence: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._path, self._folder = path, path.parent
        self._needs: dict[str, tuple[str, ...]] = {}
        self.setWindowTitle(f"Open {path.name}")
        title = Label(f"{path.name} needs a little more")
        title.setFont(heading_font())
        said = Label(sentence, wordWrap=True)
        self.offered = QComboBox(insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.architecture = QLineEdit(placeholderText="nets.py:factory")
        self.offered.setLineEdit(self.architecture)
        # It would complete what is typed to another network.
        self.architecture.setCompleter(None)  # type: ignore[arg-type]  # None takes it away
        self.architecture.setAccessibleName("Network")
        self.offered.setAccessibleName("Network")
        self.offered.setToolTip(
            "file.py:factory, module:factory, timm:name or torchvision:name; empty when the file"
            " knows it. What the list offers is read from the text of Python files; nothing in them"
            " has run."
        )
        self.offered.textActivated.connect(self.architecture.setText)
        self.browse = QPushButton("Browse …")
        self.browse.clicked.connect(self._browse)
        self.shape = QLineEdit(placeholderText="3, 224, 224")
        self.shape.setAccessibleName("Shape of one input")
        self.shape.setToolTip(
            "Without the batch: channels, height, width · features · steps, features"
        )
        self.labels = QPlainTextEdit(placeholderText="One class name per line; may stay empty")
        self.labels.setAccessibleName("Labels, one per line")
        # An editor takes Tab for a letter by default: the keyboard could not leave it.
        self.labels.setTabChangesFocus(True)
        self.labels.setMinimumHeight(self.fontMetrics().height() * 6)
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.setAccessibleName("What is missing")
        # Room for two lines at all times: the dialog must not jump while somebody types.
        self.problem.setMinimumHeight(self.fontMetrics().lineSpacing() * 2)
        self.open_button = QPushButton("Open", default=True)
        self.open_button.setProperty("role", "primary")
        self.open_button.clicked.connect(self.accept)
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self._lay_out(title, said)
        self.architecture.textChanged.connect(lambda _: self._check())
        self.shape.textChanged.connect(lambda _: self._check())
        self._offer(networks_beside(path))
        self._check()
        self.setMinimumWidth(self.fontMetrics().averageCharWidth() * 70)

    def overrides(self) -> dict[str, Any]:
        """Only what was filled in; ParamsError if the shape cannot be read."""
        found: dict[str, Any] = {}
        if text := self.architecture.text().strip():
            found["architecture"] = text
        if text := self.shape.text().strip():
            # 3×224×224, 3x224x224 and (3, 224, 224) mean the same.
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
        first.addWidget(self.offered, 1)
        first.addWidget(self.browse)
        form = QFormLayout()
        title_of = Label("&Network")
        title_of.setBuddy(self.offered)
        form.addRow(title_of, first)
        kinds = Label(
            "A Python file and the class or function in it that builds the network; or"
            " module:factory, timm:name, torchvision:name."
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
            self._offer({Path(path): networks_of(Path(path))})
            if self.offered.count() > 1 and self.offered.currentIndex() < 0:
                self.offered.showPopup()

    def _offer(self, files: dict[Path, list[Offered]]) -> None:
        """Lists the networks of Python files, and fills in the one that the weights fit."""
        typed = self.architecture.text()
        self.offered.clear()
        for path, networks in files.items():
            for network in networks:
                text = f"{self._named(path)}:{network.name}"
                self._needs[text] = network.needs
                self.offered.addItem(text)
        parts = parts_of(self._path)
        chosen = [
            f"{self._named(path)}:{best.name}"
            for path, networks in files.items()
            if (best := fitting(networks, parts)) is not None
        ]
        # Of several that fit, the one in the file called like the weights is meant.
        beside = f"{self._path.stem}.py:"
        chosen = [text for text in chosen if text.startswith(beside)] or chosen
        if len(chosen) == 1:
            self.offered.setCurrentText(chosen[0])
            self.architecture.setText(chosen[0])
        elif self.offered.count() != 1:
            # A combo box selects its first item by itself, without the user's choice.
            self.offered.setCurrentIndex(-1)
            self.architecture.setText(typed)

    def _named(self, path: Path) -> str:
        """The name of a Python file as the loader finds it from the weights."""
        if path.parent == self._folder:
            return path.name
        return str(path)

    def _missing(self, text: str) -> str:
        """What a network needs that is not given; a checkpoint may hold it itself."""
        needs = self._needs.get(text, ())
        if not needs or self._path.suffix == ".ckpt":
            return ""
        name = text.rpartition(":")[2]
        example = ", ".join(f"{each}=…" for each in needs)
        return f"{name} needs values: write them in brackets, {name}({example})."

    def _check(self) -> None:
        """The button follows from what is typed; the reason stands above it."""
        reason = ""
        text = self.architecture.text().strip()
        if text and not re.fullmatch(r".+:\S.*", text):
            reason = (
                "After the colon comes the name of the class or function that builds the network."
            )
        reason = reason or self._missing(text)
        try:
            filled = bool(self.overrides())
        except ParamsError as error:
            filled, reason = False, str(error)
        self.problem.setText(reason)
        self.open_button.setEnabled(filled and not reason)
