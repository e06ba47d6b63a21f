"""Film: grabs the pictures of a timeline one after the other and saves them as GIF or MP4."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from robgui.gui.show import export

if TYPE_CHECKING:
    from robgui.gui.state.store import Store

#: A film has at most so many pictures.
MOST_FRAMES = 120


class Film(QObject):
    """Takes one picture per turn of the event loop, so that the window goes on; the file is written in the background.

    Args:
        store: Its background writes the file.
        widget: What is filmed.
        show: Shows picture number n.
    """

    def __init__(self, store: Store, widget: QWidget, show: Callable[[int], None]) -> None:
        super().__init__(widget)
        self._store, self._widget, self._show = store, widget, show
        self._frames: list[np.ndarray] = []
        self._places: list[int] = []
        self._path = Path()
        self._ended: Callable[[], None] = lambda: None
        self._clock = QTimer(self, interval=0)
        self._clock.timeout.connect(self._next)

    @property
    def busy(self) -> bool:
        """Whether pictures are being taken."""
        return self._clock.isActive()

    def save(self, path: Path, count: int, ended: Callable[[], None]) -> None:
        """Films ``count`` pictures into ``path``; ``ended`` is called when the last one is taken."""
        if self.busy:
            return
        stride = max(1, -(-count // MOST_FRAMES))
        self._places = list(dict.fromkeys([*range(0, count, stride), count - 1]))
        self._frames, self._path, self._ended = [], path, ended
        self._store.work_on("film", f"Filming {path.name} …")
        self._clock.start()

    def _next(self) -> None:
        if self._places:
            self._show(self._places.pop(0))
            self._frames.append(export.frame_of(self._widget))
            return
        self._clock.stop()
        self._ended()
        frames, path, store = self._frames, self._path, self._store
        self._frames = []

        def written(_: object) -> None:
            store.work_on("film", "")
            store.say("info", f"Animation written: {path}")

        def failed(sentence: str, details: str) -> None:
            store.work_on("film", "")
            store.say("error", sentence, details)

        store.background.run(lambda: export.save_animation(_one_size(frames), path), written, failed=failed)


def _one_size(frames: list[np.ndarray]) -> list[np.ndarray]:
    """Frames cut to the smallest, should the window have been resized meanwhile."""
    height, width = (min(frame.shape[side] for frame in frames) for side in (0, 1))
    return [frame[:height, :width] for frame in frames]
