"""DeepInspect: which classes a network confuses, and where it is biased.

After Tian, Zhong, Ordonez, Kaiser and Ray.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robgui.analyses.deepinspect.compare import Difference, difference
    from robgui.analyses.deepinspect.counting.kernels import avg_bias, bias, napvd, rho
    from robgui.analyses.deepinspect.counting.truth import (
        aucec,
        avg_cd,
        cost_curve,
        type1conf,
        type2conf,
    )
    from robgui.analyses.deepinspect.inspection import deepinspect
    from robgui.analyses.deepinspect.pairs import (
        clustered,
        neuron_name,
        pair_inputs,
        pair_neurons,
        report,
    )
    from robgui.analyses.deepinspect.params import (
        CoverageParams,
        DeepInspectParams,
        ThresholdsParams,
    )
    from robgui.analyses.deepinspect.result import (
        Confirmation,
        DeepInspectResult,
        Quality,
        ShownPair,
    )
    from robgui.analyses.deepinspect.studies.coverage import deepinspect_coverage
    from robgui.analyses.deepinspect.studies.result import (
        CoverageResult,
        Sensitivity,
        ThresholdsResult,
    )
    from robgui.analyses.deepinspect.studies.thresholds import deepinspect_thresholds

#: Public name -> module of this package; imported on first use, so the window reads the record
#: without torch.
_HOMES = {
    **dict.fromkeys(("Difference", "difference"), "compare"),
    "deepinspect_coverage": "studies.coverage",
    "deepinspect": "inspection",
    **dict.fromkeys(("avg_bias", "bias", "napvd", "rho"), "counting.kernels"),
    **dict.fromkeys(("clustered", "neuron_name", "pair_inputs", "pair_neurons", "report"), "pairs"),
    **dict.fromkeys(("CoverageParams", "DeepInspectParams", "ThresholdsParams"), "params"),
    **dict.fromkeys(("Confirmation", "DeepInspectResult", "ShownPair", "Quality"), "result"),
    **dict.fromkeys(("CoverageResult", "Sensitivity", "ThresholdsResult"), "studies.result"),
    "deepinspect_thresholds": "studies.thresholds",
    **dict.fromkeys(("aucec", "avg_cd", "cost_curve", "type1conf", "type2conf"), "counting.truth"),
}
__all__ = [
    "Confirmation",
    "CoverageParams",
    "CoverageResult",
    "DeepInspectParams",
    "DeepInspectResult",
    "Difference",
    "Quality",
    "Sensitivity",
    "ShownPair",
    "ThresholdsParams",
    "ThresholdsResult",
    "aucec",
    "avg_bias",
    "avg_cd",
    "bias",
    "clustered",
    "cost_curve",
    "deepinspect",
    "deepinspect_coverage",
    "deepinspect_thresholds",
    "difference",
    "napvd",
    "neuron_name",
    "pair_inputs",
    "pair_neurons",
    "report",
    "rho",
    "type1conf",
    "type2conf",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
