"""A form for any Params: types, bounds, defaults and help come from the fields, nothing is written by hand."""

from __future__ import annotations

from typing import Any

from pydantic.fields import FieldInfo
from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QCheckBox, QComboBox, QFormLayout, QLabel, QLineEdit, QSpinBox, QToolButton, QVBoxLayout, QWidget

from robgui.core import params_text
from robgui.core.analysis import Params
from robgui.core.errors import ParamsError

#: Fields that few people touch; they stand behind "More".
RARE = frozenset({"seed", "batch"})


class ParamsForm(QWidget):
    """Edits one Params type.

    Signals:
        changed: The values, or whether they are valid, have changed.
    """

    changed = Signal()

    def __init__(self, params: type[Params], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.params = params
        self._editors: dict[str, _Editor] = {}
        self._problem = QLabel(wordWrap=True)
        self._problem.setProperty("role", "bad")
        self._problem.setAccessibleName("Problem with the settings")
        self._problem.hide()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._fields(rare=False))
        layout.addWidget(self._more())
        layout.addWidget(self._problem)
        layout.addStretch()

    def values(self) -> Params | None:
        """The settings, or None while they are not valid (the form says why)."""
        try:
            raw = {name: editor.value() for name, editor in self._editors.items()}
            return self.params.parse(raw)
        except ParamsError:
            return None

    def set_values(self, values: dict[str, Any]) -> None:
        """Shows ``values``; fields that are not named keep what they show."""
        self.blockSignals(True)
        for name, value in values.items():
            if name in self._editors:
                self._editors[name].show_value(value)
        self.blockSignals(False)
        self._check()

    def reset(self) -> None:
        """Back to the defaults."""
        self.set_values({name: field.get_default(call_default_factory=True) for name, field in self.params.model_fields.items()})

    def _fields(self, rare: bool) -> QWidget:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for name, field in self.params.model_fields.items():
            if is_rare(name, field) is rare:
                self._add_row(form, name, field)
        return box

    def _add_row(self, form: QFormLayout, name: str, field: FieldInfo) -> None:
        editor = _editor(name, field)
        editor.edited.connect(self._check)
        title = field.title or name.replace("_", " ").capitalize()
        editor.set_help(title, field.description or "")
        label = QLabel(title)
        label.setToolTip(field.description or "")
        label.setBuddy(editor.widget)
        self._editors[name] = editor
        form.addRow(label, editor.widget)

    def _more(self) -> QWidget:
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        rare = self._fields(rare=True)
        rare.hide()
        switch = QToolButton(text="More", checkable=True, autoRaise=True)
        switch.setArrowType(Qt.ArrowType.RightArrow)
        switch.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        switch.toggled.connect(rare.setVisible)
        switch.toggled.connect(lambda on: switch.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow))
        layout.addWidget(switch)
        layout.addWidget(rare)
        return box

    def _check(self) -> None:
        try:
            self.params.parse({name: editor.value() for name, editor in self._editors.items()})
            self._problem.hide()
        except ParamsError as error:
            self._problem.setText(str(error))
            self._problem.show()
        self.changed.emit()


def is_rare(name: str, field: FieldInfo) -> bool:
    """Whether a setting stands behind "More": seed, batch, and what its Params declare with ``json_schema_extra={"rare": True}``."""
    extra = field.json_schema_extra
    return name in RARE or (isinstance(extra, dict) and bool(extra.get("rare")))


class _Editor(QObject):
    """One field: a widget, its value, a signal when the user edits it."""

    edited = Signal()
    widget: QWidget

    def value(self) -> Any:
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        raise NotImplementedError

    def set_help(self, title: str, text: str) -> None:
        self.widget.setAccessibleName(title)
        self.widget.setToolTip(text)


class _Switch(_Editor):
    def __init__(self) -> None:
        super().__init__()
        self.widget = self._box = QCheckBox()
        self._box.toggled.connect(lambda _: self.edited.emit())

    def value(self) -> bool:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(bool(value))


class _Choice(_Editor):
    def __init__(self, words: tuple[str, ...]) -> None:
        super().__init__()
        self.widget = self._box = QComboBox()
        for word in words:
            self._box.addItem(word.replace("_", " "), word)
        self._box.currentIndexChanged.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        return self._box.currentData()

    def show_value(self, value: Any) -> None:
        self._box.setCurrentIndex(max(0, self._box.findData(value)))


class _Whole(_Editor):
    def __init__(self, low: int, high: int, lowest: str) -> None:
        super().__init__()
        self.widget = self._box = QSpinBox()
        self._box.setRange(low, high)
        self._box.setSpecialValueText(lowest)
        self._box.setGroupSeparatorShown(True)
        self._box.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)
        self._box.setKeyboardTracking(False)
        self._box.valueChanged.connect(lambda _: self.edited.emit())

    def value(self) -> int:
        return self._box.value()

    def show_value(self, value: Any) -> None:
        self._box.setValue(int(value))


class _Text(_Editor):
    def __init__(self, name: str, field: FieldInfo) -> None:
        super().__init__()
        self._name, self._field = name, field
        self.widget = self._line = QLineEdit()
        self._line.textEdited.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        return params_text.read(self._name, self._field, self._line.text())

    def show_value(self, value: Any) -> None:
        self._line.setText(params_text.write(value))
        self._line.setCursorPosition(0)


def _editor(name: str, field: FieldInfo) -> _Editor:
    """The editor that suits the field's type, showing its default."""
    editor: _Editor
    low, high = _bounds(field)
    if field.annotation is bool:
        editor = _Switch()
    elif words := params_text.choices(field):
        editor = _Choice(words)
    elif field.annotation is int and high < 2**31:
        editor = _Whole(low, high, "automatic" if name == "batch" else "")
    else:
        editor = _Text(name, field)
    editor.show_value(field.get_default(call_default_factory=True))
    return editor


def _bounds(field: FieldInfo) -> tuple[int, int]:
    """Smallest and largest whole number the field allows; a missing upper bound counts as too large for a spin box."""
    low, high = -(2**31), 2**63
    for limit in field.metadata:
        low = limit.ge if getattr(limit, "ge", None) is not None else low
        low = limit.gt + 1 if getattr(limit, "gt", None) is not None else low
        high = limit.le if getattr(limit, "le", None) is not None else high
        high = limit.lt - 1 if getattr(limit, "lt", None) is not None else high
    return int(low), int(high)
