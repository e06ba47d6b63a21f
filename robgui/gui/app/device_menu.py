"""The menu of devices: where models compute, how precisely, and the way to a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


class DeviceMenu(QMenu):
    """Filled afresh whenever it opens.

    Args:
        store: Whose library's device it sets.
        to_cluster: Shows where a cluster is chosen: only a batch can run there.
        parent: The window.
    """

    def __init__(self, store: Store, to_cluster: Callable[[], None], parent: QWidget) -> None:
        super().__init__("Device", parent)
        self._store = store
        self._to_cluster = to_cluster
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        library = self._store.library
        self.clear()
        group = QActionGroup(self)
        for device, name in library.devices:
            action = self._switch(f"{device}: {name}", device == library.device)
            action.triggered.connect(lambda _=False, device=device: self._set(device))
            group.addAction(action)
        self.addAction("Ray cluster, for batches …").triggered.connect(self._to_cluster)
        self.addSeparator()
        for name, text in (
            ("autocast", "Half precision (autocast)"),
            ("channels_last", "Channels last"),
        ):
            action = self._switch(text, getattr(library, name))
            action.triggered.connect(lambda on, name=name: self._set(library.device, **{name: on}))
        self.addSeparator()
        measure = self.addAction("Measure the difference")
        measure.setEnabled(library.model is not None and not self._store.runner.busy)
        measure.triggered.connect(library.measure_speed)

    def _switch(self, text: str, on: bool) -> QAction:
        action = self.addAction(text)
        action.setCheckable(True)
        action.setChecked(on)
        return action

    def _set(self, device: str, **options: bool) -> None:
        if self._store.runner.busy:
            self._store.say("warning", "Stop the running analysis before changing the device.")
        else:
            self._store.library.set_device(device, **options)
