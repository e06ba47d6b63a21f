"""The gallery: the inputs as thumbnails, searched, sorted, tagged and chosen."""

from robgui.gui.docks.gallery.gallery import Gallery
from robgui.gui.docks.gallery.nothing_shown import NOTHING_OPEN, NOTHING_PASSES

__all__ = ["NOTHING_OPEN", "NOTHING_PASSES", "Gallery"]
