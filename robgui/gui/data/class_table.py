"""ClassTable: which class of the model each class of the data is, guessed and editable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHeaderView, QStyledItemDelegate, QTableView, QWidget

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.core.model.card import ModelCard

_COLUMNS = ("In the data", "Inputs", "Class of the model")
_NAME, _INPUTS, _CLASS = range(3)
_NONE = "(none: no label)"

AnyIndex = QModelIndex | QPersistentModelIndex


class ClassModel(QAbstractTableModel):
    """One row per class of the data.

    Signals:
        edited: The user has said which class a row is.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.names: tuple[str, ...] = ()
        self._counts = np.zeros(0, np.int64)
        self._guessed: list[str] = []
        self._said: dict[str, str] = {}

    def show(self, dataset: Dataset, model: ModelCard | None, said: dict[str, str]) -> None:
        """Shows the classes of ``dataset`` as it is without what the user has ``said``."""
        self.beginResetModel()
        self.names = _classes(dataset)
        if dataset.labels is None:
            known = np.zeros(0, np.int64)
        else:
            known = dataset.labels
        # Negative labels mean unknown, and bincount refuses them.
        self._counts = np.bincount(known[known >= 0], minlength=len(self.names))
        self._guessed = guessed(dataset, model, self.names)
        self._said = {name: new for name, new in said.items() if name in self.names}
        self.endResetModel()

    def said(self) -> dict[str, str]:
        """What the user says of the classes; what is guessed is left out."""
        return dict(self._said)

    def say(self, classes: Sequence[str] | None) -> None:
        """Gives every row its class, or takes back all that was said."""
        if classes is None:
            self._said = {}
        else:
            self._said = dict(zip(self.names, classes, strict=False))
        self.dataChanged.emit(self.index(0, _CLASS), self.index(len(self.names) - 1, _CLASS))
        self.edited.emit()

    def class_of(self, row: int) -> str:
        """The class of a row as it counts now; empty for none."""
        return self._said.get(self.names[row], self._guessed[row])

    def rowCount(self, parent: AnyIndex | None = None) -> int:
        return len(self.names)

    def columnCount(self, parent: AnyIndex | None = None) -> int:
        return len(_COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role == Qt.ItemDataRole.DisplayRole and orientation == Qt.Orientation.Horizontal:
            return _COLUMNS[section]
        return None

    def flags(self, index: AnyIndex) -> Qt.ItemFlag:
        plain = super().flags(index)
        if index.column() == _CLASS:
            return plain | Qt.ItemFlag.ItemIsEditable
        return plain

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row, column = index.row(), index.column()
        if role == Qt.ItemDataRole.TextAlignmentRole and column == _INPUTS:
            # As a number: Qt does not read a combination
            # of PySide's flags from a variant.
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.EditRole and column == _CLASS:
            return self.class_of(row)
        if role not in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return None
        if column == _NAME:
            return self.names[row]
        if column == _INPUTS:
            if row < len(self._counts):
                return f"{int(self._counts[row]):,}"
            return "0"
        return self.class_of(row) or _NONE

    def setData(self, index: AnyIndex, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if role != Qt.ItemDataRole.EditRole or index.column() != _CLASS:
            return False
        word, name = str(value).strip(), self.names[index.row()]
        word = "" if word == _NONE else word
        # Choosing what is guessed anyway takes the statement back, so a better guess counts later.
        if word == self._guessed[index.row()]:
            self._said.pop(name, None)
        else:
            self._said[name] = word
        self.dataChanged.emit(index, index)
        self.edited.emit()
        return True


class ClassTable(QTableView):
    """The table, with the classes of the model to choose from."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.classes = ClassModel(self)
        self.setModel(self.classes)
        self.setAccessibleName("Which class of the model each class of the data is")
        self.verticalHeader().hide()
        self.setAlternatingRowColors(True)
        header = self.horizontalHeader()
        header.setSectionResizeMode(_NAME, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_INPUTS, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(_CLASS, QHeaderView.ResizeMode.Stretch)
        # A single click on the chosen row opens the list too: a table does not look editable.
        self.setEditTriggers(
            QTableView.EditTrigger.DoubleClicked
            | QTableView.EditTrigger.SelectedClicked
            | QTableView.EditTrigger.AnyKeyPressed
            | QTableView.EditTrigger.EditKeyPressed
        )
        self._chooser = _Chooser(self)
        self.setItemDelegateForColumn(_CLASS, self._chooser)

    def show_classes(self, dataset: Dataset, model: ModelCard | None, said: dict[str, str]) -> None:
        """As ClassModel.show; the model's classes can be chosen."""
        if model is None:
            self._chooser.labels = ()
        else:
            self._chooser.labels = model.labels
        self.classes.show(dataset, model, said)


class _Chooser(QStyledItemDelegate):
    """Offers the classes of the model; any other name may be typed."""

    labels: tuple[str, ...] = ()

    def createEditor(self, parent: QWidget, option: Any, index: AnyIndex) -> QWidget:
        box = QComboBox(parent, editable=True)
        box.addItems([_NONE, *self.labels])
        return box

    def setEditorData(self, editor: QWidget, index: AnyIndex) -> None:
        assert isinstance(editor, QComboBox)
        # Not by index: a name that was typed may be none of the list's.
        editor.setEditText(index.data(Qt.ItemDataRole.EditRole) or _NONE)

    def setModelData(self, editor: QWidget, model: Any, index: AnyIndex) -> None:
        assert isinstance(editor, QComboBox)
        model.setData(index, editor.currentText())


def guessed(dataset: Dataset, model: ModelCard | None, names: tuple[str, ...]) -> list[str]:
    """The class of the model that each class of the data is taken for; empty for none."""
    from robgui.core.dataset.matching import correspondence

    if model is None:
        found = None
    else:
        found = correspondence(model, dataset)
    if model is None or found is None:
        return list(names)
    return [model.labels[place] if place >= 0 else "" for place in found.places]


def _classes(dataset: Dataset) -> tuple[str, ...]:
    if dataset.names or dataset.labels is None:
        return dataset.names
    # Labels without names: the classes are called by their numbers.
    return tuple(str(number) for number in range(int(dataset.labels.max(initial=-1)) + 1))
