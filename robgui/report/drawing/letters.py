"""Letters: one line of words, drawn where the font's own widths put it.

matplotlib would lay out every line anew for every picture, which takes as long as drawing it.
"""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties, get_font
from matplotlib.ft2font import LoadFlags
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
            x, y = self._start(words, renderer.points_to_pixels(float(self.get_fontsize())))
            if isinstance(renderer, RendererAgg):
                self._stamp(renderer, x, y)
                return
            if renderer.flipy():
                y = renderer.get_canvas_width_height()[1] - y
            pen = renderer.new_gc()
            pen.set_foreground(self.get_color())
            turn = self.get_rotation()
            renderer.draw_text(pen, x, y, words, self.get_fontproperties(), turn, mtext=self)
            pen.restore()

    def _stamp(self, renderer: RendererAgg, x: float, y: float) -> None:
        """Lays the letters of a line onto pixels as one picture instead of one by one."""
        cover, below = _cover(self.get_text(), self._bold, float(self.get_fontsize()), renderer.dpi)
        if self.get_rotation():
            cover = np.rot90(cover)
            # Turned to the left: what hung below the
            # line now stands to the right of it.
            left, bottom = x + below - cover.shape[1], y
        else:
            left, bottom = x, y - below
        picture = np.empty((*cover.shape, 4), np.uint8)
        picture[..., :3] = [round(255 * part) for part in to_rgb(self.get_color())]
        picture[..., 3] = cover
        pen = renderer.new_gc()
        # Pictures are drawn from below, FreeType's bitmap runs from above.
        renderer.draw_image(pen, round(left), round(bottom), picture[::-1])
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


@lru_cache(4096)
def _cover(words: str, bold: bool, size: float, dpi: float) -> tuple[np.ndarray, float]:
    """How much of each pixel a line of letters covers, 0 to 255, and the pixels below the line."""
    font = get_font(font_file(bold=bold))
    font.set_size(size, dpi)
    # Unhinted, as the widths that the layout was made with.
    font.set_text(words, 0.0, flags=LoadFlags.NO_HINTING)
    font.draw_glyphs_to_bitmap(antialiased=True)
    return np.array(font.get_image()), font.get_descent() / 64  # FreeType counts in 64ths


@cache
def _font(bold: bool, size: float) -> FontProperties:
    return FontProperties(fname=font_file(bold=bold), size=size)
