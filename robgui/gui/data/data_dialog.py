"""DataDialog: what the files do not say about the data.

Which part is open, the class names, and which class of the model each of them is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.text.words import count
from robgui.gui.app.theme import heading_font
from robgui.gui.data.class_table import ClassTable
from robgui.gui.state.library.opening import open_for_window
from robgui.gui.state.library.remarks import remarks
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.gui.state.store import Store

_PARTS = {"train": "Training", "val": "Validation", "test": "Test"}
_READING = "data settings"
_NAMES = "Names (*.csv *.tsv *.txt *.json);;All files (*)"


class DataDialog(QDialog):
    """Settings of the data in use; every change of a file or a part is read in the background.

    Attributes:
        bare: The data without what was said of their classes; None until they are read.
    """

    def __init__(self, store: Store, dataset: Dataset, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store, self._dataset = store, dataset
        self.bare: Dataset | None = None
        self.setWindowTitle(f"Data: {dataset.name}")
        self._make()
        self._lay_out()
        # Read to its end after that, the answer would come to a dialog that is gone.
        self.finished.connect(lambda _: store.pictures.drop(_READING))
        self._read()

    def options(self) -> dict[str, Any]:
        """The options for open_dataset."""
        options = {
            name: value
            for name, value in self._dataset.options.items()
            if name not in ("split", "names_file", "classes")
        }
        if self.part.currentData():
            options["split"] = self.part.currentData()
        if self.names_file.text().strip():
            options["names_file"] = self.names_file.text().strip()
        return options

    # --- making -----------------------------------------------------------------------------------

    def _make(self) -> None:
        told = self._dataset.options
        self.facts = Label(wordWrap=True)
        self.facts.setProperty("role", "quiet")
        self.facts.setAccessibleName("What is known of the data")
        self.part = QComboBox()
        self.part.setAccessibleName("Part")
        self.part.setToolTip("Which part of the data is open")
        for part in self._dataset.parts:
            self.part.addItem(_PARTS[part], part)
        opened = told.get("split") or _open_part(self._dataset)
        self.part.setCurrentIndex(max(0, self.part.findData(opened)))
        self.part.currentIndexChanged.connect(lambda _: self._read())
        self.names_file = QLineEdit(str(told.get("names_file", "")))
        self.names_file.setPlaceholderText("A CSV, text or JSON file: 00, Speed limit 20")
        self.names_file.setAccessibleName("File of class names")
        self.names_file.editingFinished.connect(self._read)
        self.browse = QPushButton("Browse …")
        # With the focus it would become the default, and Return means Use data.
        self.browse.setAutoDefault(False)
        self.browse.clicked.connect(self._browse)
        self.table = ClassTable()
        self.table.classes.edited.connect(self._tell)
        self.fitting = Label(wordWrap=True)
        self.fitting.setAccessibleName("Whether the classes fit those of the model")
        self.problem = Label(wordWrap=True)
        self.problem.setProperty("role", "bad")
        self.problem.setAccessibleName("Problem")
        self.problem.hide()
        self.guess = _button("Guess", "As names, numbers and known tables tell")
        self.by_number = _button("In order", "The first class of the data is the model's first")
        self.guess.clicked.connect(lambda: self.table.classes.say(None))
        self.by_number.clicked.connect(self._in_order)
        self.cancel = QPushButton("Cancel")
        self.cancel.clicked.connect(self.reject)
        self.use = QPushButton("Use data", default=True)
        self.use.setProperty("role", "primary")
        self.use.clicked.connect(self._use)

    def _lay_out(self) -> None:
        title = Label(self._dataset.name)
        title.setFont(heading_font())
        form = QFormLayout()
        if self._dataset.parts:
            form.addRow("&Part", self.part)
        names = QHBoxLayout()
        names.addWidget(self.names_file, 1)
        names.addWidget(self.browse)
        heading = Label("&Names from")
        heading.setBuddy(self.names_file)
        form.addRow(heading, names)
        tools = QHBoxLayout()
        tools.addWidget(self.fitting, 1)
        for button in (self.guess, self.by_number):
            tools.addWidget(button)
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        for button in (self.cancel, self.use):
            buttons.addWidget(button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(16, 16, 16, 16)
        layout.setSpacing(12)
        for widget in (title, self.facts):
            layout.addWidget(widget)
        layout.addLayout(form)
        layout.addWidget(self.problem)
        layout.addLayout(tools)
        layout.addWidget(self.table, 1)
        layout.addLayout(buttons)
        unit, line = self.fontMetrics().averageCharWidth(), self.fontMetrics().height()
        self.resize(unit * 90, line * 36)

    # --- reading ----------------------------------------------------------------------------------

    def _read(self) -> None:
        """The data without what was said of their classes, as the fields ask for them."""
        path, options = self._dataset.path, self.options()
        self.bare = None
        self.use.setEnabled(False)
        # Made in memory: there is no file to be read otherwise.
        if path is None:
            self._show(self._dataset)
            return
        self.fitting.setText("Reading …")
        answers = self._store.answers
        self._store.pictures.run(
            lambda: open_for_window(path, options, answers),
            self._show,
            failed=self._failed,
            key=_READING,
        )

    def _show(self, dataset: Dataset) -> None:
        self.bare = dataset
        said = self._dataset.options.get("classes")
        if isinstance(said, dict):
            known: dict[str, str] = dict(said)
        else:
            known = {}
        self.table.show_classes(dataset, self._store.library.model, known)
        self.facts.setText(_facts(dataset))
        self.problem.hide()
        self.use.setEnabled(True)
        self._tell()

    def _failed(self, sentence: str, details: str) -> None:
        self.problem.setText(sentence)
        self.problem.show()
        self.fitting.setText("")
        if details:
            self._store.say("error", sentence, details)

    def _tell(self) -> None:
        """How many of the classes are classes of the model."""
        model, table = self._store.library.model, self.table.classes
        for button in (self.guess, self.by_number):
            button.setEnabled(model is not None and bool(table.names))
        if model is None:
            self.fitting.setText("Open a model to see which of its classes these are.")
            return
        known = set(model.labels)
        good = sum(table.class_of(row) in known for row in range(len(table.names)))
        words = count(len(table.names), "class")
        self.fitting.setText(
            f"{good} of {words} are classes of {model.name}."
            if table.names
            else "These inputs carry no labels."
        )

    def _in_order(self) -> None:
        """The first class is the first of the model, and so on."""
        model, names = self._store.library.model, self.table.classes.names
        if model is not None:
            # A model with fewer classes leaves the rest without one.
            labels = [*model.labels, *[""] * len(names)]
            self.table.classes.say(labels[: len(names)])

    def _browse(self) -> None:
        path = self._dataset.path
        folder = str(path.parent if path is not None else Path.home())
        chosen, _ = QFileDialog.getOpenFileName(self, "Class names", folder, _NAMES)
        if chosen:
            self.names_file.setText(chosen)
            self._read()

    # --- deciding ---------------------------------------------------------------------------------

    def _use(self) -> None:
        path, options, said = self._dataset.path, self.options(), self.table.classes.said()
        if said:
            options["classes"] = said
        self.accept()
        if path is not None and options != self._dataset.options:
            self._store.library.load_dataset(path, options=options)


def _button(text: str, tip: str) -> QPushButton:
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    return button


def _open_part(dataset: Dataset) -> str:
    """The part that is open, as the note of the reader says."""
    return next((part for part in dataset.parts if f"The part {part} is" in str(dataset.notes)), "")


def _facts(dataset: Dataset) -> str:
    if dataset.shape:
        size = " × ".join(map(str, dataset.shape))
    else:
        size = "different sizes"
    lines = [str(dataset.path) if dataset.path is not None else "Not from a file."]
    lines.append(f"{count(len(dataset), 'input')} of {size}.")
    return "\n".join(filter(None, (*lines, remarks(dataset))))
