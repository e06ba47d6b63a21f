"""The rail on the left: one button per page, and the one list of all pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from robgui.gui import panels
from robgui.gui.app.theme import icon, theme

#: Pixels of an icon, and of what the style puts above and below it (see
#: ``QToolButton[role="rail"]`` in the theme).
ICON = 24
FRAME = 19
#: Pixels between two buttons, and above the first and below the last.
GAP = 4
MARGIN = 8


@dataclass(frozen=True)
class Place:
    """A page as the rail and the menus show it: its title, and its icon by name or file."""

    title: str
    icon: str | Path


def places() -> list[Place]:
    """Every page in order: the welcome page, the overview, the methods, the findings, the
    comparison.
    """
    methods = [Place(page.title, page.icon) for page in panels.pages()]
    return [
        Place("Welcome", "home"),
        Place("Overview", "overview"),
        *methods,
        Place("Findings", "findings"),
        Place("Compare", "compare"),
    ]


class Rail(QWidget):
    """Chooses the page in the middle.

    In a low window its buttons lose their words and keep their icons.

    Signals:
        chosen: The number of the page.
    """

    chosen = Signal(int)

    def __init__(self, pages: list[Place]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Pages")
        self._icons = [page.icon for page in pages]
        self._titles = [page.title for page in pages]
        self._group = QButtonGroup(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(4, MARGIN, 4, MARGIN)
        layout.setSpacing(GAP)
        for number, page in enumerate(pages):
            layout.addWidget(self._button(number, page.title))
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
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Larger words need more room."""
        super().changeEvent(event)
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_group"):
            self._fit()

    def _fit(self) -> None:
        styles = Qt.ToolButtonStyle
        worded = self.height() >= self._height(worded=True)
        style = styles.ToolButtonTextUnderIcon if worded else styles.ToolButtonIconOnly
        for button in self._group.buttons():
            if isinstance(button, QToolButton):
                button.setToolButtonStyle(style)
                button.setMinimumWidth(self._wide() if worded else ICON + FRAME)

    def _wide(self) -> int:
        return max(self.fontMetrics().horizontalAdvance(title) for title in self._titles) + 16

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
        button.setMinimumWidth(self._wide())
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} ({shortcut(number)})" if shortcut(number) else title)
        self._group.addButton(button, number)
        return button

    def _tint(self) -> None:
        for number, name in enumerate(self._icons):
            self._group.button(number).setIcon(icon(name))


def shortcut(number: int) -> str:
    """The keys that show page ``number``; there are nine."""
    return f"Ctrl+{number + 1}" if number < 9 else ""
