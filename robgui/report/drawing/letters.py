"""Letters: one line of words, drawn where the font's own widths put it.

matplotlib would lay out every line anew for every picture, which takes as long as drawing it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from matplotlib.font_manager import FontProperties
from matplotlib.text import Text

from robgui.report.lettering import POINTS, extent, font_file

#: How far letters go above their line and below it, in sizes of the letters.
_UP, _DOWN = 0.76, 0.24


class Letters(Text):
    """Words that lie or stand upright; more than one line, or a ground, is left to matplotlib.

    Args:
        x: Where they stand, in the units of their transform.
        y: The same.
        words: What they say.
        size: Of the letters, in points.
        bold: Whether they are bold.
        style: Anything else that matplotlib knows of a text.
    """

    def __init__(
        self, x: float, y: float, words: str, size: float, *, bold: bool = False, **style: Any
    ) -> None:
        font = _font(bold, size)
        super().__init__(x, y, words, fontproperties=font, parse_math=False, **style)
        self._bold = bold

    def draw(self, renderer: Any) -> None:
        """Paints them."""
        words = self.get_text()
        if "\n" in words or self.get_bbox_patch() is not None:
            super().draw(renderer)
        elif words and self.get_visible():
            x, y = self._start(words, renderer.points_to_pixels(self.get_fontsize()))
            if renderer.flipy():
                y = renderer.get_canvas_width_height()[1] - y
            pen = renderer.new_gc()
            pen.set_foreground(self.get_color())
            turn = self.get_rotation()
            renderer.draw_text(pen, x, y, words, self.get_fontproperties(), turn, mtext=self)
            pen.restore()

    def _start(self, words: str, size: float) -> tuple[float, float]:
        """Where the line of the first letter begins, in pixels; ``size`` in pixels too."""
        x, y = self.get_transform().transform(self.get_position())
        long = extent(words, POINTS, bold=self._bold) * size
        up, down = _UP * size, _DOWN * size
        if self.get_rotation() and self.get_rotation_mode() != "anchor":
            return x + (up - down) / 2, y - long
        along = {"left": 0.0, "center": long / 2, "right": long}[self.get_horizontalalignment()]
        rise = {"top": up, "bottom": -down, "center_baseline": up / 2}
        rise |= {"center": (up - down) / 2, "baseline": 0.0}
        above = rise[self.get_verticalalignment()]
        if self.get_rotation():
            return x + above, y - along
        return x - along, y - above


@cache
def _font(bold: bool, size: float) -> FontProperties:
    return FontProperties(fname=font_file(bold=bold), size=size)
