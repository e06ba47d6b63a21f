"""Ranks all pairs of classes by the counts, and measures how well that matches the labels."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

import numpy as np
import torch

from robgui.analyses.deepinspect.counting.kernels import avg_bias_rounds, napvd_rounds
from robgui.analyses.deepinspect.counting.tally import InspectionSums
from robgui.analyses.deepinspect.counting.truth import avg_cd_rounds, quality
from robgui.analyses.deepinspect.params import InspectParams
from robgui.analyses.deepinspect.result import Quality
from robgui.core.model.classifier import Classifier


@dataclass(frozen=True, slots=True)
class Truth:
    """What the labels say: true confusion and disparity; ``(0, 0)`` without labels."""

    conf: np.ndarray
    avg_cd: np.ndarray


def truth_rounds(tally: InspectionSums) -> Generator[None, None, Truth]:
    """True confusion and disparity, in portions."""
    conf = tally.conf()
    if not conf.size:
        return Truth(conf, conf)
    disparity = yield from avg_cd_rounds(torch.from_numpy(conf))
    return Truth(conf, disparity.numpy())


@dataclass(frozen=True, slots=True)
class Ranking:
    """Distance and average bias of every pair ``(m, m)``, and how well they find the truth.

    None without one.
    """

    napvd: np.ndarray
    avg_bias: np.ndarray
    confusion: Quality | None
    bias: Quality | None


@dataclass(frozen=True, slots=True)
class Baseline:
    """MODE: distances of the classes' weights in the last layer, and their average bias."""

    distance: np.ndarray
    avg_bias: np.ndarray


def ranking_rounds(
    tally: InspectionSums,
    truth: Truth,
    params: InspectParams,
    mode: Baseline | None,
    place: int = 0,
) -> Generator[None, None, Ranking]:
    """Ranks all pairs by one threshold, in portions."""
    distance = yield from tally.napvd_rounds(params, place)
    average = yield from avg_bias_rounds(torch.from_numpy(distance), params.bias_filter)
    unfair = average.numpy()
    if not truth.conf.size:
        return Ranking(distance, unfair, None, None)
    yield
    confusion = quality(
        # Near classes are the suspicious ones, so the distance is negated.
        -distance,
        truth.conf,
        None if mode is None else -mode.distance,
        params.cutoff,
        params.top_percent,
    )
    yield
    bias = quality(
        unfair,
        truth.avg_cd,
        None if mode is None else mode.avg_bias,
        params.cutoff,
        params.top_percent,
    )
    return Ranking(distance, unfair, confusion, bias)


def mode_rounds(
    classifier: Classifier, params: InspectParams
) -> Generator[None, None, Baseline | None]:
    """The MODE baseline from the weights of the last layer, in portions.

    None if they cannot be seen.
    """
    # MODE needs no inputs: it compares the rows of the last linear layer.
    weights = classifier.class_weights()
    if weights is None:
        return None
    # Equation 2 applied to weights instead of rho (Section 4.3, baseline i): a column is a class.
    distance = (yield from napvd_rounds(weights.T.cpu())).numpy()
    average = yield from avg_bias_rounds(torch.from_numpy(distance), params.bias_filter)
    return Baseline(distance, average.numpy())
