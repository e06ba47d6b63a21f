"""An input before and after: slider, side by side, blinking, difference, and a close look."""

from robgui.gui.widgets.pair.pair_view import PairView

__all__ = ["PairView"]
