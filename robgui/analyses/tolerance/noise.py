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

#: Sizes of the noise: from 1 down, each this part of the last.
_SMALLER, _SIZES = 0.75, 24
#: Samples that are drawn together, and how many sizes the last particle tries.
_TOGETHER, _TRIES = 2000, 3


def noise_tolerance(
    classifier: Classifier, one: Dataset, x: Tensor, own: int, params: ToleranceParams
) -> Generator[None, None, NoiseTolerance]:
    """Samples uniform noise around one input ``(1, *shape)`` of the class ``own``, from the largest
    size down to one at which it hardly ever fails; then asks the last particle where none failed.

    Args:
        classifier: The model.
        one: A dataset of this input alone.
        x: The input.
        own: Its class.
        params: The settings.
    """
    known = NoiseTolerance(np.empty(0), np.empty(0), np.empty(0))
    for size in (_SMALLER ** np.arange(_SIZES)).tolist():
        failed, samples = yield from _sampled(classifier, x, own, size, params)
        known = NoiseTolerance(
            np.append(known.sizes, size),
            np.append(known.samples, samples),
            np.append(known.failures, failed),
        )
        if clopper_pearson(failed, samples)[1] <= RARE:
            break
    free = known.sizes[known.failures == 0][:_TRIES]
    for size in free.tolist():
        test = LastParticleParams(
            eps=size, critical=VALIDATED, seed=params.seed, truth="predicted",
            samples=0, attack_steps=0, importance=0, batch=params.batch,
        )  # fmt: skip
        validated = False
        for step in last_particle(classifier, one, test):
            validated = step.result.validated
            yield
        if validated:
            return replace(known, validated=size)
    return known


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
