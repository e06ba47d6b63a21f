"""ViewBoard: the views of one result, the first one large and the others behind tabs below it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from robgui.core.view import View
from robgui.gui.app.theme import set_heading
from robgui.gui.widgets.plain import Label
from robgui.gui.widgets.tab_rows import MOST_ROWS, TabRows
from robgui.gui.widgets.views.widget import ViewWidget
from robgui.gui.widgets.when_seen import in_turn

#: Lower than this many lines of text, the first view is behind a tab too.
HIGH = 44
#: Widgets without a view that are kept; making one takes longer than drawing it.
_MOST_ASIDE = 6


class ViewBoard(QWidget):
    """Draws any number of views and keeps their widgets; only another kind of view takes a new one.

    Signals:
        chosen: ``(view, what)``: what was clicked in which view.
        made: The picture of a widget was made.
    """

    chosen = Signal(object, object)
    made = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.widgets: list[ViewWidget] = []
        self._aside: list[ViewWidget] = []
        self._views: Sequence[View] = ()
        self._live = self._waits = False
        self._titles: tuple[str, ...] = ()
        self._low = False
        self.title = set_heading(Label(textFormat=Qt.TextFormat.PlainText), "section")
        self.title.setContentsMargins(6, 0, 0, 0)
        self.bar = TabRows()
        self.stack = QStackedWidget()
        self.bar.currentChanged.connect(self._chosen)
        self._top, self._details = QWidget(), QWidget()
        _fill(self._top, self.title)
        _fill(self._details, self.bar, self.stack)
        self.split = QSplitter(Qt.Orientation.Vertical)
        self.split.addWidget(self._top)
        self.split.addWidget(self._details)
        # By default a part can be dragged to nothing, and then looks as if the run had none.
        self.split.setChildrenCollapsible(False)
        # The first view is what the result is about; the others are details.
        self.split.setStretchFactor(0, 3)
        self.split.setStretchFactor(1, 2)
        _fill(self, self.split)

    @property
    def complete(self) -> bool:
        """Whether every view has its place, and those that can be seen are drawn."""
        placed = len(self.widgets) == len(self._views)
        return placed and all(widget.complete for widget in self.widgets)

    def show_views(self, views: Sequence[View], *, live: bool = False) -> None:
        """Shows these, each in the widget it had before where that can draw it.

        What is not on show is made and drawn when it comes on show.

        Args:
            views: The first one is the large one.
            live: A run goes on, and the window must answer: of the first views on an empty board
                the large one comes first, and a new picture is made, filled and painted in three
                turns of the event loop. A hidden board takes its first views in a later turn too.
        """
        self._views, self._live = views, live
        # In a low window all stand behind tabs: only the one on show is drawn, whatever comes at
        # once.
        if self.widgets or not live or (self._low and self.isVisible()):
            self._show(views)
        elif self.isVisible():
            self._show(views[:1])
        else:
            self._wait()

    def _wait(self) -> None:
        if not self._waits:
            self._waits = True
            in_turn(self, self._show_rest)

    def _show_rest(self) -> None:
        """The views that have no place yet, once those before them are drawn."""
        self._waits = False
        if all(widget.complete for widget in self.widgets):
            self._show(self._views, done=len(self.widgets))
        else:
            self._wait()

    def _show(self, views: Sequence[View], done: int = 0) -> None:
        for place, view in enumerate(views[done:], done):
            if place < len(self.widgets) and self.widgets[place].fits(view):
                self.widgets[place].keep_view(view, by_turns=self._live)
            else:
                self._replace(place, view)
        for widget in self.widgets[len(views) :]:
            self._put_aside(widget)
        del self.widgets[len(views) :]
        titles = tuple(widget.view.title for widget in self.widgets)
        if titles != self._titles:
            self._titles = titles
            self._lay_out()
        if len(views) < len(self._views):
            self._wait()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """In a low window every view has the whole room, one at a time."""
        super().resizeEvent(event)
        low = self.height() < HIGH * self.fontMetrics().height()
        if low != self._low:
            self._low = low
            self.bar.set_most_rows(1 if low else MOST_ROWS)
            self._lay_out()

    def _replace(self, place: int, view: View) -> None:
        """Gives a view a widget: the one it had before it was put aside, or a new one."""
        title = view.title
        known = (one for one in self._aside if one.fits(view) and one.view.title == title)
        spare = next(known, None)
        if spare is None:
            widget = self._make(view)
        else:
            widget = spare
            self._aside.remove(spare)
            widget.keep_view(view, by_turns=self._live)
        if place < len(self.widgets):
            self._put_aside(self.widgets[place])
            self.widgets[place] = widget
        else:
            self.widgets.append(widget)
        # Another widget is laid out anew, also under the same titles.
        self._titles = ()

    def _make(self, view: View) -> ViewWidget:
        """A new widget, empty until it comes on show."""
        # Late: the package imports this module.
        from robgui.gui.widgets.views import view_widget

        empty = view_widget(view, unseen=True, by_turns=self._live)
        empty.chosen.connect(lambda what: self.chosen.emit(empty.view, what))
        empty.made.connect(lambda: self.made.emit(empty))
        return empty

    def _put_aside(self, widget: ViewWidget) -> None:
        """Keeps a widget for a view to come: the next run begins with few and ends with all."""
        widget.hide()
        # Out of its layout, but not without a parent: that would make it a window.
        widget.setParent(self)
        self._aside.append(widget)
        while len(self._aside) > _MOST_ASIDE:
            old = self._aside.pop(0)
            # Out of the window at once: deleteLater waits for the next event.
            old.setParent(None)
            old.deleteLater()

    def _lay_out(self) -> None:
        """The first view above, the others behind tabs; in a low window all of them."""
        alone = len(self.widgets) == 1
        if self._low and not alone:
            first = []
        else:
            first = self.widgets[:1]
        behind = self.widgets[len(first) :]
        place = min(self.bar.currentIndex(), len(behind) - 1)
        for widget in first:
            layout = self._top.layout()
            assert layout is not None
            layout.addWidget(widget)
            # One that was put aside has been hidden, which a layout does not undo.
            widget.show()
        self.title.setText(self._titles[0] if first and self._titles else "")
        self._top.setVisible(bool(first))
        self._details.setVisible(bool(behind))
        # Tabs that come and go change the current one on the way; the user has chosen nothing.
        with QSignalBlocker(self.bar):
            while self.bar.count() > len(behind):
                self.bar.removeTab(self.bar.count() - 1)
            for number, widget in enumerate(behind):
                if number < self.bar.count():
                    self.bar.setTabText(number, widget.view.title)
                else:
                    self.bar.addTab(widget.view.title)
                if self.stack.indexOf(widget) < 0:
                    self.stack.addWidget(widget)
            self.bar.setCurrentIndex(max(0, place))
        self._turn(self.bar.currentIndex())

    def _chosen(self, place: int) -> None:
        """The user waits for what is behind this tab."""
        for widget in self.widgets:
            widget.hurry()
        self._turn(place)

    def _turn(self, place: int) -> None:
        behind = self.widgets[len(self.widgets) - self.bar.count() :]
        if 0 <= place < len(behind):
            self.stack.setCurrentWidget(behind[place])


def _fill(box: QWidget, *widgets: QWidget) -> None:
    layout = QVBoxLayout(box)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(4)
    for widget in widgets:
        layout.addWidget(widget, 0 if isinstance(widget, QLabel | TabRows) else 1)
