"""TabRows: tabs in as many rows as the width asks for, so that none is cut or scrolled away."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QToolButton, QWidget

from robgui.gui.app.theme import theme
from robgui.gui.widgets.plain import tip

#: Pixels between two tabs.
_GAP = 4
#: Pixels beside the words of a tab.
_PADDING = 10


class TabRows(QWidget):
    """One tab of several is chosen; its methods are called as those of QTabBar.

    Signals:
        currentChanged: Another tab is chosen; its place, -1 for none.
    """

    currentChanged = Signal(int)  # noqa: N815 - as QTabBar calls it

    def __init__(self) -> None:
        super().__init__()
        self._tabs: list[QToolButton] = []
        self._current = -1
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self._place)

    def count(self) -> int:
        """How many tabs there are."""
        return len(self._tabs)

    def currentIndex(self) -> int:
        """The place of the chosen tab; -1 without tabs."""
        return self._current

    def tabText(self, place: int) -> str:
        """What stands on a tab; empty where there is none."""
        return self._tabs[place].accessibleName() if 0 <= place < len(self._tabs) else ""

    def addTab(self, words: str) -> int:
        """Puts a tab behind all others."""
        return self.insertTab(len(self._tabs), words)

    def insertTab(self, place: int, words: str) -> int:
        """Puts a tab before the one at ``place``; the chosen one stays chosen."""
        tab = QToolButton(self, checkable=True, autoExclusive=True, autoRaise=True)
        tab.setProperty("role", "tab")
        tab.clicked.connect(lambda: self.setCurrentIndex(self._tabs.index(tab)))
        self._tabs.insert(place, tab)
        self.setTabText(place, words)
        tab.show()
        if self._current < 0:
            self.setCurrentIndex(0)
        elif place <= self._current:
            self._current += 1
        return place

    def removeTab(self, place: int) -> None:
        """Takes a tab away; its neighbour is chosen if it was."""
        tab = self._tabs.pop(place)
        tab.setParent(None)
        tab.deleteLater()
        self._place()
        if place < self._current:
            self._current -= 1
        elif place == self._current:
            self._current = -1
            self.setCurrentIndex(min(place, len(self._tabs) - 1))

    def setTabText(self, place: int, words: str) -> None:
        """Other words on a tab."""
        if 0 <= place < len(self._tabs) and words != self.tabText(place):
            self._tabs[place].setAccessibleName(words)
            self._place()

    def setCurrentIndex(self, place: int) -> None:
        """Chooses a tab."""
        if 0 <= place < len(self._tabs):
            self._tabs[place].setChecked(True)
        elif self._tabs:
            return
        if place != self._current:
            self._current = place
            self.currentChanged.emit(place)

    def sizeHint(self) -> QSize:
        """The rows that this width takes."""
        return QSize(200, self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width may take another number of rows."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self._place()

    def changeEvent(self, event: QEvent) -> None:
        """Another font takes other room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._place()

    def _place(self) -> None:
        """Puts every tab behind the one before it, or below where the row is full."""
        left = top = high = 0
        for tab in self._tabs:
            size = self._write(tab)
            if left and left + size.width() > self.width():
                left, top = 0, top + high + _GAP
            high = size.height()
            tab.setGeometry(left, top, size.width(), high)
            left += size.width() + _GAP
        if self.minimumHeight() != top + high:
            self.setFixedHeight(top + high)
            self.updateGeometry()

    def _write(self, tab: QToolButton) -> QSize:
        """A name that is wider than all the room loses its middle."""
        words = tab.accessibleName()
        tab.setText(words.replace("&", "&&"))
        tab.setToolTip("")
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
