"""The status bar: what the program is doing, on which device, how fast, with how much memory."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QDockWidget,
    QProgressBar,
    QSizePolicy,
    QStatusBar,
    QToolButton,
    QWidget,
)

from robgui.core.text.words import amount, count
from robgui.gui.app.room import come_forward, in_front
from robgui.gui.app.theme import icon, theme
from robgui.gui.app.worker_words import in_full, in_short
from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import Label, set_tip

if TYPE_CHECKING:
    from robgui.gui.state.store import Store


#: Words on the memory that need more than this part of the bar are left out.
MEMORY_PART = 0.3


class StatusBar(QStatusBar):
    """Words on the left, device, speed and memory on the right, and what shows the lists.

    Args:
        store: What is going on.
        parent: The window.
        lists: Docks that can be shown and put away from here.

    Attributes:
        working: What is being done now; empty when nothing.
        speed: Inputs per second.
        memory: Of the window, the processes for models and the card; a narrow bar tells it where
            the pointer stands on the device.
    """

    def __init__(self, store: Store, parent: QWidget, lists: Sequence[QDockWidget] = ()) -> None:
        super().__init__(parent)
        self._store = store
        self._doing = ""
        self.working = Label()
        self.runs = Label()
        self.runs.setAccessibleName("What each worker does")
        # Ignored: long words must not widen the window.
        self.runs.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        # Equal ends: Qt shows that something goes on, not how far it is.
        self._busy = QProgressBar(textVisible=False, minimum=0, maximum=0)
        self._busy.setFixedWidth(96)
        self.speed = Label(
            alignment=Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter,
            toolTip="Inputs the model has answered per second",
        )
        self.memory = Label(toolTip="Memory of the window and of the processes for models")
        self.device = QToolButton(
            autoRaise=True, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup
        )
        self.device.setToolButtonStyle(self.device.toolButtonStyle().ToolButtonTextBesideIcon)
        self.device.setAccessibleName("Device")
        self.stop = QToolButton(text="Stop", autoRaise=True)
        self.stop.setToolTip(
            "Stop waiting for the model; a run goes on. A process that does not answer within two"
            " seconds is ended and started anew."
        )
        self.stop.clicked.connect(lambda _checked: store.answers.stop())
        for dock in lists:
            self.addPermanentWidget(_list_button(dock))
        self.addWidget(self._busy)
        self.addWidget(self.stop)
        self.addWidget(self.working)
        self.addWidget(self.runs, 1)
        for widget in (self.speed, self.memory, self.device):
            self.addPermanentWidget(widget)
        self._calls, self._looked, self._rate = 0, time.monotonic(), 0.0
        clock = QTimer(self, interval=1000)
        clock.timeout.connect(self.look)
        clock.start()
        store.working.connect(self._show_working)
        store.ready.connect(self.look)
        store.job_changed.connect(lambda _: self._show_runs())
        store.job_changed.connect(lambda _: self._show_speed())
        theme.changed.connect(self._tint)
        self._tint()
        self._show_working("")
        self.look()

    def changeEvent(self, event: QEvent) -> None:
        """Larger text takes more room at once."""
        super().changeEvent(event)
        # Qt sends the event while the constructor is still running, before there is a rate.
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_rate"):
            self._show_speed()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower bar has room for fewer words."""
        super().resizeEvent(event)
        QTimer.singleShot(0, self, self._fit)  # Not while the window lays itself out.

    def minimumSizeHint(self) -> QSize:
        """Without the words that a narrower bar shortens or leaves out."""
        least, left_out = super().minimumSizeHint(), (self.working, self.memory)
        wide = sum(one.sizeHint().width() for one in left_out if not one.isHidden())
        return QSize(max(0, least.width() - wide), least.height())

    def _fit(self) -> None:
        """Long words and the memory must not make the window wider than the screen."""
        self.working.setText(beginning(self._doing, self.fontMetrics(), self.width() // 3))
        set_tip(self.working, self._doing)
        told = self.memory.text()
        self.memory.setVisible(
            self.fontMetrics().horizontalAdvance(told) < self.width() * MEMORY_PART
        )
        set_tip(self.device, f"Where models compute; {told}" if told else "Where models compute")

    def _show_working(self, words: str) -> None:
        self._doing = words
        self._fit()
        if words and self.currentMessage():
            # Qt hides the rest while the tip of a button is shown, but not what is shown later.
            self.clearMessage()
        self._busy.setVisible(bool(words))
        self.stop.setVisible(self._store.asking)
        self._show_speed()

    def _show_speed(self) -> None:
        """No number is cut while it grows, and nothing beside it moves."""
        room = self.fontMetrics().horizontalAdvance("99,999 inputs/s")
        if room != self.speed.minimumWidth():
            self.speed.setMinimumWidth(room)
            self._place()
        if self.working.text() or self._store.runner.at_work:
            resting = "busy"
        else:
            resting = "idle"
        # Less than one answer in two seconds would be shown as 0.
        if self._rate >= 0.5:
            self.speed.setText(f"{count(round(self._rate), 'input')}/s")
        else:
            self.speed.setText(resting)

    def _place(self) -> None:
        """Moves widgets that outgrew their place; Qt does so only if the bar's height changes."""
        layout = self.layout()
        if layout is not None:
            layout.activate()

    def _show_runs(self) -> None:
        """What each worker does; in full where the pointer is."""
        doings, analyses = self._store.runner.doings, self._store.analyses
        words = in_short(doings, analyses)
        self.runs.setText(beginning(words, self.fontMetrics(), self.runs.width()))
        set_tip(self.runs, in_full(doings, analyses))

    def _tint(self) -> None:
        self.device.setIcon(icon("device"))

    def look(self) -> None:
        """Shows device, speed and memory as they are now."""
        calls = self._store.answered
        now = time.monotonic()
        # Two looks may come right after each other: analyses that are found cause one.
        rate = max(0, calls - self._calls) / max(now - self._looked, 1e-3)
        self._calls, self._looked, self._rate = calls, now, rate
        self._show_speed()
        self._show_runs()
        self.memory.setText(_memory(self._store.processes.pids, self._store.processes.graphics))
        self.device.setText(_devices(self._store))
        self._fit()
        self._place()


def _devices(store: Store) -> str:
    """Where models are, and where runs are sent if that is elsewhere."""
    if store.processes.cluster:
        return f"Ray: {store.processes.cluster}"
    if store.processes.device:
        elsewhere = f", runs {store.processes.device}"
    else:
        elsewhere = ""
    return f"{store.library.device or '…'}{elsewhere}"


def _list_button(dock: QDockWidget) -> QToolButton:
    """Shows a list below the picture, or puts it away."""
    button = QToolButton(text=dock.windowTitle(), autoRaise=True, checkable=True)
    button.setToolTip(f"Show or hide {dock.windowTitle().lower()}")

    def toggle() -> None:
        # One that stands behind another tab comes to the front; only one that is seen goes.
        if dock.isHidden() or in_front(dock):
            dock.toggleViewAction().trigger()
        if not dock.isHidden():
            come_forward(dock)
        button.setChecked(not dock.isHidden())

    button.clicked.connect(lambda _checked: toggle())
    # A tab that goes behind another is told as not visible.
    dock.visibilityChanged.connect(button.setChecked)
    return button


def _memory(pids: Sequence[int], graphics: tuple[int, int] | None) -> str:
    """Memory in use: by the window, the model processes and the graphics card, if there is one."""
    words = []
    if sys.platform == "linux":
        own, models = _resident("self"), sum(_resident(str(pid)) for pid in pids)
        words = [f"memory: window {amount(own)}"]
        if models:
            words.append(f"model processes {amount(models)}")
    if graphics is not None:
        words.append(f"GPU {amount(graphics[0])} of {amount(graphics[1])}")
    return ", ".join(words)


def _resident(process: str) -> int:
    """Bytes that a process holds; 0 for one that is gone."""
    try:
        pages = Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1]
    except (OSError, IndexError):
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
