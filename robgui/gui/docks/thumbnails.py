"""Thumbnails on demand: read and scaled on pool threads, kept in a bounded cache."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import QImage, QPixmap
from shiboken6 import isValid

from robgui.core.errors import DataError, RobguiError
from robgui.gui.state.background import Background

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset

#: Pictures kept; 2,000 of 112 x 112 pixels are about 100 MB.
CAPACITY = 2_000
#: Pieces of work under way at once, and pictures in each: few, so what scrolls out of sight is
#: never begun.
_AT_ONCE = 2
_CHUNK = 4

Read = Callable[[Any], "np.ndarray | None"]


def input_picture(dataset: Dataset, size: int, ground: Sequence[int], index: int) -> np.ndarray:
    """The picture of one input, a drawing on ``ground``; called on a pool thread.

    Raises:
        DataError: It cannot be read.
    """
    from robgui.core.dataset.drawing import on_ground  # OpenCV: not before a picture is wanted.

    picture, key = dataset.thumbnail(index, size), dataset.key(index)
    if bad := next((item for item in dataset.skipped if item.path == key), None):
        raise DataError(f"{key} cannot be read: {bad.reason}")
    if dataset.kind == "image":
        return picture
    return on_ground(picture, ground)


class Thumbnails(QObject):
    """Pictures by key; ask with ``get``, say what is on screen with ``want``.

    Args:
        background: Where pictures are read.
        read: Key -> ``(h, w, 3)`` uint8 or None; called on a pool thread. A RobguiError marks the
            key as unreadable.

    Signals:
        arrived: ``(keys)`` that can be painted now.
    """

    arrived = Signal(object)

    def __init__(
        self,
        background: Background,
        read: Read | None = None,
        parent: QObject | None = None,
        capacity: int = CAPACITY,
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._read = read
        self._capacity = capacity
        self._known: OrderedDict[Hashable, QPixmap | str] = OrderedDict()
        self._waiting: list[Hashable] = []
        self._asked: set[Hashable] = set()
        self._flying = 0
        self._era = 0

    def get(self, key: Hashable) -> QPixmap | str | None:
        """The picture, or the sentence why there is none, or None while it is not known."""
        found = self._known.get(key)
        if found is not None:
            self._known.move_to_end(key)
        return found

    def want(self, keys: Iterable[Hashable]) -> None:
        """Asks for the pictures now on screen; older requests are dropped."""
        self._waiting = [key for key in keys if key not in self._known and key not in self._asked]
        self._send()

    def reset(self, read: Read | None) -> None:
        """Forgets every picture and reads from somewhere else."""
        self._era += 1
        self._read = read
        self._known.clear()
        self._waiting.clear()
        self._asked.clear()
        # Answers still on their way are of another era and are not counted when they come.
        self._flying = 0

    def _send(self) -> None:
        while self._waiting and self._flying < _AT_ONCE and self._read is not None:
            chunk, self._waiting = self._waiting[:_CHUNK], self._waiting[_CHUNK:]
            self._asked.update(chunk)
            self._flying += 1
            done, failed = partial(self._take, self._era), partial(self._refuse, self._era, chunk)
            self._background.run(partial(_read_all, self._read, chunk), done, failed=failed)

    def _refuse(self, era: int, chunk: list[Hashable], sentence: str, details: str) -> None:
        self._background.failed.emit(sentence, details)
        # Kept like answers, or every look at the screen would ask for them again.
        self._take(era, dict.fromkeys(chunk, sentence))

    def _take(self, era: int, answer: Mapping[Hashable, QImage | str]) -> None:
        # The window may have closed, or other data be on show, while these were read.
        if not isValid(self) or era != self._era:
            return
        self._flying -= 1
        for key, picture in answer.items():
            self._asked.discard(key)
            if isinstance(picture, str):
                self._known[key] = picture
            else:
                # Here and not on the pool thread: pixmaps belong to the GUI thread.
                self._known[key] = QPixmap.fromImage(picture)
        while len(self._known) > self._capacity:
            self._known.popitem(last=False)
        self._send()
        self.arrived.emit(list(answer))


def qimage(array: np.ndarray) -> QImage:
    """An image that owns its pixels, from ``(h, w, 3)`` uint8."""
    pixels = np.ascontiguousarray(array, dtype=np.uint8)
    height, width = pixels.shape[:2]
    # Converting copies: over an array, QImage only borrows the pixels. Qt draws 32 bits without
    # converting them at every paint.
    return QImage(
        pixels.data, width, height, 3 * width, QImage.Format.Format_RGB888
    ).convertToFormat(QImage.Format.Format_RGB32)


def fit(size: QSize, square: QRect) -> QRect:
    """The largest rectangle of the picture's proportions inside ``square``, centred."""
    scaled = size.scaled(square.size(), Qt.AspectRatioMode.KeepAspectRatio)
    corner = square.center() - QPoint((scaled.width() - 1) // 2, (scaled.height() - 1) // 2)
    return QRect(corner, scaled)


def _read_all(read: Read, keys: list[Hashable]) -> dict[Hashable, QImage | str]:
    answer: dict[Hashable, QImage | str] = {}
    for key in keys:
        try:
            array = read(key)
            if array is None:
                answer[key] = "no picture"
            else:
                answer[key] = qimage(array)
        except RobguiError as error:
            answer[key] = str(error)
    return answer
