"""Views on the screen: one widget for each kind of View, drawn in place."""

from __future__ import annotations

from robgui.core.view import View
from robgui.gui.widgets.views.bars import BarsView
from robgui.gui.widgets.views.board import ViewBoard
from robgui.gui.widgets.views.boxes import BoxesView
from robgui.gui.widgets.views.curves import CurvesView
from robgui.gui.widgets.views.film import FilmView
from robgui.gui.widgets.views.images import ImagesView
from robgui.gui.widgets.views.matrix import MatrixView
from robgui.gui.widgets.views.table import TableView
from robgui.gui.widgets.views.tree import TreeView
from robgui.gui.widgets.views.widget import ViewWidget

__all__ = [
    "BarsView",
    "BoxesView",
    "CurvesView",
    "FilmView",
    "ImagesView",
    "MatrixView",
    "TableView",
    "TreeView",
    "ViewBoard",
    "ViewWidget",
    "view_widget",
]

_KINDS: tuple[type[ViewWidget], ...] = (
    CurvesView,
    MatrixView,
    BoxesView,
    BarsView,
    ImagesView,
    TableView,
    TreeView,
    FilmView,
)


def view_widget(
    view: View, *, mini: bool = False, unseen: bool = False, by_turns: bool = False
) -> ViewWidget:
    """The widget that draws ``view``, with ``view`` in it.

    Args:
        view: What it shows.
        mini: Small and to be looked at only.
        unseen: It is made and drawn when it is shown.
        by_turns: And then made, filled and painted in three turns of the event loop.
    """
    kind = next(kind for kind in _KINDS if isinstance(view, kind.kind))
    made = kind(mini=mini, later=unseen)
    if unseen:
        made.keep_view(view, by_turns=by_turns)
    else:
        made.show_view(view)
    return made
