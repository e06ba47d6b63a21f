"""Which model on which inputs: the two boxes in the toolbar."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QComboBox, QHBoxLayout, QWidget

from robgui.gui.widgets.elided import ElidedBox
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


class Chooser(QWidget):
    """Shows and changes the model and the dataset in use."""

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._store = store
        self.models = ElidedBox(toolTip="The model that the next run looks at")
        self.models.setAccessibleName("Model")
        self.more = Label()
        self.more.setProperty("role", "quiet")
        self._analysis = ""
        self.datasets = ElidedBox(toolTip="The inputs in the gallery")
        self.datasets.setAccessibleName("Inputs")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(8, 0, 8, 0)
        for title, box in (("Model", self.models), ("on", self.datasets)):
            label = Label(title)
            # A buddy is also what a screen reader takes for the name of a box.
            label.setBuddy(box)
            layout.addWidget(label)
            layout.addWidget(box)
            if box is self.models:
                layout.addWidget(self.more)
            # By default a box is as wide as its longest name, and one name would push the toolbar
            # apart.
            box.setMinimumContentsLength(16)
            box.setSizeAdjustPolicy(
                QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
            )
        # Not currentIndexChanged: filling the box is no choice of the user.
        self.models.activated.connect(
            lambda place: store.library.use_model(store.library.models[place])
        )
        self.datasets.activated.connect(
            lambda place: store.library.use_dataset(store.library.datasets[place])
        )
        store.params_changed.connect(lambda _: self._show_more())
        store.library.models_changed.connect(self._show)
        store.library.datasets_changed.connect(self._show)
        self._show()

    def show_analysis(self, name: str) -> None:
        """An analysis that looks at several models says so beside the name of the one in use."""
        self._analysis = name
        self._show_more()

    def _show_more(self) -> None:
        others = [model.name for model in self._store.next_run.compared(self._analysis)[1:]]
        self.more.setVisible(bool(others))
        self.more.setText(f"and {len(others):,} more")
        set_tip(self.more, f"This analysis runs {', '.join(others)} too.")

    def _show(self) -> None:
        store = self._store
        self._show_more()
        _fill(
            self.models,
            [m.name for m in store.library.models],
            _place_of(store.library.model, store.library.models),
            "no model",
        )
        names = [f"{d.name} ({len(d):,})" for d in store.library.datasets]
        _fill(
            self.datasets,
            names,
            _place_of(store.library.dataset, store.library.datasets),
            "no inputs",
        )


def _place_of(one: object, among: Sequence[object]) -> int:
    """Where one of them stands; -1 if it is none of them."""
    return next((place for place, each in enumerate(among) if each is one or each == one), -1)


def _fill(box: QComboBox, names: list[str], current: int, nothing: str) -> None:
    box.clear()
    box.addItems(names)
    # Qt shows the placeholder only while the index is -1.
    box.setPlaceholderText(nothing)
    box.setCurrentIndex(current)
    box.setEnabled(bool(names))
