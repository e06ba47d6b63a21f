"""The menu of devices: where models compute, how precisely, and on which cluster runs do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget

from robgui.gui.state.library.speed import measure_speed

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


class DeviceMenu(QMenu):
    """Filled afresh whenever it opens.

    Args:
        store: Whose library's device it sets.
        to_batch: Shows where a cluster is chosen for a batch.
        parent: The window.
    """

    def __init__(self, store: Store, to_batch: Callable[[], None], parent: QWidget) -> None:
        super().__init__("Device", parent)
        self._store = store
        self._to_batch = to_batch
        self._last = ""
        self.aboutToShow.connect(self._fill)

    def _fill(self) -> None:
        library = self._store.library
        self.clear()
        group = QActionGroup(self)
        for device, name in library.devices:
            here = device == library.device and not self._store.processes.cluster
            action = self._switch(f"{device}: {name}", here)
            action.triggered.connect(lambda _=False, device=device: self._set(device))
            group.addAction(action)
        if cluster := self._store.processes.cluster:
            group.addAction(self._switch(f"Ray cluster {cluster}", True))
        if len(library.devices) > 1 and not self._store.processes.cluster:
            self.addMenu(self._destinations())
        self.addAction("Ray cluster …").triggered.connect(self.ask_cluster)
        self.addAction("Ray cluster, for batches …").triggered.connect(self._to_batch)
        self.addSeparator()
        for name, text in (
            ("autocast", "Half precision (autocast)"),
            ("channels_last", "Channels last"),
        ):
            action = self._switch(text, getattr(library, name))
            action.triggered.connect(lambda on, name=name: self._set(library.device, **{name: on}))
        self.addSeparator()
        measure = self.addAction("Measure the difference")
        # Beside a run it would measure what that leaves of the device.
        measure.setEnabled(library.model is not None and not self._store.runner.busy)
        measure.triggered.connect(lambda: measure_speed(library))

    def _destinations(self) -> QMenu:
        """Where runs are sent; may be changed while one runs."""
        menu, store = QMenu("Send runs to", self), self._store
        group = QActionGroup(menu)
        usual = ("", "the device in use, or one that is free")
        for device, name in (usual, *store.library.devices):
            action = menu.addAction(f"{device}: {name}" if device else name.capitalize())
            action.setCheckable(True)
            action.setChecked(device == store.processes.device)
            action.triggered.connect(
                lambda _=False, device=device: store.processes.send_runs_to(device)
            )
            group.addAction(action)
        return menu

    def _switch(self, text: str, on: bool) -> QAction:
        action = self.addAction(text)
        action.setCheckable(True)
        action.setChecked(on)
        return action

    def ask_cluster(self) -> None:
        """Asks which cluster should compute; it is used once something answers there."""
        from robgui.gui.app.cluster_dialog import ClusterDialog, answers

        store = self._store
        dialog = ClusterDialog(store.processes.cluster or self._last, self.parentWidget())
        if not dialog.exec():
            return
        self._last = dialog.chosen
        address = dialog.chosen
        store.background.run(lambda: answers(address), store.processes.set_cluster)

    def _set(self, device: str, **options: bool) -> None:
        store = self._store
        if store.runner.busy:
            if len(store.library.devices) > 1:
                other = ", or send only further runs there (Send runs to)"
            else:
                other = ""
            store.say("warning", f"Stop the running analysis before changing the device{other}.")
            return
        # A device was chosen by its name: runs come back from the cluster.
        if not options:
            store.processes.set_cluster("")
        if options or device != store.library.device:
            store.library.set_device(device, **options)
