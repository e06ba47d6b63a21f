"""Gallery: the inputs as thumbnails with label and prediction, searched, sorted and selectable."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from robgui.gui.app.theme import theme
from robgui.gui.docks.gallery.count_line import CountLine
from robgui.gui.docks.gallery.items import GalleryModel
from robgui.gui.docks.gallery.menu import InputMenu, ask_tag
from robgui.gui.docks.gallery.nothing_shown import NothingShown
from robgui.gui.docks.gallery.painting import GalleryDelegate
from robgui.gui.docks.gallery.search import SearchBar
from robgui.gui.docks.gallery.view import InputsView
from robgui.gui.docks.thumbnails import Thumbnails, input_picture
from robgui.gui.state.selection import Selection
from robgui.gui.widgets.plain import Label

if TYPE_CHECKING:
    from robgui.core.dataset import Dataset
    from robgui.gui.state.store import Store

#: Milliseconds over which a burst of events is collected before it is handled.
_SETTLE_MS = 30
_REFILTER_MS = 250


class Gallery(QWidget):
    """Thumbnails of the dataset in use; the chosen one is the input that analyses look at.

    Signals:
        wanted: Its search is needed, so it must not be folded.
    """

    wanted = Signal()

    def __init__(self, store: Store, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._store = store
        self.setAccessibleName("Inputs")
        self.thumbnails = Thumbnails(store.pictures, parent=self)
        self.model = GalleryModel(store, self)
        self._dataset: Dataset | None = None
        self.filter = SearchBar(store)
        self._make_view()
        self._lay_out()
        self._make_timers()
        self._connect()
        self._show_dataset()

    # --- making -----------------------------------------------------------------------------------

    def _make_view(self) -> None:
        self.view = InputsView()
        self.delegate = GalleryDelegate(self.thumbnails, self.view)
        self.view.setItemDelegate(self.delegate)
        self.view.setModel(self.model)
        self._nothing = NothingShown()
        self.empty, self.clear = self._nothing.words, self._nothing.clear
        self.clear.clicked.connect(self._clear_filter)
        self.trouble = Label(wordWrap=True)
        self.trouble.setProperty("role", "bad")
        self.trouble.setAccessibleName("Why there are no predictions")
        self.trouble.hide()
        self.count = CountLine()

    def _lay_out(self) -> None:
        for widget in (self.count, self.trouble):
            widget.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.view)
        self.stack.addWidget(self._nothing)
        self._above = QWidget()
        above = QVBoxLayout(self._above)
        above.setContentsMargins(0, 0, 0, 0)
        for part in (self.filter, self.trouble, self.count):
            above.addWidget(part)
        layout = self._column = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.addWidget(self._above)
        layout.addWidget(self.stack, 1)

    def set_folded(self, folded: bool) -> None:
        """Folded, it is a strip of small pictures without words."""
        self.delegate.small = folded
        self._above.setVisible(not folded)
        self.empty.setVisible(not folded)  # a strip is too narrow for a sentence
        self._column.setContentsMargins(*((2,) * 4 if folded else (8,) * 4))
        wide = self.delegate.least().width() + self._bar() + 12
        self.setMaximumWidth(wide if folded else 16_777_215)
        self._fonts()

    def _make_timers(self) -> None:
        self._looking = _timer(self, _SETTLE_MS, self._look)
        self._refiltering = _timer(self, _REFILTER_MS, self.filter.ask)
        self._counting = _timer(self, _SETTLE_MS, self._count)

    def _connect(self) -> None:
        store = self._store
        store.library.datasets_changed.connect(self._take_dataset)
        store.library.models_changed.connect(self._take_model)
        store.selection_changed.connect(self._follow)
        store.working.connect(lambda _: self._say_empty())
        store.library.predictions.changed.connect(self._predicted)
        store.library.predictions.failed.connect(self._explain)
        theme.changed.connect(self._take_theme)
        self.thumbnails.arrived.connect(self._repaint_inputs)
        self.filter.changed.connect(self._show)
        self.view.selectionModel().currentChanged.connect(self._chosen)
        self.view.seconded.connect(self._choose_second)
        self.view.asked.connect(self._do)
        self.view.customContextMenuRequested.connect(self._show_menu)
        self.filter.text.left.connect(self.view.setFocus)
        store.marking.changed.connect(self._counting.start)
        self.view.verticalScrollBar().valueChanged.connect(lambda _: self._begin_look())

    # --- what is shown ----------------------------------------------------------------------------

    def _take_dataset(self) -> None:
        if self._store.library.dataset is not self._dataset:
            self._show_dataset()

    def _show_dataset(self) -> None:
        self._dataset = self._store.library.dataset
        self._read_again()
        self.filter.reset()
        self._fonts()
        self._show()
        self._follow(self._store.selection, None)

    def _read_again(self) -> None:
        """Redraws rows and sequences on the background of the current theme."""
        dataset, side = self._dataset, GalleryDelegate.side() * 2
        if dataset is None:
            read = None
        else:
            read = partial(input_picture, dataset, side, theme.ground)
        self.thumbnails.reset(read)

    def _take_theme(self) -> None:
        if self._dataset is not None and self._dataset.kind != "image":
            self._read_again()
        self._fonts()

    def _take_model(self) -> None:
        self._explain(self._store.library.mismatch)
        self._counting.start()

    def _clear_filter(self) -> None:
        self.filter.reset()
        self._show()

    def _explain(self, sentence: str) -> None:
        """Says why there are no predictions; an empty sentence takes it back."""
        self.trouble.setText(sentence)
        self.trouble.setVisible(bool(sentence))

    def _show(self) -> None:
        """Shows the inputs that pass the search; the place and the chosen one stay."""
        self._refiltering.stop()
        rows = self.filter.shown.rows
        bar = self.view.verticalScrollBar()
        place = bar.value()
        # Rows that go move the current item, which is no choice of the user.
        with QSignalBlocker(self.view.selectionModel()):
            if self.model.show(rows):
                self._mark(self._store.selection.input)
                bar.setValue(place)
                self.view.viewport().update()
        dataset = self._store.library.dataset
        every = dataset is None or len(rows) == len(dataset)
        if every:
            scope = None
        else:
            scope = tuple(np.sort(rows).tolist())
        self._store.set_scope(scope, self.filter.described())
        self._say_empty()
        self.clear.setVisible(dataset is not None)
        self.stack.setCurrentIndex(0 if len(rows) else 1)
        self._count()
        self._looking.start()

    def _say_empty(self) -> None:
        library = self._store.library
        self._nothing.say(
            opened=library.dataset is not None,
            loading=library.pending.loading,
            unknown=self.filter.shown.open,
        )

    def _count(self) -> None:
        """Shown and all, and the accuracy as far as it is known.

        The predictions on screen are painted anew.
        """
        self.view.viewport().update()
        library = self._store.library
        told, shown = library.predictions, len(self.model.rows)
        over, later = told.measured is not None, self.filter.shown.open
        self.count.tell(library.dataset, shown, later, told.accuracy(), counted=over)

    # --- what is on screen ------------------------------------------------------------------------

    def visible_rows(self) -> range:
        """Rows on screen, with one line to spare above and below."""
        return self.view.visible_rows(len(self.model.rows))

    def _begin_look(self) -> None:
        # Never restarted: a steady stream of events would put it off for ever.
        if not self._looking.isActive():
            self._looking.start()

    def _look(self) -> None:
        """Asks for the pictures and predictions of what is on screen."""
        if not self.isVisible():
            return
        shown = [
            int(i) for i in self.model.rows[self.visible_rows().start : self.visible_rows().stop]
        ]
        self.thumbnails.want(shown)
        self._store.library.predictions.want(shown)

    def _repaint_inputs(self, indices: list[int]) -> None:
        for index in indices:
            row = self.model.row_of(index)
            if row >= 0:
                self.view.update(self.model.index(row, 0))

    def _predicted(self) -> None:
        if not len(self._store.library.predictions.classes):
            self._explain(self._store.library.mismatch)
        if not self._counting.isActive():
            self._counting.start()
        if self.filter.waits and not self._refiltering.isActive():
            self._refiltering.start()
        self._begin_look()

    def _fonts(self) -> None:
        self.view.setMinimumWidth(self.delegate.least().width() + self._bar() + 8)
        self._fill_width()

    def _bar(self) -> int:
        return self.view.verticalScrollBar().sizeHint().width()

    def _fill_width(self) -> None:
        self.delegate.size = self.view.cell_in(self.stack.width(), self.delegate.least())
        self.view.setGridSize(self.delegate.size)
        self._begin_look()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fill_width()

    def showEvent(self, event: QEvent) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self._begin_look()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and hasattr(self, "_looking"):
            self.set_folded(self.delegate.small)

    # --- selection --------------------------------------------------------------------------------

    def _chosen(self, current: QModelIndex) -> None:
        if current.isValid():
            index, second = int(self.model.rows[current.row()]), self._store.selection.second
            self._store.select(
                self._store.selection.replace(
                    input=index, second=None if second == index else second
                ),
                origin=self,
            )

    def _choose_second(self, row: int) -> None:
        """The other corner of a box; the same one again, or the first one, lets go of it."""
        index, now = int(self.model.rows[row]), self._store.selection
        if now.input is None:
            self._mark(index)
            return
        self._store.select(
            now.replace(second=None if index in (now.input, now.second) else index), origin=self
        )
        self.view.viewport().update()

    def _follow(self, selection: Selection, origin: object) -> None:
        if origin is self:
            return
        with QSignalBlocker(self.view.selectionModel()):
            self._mark(selection.input)
        self.view.viewport().update()
        if (row := self.model.row_of(selection.input)) >= 0:
            self.view.scrollTo(self.model.index(row, 0))

    def _mark(self, index: int | None) -> None:
        self.view.setCurrentIndex(self.model.index(self.model.row_of(index), 0))

    # --- keys and menu ----------------------------------------------------------------------------

    def search(self) -> None:
        """Puts the keyboard into the line that searches."""
        self.wanted.emit()
        self.filter.text.setFocus()
        self.filter.text.selectAll()

    def _do(self, wanted: str) -> None:
        chosen = self._store.selection.input
        if wanted == "search":
            self.search()
        elif wanted == "tag" and chosen is not None:
            ask_tag(self._store, [chosen], self)

    def _show_menu(self, spot: QPoint) -> None:
        """The menu of the input below the mouse, or of the chosen one for the keyboard."""
        index = self.view.indexAt(spot)
        if not index.isValid():
            index = self.view.currentIndex()
        if index.isValid():
            self.menu_of(index.row()).popup(self.view.viewport().mapToGlobal(spot))

    def menu_of(self, row: int) -> InputMenu:
        """What can be done with the input of a row."""
        shown = [int(each) for each in self.model.rows]
        menu = InputMenu(
            self._store,
            self.model.entry(row),
            shown,
            self.filter.search,
            lambda: self._choose_second(row),
            self,
        )
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return menu


def _timer(parent: QWidget, milliseconds: int, call: object) -> QTimer:
    timer = QTimer(parent, singleShot=True, interval=milliseconds)
    timer.timeout.connect(call)
    return timer
