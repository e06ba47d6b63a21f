"""How much random noise one input takes: sampled size by size, validated by the last particle."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.single_input import last_particle
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import RARE, VALIDATED, NoiseTolerance
from robgui.core.dataset import Dataset
from robgui.core.devices import to_device, to_host
from robgui.core.intervals import clopper_pearson
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator

#: Sizes of the noise, from the smallest to 1. While failures are rare every size takes all its
#: samples, so few are tried: every fourth from 0.01 up, smaller ones only where that one fails.
_SIZES = tuple((0.75 ** np.arange(24, -1, -1)).tolist())
_SMALL, _COARSE = _SIZES[:8], _SIZES[8::4]
#: At how many sizes noise must fail more often than not before larger ones are left out.
_ENOUGH = 2
#: Samples that are drawn together; how many sizes the last particle tries, and the chance that it
#: is wrong at any of them.
_TOGETHER, _TRIES, _RISK = 2000, 3, 0.01


def noise_tolerance(
    classifier: Classifier, one: Dataset, x: Tensor, own: int, params: ToleranceParams
) -> Generator[None, None, NoiseTolerance]:
    """Samples uniform noise around one input ``(1, *shape)`` of the class ``own``, from
    small sizes up; then asks the last particle at the largest sizes up to which none failed.

    Larger noise need not fail more often: noise of size 1 is the same for all inputs, and may have
    the class of this one.

    Args:
        classifier: The model.
        one: A dataset of this input alone.
        x: The input.
        own: Its class.
        params: The settings.
    """
    known = NoiseTolerance(np.empty(0), np.empty(0), np.empty(0))
    for size in _COARSE:
        known = yield from _with_size(known, classifier, x, own, size, params)
        if known.fails(RARE)[0] < size:
            break
    for size in reversed(_SMALL):
        if known.fails(RARE)[0] > 0:
            break
        known = yield from _with_size(known, classifier, x, own, size, params)
    rare, tried = known.fails(RARE)[0], known.sizes
    for size in _SIZES:
        if size > rare and size not in tried:
            known = yield from _with_size(known, classifier, x, own, size, params)
        if (clopper_pearson(known.failures, known.samples)[0] >= 0.5).sum() >= _ENOUGH:
            break
    for size in _free(known):
        test = LastParticleParams(
            eps=size, critical=VALIDATED, risk=_RISK / _TRIES, seed=params.seed, truth="predicted",
            samples=0, attack_steps=0, importance=0, batch=params.batch,
        )  # fmt: skip
        validated = False
        for step in last_particle(classifier, one, test):
            validated = step.result.validated
            yield
        if validated:
            return replace(known, validated=size)
    return known


def _free(known: NoiseTolerance) -> list[float]:
    """The largest sizes, falling, such that noise is rare and never failed up to them."""
    failed = known.sizes[known.failures > 0]
    free = known.sizes <= known.fails(RARE)[0]
    if len(failed):
        free &= known.sizes < failed.min()
    return sorted(known.sizes[free].tolist(), reverse=True)[:_TRIES]


def _with_size(
    known: NoiseTolerance,
    classifier: Classifier,
    x: Tensor,
    own: int,
    size: float,
    params: ToleranceParams,
) -> Generator[None, None, NoiseTolerance]:
    """What is known, and what noise of one more size does."""
    failed, samples = yield from _sampled(classifier, x, own, size, params)
    at = int(np.searchsorted(known.sizes, size))
    return NoiseTolerance(
        np.insert(known.sizes, at, size),
        np.insert(known.samples, at, samples),
        np.insert(known.failures, at, failed),
    )


def _sampled(
    classifier: Classifier, x: Tensor, own: int, size: float, params: ToleranceParams
) -> Generator[None, None, tuple[int, int]]:
    """Failures and samples of noise of one size; enough once the chance is not near a rare one."""
    generator = host_generator(params.seed)
    low, high = (x - size).clamp(0, 1), (x + size).clamp(0, 1)
    failed = samples = 0
    while samples < params.samples:
        count = min(_TOGETHER, params.samples - samples)
        drawn = torch.rand((count, *x.shape[1:]), generator=generator, device=HOST)
        points = low + to_device(drawn, x.device) * (high - low)
        (turned,) = to_host((classifier.infer(points, params.batch).argmax(1) != own).sum())
        failed, samples = failed + int(turned), samples + count
        yield
        if clopper_pearson(failed, samples)[0] > 10 * RARE:
            break
    return failed, samples
