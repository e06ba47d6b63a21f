"""Semantic robustness: over which poses, lights, rotations does the class survive (Hamdi and Ghanem)."""

from robgui.analyses.choosing import class_of
from robgui.analyses.semantic.maps.maps import network_map, semantic_map
from robgui.analyses.semantic.params import METHOD_WORDS, METHODS, MapParams, RegionsParams, SrvrParams
from robgui.analyses.semantic.regions.region_api import Grown, grow, growing
from robgui.analyses.semantic.regions.regions import semantic_regions
from robgui.analyses.semantic.regions.volume_ratio import srvr, table
from robgui.analyses.semantic.result import MapResult, RegionsResult, SrvrResult, Traps, pieces
from robgui.analyses.semantic.scene.scene import Axis, Scene
from robgui.analyses.semantic.scene.space import Space, scene_of

__all__ = [
    "METHODS",
    "METHOD_WORDS",
    "Axis",
    "Grown",
    "MapParams",
    "MapResult",
    "RegionsParams",
    "RegionsResult",
    "Scene",
    "Space",
    "SrvrParams",
    "SrvrResult",
    "Traps",
    "class_of",
    "grow",
    "growing",
    "network_map",
    "pieces",
    "scene_of",
    "semantic_map",
    "semantic_regions",
    "srvr",
    "table",
]
