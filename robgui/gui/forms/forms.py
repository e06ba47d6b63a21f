"""A form for any Params, generated from the types, bounds, defaults and help of its fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFormLayout, QLabel, QToolButton, QVBoxLayout, QWidget

from robgui.core.errors import ParamsError
from robgui.core.execution.params.params import Params
from robgui.core.execution.params.problems import title_of, titled
from robgui.core.execution.params.text import format_value
from robgui.gui.forms.form_editors import Editor, editor_for, extra
from robgui.gui.widgets.plain import Label, Paragraph, set_tip

#: Fields that few people touch; they stand behind "More".
RARE = frozenset({"seed", "batch", "max_seconds"})
#: Letters that fit beside each other: a longer name is wrapped, and a field whose usual text is
#: longer has a line of its own.
LONG = 20


class ParamsForm(QWidget):
    """Edits one Params type.

    Args:
        params: The type.
        usual: What the user wants instead of the defaults, by field.

    Attributes:
        editors: What edits each field, by its name.

    Signals:
        changed: The values, or whether they are valid, have changed.
    """

    changed = Signal()

    def __init__(
        self,
        params: type[Params],
        parent: QWidget | None = None,
        *,
        usual: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(parent)
        self.params = params
        self._usual = dict(usual or {})
        self.editors: dict[str, Editor] = {}
        self._showing = False
        self._said: dict[str, QLabel] = {}
        self._said[""] = _problem_label("Problem with the settings")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._fields(rare=False))
        layout.addWidget(self._more())
        layout.addWidget(self._said[""])
        layout.addStretch()
        self._show(self._usual)

    def values(self) -> Params | None:
        """The settings, or None while they are not valid (the form says why)."""
        return self._read()[0]

    def set_values(self, values: dict[str, Any]) -> None:
        """Shows ``values``; fields that are not named keep what they show."""
        values = self.params.renamed(values)
        self._show(
            {**self.params.preset_values(str(values["preset"])), **values}
            if "preset" in values
            else values
        )
        self._check()

    def _show(self, values: dict[str, Any]) -> None:
        # Each editor tells of its own change; one check after all of them is enough.
        self._showing = True
        for name, value in values.items():
            if name in self.editors:
                self.editors[name].show_value(value)
        self._showing = False

    def _edited(self, name: str) -> None:
        """Fills the form with a chosen preset: what is shown is what will run."""
        if self._showing:
            return
        if name == "preset":
            self._show(self.params.preset_values(str(self.editors[name].value())))
        self._check()

    def reset(self) -> None:
        """Back to the defaults, or to what the user wants instead."""
        self.set_values({**self._defaults(), **self._usual})

    def set_usual(self, usual: Mapping[str, Any]) -> None:
        """Changes the user's usual values; fields that show the old ones follow."""
        before, after = {**self._defaults(), **self._usual}, {**self._defaults(), **usual}
        self._usual = dict(usual)
        shown = self.values()
        untouched = {
            name: value
            for name, value in after.items()
            if value != before[name] and shown is not None and getattr(shown, name) == before[name]
        }
        if untouched:
            self.set_values(untouched)

    def _defaults(self) -> dict[str, Any]:
        return {
            name: field.get_default(call_default_factory=True)
            for name, field in self.params.model_fields.items()
        }

    def _fields(self, rare: bool) -> QWidget:
        box = QWidget()
        form = QFormLayout(box)
        form.setContentsMargins(0, 0, 0, 0)
        # In a narrow pane a field moves below its name instead of being cut.
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.ExpandingFieldsGrow)
        for name, field in self.params.model_fields.items():
            if is_rare(name, field) is rare:
                self._add_row(form, name, field)
        return box

    def _add_row(self, form: QFormLayout, name: str, field: FieldInfo) -> None:
        title = title_of(name, self.params.model_fields)
        editor = editor_for(title, field)
        editor.edited.connect(lambda: self._edited(name))
        editor.set_help(title, field.description or "")
        label = Label(title, wordWrap=len(title) > LONG)
        set_tip(label, field.description or "")
        label.setBuddy(editor.widget)
        self.editors[name], self._said[name] = editor, _problem_label(f"Problem with {title}")
        place = _column(editor.widget, self._said[name])
        if self._longest(name, field) > LONG:
            form.addRow(label)
            form.addRow(place)
        else:
            form.addRow(label, place)

    def _longest(self, name: str, field: FieldInfo) -> int:
        """Letters that the default or a preset puts into a field."""
        presets = self.params.presets.values()
        usual = [settings[name] for settings in presets if name in settings]
        texts = map(format_value, [field.get_default(call_default_factory=True), *usual])
        return max(map(len, texts))

    def _more(self) -> QWidget:
        box = QWidget()
        layout = QVBoxLayout(box)
        layout.setContentsMargins(0, 0, 0, 0)
        rare = self._fields(rare=True)
        rare.hide()
        switch = self._switch = QToolButton(text="More", checkable=True, autoRaise=True)
        switch.setArrowType(Qt.ArrowType.RightArrow)
        switch.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        switch.toggled.connect(rare.setVisible)
        switch.toggled.connect(
            lambda on: switch.setArrowType(
                Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow
            )
        )
        layout.addWidget(switch)
        layout.addWidget(rare)
        return box

    def _read(self) -> tuple[Params | None, dict[str, str]]:
        """The settings, or None and a sentence for each wrong field.

        Conflicts between fields have no name.
        """
        raw: dict[str, Any] = {}
        problems: dict[str, str] = {}
        for name, editor in self.editors.items():
            try:
                raw[name] = editor.value()
            except ParamsError as error:
                problems[name] = str(error)
        # Left out of what is validated, they would be taken for their defaults.
        if problems:
            return None, problems
        try:
            return self.params.model_validate(raw), {}
        except ValidationError as error:
            return None, titled(self.params.model_fields, error)

    def _check(self) -> None:
        problems = self._read()[1]
        for name, label in self._said.items():
            label.setText(problems.get(name, ""))
            label.setVisible(name in problems)
        for name, editor in self.editors.items():
            editor.mark(problems.get(name, ""))
        # A problem out of sight would leave Run grey without a reason.
        if any(is_rare(name, self.params.model_fields[name]) for name in problems if name):
            self._switch.setChecked(True)
        self.changed.emit()


def is_rare(name: str, field: FieldInfo) -> bool:
    """Whether a setting stands behind "More".

    Seed, batch and time limit do, and what Params declare with ``json_schema_extra={"rare":
    True}``.
    """
    return name in RARE or bool(extra(field, "rare"))


def _problem_label(name: str) -> QLabel:
    label = Paragraph()
    label.setProperty("role", "bad")
    label.setAccessibleName(name)
    label.hide()
    return label


def _column(*widgets: QWidget) -> QWidget:
    box = QWidget()
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(2)
    for widget in widgets:
        layout.addWidget(widget)
    return box
