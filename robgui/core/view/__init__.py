"""What a result looks like, as validated data, stored by the codec and drawn by two renderers."""

from robgui.core.view.axis import Axis
from robgui.core.view.classes import class_inks
from robgui.core.view.colours import (
    class_ink,
    class_pixels,
    colour_map,
    diverging,
    empty_words,
    see_through,
)
from robgui.core.view.difference import aligned, difference, is_zero
from robgui.core.view.ink import Ink, status_ink
from robgui.core.view.parts import Box, Column, Line, Mark, Picture, Series, Spot
from robgui.core.view.steady import steadied
from robgui.core.view.views import (
    Bars,
    Boxes,
    Curves,
    Film,
    Images,
    Matrix,
    Still,
    Table,
    Tree,
    View,
    Views,
)

__all__ = [
    "Axis",
    "Bars",
    "Box",
    "Boxes",
    "Column",
    "Curves",
    "Film",
    "Images",
    "Ink",
    "Line",
    "Mark",
    "Matrix",
    "Picture",
    "Series",
    "Spot",
    "Still",
    "Table",
    "Tree",
    "View",
    "Views",
    "aligned",
    "class_ink",
    "class_inks",
    "class_pixels",
    "colour_map",
    "difference",
    "diverging",
    "empty_words",
    "is_zero",
    "see_through",
    "status_ink",
    "steadied",
]
