"""Draws views with matplotlib: figures (SVG, PDF, PNG), films (GIF, MP4), numbers (CSV, arrays)."""

from robgui.report.drawing.figure import WIDTH, draw, draw_view, pixels, save
from robgui.report.drawing.film import save_film
from robgui.report.drawing.numbers import to_arrays, to_csv
from robgui.report.drawing.plate import Plate

__all__ = [
    "WIDTH",
    "Plate",
    "draw",
    "draw_view",
    "pixels",
    "save",
    "save_film",
    "to_arrays",
    "to_csv",
]
