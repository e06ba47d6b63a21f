"""DeepInspect: which classes a network confuses and where it is biased (Tian, Zhong, Ordonez, Kaiser and Ray)."""

from robgui.analyses.deepinspect.compare import Difference, difference
from robgui.analyses.deepinspect.coverage import deepinspect_coverage
from robgui.analyses.deepinspect.inspection import deepinspect
from robgui.analyses.deepinspect.kernels import avg_bias, bias, napvd, rho
from robgui.analyses.deepinspect.pairs import clustered, neuron_name, pair_inputs, pair_neurons, report
from robgui.analyses.deepinspect.params import CoverageParams, DeepInspectParams, ThresholdsParams
from robgui.analyses.deepinspect.result import CoverageResult, DeepInspectResult, Exhibit, Quality, Sensitivity, ThresholdsResult
from robgui.analyses.deepinspect.thresholds import deepinspect_thresholds
from robgui.analyses.deepinspect.truth import aucec, avg_cd, cost_curve, type1conf, type2conf

__all__ = [
    "CoverageParams",
    "CoverageResult",
    "DeepInspectParams",
    "DeepInspectResult",
    "Difference",
    "Exhibit",
    "Quality",
    "Sensitivity",
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
