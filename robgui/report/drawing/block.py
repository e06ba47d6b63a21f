"""ViewBlock: one view with its title above, its legend and note below, as high as it needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from robgui.core.view import Bars, Boxes, Curves, Film, Images, Matrix, Still, Table, Tree, View
from robgui.report.drawing import bars, boxes, curves, heat, images, legend, matrix, table, tree
from robgui.report.drawing.legend import LegendEntry
from robgui.report.drawing.look import HEADING, SMALL, Look
from robgui.report.drawing.plate import Area, Plate
from robgui.report.lettering import line_height, wrap

#: The module that draws each kind of view.
_KINDS: dict[type, Any] = {
    Curves: curves,
    Matrix: matrix,
    Boxes: boxes,
    Bars: bars,
    Images: images,
    Table: table,
    Tree: tree,
}
#: Inches between a title and its picture.
_BELOW_TITLE = 0.06


@dataclass(frozen=True)
class ViewBlock:
    """A view as it is laid out.

    Attributes:
        view: What to draw.
        width: Inches.
        look: Light or dark.
        large: Whether it is the picture that matters most.
    """

    view: Still
    width: float
    look: Look
    large: bool = True

    @property
    def height(self) -> float:
        """Inches from the title to the note."""
        return self._title_height + self._body + self._legend_height + self._note_height

    def paint(self, plate: Plate, left: float, top: float) -> None:
        """Draws everything from ``top`` on."""
        for line in self._title:
            plate.put(line, left, top, HEADING, bold=True)
            top += line_height(HEADING)
        top += _BELOW_TITLE * bool(self._title)
        self._paint_body(Area(plate, left, top, self.width, self._body))
        top += self._body
        legend.paint(self._entries, Area(plate, left, top, self.width, self._legend_height))
        top += self._legend_height + 0.05
        for line in self._note:
            plate.put(line, left, top, SMALL, colour=self.look.faded)
            top += line_height(SMALL)

    def _paint_body(self, area: Area) -> None:
        if isinstance(self.view, Images | Table):
            _KINDS[type(self.view)].paint(self.view, area, self.large)
            return
        _KINDS[type(self.view)].paint(self.view, area)

    @property
    def _body(self) -> float:
        return float(_KINDS[type(self.view)].height(self.view, self.width, self.large))

    @property
    def _entries(self) -> list[LegendEntry]:
        return list(_KINDS[type(self.view)].entries(self.view, self.look))

    @property
    def _title(self) -> list[str]:
        return wrap(self.view.title, HEADING, self.width, bold=True)

    @property
    def _title_height(self) -> float:
        return len(self._title) * line_height(HEADING) + _BELOW_TITLE * bool(self._title)

    @property
    def _legend_height(self) -> float:
        return legend.height(self._entries, self.width)

    @property
    def _note(self) -> list[str]:
        words = f"{self.view.note} {self._left_out()}"
        return wrap(words, SMALL, self.width)

    @property
    def _note_height(self) -> float:
        return 0.05 + len(self._note) * line_height(SMALL)

    def _left_out(self) -> str:
        """What the picture omits, in a sentence."""
        if isinstance(self.view, Matrix):
            return heat.note(self.view)
        if isinstance(self.view, Images):
            return images.note(self.view, self.large)
        if isinstance(self.view, Table):
            return table.note(self.view, self.large)
        if isinstance(self.view, Tree):
            return tree.note(self.view)
        return ""


def halves(view: Still) -> bool:
    """Whether a view reads well at half the width."""
    if isinstance(view, Bars):
        # Names take room that the bars lack at half the width; a histogram has none.
        return view.edges is not None or len(view.names) <= 8
    if isinstance(view, Matrix):
        return len(view.columns) <= 12
    return isinstance(view, Curves | Boxes)


def still(view: View, frame: int = -1) -> Still:
    """The view itself; for a film one frame, titled with the film and its step."""
    if not isinstance(view, Film):
        return view
    if view.title:
        title = f"{view.title}: {view.steps[frame]}"
    else:
        title = view.steps[frame]
    return replace(view.frames[frame], title=title, note=view.note or view.frames[frame].note)
