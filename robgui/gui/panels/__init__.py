"""One panel per analysis; the table gives the order of the rail."""

from robgui.gui.panels.panel import Panel
from robgui.gui.panels.zonnscan import ZonnscanPanel

PANELS: tuple[type[Panel], ...] = (ZonnscanPanel,)

__all__ = ["PANELS", "Panel", "ZonnscanPanel"]
