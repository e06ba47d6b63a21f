"""Folding: in a small window everything around the picture makes room for it.

The settings fold to their buttons beside the tabs, the inputs to a strip of small pictures, the
lists below to their buttons in the status bar. What the user folds or unfolds stays that way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtWidgets import QDockWidget, QHBoxLayout, QToolButton, QWidget

from robgui.gui.app.room import come_forward
from robgui.gui.app.theme import icon, theme
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.gui.app.main_window import MainWindow

#: A window narrower than this many letters folds them; one lower than this many lines folds the
#: lists.
SETTINGS_LETTERS = 260
INPUTS_LETTERS = 220
BELOW_LINES = 60
SETTINGS, INPUTS, BELOW = "settings", "inputs", "below"


class DockTitle(QWidget):
    """The title of a dock with a button that folds it.

    Attributes:
        fold: The button.
    """

    def __init__(self, dock: QDockWidget) -> None:
        super().__init__(dock)
        self._words = Label(dock.windowTitle())
        self.fold = QToolButton(autoRaise=True)
        self._left, self._folded = True, False
        layout = self._row = QHBoxLayout(self)
        layout.setContentsMargins(8, 2, 2, 2)
        layout.addWidget(self._words, 1)
        layout.addWidget(self.fold)
        theme.changed.connect(self._tint)

    def show_folded(self, folded: bool, *, left: bool) -> None:
        """Words and arrow for a dock on this side of the window."""
        self._folded, self._left = folded, left
        self._words.setVisible(not folded)
        self._row.setContentsMargins(2 if folded else 8, 2, 2, 2)
        words = f"{'Unfold' if folded else 'Fold'} {self._words.text().lower()}"
        self.fold.setToolTip(words)
        self.fold.setAccessibleName(words)
        self._tint()

    def _tint(self) -> None:
        self.fold.setIcon(icon("back" if self._left is not self._folded else "forward"))


class Folding(QObject):
    """Folds and unfolds the parts of a window by its size, or as the user says."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._now: dict[str, bool] = {}
        self._hidden: list[QDockWidget] = []
        self._titles: dict[str, DockTitle] = {}
        for part, dock in ((INPUTS, window.gallery_dock), (SETTINGS, window.form_dock)):
            title = self._titles[part] = DockTitle(dock)
            dock.setTitleBarWidget(title)
            title.fold.clicked.connect(lambda _=False, part=part: self.toggle(part))
        window.run_pane.unfold.clicked.connect(lambda: self.toggle(SETTINGS))
        window.gallery.wanted.connect(lambda: self.choose(INPUTS, False))
        for dock in self._below():
            # Not toggled, which is also emitted when folding itself hides a dock.
            dock.toggleViewAction().triggered.connect(self._list_toggled)
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self.apply)
        window.installEventFilter(self)

    def folded(self, part: str) -> bool:
        """Whether a part is folded."""
        return self._now.get(part, False)

    def toggle(self, part: str) -> None:
        """Folds or unfolds a part, and remembers the user's wish."""
        self.choose(part, not self.folded(part))

    def choose(self, part: str, folded: bool) -> None:
        """Sets whether the user wants a part folded, whatever the size of the window."""
        settings = self._window.settings
        settings.folded = {**settings.folded, part: folded}
        self.apply()

    def forget(self) -> None:
        """Lets the size of the window decide again."""
        self._window.settings.folded = {}
        self.apply()

    def release(self) -> None:
        """Shows what only folding has hidden, before the layout is saved."""
        self._fold_below(False)
        self._now.pop(BELOW, None)

    def again(self) -> None:
        """Folds the lists below again after a page without them has given them back."""
        if self.folded(BELOW):
            given = [dock for dock in self._below() if not dock.isHidden()]
            for dock in given:
                dock.hide()
            self._hidden += given

    def apply(self) -> None:
        """Folds what must be folded now."""
        chosen, small = self._window.settings.folded, self._small()
        for part, deed in (
            (SETTINGS, self._fold_settings),
            (INPUTS, self._fold_inputs),
            (BELOW, self._fold_below),
        ):
            folded = chosen.get(part, small[part])
            # None at first, so every part is set up once, whichever way.
            if self._now.get(part) is not folded:
                self._now[part] = folded
                deed(folded)
                if part == BELOW and not folded:
                    front = next((one for one in self._below() if not one.isHidden()), None)
                    self._window.room.make(self._window.pages.currentWidget(), front)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Another size, or another size of the text."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Show):
            self.apply()
        if event.type() in (QEvent.Type.Resize, QEvent.Type.FontChange, QEvent.Type.Show):
            # Only then: Qt is handing the font from widget to widget, its metrics are not known
            # yet, and moving widgets meanwhile has crashed it.
            self._later.start()
        return False

    def _small(self) -> dict[str, bool]:
        """Which parts are folded in a window of this size."""
        metrics, window = self._window.fontMetrics(), self._window
        letters = window.width() / max(1, metrics.averageCharWidth())
        lines = window.height() / max(1, metrics.height())
        return {
            SETTINGS: letters < SETTINGS_LETTERS,
            INPUTS: letters < INPUTS_LETTERS,
            BELOW: lines < BELOW_LINES,
        }

    def _fold_settings(self, folded: bool) -> None:
        self._titles[SETTINGS].show_folded(folded, left=False)
        self._window.run_pane.set_folded(folded)
        self._window.show_form()
        if not folded:
            self._window.size_docks()

    def _fold_inputs(self, folded: bool) -> None:
        self._titles[INPUTS].show_folded(folded, left=True)
        self._window.gallery.set_folded(folded)
        if not folded:
            self._window.size_docks()

    def _fold_below(self, folded: bool) -> None:
        if folded:
            # Not isVisible, which is False before the window is on screen.
            self._hidden = [dock for dock in self._below() if not dock.isHidden()]
            for dock in self._hidden:
                dock.hide()
            return
        for dock in self._hidden:
            dock.show()
        if self._hidden:
            come_forward(self._hidden[0])
            self._window.size_docks()
        self._hidden = []

    def _below(self) -> list[QDockWidget]:
        area = Qt.DockWidgetArea.BottomDockWidgetArea
        window = self._window
        return [
            dock for dock in window.findChildren(QDockWidget) if window.dockWidgetArea(dock) is area
        ]

    def _list_toggled(self) -> None:
        """A list that the user opened stays open, and one they closed stays closed."""
        # The user decides from now on: unfolding must not bring back what folding has hidden.
        self._hidden = []
        self._now[BELOW] = all(dock.isHidden() for dock in self._below())
        settings = self._window.settings
        settings.folded = {**settings.folded, BELOW: self._now[BELOW]}
