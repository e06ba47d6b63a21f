"""Stage: one big picture with details beside it; in a small window they take turns."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QSplitter, QVBoxLayout, QWidget

from robgui.gui.widgets.elided import beginning
from robgui.gui.widgets.plain import Label, set_tip
from robgui.gui.widgets.tabbed import Tabbed

#: Least width in characters for the big picture beside its details; with less it becomes a tab.
_NARROW = 68


class Stage(QWidget):
    """Arranges a panel by the room there is.

    Args:
        title: Of the tab of the big picture in a narrow window.
        main: The big picture.
        views: The details beside it.
        shares: How the width is shared.
    """

    def __init__(
        self,
        title: str,
        main: QWidget,
        views: dict[str, QWidget],
        shares: tuple[int, int] = (3, 2),
    ) -> None:
        super().__init__()
        self._title, self._main = title, main
        self.narrow = False
        self.views = Tabbed(views)
        self.split = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        for widget, share in zip((main, self.views), shares, strict=True):
            self.split.addWidget(widget)
            self.split.setStretchFactor(self.split.count() - 1, share)
        self.split.setSizes([200 * share for share in shares])
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.split, 1)

    def minimumSizeHint(self) -> QSize:
        """Small: whatever does not fit takes turns."""
        line = self.fontMetrics().height()
        return QSize(line * 14, line * 8)

    def put_above_details(self, widget: QWidget) -> None:
        """Puts tools above the tabs of the details, whose place stays when the picture moves."""
        self.views.put_above(widget)

    def show_view(self, widget: QWidget) -> None:
        """Brings a detail to the front."""
        place = self.views.stack.indexOf(widget)
        if place >= 0:
            self.views.bar.setCurrentIndex(place)

    def name_view(self, widget: QWidget, title: str) -> None:
        """Another title for the tab of a detail."""
        place = self.views.stack.indexOf(widget)
        if place >= 0:
            self.views.bar.setTabText(place, title)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Moves what no longer fits into a tab, and back."""
        super().resizeEvent(event)
        narrow = event.size().width() < _NARROW * self.fontMetrics().averageCharWidth()
        if narrow != self.narrow:
            self.narrow = narrow
            self._move_main()

    def _move_main(self) -> None:
        bar, stack = self.views.bar, self.views.stack
        if self.narrow:
            stack.insertWidget(0, self._main)
            bar.insertTab(0, self._title)
            bar.setCurrentIndex(0)
        else:
            bar.removeTab(0)
            stack.removeWidget(self._main)
            self.split.insertWidget(0, self._main)
            # A stack hides what is not in front, and to take it out does not undo that.
            self._main.show()
        stack.setCurrentIndex(bar.currentIndex())


class ElidedLine(Label):
    """One line of words, cut with an ellipsis where there is no room; the tool tip has it whole."""

    def __init__(self, alignment: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft) -> None:
        super().__init__(alignment=alignment)
        self.words = ""
        # A label asks for the width of all its words, and then none would ever be cut.
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_words(self, words: str) -> None:
        """Writes ``words``."""
        if words != self.words:
            self.words = words
            set_tip(self, words)
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cuts the words anew."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        self.setText(beginning(self.words, self.fontMetrics(), self.width()))
