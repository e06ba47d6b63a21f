"""The rail on the left: one button per page, and the list of all pages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QButtonGroup, QToolButton, QVBoxLayout, QWidget

from robgui.gui import panels
from robgui.gui.app.theme import icon, theme

#: Pixels above the first button and below the last.
MARGIN = 8


@dataclass(frozen=True)
class Form:
    """How the buttons look.

    Attributes:
        icon: Side of an icon in pixels, at the usual text size.
        frame: Pixels that the style puts above and below it (see ``QToolButton[role="rail"]`` in
            the theme).
        gap: Pixels between two buttons.
        worded: Whether words stand below the icons.
    """

    icon: int
    frame: int
    gap: int
    worded: bool

    def height(self, count: int, words: int, side: int) -> int:
        """What ``count`` buttons need with words of this height and icons of this side."""
        each = side + self.frame + (words if self.worded else 0)
        return count * each + (count - 1) * self.gap + 2 * MARGIN

    def side(self, count: int, height: int) -> int:
        """Side of the icons: it grows with the text, alone only as far as all are seen at once."""
        grown = theme.grown(self.icon)
        if self.worded:
            return grown
        fitting = (height - self.height(count, 0, 0)) // count
        return min(grown, max(self.icon, fitting))


#: From the roomiest to the lowest; the last is taken where nothing else fits.
FORMS = (
    Form(24, 19, 4, True),
    Form(18, 11, 0, True),
    Form(20, 11, 0, False),
)


@dataclass(frozen=True)
class RailEntry:
    """A page as the rail and the menus show it: its title, and its icon by name or file."""

    title: str
    icon: str | Path


def rail_entries() -> list[RailEntry]:
    """Every page in order: welcome, overview, the methods, findings, comparison."""
    methods = [RailEntry(page.title, page.icon) for page in panels.pages()]
    return [
        RailEntry("Welcome", "home"),
        RailEntry("Overview", "overview"),
        *methods,
        RailEntry("Findings", "findings"),
        RailEntry("Compare", "compare"),
    ]


class Rail(QWidget):
    """Chooses the page in the middle.

    In a low window its buttons move together, drop their words if that is not enough, and then let
    large icons shrink to the usual size.

    Signals:
        chosen: The number of the page whose button was pressed.
        marked: The button of the page on show.
    """

    chosen = Signal(int)
    marked = Signal(QWidget)

    def __init__(self, pages: list[RailEntry]) -> None:
        super().__init__()
        self.setProperty("role", "rail")
        # A subclass of QWidget paints no ground from a style sheet without this.
        self.setAttribute(Qt.WidgetAttribute.WA_StyledBackground)
        self.setAccessibleName("Pages")
        self._icons = [page.icon for page in pages]
        self._titles = [page.title for page in pages]
        self._group = QButtonGroup(self)
        self._form = FORMS[0]
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(4, MARGIN, 4, MARGIN)
        layout.setSpacing(self._form.gap)
        for number, page in enumerate(pages):
            layout.addWidget(self._button(number, page.title))
        layout.addStretch(1)
        self._fit()
        self._group.idClicked.connect(self.chosen)
        theme.changed.connect(self._tint)
        self._tint()

    def choose(self, number: int) -> None:
        """Marks page ``number`` as the one on show."""
        self._group.button(number).setChecked(True)
        self.marked.emit(self._group.button(number))

    def minimumSizeHint(self) -> QSize:
        """As high as the icons alone, at the usual text size."""
        lowest = FORMS[-1].height(len(self._icons), 0, FORMS[-1].icon)
        return QSize(super().minimumSizeHint().width(), lowest)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Words when there is room for them."""
        super().resizeEvent(event)
        self._fit()

    def changeEvent(self, event: QEvent) -> None:
        """Larger words need more room."""
        super().changeEvent(event)
        # Qt also sends the event while the constructor is still running.
        if event.type() is QEvent.Type.FontChange and hasattr(self, "_group"):
            self._fit()

    def _fit(self) -> None:
        fitting = [form for form in FORMS if self.height() >= self._height(form)]
        form = fitting[0] if fitting else FORMS[-1]
        if form is not self._form:
            self._form = form
            self._column.setSpacing(form.gap)
        styles = Qt.ToolButtonStyle
        if form.worded:
            style = styles.ToolButtonTextUnderIcon
        else:
            style = styles.ToolButtonIconOnly
        side = form.side(len(self._icons), self.height())
        for button in self._group.buttons():
            if isinstance(button, QToolButton):
                button.setToolButtonStyle(style)
                button.setMinimumWidth(self._wide() if form.worded else side + form.frame)
                self._polish(button, form, side)

    @staticmethod
    def _polish(button: QToolButton, form: Form, side: int) -> None:
        """Sets the size of the icon; the program's style sheet outweighs ``setIconSize``."""
        sheet = f"QToolButton {{ icon-size: {side}px; }}"
        if button.styleSheet() != sheet or button.property("tight") is not (form is not FORMS[0]):
            button.setProperty("tight", form is not FORMS[0])
            # Also reads the property anew.
            button.setStyleSheet(sheet)

    def _wide(self) -> int:
        return max(self.fontMetrics().horizontalAdvance(title) for title in self._titles) + 16

    def _height(self, form: Form) -> int:
        """The height that all buttons need in this form."""
        return form.height(len(self._icons), self.fontMetrics().height(), theme.grown(form.icon))

    def _button(self, number: int, title: str) -> QToolButton:
        button = QToolButton(text=title, checkable=True, autoRaise=True)
        button.setProperty("role", "rail")
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextUnderIcon)
        button.setMinimumWidth(self._wide())
        # By default a tool button takes the focus by Tab only, not by a click.
        button.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        button.setAccessibleName(title)
        button.setToolTip(f"{title} ({shortcut(number)})" if shortcut(number) else title)
        self._group.addButton(button, number)
        return button

    def _tint(self) -> None:
        for number, name in enumerate(self._icons):
            self._group.button(number).setIcon(icon(name))


def shortcut(number: int) -> str:
    """The keys that show page ``number``; there are eighteen."""
    if number < 9:
        return f"Ctrl+{number + 1}"
    if number < 18:
        return f"Alt+{number - 8}"
    return ""
