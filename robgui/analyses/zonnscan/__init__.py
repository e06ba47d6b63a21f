"""zoNNscan: how close are other classes to an input (Jaouen and Le Merrer)."""

from robgui.analyses.zonnscan.attack import fast_gradient
from robgui.analyses.zonnscan.populations import PopulationsParams, PopulationsResult, zonnscan_populations
from robgui.analyses.zonnscan.sweep import ZonnscanParams, ZonnscanResult, zone_samples, zonnscan
from robgui.analyses.zonnscan.watermark import Key, compare_models, corner_cases, embed, make_key

__all__ = [
    "Key",
    "PopulationsParams",
    "PopulationsResult",
    "ZonnscanParams",
    "ZonnscanResult",
    "compare_models",
    "corner_cases",
    "embed",
    "fast_gradient",
    "make_key",
    "zone_samples",
    "zonnscan",
    "zonnscan_populations",
]
