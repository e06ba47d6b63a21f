"""One panel per analysis. The table gives the order of the rail; pyqtgraph is imported with the first panel, not with the window."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.gui.panels.panel import Panel
    from robgui.gui.store import Store


@dataclass(frozen=True)
class PanelEntry:
    """What the rail must know of a panel before it is made."""

    analysis: str
    title: str
    icon: str
    module: str
    name: str

    def make(self, store: Store) -> Panel:
        """The panel itself."""
        panel: Panel = getattr(importlib.import_module(self.module), self.name)(store)
        return panel


PANELS = (PanelEntry("zonnscan", "zoNNscan", "zonnscan", "robgui.gui.panels.zonnscan", "ZonnscanPanel"),)
