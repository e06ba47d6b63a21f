"""How much random noise one input takes.

Every size gets a few samples; then the largest that may be rare is sampled in full, and the last
particle is asked about it.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.params import LastParticleParams
from robgui.analyses.last_particle.single_input import last_particle
from robgui.analyses.tolerance.params import ToleranceParams
from robgui.analyses.tolerance.result import VALIDATED, NoiseTolerance
from robgui.core.dataset import Dataset
from robgui.core.devices import to_device, to_host
from robgui.core.model.classifier import Classifier
from robgui.core.model.randomness import HOST, host_generator

#: Sizes of the noise, from the smallest to 1.
#: 0.75^24 is 0.001, a quarter of an 8-bit level.
_SIZES = tuple((0.75 ** np.arange(24, -1, -1)).tolist())
#: Samples that every size gets first. One failure among them shows that a size is not rare.
_FIRST = 200
#: Number of sizes at which noise must fail more often than not before larger ones are skipped.
_ENOUGH = 2
#: Samples drawn together; sizes that the last particle tries, and the chance that it is wrong at
#: any of them.
_TOGETHER, _TRIES, _RISK = 2000, 3, 0.01
#: Random numbers drawn at once: 2,000 samples of a small image, 53 of one of 224 pixels.
_NUMBERS = 8_000_000


def noise_tolerance(
    classifier: Classifier, one: Dataset, x: Tensor, own: int, params: ToleranceParams
) -> Generator[None, None, NoiseTolerance]:
    """Samples uniform noise around one input ``(1, *shape)`` of the class ``own``.

    Every size gets a few samples. Of the sizes below the first failure the largest is sampled until
    it fails too or is rare, then the next smaller one. The sizes share their random numbers.

    Larger noise need not fail more often: noise of size 1 is the same for all inputs, and may have
    the class of this one. So nothing is concluded from one size for another.

    Args:
        classifier: The model.
        one: A dataset of this input alone.
        x: The input.
        own: Its class.
        params: The settings.
    """
    counts = _Counts(classifier, x, own, params)
    for size in _SIZES:
        yield from counts.sample(size, min(_FIRST, params.samples))
        # Two sizes that mostly fail end the search upwards.
        if (counts.known.told(0.5) > 0).sum() >= _ENOUGH:
            break
    # From the largest down: the first without a failure is the answer.
    for size in _without_failure(counts.known):
        yield from counts.sample_until_failure(size)
        if not counts.failed(size):
            break
    known = counts.known
    # The risk is divided among the tries (Bonferroni).
    for size in _without_failure(known)[:_TRIES]:
        if (yield from _validated(classifier, one, size, params)):
            return replace(known, validated=size)
    return known


def _without_failure(known: NoiseTolerance) -> list[float]:
    """The sizes, falling, at which no sample failed, nor at any smaller size."""
    first = known.sizes[known.failures > 0].min(initial=np.inf)
    return sorted(known.sizes[known.sizes < first].tolist(), reverse=True)


def _validated(
    classifier: Classifier, one: Dataset, size: float, params: ToleranceParams
) -> Generator[None, None, bool]:
    """Whether the last particle validates noise of one size."""
    test = LastParticleParams(
        eps=size, critical=VALIDATED, risk=_RISK / _TRIES, seed=params.seed, truth="predicted",
        samples=0, attack_steps=0, importance=0, batch=params.batch,
    )  # fmt: skip
    validated = False
    for step in last_particle(classifier, one, test):
        validated = step.result.validated
        yield
    return validated


class _Counts:
    """Samples and failures of every size so far."""

    def __init__(
        self, classifier: Classifier, x: Tensor, own: int, params: ToleranceParams
    ) -> None:
        self._classifier, self._x, self._own, self._params = classifier, x, own, params
        self._samples: dict[float, int] = {}
        self._failures: dict[float, int] = {}

    @property
    def known(self) -> NoiseTolerance:
        """All sizes tried, rising."""
        sizes = sorted(self._samples)
        return NoiseTolerance(
            np.array(sizes),
            np.array([self._samples[size] for size in sizes], dtype=np.int64),
            np.array([self._failures[size] for size in sizes], dtype=np.int64),
        )

    def failed(self, size: float) -> int:
        """How many samples of this size had another class."""
        return self._failures[size]

    def sample_until_failure(self, size: float) -> Generator[None, None, None]:
        """Samples a size until one fails or all are drawn.

        All are needed to show that failures are rare, and one failure among them rules it out. A
        size below ``RARE`` is called more frequent with a chance of at most 3.5 %: by one failure
        in the first samples, or by several in the first batch that has any.
        """
        while not self._failures[size] and self._samples[size] < self._params.samples:
            drawn = self._samples[size]
            # Up to the next multiple: parts begin at fixed places, whatever was drawn before.
            to_next = _TOGETHER - drawn % _TOGETHER
            yield from self.sample(size, min(to_next, self._params.samples - drawn))

    def sample(self, size: float, count: int) -> Generator[None, None, None]:
        """Draws more samples of one size, a fresh part of its random numbers."""
        x, drawn = self._x, self._samples.get(size, 0)
        # Each part has its own seed, the same at all sizes, whatever was drawn before.
        generator = host_generator((self._params.seed * 1_000_003 + drawn) % 2**63)
        # Uniform on the part of the zone in [0, 1], as zoNNscan samples it, not clipped after.
        low, high = (x - size).clamp(0, 1), (x + size).clamp(0, 1)
        at_once = max(1, _NUMBERS // x.numel())
        for begin in range(0, count, at_once):
            some = min(at_once, count - begin)
            noise = torch.rand((some, *x.shape[1:]), generator=generator, device=HOST)
            points = low + to_device(noise, x.device) * (high - low)
            answers = self._classifier.infer(points, self._params.batch).argmax(1)
            (turned,) = to_host((answers != self._own).sum())
            self._samples[size] = drawn + begin + some
            self._failures[size] = self._failures.get(size, 0) + int(turned)
            yield
