"""Which model on which inputs: the two boxes in the toolbar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QWidget


if TYPE_CHECKING:
    from robgui.gui.store import Store


class Chooser(QWidget):
    """Shows and changes the model and the dataset in use."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.models = QComboBox(toolTip="The model that the next run looks at")
        self.models.setAccessibleName("Model")
        self.datasets = QComboBox(toolTip="The inputs in the gallery")
        self.datasets.setAccessibleName("Inputs")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 0, 8, 0)
        for title, box in (("Model", self.models), ("on", self.datasets)):
            label = QLabel(title)
            label.setBuddy(box)
            layout.addWidget(label)
            layout.addWidget(box)
            box.setMinimumContentsLength(16)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.models.activated.connect(lambda place: store.use_model(store.models[place]))
        self.datasets.activated.connect(lambda place: store.use_dataset(store.datasets[place]))
        store.models_changed.connect(self._show)
        store.datasets_changed.connect(self._show)
        self._show()

    def _show(self) -> None:
        store = self._store
        _fill(self.models, [m.name for m in store.models], store.models.index(store.model) if store.model in store.models else -1, "no model")
        names = [f"{d.name} ({len(d):,})" for d in store.datasets]
        _fill(self.datasets, names, store.datasets.index(store.dataset) if store.dataset in store.datasets else -1, "no inputs")


def _fill(box: QComboBox, names: list[str], current: int, nothing: str) -> None:
    box.clear()
    box.addItems(names)
    box.setPlaceholderText(nothing)
    box.setCurrentIndex(current)
    box.setEnabled(bool(names))
