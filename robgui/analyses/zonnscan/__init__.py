"""zoNNscan: how close are other classes to an input (Jaouen and Le Merrer)."""

from robgui.analyses.zonnscan.attack import fast_gradient
from robgui.analyses.zonnscan.disagreement import CornerCasesParams, CornerCasesResult, corner_cases, zonnscan_corner_cases
from robgui.analyses.zonnscan.population_params import PopulationsParams
from robgui.analyses.zonnscan.populations import PopulationsResult, zonnscan_populations
from robgui.analyses.zonnscan.sweep import ZonnscanParams, ZonnscanResult, zone_samples, zonnscan
from robgui.analyses.zonnscan.watermark import Key, compare_models, embed, make_key
from robgui.analyses.zonnscan.watermark_check import WatermarkParams, WatermarkResult, zonnscan_watermark

__all__ = [
    "CornerCasesParams",
    "CornerCasesResult",
    "Key",
    "PopulationsParams",
    "PopulationsResult",
    "WatermarkParams",
    "WatermarkResult",
    "ZonnscanParams",
    "ZonnscanResult",
    "compare_models",
    "corner_cases",
    "embed",
    "fast_gradient",
    "make_key",
    "zone_samples",
    "zonnscan",
    "zonnscan_corner_cases",
    "zonnscan_populations",
    "zonnscan_watermark",
]
