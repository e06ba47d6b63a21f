"""The gallery: the inputs as thumbnails, searched, sorted, tagged and chosen."""

from robgui.gui.docks.gallery.gallery import NOTHING_OPEN, NOTHING_PASSES, Gallery

__all__ = ["NOTHING_OPEN", "NOTHING_PASSES", "Gallery"]
