"""The settings of a model as fields to edit."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QFormLayout,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from robgui.core.execution.params import text as params_text
from robgui.core.model.preprocessing import PRESETS
from robgui.core.model.settings import ModelSettings
from robgui.gui.app.theme import heading_font
from robgui.gui.widgets.plain import Label

CUSTOM, FROM_DATA = "custom", "from data"
_TEXT_FIELDS = ("shape", "crop", "low", "high", "mean", "std")
_CHOICE_FIELDS = ("kind", "layout", "channels", "resize", "interpolation", "output")
_SWITCH_FIELDS = ("antialias", "multi_label", "lowest_wins")
#: The words of each choice as people read them.
_CHOICE_WORDS = {
    "chw": "channels first (c, h, w)",
    "hwc": "channels last (h, w, c)",
    "flat": "one row",
    "column": "one column",
    "rgb": "red, green, blue",
    "bgr": "blue, green, red",
    "squash": "stretch to the model's size",
    "crop": "resize the shorter side, then centre crop",
    "squash-crop": "stretch to a larger size, then centre crop",
    "letterbox": "whole, with grey bars",
    "area": "average of areas",
}


class ModelForm(QWidget):
    """Edits ModelSettings.

    Signals:
        changed: A field was edited, by the user or by a preset.
        from_data_wanted: The preset "from data" was chosen.
        guess_wanted: Asks to try the usual ways on labelled inputs.
        labels_wanted: A file with labels was chosen.

    Args:
        several_outputs: The model has more than one output, and the user may say which one holds
            the scores.
    """

    changed = Signal()
    from_data_wanted = Signal()
    guess_wanted = Signal()
    labels_wanted = Signal(object)

    def __init__(
        self,
        settings: ModelSettings,
        *,
        several_outputs: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._several_outputs = several_outputs
        self.lines = {name: QLineEdit() for name in _TEXT_FIELDS}
        self.choices = {name: QComboBox() for name in _CHOICE_FIELDS}
        self.switches = {
            name: QCheckBox(str(ModelSettings.model_fields[name].title)) for name in _SWITCH_FIELDS
        }
        self.preset = QComboBox()
        self.guess = QPushButton("Guess …")
        self._alike: dict[str, dict[str, Any]] = {}
        self.scores = QLineEdit()
        self.labels = QPlainTextEdit()
        self._fill_choices()
        self._lay_out()
        self._connect()
        self.show_values(settings.model_dump())

    def values(self) -> dict[str, Any]:
        """The fields as typed; ParamsError if a number cannot be read.

        Whether they fit is for the model to say.
        """
        found: dict[str, Any] = {name: box.currentData() for name, box in self.choices.items()}
        found |= {name: box.isChecked() for name, box in self.switches.items()}
        for name, line in self.lines.items():
            if name == "shape":
                text = re.sub(r"[×x;()\[\]]", ",", line.text())
            else:
                text = line.text().strip("()[] ")
            found[name] = params_text.parse_value(name, ModelSettings.model_fields[name], text)
        found["scores"] = self.scores.text().strip()
        found["labels"] = tuple(
            text.strip() for text in self.labels.toPlainText().splitlines() if text.strip()
        )
        return found

    def show_values(self, values: dict[str, Any]) -> None:
        """Shows these; fields that are not named stay. ``changed`` follows once."""
        # Each box tells of its own change, and the model would be tried for every one of them.
        self.blockSignals(True)
        for name, value in values.items():
            if name in self.lines:
                self.lines[name].setText(params_text.format_value(value))
                self.lines[name].setCursorPosition(0)
            elif name in self.choices:
                self.choices[name].setCurrentIndex(max(0, self.choices[name].findData(value)))
            elif name in self.switches:
                self.switches[name].setChecked(bool(value))
            elif name == "scores":
                self.scores.setText(value)
            elif name == "labels":
                self.labels.setPlainText("\n".join(value))
        self.blockSignals(False)
        self._edited()

    def offer(self, alike: dict[str, dict[str, Any]]) -> None:
        """Offers the settings of other models, by what they are called, below the presets."""
        self._alike = alike
        with QSignalBlocker(self.preset):
            self.preset.clear()
            self.preset.addItems([CUSTOM, *PRESETS, FROM_DATA, *alike])
        self.preset.setCurrentText(self._preset_shown())

    def _fill_choices(self) -> None:
        for name, box in self.choices.items():
            for word in params_text.choices(ModelSettings.model_fields[name]):
                box.addItem(_CHOICE_WORDS.get(word, word), word)
            _describe(box, name)
        for name, widget in (*self.lines.items(), *self.switches.items(), ("scores", self.scores)):
            _describe(widget, name)
        self.preset.addItems([CUSTOM, *PRESETS, FROM_DATA])
        self.guess.setToolTip(
            "Tries the usual ways on labelled inputs and shows how often the model is right with"
            " each."
        )
        self.scores.setPlaceholderText("the likeliest")
        self.preset.setAccessibleName("Preset for size, value range, mean and std")
        self.preset.setToolTip(
            "Fills the fields below; “from data” takes range, mean and std from the inputs, “same"
            " as” all that another model was given."
        )
        self.labels.setAccessibleName("Labels, one per line")
        self.labels.setPlaceholderText("One class name per line, in the order of the outputs")
        # An editor takes Tab for a letter by default: the keyboard could not leave it.
        self.labels.setTabChangesFocus(True)
        self.labels.setMinimumHeight(self.fontMetrics().height() * 6)

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 8, 0)
        layout.setSpacing(8)
        self._group(layout, "Input", ("kind", "shape", "layout", "channels"))
        sizes = ("resize", "crop", "interpolation", "antialias")
        self._group(layout, "Preprocessing", ("preset", *sizes, "low", "high", "mean", "std"))
        rare = ("scores",) if self._several_outputs else ()
        self._group(layout, "Output", ("output", *rare, "multi_label", "lowest_wins"))
        title = Label("Labels, one per line")
        title.setBuddy(self.labels)
        self.open_labels = QPushButton(
            "From a file …",
            toolTip="Class names from a text file, one per line, a JSON list, or a table.",
        )
        row = QHBoxLayout()
        row.addWidget(title, 1)
        row.addWidget(self.open_labels)
        layout.addLayout(row)
        layout.addWidget(self.labels, 1)

    def _group(self, layout: QVBoxLayout, title: str, names: tuple[str, ...]) -> None:
        heading = Label(title)
        heading.setFont(heading_font(1.1))
        layout.addWidget(heading)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for name in names:
            if name in self.switches:
                form.addRow("", self.switches[name])
                continue
            widget: QWidget = {
                "preset": self.preset,
                "scores": self.scores,
                **self.lines,
                **self.choices,
            }[name]
            if isinstance(widget, QComboBox):
                widget.setSizeAdjustPolicy(
                    QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
                )
                # By itself a combo box, and the form with it, is as wide as the longest item.
                widget.setMinimumContentsLength(12)
            label = Label(
                "Preset" if name == "preset" else str(ModelSettings.model_fields[name].title)
            )
            label.setBuddy(widget)
            form.addRow(label, self._with_guess() if name == "preset" else widget)
        layout.addLayout(form)

    def _with_guess(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.addWidget(self.preset, 1)
        row.addWidget(self.guess)
        return row

    def _connect(self) -> None:
        for line in self.lines.values():
            # Not textChanged: show_values tells once for all the fields that it fills.
            line.textEdited.connect(lambda _: self._edited())
        for box in self.choices.values():
            box.currentIndexChanged.connect(lambda _: self._edited())
        for switch in self.switches.values():
            switch.toggled.connect(lambda _: self._edited())
        self.scores.textEdited.connect(lambda _: self._edited())
        self.labels.textChanged.connect(self._edited)
        # Not currentTextChanged: the box also shows which preset the fields amount to.
        self.preset.textActivated.connect(self._take_preset)
        self.guess.clicked.connect(self.guess_wanted)
        self.open_labels.clicked.connect(self._ask_labels)

    def _edited(self) -> None:
        image = self.choices["kind"].currentData() == "image"
        for name in ("layout", "channels", "resize", "interpolation"):
            self.choices[name].setEnabled(image)
        averages = self.choices["interpolation"].currentData() == "area"
        self.switches["antialias"].setEnabled(image and not averages)
        cut = self.choices["resize"].currentData() in ("crop", "squash-crop")
        self.lines["crop"].setEnabled(image and cut)
        self.preset.setCurrentText(self._preset_shown())
        self.changed.emit()

    def _preset_shown(self) -> str:
        shown = {name: line.text() for name, line in self.lines.items()}
        if self.choices["kind"].currentData() == "image":
            shown |= {name: box.currentData() for name, box in self.choices.items()}
        for word, values in (*PRESETS.items(), *self._alike.items()):
            known = {name: value for name, value in values.items() if name in shown}
            if all(shown[name] == params_text.format_value(value) for name, value in known.items()):
                return word
        return CUSTOM

    def _take_preset(self, word: str) -> None:
        if word == FROM_DATA:
            self.from_data_wanted.emit()
        elif word in PRESETS:
            self.show_values(PRESETS[word])
        elif word in self._alike:
            self.show_values(self._alike[word])

    def _ask_labels(self) -> None:
        path, _ = QFileDialog.getOpenFileName(
            self,
            "Open class names",
            "",
            "Class names (*.txt *.json *.csv *.names *.labels);;All files (*)",
        )
        if path:
            self.labels_wanted.emit(Path(path))


def _describe(widget: QWidget, name: str) -> None:
    field = ModelSettings.model_fields[name]
    widget.setAccessibleName(str(field.title))
    widget.setToolTip(str(field.description))
