"""Fitted: one picture as large as its place."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPixmap, QResizeEvent
from PySide6.QtWidgets import QSizePolicy

from robgui.gui.app.theme import theme
from robgui.gui.docks.thumbnails import qimage
from robgui.gui.widgets.plain import Label


class Fitted(Label):
    """A picture that follows the size of its place.

    An image of few pixels shows them as they are.
    """

    def __init__(self) -> None:
        super().__init__(alignment=Qt.AlignmentFlag.AlignCenter)
        self._whole = QPixmap()
        self._drawing: np.ndarray | None = None
        theme.changed.connect(self._draw)
        # A label asks for the size of its pixmap: the picture could grow but never shrink again.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Ignored)

    def show_picture(self, picture: np.ndarray | bytes | None, *, drawn: bool = False) -> None:
        """Shows ``(h, w, 3)`` uint8, the bytes of a file, or nothing.

        Args:
            picture: What to show.
            drawn: Whether it is a drawing on white, which takes the ground of the present look.
        """
        self._whole = QPixmap()
        self._drawing = picture if drawn and not isinstance(picture, bytes) else None
        if self._drawing is not None:
            self._draw()
            return
        if isinstance(picture, bytes):
            self._whole.loadFromData(picture)
        elif picture is not None:
            self._whole = QPixmap.fromImage(qimage(picture))
        self._fit()

    def _draw(self) -> None:
        if self._drawing is not None:
            from robgui.core.dataset.drawing import on_ground  # OpenCV: late

            self._whole = QPixmap.fromImage(qimage(on_ground(self._drawing, theme.ground)))
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        if self._whole.isNull():
            self.clear()
            return
        room = QSize(max(1, self.width()), max(1, self.height()))
        grows = self._whole.width() < room.width() and self._whole.height() < room.height()
        modes = Qt.TransformationMode
        if grows:
            mode = modes.FastTransformation
        else:
            mode = modes.SmoothTransformation
        self.setPixmap(self._whole.scaled(room, Qt.AspectRatioMode.KeepAspectRatio, mode))
