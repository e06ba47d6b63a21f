"""The editors of a form, one widget per kind of field; validation is left to the Params."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic.fields import FieldInfo
from PySide6.QtCore import QObject, QSize, Signal
from PySide6.QtGui import QValidator
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QLineEdit,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from robgui.core.errors import ParamsError
from robgui.core.execution.params import text as params_text
from robgui.core.text.words import probability
from robgui.gui.widgets.plain import set_tip

#: Below this a number is written as a power of ten, with no more digits than these.
_SMALL, _DIGITS = 1e-3, 6
_RAISED = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
#: A power of ten as all pages write it: 10⁻⁴, 2·10⁻⁴.
_POWER = re.compile(r"(?:([\d.]+)\s*·\s*)?10([⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
#: What a spin box can hold at all.
_LEAST, _MOST = -(2**31), 2**31 - 1


class Editor(QObject):
    """One field: a widget, its value, a signal when the user edits it."""

    edited = Signal()
    widget: QWidget

    def value(self) -> Any:
        """What the widget says; ParamsError if it cannot be read."""
        raise NotImplementedError

    def show_value(self, value: Any) -> None:
        """Puts a value into the widget."""
        raise NotImplementedError

    def set_help(self, title: str, text: str) -> None:
        """Names the widget and says what it is for."""
        self.widget.setAccessibleName(title)
        set_tip(self.widget, text)

    def mark(self, problem: str) -> None:
        """Shows on the widget that there is a problem, and tells it to screen readers."""
        if self.widget.accessibleDescription() != problem:
            self.widget.setAccessibleDescription(problem)
            self.widget.setProperty("wrong", bool(problem))
            # A style sheet reads properties only when a widget is polished.
            self.widget.style().unpolish(self.widget)
            self.widget.style().polish(self.widget)


class _Switch(Editor):
    def __init__(self) -> None:
        super().__init__()
        self.widget = self._box = QCheckBox()
        self._box.toggled.connect(lambda _: self.edited.emit())

    def value(self) -> bool:
        return self._box.isChecked()

    def show_value(self, value: Any) -> None:
        self._box.setChecked(bool(value))


class _Choice(Editor):
    """A list of words; what a word of the papers means stands before it."""

    def __init__(self, words: tuple[str, ...], means: Mapping[str, str]) -> None:
        super().__init__()
        self.widget = self._box = QComboBox()
        for word in words:
            plain = word.replace("_", " ")
            self._box.addItem(f"{means[word]} ({plain})" if word in means else plain, word)
        self._box.currentIndexChanged.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        return self._box.currentData()

    def show_value(self, value: Any) -> None:
        self._box.setCurrentIndex(max(0, self._box.findData(value)))


class _Several(Editor):
    """A box to tick for each word of a short list."""

    def __init__(self, words: tuple[str, ...], means: Mapping[str, str]) -> None:
        super().__init__()
        self.widget = QWidget()
        column = QVBoxLayout(self.widget)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2)
        self.boxes = {word: QCheckBox(means.get(word, word.replace("_", " "))) for word in words}
        for box in self.boxes.values():
            column.addWidget(box)
            box.toggled.connect(lambda _: self.edited.emit())

    def value(self) -> tuple[str, ...]:
        return tuple(word for word, box in self.boxes.items() if box.isChecked())

    def show_value(self, value: Any) -> None:
        for word, box in self.boxes.items():
            box.setChecked(word in value)


class _Whole(Editor):
    def __init__(self, title: str, low: int, high: int, zero: str) -> None:
        super().__init__()
        self._title = title
        self.widget = self._box = _SpinBox(low, high, zero)
        self._box.valueChanged.connect(lambda _: self.edited.emit())
        # An empty line has no value that could change.
        self._box.lineEdit().textEdited.connect(lambda _: self.edited.emit())
        self._box.editingFinished.connect(self.edited.emit)

    def value(self) -> int:
        if not self._box.hasAcceptableInput():
            raise ParamsError(f"{self._title} is empty; type a whole number.")
        return self._box.value()

    def show_value(self, value: Any) -> None:
        self._box.setValue(int(value))


class _SpinBox(QSpinBox):
    """A spin box whose arrows stay within the bounds, while any number can be typed.

    0 may be shown as a word.
    """

    def __init__(self, low: int, high: int, zero: str) -> None:
        super().__init__()
        self._low, self._high, self._zero = low, high, zero
        # With the real bounds Qt swallows a digit that leads out of them, and nothing says why.
        self.setRange(_LEAST, _MOST)
        self.setGroupSeparatorShown(True)
        self.setStepType(QSpinBox.StepType.AdaptiveDecimalStepType)

    def minimumSizeHint(self) -> QSize:
        """As wide as the numbers within the bounds need, whatever else can be typed."""
        return self._narrowed(super().minimumSizeHint())

    def sizeHint(self) -> QSize:
        """As wide as the numbers within the bounds need, whatever else can be typed."""
        return self._narrowed(super().sizeHint())

    def _narrowed(self, size: QSize) -> QSize:
        width = self.fontMetrics().horizontalAdvance
        shown = max(
            width(text) for text in (self._plain(self._low), self._plain(self._high), self._zero)
        )
        return QSize(size.width() - width(self._plain(_LEAST)) + shown, size.height())

    def _plain(self, value: int) -> str:
        return super().textFromValue(value)

    def textFromValue(self, value: int) -> str:
        """The number, or the word that stands for 0."""
        if value == 0 and self._zero:
            return self._zero
        return self._plain(value)

    def valueFromText(self, text: str) -> int:
        """The number that is typed."""
        if self._zero and text == self._zero:
            return 0
        return super().valueFromText(text)

    def validate(self, text: str, position: int) -> Any:
        """Accepts any number, and the word.

        A letter is removed, so a digit typed into the word replaces it.
        """
        if self._zero and text == self._zero:
            return QValidator.State.Acceptable, text, position
        plain = "".join(sign for sign in text if not sign.isalpha())
        return super().validate(plain.strip(), min(position, len(plain.strip())))

    def stepBy(self, steps: int) -> None:
        """Goes up or down within the bounds; from outside, to the bound that is nearest."""
        if self._low <= self.value() <= self._high:
            self.setRange(self._low, self._high)
            super().stepBy(steps)
            self.setRange(_LEAST, _MOST)
        else:
            self.setValue(min(max(self.value(), self._low), self._high))


class _Text(Editor):
    """A line of text for anything else.

    Where 0 or nothing means something special, the empty line says it.
    """

    def __init__(self, title: str, field: FieldInfo) -> None:
        super().__init__()
        self._title, self._field = title, field
        self._zero = str(extra(field, "zero") or "")
        self.widget = self._line = QLineEdit()
        self._line.setPlaceholderText(self._zero or str(extra(field, "empty") or ""))
        self._line.textEdited.connect(lambda _: self.edited.emit())

    def value(self) -> Any:
        text = _typed(self._line.text().strip())
        if not text and self._field.annotation in (int, float):
            if self._zero:
                return 0
            raise ParamsError(f"{self._title} is empty; type a number.")
        return params_text.parse_value(self._title, self._field, text)

    def show_value(self, value: Any) -> None:
        self._line.setText("" if self._zero and value == 0 else _shown(value))
        # setText leaves the cursor, and so what is in sight, at the end of a long text.
        self._line.setCursorPosition(0)


def _shown(value: Any) -> str:
    """A value as it is typed; a small number as every page writes it, if that is exact."""
    if isinstance(value, float) and 0 < value < _SMALL:
        words = probability(value, _DIGITS)
        if float(_typed(words)) == value:
            return words
    return params_text.format_value(value)


def _typed(text: str) -> str:
    """A power of ten as a keyboard writes it: ``2·10⁻⁴`` is ``2e-4``."""
    found = _POWER.fullmatch(text)
    if found is None:
        return text
    return f"{found[1] or 1}e{found[2].translate(_RAISED)}"


def editor_for(title: str, field: FieldInfo) -> Editor:
    """The editor that suits the field's type, showing its default."""
    editor: Editor
    low, high = _bounds(field)
    if field.annotation is bool:
        editor = _Switch()
    elif words := params_text.choices(field):
        editor = _Choice(words, extra(field, "means") or {})
    elif words := params_text.several_choices(field):
        editor = _Several(words, extra(field, "means") or {})
    elif field.annotation is int and high <= _MOST:
        editor = _Whole(title, low, high, str(extra(field, "zero") or ""))
    else:
        editor = _Text(title, field)
    editor.show_value(field.get_default(call_default_factory=True))
    return editor


def extra(field: FieldInfo, key: str) -> Any:
    """What a field declares under ``key`` for its form, if anything."""
    declared = field.json_schema_extra
    if isinstance(declared, dict):
        return declared.get(key)
    return None


def _bounds(field: FieldInfo) -> tuple[int, int]:
    """Smallest and largest whole number the field allows.

    A missing upper bound counts as too large for a spin box.
    """
    low, high = _LEAST, 2**63
    for limit in field.metadata:
        if getattr(limit, "ge", None) is not None:
            low = limit.ge
        if getattr(limit, "gt", None) is not None:
            low = limit.gt + 1
        if getattr(limit, "le", None) is not None:
            high = limit.le
        if getattr(limit, "lt", None) is not None:
            high = limit.lt - 1
    return int(low), int(high)
