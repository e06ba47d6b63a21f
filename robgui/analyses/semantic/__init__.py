"""Semantic robustness: over which poses, lights, rotations a class survives (Hamdi and Ghanem).

Names are imported on first use, so the package itself costs nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.analyses.choosing import class_of
    from robgui.analyses.semantic.domain.engine import operating_domain
    from robgui.analyses.semantic.domain.params import OperatingDomainParams
    from robgui.analyses.semantic.domain.result import OperatingDomainResult
    from robgui.analyses.semantic.maps.maps import semantic_map
    from robgui.analyses.semantic.maps.params import MapParams
    from robgui.analyses.semantic.regions.params import METHOD_WORDS, METHODS, RegionsParams
    from robgui.analyses.semantic.regions.region_api import Grown, grow, growing
    from robgui.analyses.semantic.regions.regions import semantic_regions
    from robgui.analyses.semantic.result import (
        MapResult,
        RegionsResult,
        SrvrResult,
        Traps,
        network_map,
        pieces,
    )
    from robgui.analyses.semantic.scene.scene import Scene, SceneAxis
    from robgui.analyses.semantic.scene.space import Space, scene_of
    from robgui.analyses.semantic.volume_ratio.engine import srvr, table
    from robgui.analyses.semantic.volume_ratio.params import SrvrParams

__all__ = [
    "METHODS",
    "METHOD_WORDS",
    "Grown",
    "MapParams",
    "MapResult",
    "OperatingDomainParams",
    "OperatingDomainResult",
    "RegionsParams",
    "RegionsResult",
    "Scene",
    "SceneAxis",
    "Space",
    "SrvrParams",
    "SrvrResult",
    "Traps",
    "class_of",
    "grow",
    "growing",
    "network_map",
    "operating_domain",
    "pieces",
    "scene_of",
    "semantic_map",
    "semantic_regions",
    "srvr",
    "table",
]

_PLACES = {
    "robgui.analyses.choosing": ("class_of",),
    "robgui.analyses.semantic.domain.engine": ("operating_domain",),
    "robgui.analyses.semantic.domain.params": ("OperatingDomainParams",),
    "robgui.analyses.semantic.domain.result": ("OperatingDomainResult",),
    "robgui.analyses.semantic.maps.maps": ("semantic_map",),
    "robgui.analyses.semantic.maps.params": ("MapParams",),
    "robgui.analyses.semantic.regions.params": ("METHODS", "METHOD_WORDS", "RegionsParams"),
    "robgui.analyses.semantic.regions.region_api": ("Grown", "grow", "growing"),
    "robgui.analyses.semantic.regions.regions": ("semantic_regions",),
    "robgui.analyses.semantic.result": (
        "MapResult",
        "RegionsResult",
        "SrvrResult",
        "Traps",
        "network_map",
        "pieces",
    ),
    "robgui.analyses.semantic.scene.scene": ("SceneAxis", "Scene"),
    "robgui.analyses.semantic.scene.space": ("Space", "scene_of"),
    "robgui.analyses.semantic.volume_ratio.engine": ("srvr", "table"),
    "robgui.analyses.semantic.volume_ratio.params": ("SrvrParams",),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    """A public name, imported now (PEP 562)."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    """The public names."""
    return sorted(__all__)
