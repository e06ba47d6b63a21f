"""GenericPanel: draws any analysis from its views; most analyses need no other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from robgui.core.view import Images, Matrix, Table, View
from robgui.core.view.owned import in_front
from robgui.gui.panels.headline import place_in_use
from robgui.gui.panels.panel import Panel
from robgui.gui.widgets.views import ViewBoard


class GenericPanel(Panel):
    """The first view large, the others behind tabs; what is an input can be pointed at."""

    def build(self) -> QWidget:
        """A board for as many views as there are."""
        self.board = ViewBoard()
        self.board.chosen.connect(self._point)
        self._next_views: Sequence[View] = ()
        self._next_turn = QTimer(self, singleShot=True, interval=0)
        self._next_turn.timeout.connect(self._show_next)
        return self.board

    @property
    def complete(self) -> bool:
        """Whether every view that can be seen is drawn."""
        return super().complete and self.board.complete

    def views(self) -> Sequence[View]:
        """Of several models that in use is in front, as in what is said above the picture."""
        place = place_in_use(self.request, self.store.library.model)
        if place is None:
            return super().views()
        return in_front(super().views(), place)

    def _model_changed(self) -> None:
        super()._model_changed()
        if self.result is not None and self.request is not None and len(self.request.models) > 1:
            self.draw(self.result)

    def draw(self, result: Any) -> None:
        """Gives every view its new data.

        After the first picture of a run in two turns of the event loop, since making views takes
        about as long as showing them.
        """
        self._next_views = self.views()
        # A timer that is started again begins anew, so of many steps in one turn only the last is
        # drawn.
        if self.live and self.board.widgets:
            self._next_turn.start()
        else:
            self._next_turn.stop()
            self._show_next()

    def _show_next(self) -> None:
        if self.result is not None:
            self.show_views(self._next_views)

    def show_views(self, views: Sequence[View]) -> None:
        """Shows these in their places."""
        self.board.show_views(views, live=self.live)

    def _point(self, view: View, what: Any) -> None:
        """Chooses an input in the gallery if the clicked item has the name of one on offer."""
        offered = [
            pair for offer in self.offers() for pair in zip(offer.names, offer.places, strict=False)
        ]
        places = {name: place for name, place in offered if place >= 0}
        for name in names_at(view, what):
            # Names and not row numbers: a table may be sorted.
            if name in places:
                self.point_at(places[name])
                return


def names_at(view: View, what: Any) -> list[str]:
    """What the item that was clicked is called: a row, a picture, the row and column of a cell."""
    if isinstance(view, Table) and view.columns:
        return [str(view.columns[0].cells[what])]
    if isinstance(view, Images):
        return [view.pictures[what].caption]
    if isinstance(view, Matrix):
        row, column = what
        return [*view.rows[row : row + 1], *view.columns[column : column + 1]]
    return []
