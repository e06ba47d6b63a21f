"""TabRows: tabs in one row or two, and those that do not fit behind a menu; none is cut."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import tip

#: Pixels between two tabs.
_GAP = 4
#: More rows than this would take the room of the picture.
MOST_ROWS = 2
#: Pixels beside the words of a tab.
_PADDING = 10


class TabRows(QWidget):
    """One of several tabs is chosen; the methods are named like QTabBar's.

    Attributes:
        tabs: One button for each, in order, also those behind “more”.

    Signals:
        currentChanged: Another tab is chosen; its place, -1 for none.
    """

    currentChanged = Signal(int)  # noqa: N815 - as QTabBar calls it

    def __init__(self) -> None:
        super().__init__()
        # Buttons, not a QTabBar: that has one row, and scrolls or cuts what does not fit.
        self.tabs: list[QToolButton] = []
        self._current = -1
        self._shown = 0
        self._most = MOST_ROWS
        self.more = QToolButton(self, text="More", checkable=True, autoRaise=True)
        self.more.setProperty("role", "tab")
        self.more.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self._menu = QMenu(self.more)
        # Filled anew each time: words, choice and what fits have changed since.
        self._menu.aboutToShow.connect(self._fill_menu)
        self.more.setMenu(self._menu)
        self.more.hide()
        # Its width is what is left: what does not fit goes behind “More” and never widens the
        # window.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._place)

    def set_most_rows(self, most: int) -> None:
        """How many rows there may be."""
        if most != self._most:
            self._most = most
            self._place()

    def count(self) -> int:
        """How many tabs there are."""
        return len(self.tabs)

    def currentIndex(self) -> int:
        """The place of the chosen tab; -1 without tabs."""
        return self._current

    def tabText(self, place: int) -> str:
        """What stands on a tab; empty if there is none."""
        if 0 <= place < len(self.tabs):
            return self.tabs[place].accessibleName()
        return ""

    def addTab(self, words: str) -> int:
        """Puts a tab behind all others."""
        return self.insertTab(len(self.tabs), words)

    def insertTab(self, place: int, words: str) -> int:
        """Puts a tab before the one at ``place``; the chosen one stays chosen."""
        tab = QToolButton(self, checkable=True, autoExclusive=True, autoRaise=True)
        tab.setProperty("role", "tab")
        tab.clicked.connect(lambda: self.setCurrentIndex(self.tabs.index(tab)))
        self.tabs.insert(place, tab)
        self.setTabText(place, words)
        if self._current < 0:
            self.setCurrentIndex(0)
        elif place <= self._current:
            self._current += 1
        return place

    def removeTab(self, place: int) -> None:
        """Takes a tab away; its neighbour is chosen if it was."""
        tab = self.tabs.pop(place)
        # deleteLater alone leaves it on screen until the next turn of the event loop.
        tab.setParent(None)
        tab.deleteLater()
        self._place()
        if place < self._current:
            self._current -= 1
        elif place == self._current:
            self._current = -1
            self.setCurrentIndex(min(place, len(self.tabs) - 1))

    def setTabText(self, place: int, words: str) -> None:
        """Other words on a tab."""
        if 0 <= place < len(self.tabs) and words != self.tabText(place):
            # The whole words: what is shown may be cut, and its & is doubled.
            self.tabs[place].setAccessibleName(words)
            self._place()

    def setCurrentIndex(self, place: int) -> None:
        """Chooses a tab."""
        if 0 <= place < len(self.tabs):
            # A click leaves the focus where it is, and the tab before would stay tinted by it.
            if any(tab.hasFocus() for tab in self.tabs) and place < self._shown:
                self.tabs[place].setFocus()
            self.tabs[place].setChecked(True)
        # "None" is a choice only when the last tab has gone.
        elif self.tabs:
            return
        if place != self._current:
            self._current = place
            self.more.setChecked(place >= self._shown)
            self.currentChanged.emit(place)

    def sizeHint(self) -> QSize:
        """The rows that this width takes."""
        return QSize(200, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may take another number of rows."""
        super().resizeEvent(event)
        # Its own setFixedHeight arrives here too.
        if event.size().width() != event.oldSize().width():
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        """Another font takes other room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place()

    def _place(self) -> None:
        """Puts every tab behind the one before it, or below where the row is full.

        What does not fit into the last row stands behind "More".
        """
        sizes = [self._write(tab) for tab in self.tabs]
        shown = self._fitting([size.width() for size in sizes])
        left = top = high = 0
        for place, (tab, size) in enumerate(zip(self.tabs, sizes, strict=True)):
            tab.setVisible(place < shown)
            if place >= shown:
                continue
            if left and left + size.width() > self.width():
                left, top = 0, top + high + _GAP
            high = size.height()
            tab.setGeometry(left, top, size.width(), high)
            left += size.width() + _GAP
        self._place_more(shown, left, top, high)
        if self.minimumHeight() != top + high:
            self.setFixedHeight(top + high)
            self.updateGeometry()

    def _fitting(self, widths: list[int]) -> int:
        """How many tabs fit into the rows there may be, with room for "More" where not all do."""
        room = max(1, self.width())
        if _held(widths, room, room, self._most) == len(widths):
            return len(widths)
        return _held(widths, room, room - self.more.sizeHint().width() - _GAP, self._most)

    def _place_more(self, shown: int, left: int, top: int, high: int) -> None:
        """The button with the tabs that do not fit; it is called like the one chosen there."""
        self._shown = shown
        hidden = shown < len(self.tabs)
        self.more.setVisible(hidden)
        if hidden:
            self.more.setChecked(self._current >= shown)
            self.more.setGeometry(left, top, self.more.sizeHint().width(), high)
            self.more.setToolTip(tip(self.tabText(self._current)) if self._current >= shown else "")

    def _fill_menu(self) -> None:
        self._menu.clear()
        for place in range(self._shown, len(self.tabs)):
            action = self._menu.addAction(self.tabText(place).replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(place == self._current)
            action.triggered.connect(lambda _=False, place=place: self.setCurrentIndex(place))

    def _write(self, tab: QToolButton) -> QSize:
        """A name that is wider than all the room loses its middle."""
        words = tab.accessibleName()
        tab.setText(words.replace("&", "&&"))
        tab.setToolTip("")
        # Until the style sheet is applied, font and size are not the ones it will have.
        tab.ensurePolished()
        size = QSize(_bold_width(tab) + 2 * _PADDING, tab.sizeHint().height())
        if 60 < self.width() < size.width():
            most = self.width() - 2 * _PADDING
            cut = tab.fontMetrics().elidedText(words, Qt.TextElideMode.ElideMiddle, most)
            tab.setText(cut.replace("&", "&&"))
            tab.setToolTip(tip(words))
            size.setWidth(self.width())
        return size


def _bold_width(tab: QToolButton) -> int:
    """How wide the words are when the tab is chosen: nothing moves then."""
    bold = tab.font()
    bold.setBold(True)
    return QFontMetrics(bold).horizontalAdvance(tab.accessibleName())


def _held(widths: list[int], room: int, last: int, most: int) -> int:
    """How many tabs ``most`` rows hold, each ``room`` wide and the last one ``last``."""
    row = left = 0
    for place, width in enumerate(widths):
        if left and left + width > (last if row == most - 1 else room):
            row, left = row + 1, 0
        if row == most:
            return place
        left += width + _GAP
    return len(widths)
