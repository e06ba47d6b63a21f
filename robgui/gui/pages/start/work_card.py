"""WorkCard: a workspace as it was left: its worst finding, its name, what it holds."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QToolButton

from robgui.gui.app.theme import WORK_PICTURE, icon, theme
from robgui.gui.app.work_pictures import picture_path, words_of
from robgui.gui.widgets.plain import in_menu, tip
from robgui.gui.widgets.sized import sharpness


class WorkCard(QToolButton):
    """A picture with a name below it, to go on with."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._picture = QPixmap(str(picture_path(path)))
        self._name, said = path.stem, words_of(path)
        self._said = f"\n{said}" if said else "\n"
        self.setToolTip(tip(str(path)))
        self.setAccessibleName(f"Open {path.stem}. {said}".strip())
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        self.setProperty("role", "work")
        theme.changed.connect(self._tint)
        self._tint()

    def _tint(self) -> None:
        wide, high = (theme.grown(side) for side in WORK_PICTURE)
        self.setIconSize(QSize(wide, high))
        name = self.fontMetrics().elidedText(self._name, Qt.TextElideMode.ElideMiddle, wide)
        self.setText(in_menu(name) + self._said)
        if self._picture.isNull():
            self.setIcon(icon("data"))
        else:
            fitted = Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
            sharp = sharpness()
            shown = self._picture.scaled(QSize(wide, high) * sharp, *fitted)
            shown.setDevicePixelRatio(sharp)
            self.setIcon(QIcon(shown))
