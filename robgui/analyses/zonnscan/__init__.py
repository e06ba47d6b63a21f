"""zoNNscan: how close are other classes to an input (Jaouen and Le Merrer).

Its names are imported on first use: reading the record needs no torch.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.analyses.zonnscan.crossing.attack import fast_gradient
    from robgui.analyses.zonnscan.disagreement import corner_cases, zonnscan_corner_cases
    from robgui.analyses.zonnscan.drawn_again import zone_samples
    from robgui.analyses.zonnscan.params import (
        CornerCasesParams,
        PopulationsParams,
        WatermarkParams,
        ZonnscanParams,
    )
    from robgui.analyses.zonnscan.populations import zonnscan_populations
    from robgui.analyses.zonnscan.result import (
        CornerCasesResult,
        PopulationsResult,
        WatermarkResult,
        ZonnscanResult,
    )
    from robgui.analyses.zonnscan.sweep import zonnscan
    from robgui.analyses.zonnscan.watermark import Key, compare_models, embed, make_key
    from robgui.analyses.zonnscan.watermark_check import zonnscan_watermark

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

_HOMES = {
    "CornerCasesParams": "params",
    "CornerCasesResult": "result",
    "Key": "watermark",
    "PopulationsParams": "params",
    "PopulationsResult": "result",
    "WatermarkParams": "params",
    "WatermarkResult": "result",
    "ZonnscanParams": "params",
    "ZonnscanResult": "result",
    "compare_models": "watermark",
    "corner_cases": "disagreement",
    "embed": "watermark",
    "fast_gradient": "crossing.attack",
    "make_key": "watermark",
    "zone_samples": "drawn_again",
    "zonnscan": "sweep",
    "zonnscan_corner_cases": "disagreement",
    "zonnscan_populations": "populations",
    "zonnscan_watermark": "watermark_check",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
