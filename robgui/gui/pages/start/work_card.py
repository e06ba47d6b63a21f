"""WorkCard: a workspace as it was left: its worst finding, its name, what it holds."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QIcon, QPixmap
from PySide6.QtWidgets import QToolButton

from robgui.gui.app.theme import icon, theme
from robgui.gui.app.work_pictures import picture_path, words_of
from robgui.gui.widgets.plain import in_menu, tip

#: Pixels of the picture.
_PICTURE = QSize(200, 100)


class WorkCard(QToolButton):
    """A picture with a name below it, to go on with."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._picture = QPixmap(str(picture_path(path)))
        said = words_of(path)
        name = self.fontMetrics().elidedText(
            path.stem, Qt.TextElideMode.ElideMiddle, _PICTURE.width()
        )
        self.setText(in_menu(name) + (f"\n{said}" if said else "\n"))
        self.setToolTip(tip(str(path)))
        self.setAccessibleName(f"Open {path.stem}. {said}".strip())
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        self.setIconSize(_PICTURE)
        self.setProperty("role", "work")
        theme.changed.connect(self._tint)
        self._tint()

    def _tint(self) -> None:
        self.setIcon(icon("data") if self._picture.isNull() else QIcon(self._picture))
