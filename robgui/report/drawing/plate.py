"""Plate: a figure measured in inches from its upper left corner, and areas to draw into."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from robgui.report.drawing.letters import Letters
from robgui.report.drawing.look import BODY, Look
from robgui.report.drawing.rules import rules_of
from robgui.report.lettering import clean, elide, extent

#: What a report paints with: letters that were measured for the layout are not measured again.
DPI = 1008 / 7


class Plate(Figure):
    """A figure with its look and the words that its file carries.

    Attributes:
        look: Light or dark.
        words: Title, subject and provenance.
    """

    def __init__(self, width: float, height: float, look: Look) -> None:
        super().__init__(figsize=(width, height), facecolor=look.ground, dpi=DPI)
        # pyplot would give it a canvas, and keep the figure until somebody closes it.
        FigureCanvasAgg(self)
        self.look = look
        self.words: tuple[str, str, str] = ("", "", "")

    @property
    def size(self) -> tuple[float, float]:
        """Width and height in inches."""
        width, height = self.get_size_inches()
        return float(width), float(height)

    def put(
        self,
        line: str,
        x: float,
        y: float,
        size: float = BODY,
        *,
        colour: str = "",
        align: str = "left",
        bold: bool = False,
        **more: Any,
    ) -> None:
        """Sets one line of letters with its upper edge ``y`` inches from the top."""
        width, height = self.size
        style: dict[str, Any] = {"va": "top", "ha": align, "color": colour or self.look.text}
        letters = Letters(x / width, 1 - y / height, line, size, bold=bold, **(style | more))
        letters.set_figure(self)
        letters.set_transform(self.transFigure)
        self.texts.append(letters)

    def rule(self, x: float, y: float, to_x: float, to_y: float, **style: Any) -> None:
        """Draws a line from one place to another."""
        width, height = self.size
        usual: dict[str, Any] = {"color": self.look.grid, "linewidth": 0.7}
        across, down = [x / width, to_x / width], [1 - y / height, 1 - to_y / height]
        line = Line2D(across, down, transform=self.transFigure, **(usual | style))
        self.add_artist(line)


@dataclass(frozen=True)
class Area:
    """A rectangle of a plate, in inches from its upper left corner."""

    plate: Plate
    left: float
    top: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Its right edge."""
        return self.left + self.width

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.top + self.height

    @property
    def look(self) -> Look:
        """The look of its plate."""
        return self.plate.look

    def less(self, *, left: float = 0, top: float = 0, right: float = 0, bottom: float = 0) -> Area:
        """The same without strips at its edges; it never vanishes."""
        # matplotlib raises for axes without a size.
        width = max(0.2, self.width - left - right)
        height = max(0.2, self.height - top - bottom)
        return replace(self, left=self.left + left, top=self.top + top, width=width, height=height)

    def axes(self) -> Axes:
        """New axes that fill it."""
        return self.plate.add_axes(self.bounds())

    def bounds(self) -> tuple[float, float, float, float]:
        """Where it lies as matplotlib says it: shares of the figure from the lower left corner."""
        width, height = self.plate.size
        return self.left / width, 1 - self.bottom / height, self.width / width, self.height / height

    def inside(self, axes: Axes) -> Area:
        """Where axes lie."""
        width, height = self.plate.size
        box = axes.get_position()
        left, top = box.x0 * width, (1 - box.y1) * height
        return Area(self.plate, left, top, box.width * width, box.height * height)

    def fit(self, axes: Axes) -> Area:
        """Makes axes fill the area with what stands around them; returns where they lie."""
        titles = (axes.get_xlabel(), axes.get_ylabel())
        inner, before = self, ("", "")
        for _ in range(3):  # another size has another room for the titles, but the same tick labels
            axes.set_position(inner.bounds())
            self._title(axes, titles, inner)
            written = (axes.get_xlabel(), axes.get_ylabel())
            if written == before:
                break
            before, inner = written, self.less(**rules_of(axes).around(inner.width, inner.height))
        axes.set_position(inner.bounds())
        return inner

    def _title(self, axes: Axes, titles: tuple[str, str], inner: Area) -> None:
        """Titles of both axes in the room there is: in two lines, or cut in the middle."""
        middle = inner.left + inner.width / 2
        across = 2 * min(middle - self.left, self.right - middle)
        axes.set_xlabel(fitting(titles[0], across))
        axes.set_ylabel(fitting(titles[1], inner.height))


def fitting(title: str, room: float, size: float = BODY) -> str:
    """A title in at most two lines of ``room`` inches, else cut in the middle."""
    if extent(title, size) <= room:
        return clean(title)
    words = clean(title).split(" ")
    halves = [(" ".join(words[:at]), " ".join(words[at:])) for at in range(1, len(words))]
    fits = [pair for pair in halves if max(extent(half, size) for half in pair) <= room]
    if not fits:
        return elide(title, size, room)
    # the unit stays together where it can, else both lines are about as long
    before_unit = [pair for pair in fits if pair[1].startswith("(")]
    best = min(before_unit or fits, key=lambda pair: max(extent(half, size) for half in pair))
    return "\n".join(best)
