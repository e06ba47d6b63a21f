"""LookedAt: the input that was chosen in each data file, for when the data come back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.gui.state.background import Background
    from robgui.gui.state.history.history import History
    from robgui.gui.state.history.restored import Restored

#: Milliseconds of rest before a choice is written: arrow keys walk through many inputs.
REST_MS = 500


class LookedAt(QObject):
    """Remembers by the data's path which input was chosen last, and keeps it in the workspace.

    Args:
        history: The open workspace.
        keeping: Where the workspace is written.
    """

    def __init__(self, history: History, keeping: Background, parent: QObject) -> None:
        super().__init__(parent)
        self._history = history
        self._keeping = keeping
        self._inputs: dict[str, int] = {}
        self._kept: dict[str, int] = {}
        self._opened_before = False
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self.keep)
        history.opened.connect(self._opened)

    def first(self, dataset: Dataset | None) -> int | None:
        """The input to begin with: the one chosen last, else the first; None without any."""
        if dataset is None or not len(dataset):
            return None
        known = self._inputs.get(str(dataset.path), 0)
        if known < len(dataset):
            return known
        return 0

    def note(self, dataset: Dataset | None, chosen: int | None) -> None:
        """Someone looks at this input now."""
        if dataset is None or dataset.path is None or chosen is None:
            return
        if self._inputs.get(str(dataset.path)) != chosen:
            self._inputs[str(dataset.path)] = chosen
            self._rest.start()

    def keep(self) -> None:
        """Writes down what is not yet."""
        self._rest.stop()
        # A copy: a pool thread reads it while arrow keys go on changing this one.
        workspace, inputs = self._history.writable, dict(self._inputs)
        if workspace is not None and inputs != self._kept:
            # At once: the next choice is compared with what is on its way.
            self._kept = inputs
            self._keeping.run(lambda: workspace.files.set_looked_at(inputs), key="looked at")

    def _opened(self, restored: Restored) -> None:
        """Starts over: choices in another workspace do not concern this one."""
        # Choices made before the first workspace was read belong to it.
        if self._opened_before:
            before = {}
        else:
            before = self._inputs
        self._opened_before = True
        self._rest.stop()
        self._kept = dict(restored.inputs)
        self._inputs = {**before, **restored.inputs}
