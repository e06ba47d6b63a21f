"""One page per method, with one panel per analysis as its tabs.

The table gives the order of the rail. pyqtgraph is imported with the first panel, not with the window.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from robgui.gui.panels.panel import Panel
    from robgui.gui.state.store import Store


@dataclass(frozen=True)
class PanelEntry:
    """A panel before it is made: the analysis it draws, the title of its tab, and where its class is."""

    analysis: str
    title: str
    module: str
    name: str

    def make(self, store: Store) -> Panel:
        """The panel itself."""
        panel: Panel = getattr(importlib.import_module(self.module), self.name)(store)
        return panel


@dataclass(frozen=True)
class Page:
    """What the rail must know of a page: its title, its icon, its tabs."""

    title: str
    icon: str
    panels: tuple[PanelEntry, ...]


PAGES = (
    Page(
        "zoNNscan",
        "zonnscan",
        (
            PanelEntry("zonnscan", "Sweep", "robgui.gui.panels.zonnscan.sweep", "ZonnscanPanel"),
            PanelEntry("zonnscan_populations", "Populations", "robgui.gui.panels.zonnscan.populations", "PopulationsPanel"),
            PanelEntry("zonnscan_corner_cases", "Corner cases", "robgui.gui.panels.zonnscan.corner_cases", "CornerCasesPanel"),
            PanelEntry("zonnscan_watermark", "Watermark", "robgui.gui.panels.zonnscan.watermark", "WatermarkPanel"),
        ),
    ),
    Page(
        "Semantic",
        "semantic",
        (
            PanelEntry("semantic_map", "Map", "robgui.gui.panels.semantic.map", "SemanticMapPanel"),
            PanelEntry("semantic_regions", "Regions", "robgui.gui.panels.semantic.regions", "SemanticRegionsPanel"),
            PanelEntry("srvr", "SRVR", "robgui.gui.panels.semantic.srvr", "SrvrPanel"),
        ),
    ),
    Page(
        "Feature game",
        "feature-game",
        (
            PanelEntry("feature_game", "One image", "robgui.gui.panels.feature_game.game", "FeatureGamePanel"),
            PanelEntry("feature_game_batch", "Batch", "robgui.gui.panels.feature_game.batch", "FeatureGameBatchPanel"),
        ),
    ),
    Page(
        "DeepInspect",
        "deepinspect",
        (
            PanelEntry("deepinspect", "Classes", "robgui.gui.panels.deepinspect.classes", "DeepInspectPanel"),
            PanelEntry("deepinspect_thresholds", "Thresholds", "robgui.gui.panels.deepinspect.thresholds", "ThresholdsPanel"),
            PanelEntry("deepinspect_coverage", "Coverage", "robgui.gui.panels.deepinspect.coverage", "CoveragePanel"),
        ),
    ),
    Page(
        "Last particle",
        "last-particle",
        (
            PanelEntry("last_particle", "One input", "robgui.gui.panels.last_particle.one_input", "LastParticlePanel"),
            PanelEntry("last_particle_table", "Table", "robgui.gui.panels.last_particle.table", "LastParticleTablePanel"),
        ),
    ),
)
