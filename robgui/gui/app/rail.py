"""The rail on the left: one button per page."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from robgui.gui.app.theme import icon, theme

#: Pixels of an icon, and of what the style puts above and below it (see ``QToolButton[role="rail"]`` in the theme).
ICON = 28
FRAME = 23
#: Pixels between two buttons, and above the first and below the last.
GAP = 4
MARGIN = 8


class Rail(QWidget):
    """Chooses the page in the middle; in a low window its buttons lose their words and keep their icons.

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
        self._width = max(self.fontMetrics().horizontalAdvance(title) for _, title in pages) + 16
        self._group = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, MARGIN, 4, MARGIN)
        layout.setSpacing(GAP)
        for number, (_, title) in enumerate(pages):
            layout.addWidget(self._button(number, title))
        layout.addStretch(1)
        self._group.idClicked.connect(self.chosen)
        theme.changed.connect(self._tint)
        self._tint()

    def choose(self, number: int) -> None:
        """Marks page ``number`` as the one on show."""
        self._group.button(number).setChecked(True)

    def minimumSizeHint(self) -> QSize:
        """As high as the icons alone."""
        return QSize(super().minimumSizeHint().width(), self._height(worded=False))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words when there is room for them."""
        super().resizeEvent(event)
        styles = Qt.ToolButtonStyle
        style = styles.ToolButtonTextUnderIcon if self.height() >= self._height(worded=True) else styles.ToolButtonIconOnly
        for button in self._group.buttons():
            if isinstance(button, QToolButton) and button.toolButtonStyle() is not style:
                button.setToolButtonStyle(style)

    def _height(self, *, worded: bool) -> int:
        """The height that all buttons need, with their words or without."""
        words = self.fontMetrics().height() if worded else 0
        count = len(self._icons)
        return count * (ICON + FRAME + words) + (count - 1) * GAP + 2 * MARGIN

    def _button(self, number: int, title: str) -> QToolButton:
        button = QToolButton(text=title, checkable=True, autoRaise=True)
        button.setProperty("role", "rail")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setIconSize(QSize(ICON, ICON))
        button.setMinimumWidth(self._width)
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} (Ctrl+{number + 1})")
        self._group.addButton(button, number)
        return button

    def _tint(self) -> None:
        for number, name in enumerate(self._icons):
            self._group.button(number).setIcon(icon(name))
