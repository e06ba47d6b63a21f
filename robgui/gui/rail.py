"""The rail on the left: one button per page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from robgui.gui.theme import icon, theme


class Rail(QWidget):
    """Chooses the page in the middle.

    Signals:
        chosen: The number of the page.
    """

    chosen = Signal(int)

    def __init__(self, pages: list[tuple[str, str]]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Pages")
        self._icons = [name for name, _ in pages]
        self._group = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, 8, 4, 8)
        layout.setSpacing(4)
        for number, (_, title) in enumerate(pages):
            layout.addWidget(self._button(number, title))
        layout.addStretch(1)
        self._group.idClicked.connect(self.chosen)
        theme.changed.connect(self._tint)
        self._tint()

    def choose(self, number: int) -> None:
        """Marks page ``number`` as the one on show."""
        self._group.button(number).setChecked(True)

    def _button(self, number: int, title: str) -> QToolButton:
        button = QToolButton(text=title, checkable=True, autoRaise=True)
        button.setProperty("role", "rail")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setIconSize(QSize(28, 28))
        button.setMinimumWidth(max(self.fontMetrics().averageCharWidth() * 13, self.fontMetrics().horizontalAdvance(title) + 16))
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} (Ctrl+{number + 1})")
        self._group.addButton(button, number)
        return button

    def _tint(self) -> None:
        for number, name in enumerate(self._icons):
            self._group.button(number).setIcon(icon(name))
