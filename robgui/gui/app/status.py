"""The status bar: what the program is doing, on which device, how fast, with how much memory."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QProgressBar, QStatusBar, QToolButton, QWidget

from robgui.core.text.words import amount, number
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


class Status(QStatusBar):
    """Words on the left, device, speed and memory on the right."""

    def __init__(self, store: Store, parent: QWidget) -> None:
        super().__init__(parent)
        self._store = store
        self._working = Label()
        self._busy = QProgressBar(textVisible=False, minimum=0, maximum=0)
        self._busy.setFixedWidth(96)
        self._speed = Label(toolTip="Inputs the model has answered per second")
        self._memory = Label(toolTip="Memory used by the program, or by the graphics card")
        self.device = QToolButton(
            autoRaise=True, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup
        )
        self.device.setToolButtonStyle(self.device.toolButtonStyle().ToolButtonTextBesideIcon)
        self.device.setAccessibleName("Device")
        self.addWidget(self._busy)
        self.addWidget(self._working, 1)
        for widget in (self._speed, self._memory, self.device):
            self.addPermanentWidget(widget)
        self._calls, self._looked, self._rate = 0, time.monotonic(), 0.0
        clock = QTimer(self, interval=1000)
        clock.timeout.connect(self._look)
        clock.start()
        store.working.connect(self._show_working)
        store.ready.connect(self._look)
        theme.changed.connect(self._tint)
        self._tint()
        self._show_working("")
        self._look()

    def _show_working(self, words: str) -> None:
        self._working.setText(words)
        self._busy.setVisible(bool(words))
        self._show_speed()

    def _show_speed(self) -> None:
        self._speed.setText(
            f"{number(round(self._rate))} inputs/s"
            if self._rate >= 0.5
            else "busy"
            if self._working.text()
            else "idle"
        )

    def _tint(self) -> None:
        self.device.setIcon(icon("device"))

    def _look(self) -> None:
        calls = sum(model.calls for model in self._store.library.models)
        now = time.monotonic()
        rate = max(0, calls - self._calls) / max(now - self._looked, 1e-3)
        self._calls, self._looked, self._rate = calls, now, rate
        self._show_speed()
        self._memory.setText(_memory(self._store.library.device))
        self.device.setText(self._store.library.device or "…")


def _memory(device: str) -> str:
    """Memory in use: of the graphics card when the models are there, else of the program."""
    if device.startswith("cuda"):
        import torch

        return f"{amount(torch.cuda.memory_allocated(device))} on the card"
    if sys.platform == "linux":
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
        return f"memory {amount(int(pages) * 4096)}"
    return ""
