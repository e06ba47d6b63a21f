"""Importance sampling in the latent: how likely is a failure that plain samples never meet?

Half of the points are drawn from the noise itself, N(0, I), the others around failing points c of
high density, N(c, I); a point counts with its density under the noise over that of the mixture,
which is at most 2 (a defensive mixture: Hesterberg, "Weighted average importance sampling and
defensive mixture distributions", Technometrics 37, 1995; Owen and Zhou, "Safe and effective
importance sampling", JASA 95, 2000). The mean is unbiased whatever the centres are. Its interval is
the normal one for the logarithm, given only where enough points carry the weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.setup import Score
from robgui.analyses.last_particle.particles.streams import Streams

#: Share of points drawn from the noise itself.
_PLAIN = 0.5
#: Least effective number of points for an estimate.
ENOUGH = 40.0
#: If many points are asked for, a few are drawn first to see how many are needed until enough of
#: them count to give the estimate to a tenth. They are not part of it: the stopping time must not
#: depend on what is averaged.
_TRIAL, _PLENTY = 1024, 500.0
#: If too few count, more points are drawn: one and a half times the number needed so far, at most
#: this multiple of those asked for.
LONGER = 4
#: Errors to either side of the estimate, by the number of points that count. The normal law would
#: say 1.96, but the error is itself estimated, and too small where few points carry the weight:
#: with these factors curved and flat edges of failing sets were covered by 96 % and more.
_ERRORS = ((200.0, 2.17), (100.0, 4.0), (ENOUGH, 6.0))
#: Keeps these random numbers apart from those of the particles and of the plain samples.
_STREAM = 1 << 41
#: Below the exponent of every weight; a double's least is 2^-1074.
_LEAST_EXPONENT = -1100
#: Points drawn at a time; fixed, so the batch does not change them.
_BLOCK = 64


@dataclass(frozen=True, slots=True)
class Measured:
    """What importance sampling says of one failure probability.

    Attributes:
        p: The estimate; nan where too few points count.
        low: Lower end of the 95 % interval; nan likewise.
        high: Upper end; it speaks of failures near the centres and of those that plain samples
            meet.
        samples: Points drawn for the estimate.
        failures: How many of them fail.
        effective: Effective number: as many failing points of equal weight tell as much.
    """

    p: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    samples: int = 0
    failures: int = 0
    effective: float = 0.0


class Importance:
    """Samples around centres; ``measured`` gives the estimate so far.

    Args:
        score: The margin; fails where it is above 0.
        test: Which of its tests.
        centres: ``(k, dim)`` failing points, in units of the standard deviation of the latent.
        samples: Points to be drawn; up to four times as many where too few of them count.
        seed: Start of the random numbers.
        rows: Points per model call at most.
    """

    def __init__(
        self, score: Score, test: int, centres: Tensor, samples: int, seed: int, rows: int
    ) -> None:
        self._score, self._test, self._samples = score, test, samples
        self._centres = centres
        self._blocks = max(1, rows // _BLOCK)
        self._streams = Streams(seed, centres.device, 1.0)
        self._lane = _STREAM + test
        self._sums, self._exponent = np.zeros(2), _LEAST_EXPONENT
        self._failures = self.sampled = 0

    def run(self) -> Iterator[None]:
        """Draws all points; yields after every model call."""
        self._streams.open(self._lane)
        # Only if a trial is cheap beside what was asked for.
        if self._samples >= 4 * _TRIAL:
            yield from self._plan()
        yield from self._draw()
        if more := self._needed():
            self._samples = more
            yield from self._draw()
        self._streams.close(self._lane)

    def _plan(self) -> Iterator[None]:
        """Draws the trial and sets how many points follow, at most those asked for."""
        asked, self._samples = self._samples, _TRIAL
        yield from self._draw()
        needed = _TRIAL * _PLENTY / max(self.measured.effective, 1.0)
        self._samples = min(asked, max(_TRIAL, math.ceil(needed)))
        # The trial only decides how long to draw; using its points too would bias the mean.
        self._sums[:], self._failures, self.sampled = 0, 0, 0

    def _draw(self) -> Iterator[None]:
        while self.sampled < self._samples:
            left = -(-(self._samples - self.sampled) // _BLOCK)
            self._sample(min(self._blocks, left))
            yield

    def _needed(self) -> int:
        """How many points would give an estimate.

        0 if there is one already, or none is within reach.
        """
        found = self.measured
        if not found.failures or found.effective >= ENOUGH:
            return 0
        # Half as many again: the effective number is itself an estimate.
        wanted = 1.5 * self._samples * ENOUGH / found.effective
        if wanted <= LONGER * self._samples:
            return math.ceil(wanted)
        return 0

    @torch.inference_mode()
    def _sample(self, blocks: int) -> None:
        points = self._drawn(blocks)
        owner = torch.full((len(points),), self._test, device=points.device)
        fails = self._score.bind(owner)(points * self._score.spread) > 0
        weights = torch.where(fails, self._weights(points), 0).cpu().numpy()
        # The last block is cut to the number asked for, so the batch size changes nothing.
        wanted = weights[: self._samples - self.sampled]
        scaled = self._scaled(wanted)
        self._sums += scaled.sum(), np.square(scaled).sum()
        self._failures += int((wanted > 0).sum())
        self.sampled += len(wanted)

    def _scaled(self, weights: np.ndarray) -> np.ndarray:
        """The weights on the scale of the sums: the largest so far is about 1.

        The square of a weight below 1e-154 would be 0. Powers of two round nothing.
        """
        exponent = max(self._exponent, int(np.frexp(weights.max(initial=0.0))[1]))
        if weights.any() and exponent > self._exponent:
            shift = self._exponent - exponent
            self._sums[:] = np.ldexp(self._sums, (shift, 2 * shift))
            self._exponent = exponent
        scaled: np.ndarray = np.ldexp(weights, -self._exponent)
        return scaled

    def _drawn(self, blocks: int) -> Tensor:
        """Points ``(blocks * 64, dim)``, alternately plain and around each centre."""
        dim, k = self._centres.shape[1], len(self._centres)
        parts = []
        for _ in range(blocks):
            # Normal first, then which part of the mixture: always both, so the stream does not
            # depend on the outcome.
            point = self._streams.normal([self._lane], _BLOCK, dim)[0]
            which = self._streams.uniform([self._lane], _BLOCK)[0]
            place = np.minimum((which - _PLAIN) / (1 - _PLAIN) * k, k - 1).astype(np.int64)
            chosen = torch.from_numpy(np.where(which < _PLAIN, k, place)).to(point.device)
            shifts = torch.cat([self._centres, torch.zeros_like(self._centres[:1])])
            parts.append(point + shifts[chosen])
        return torch.cat(parts)

    def _weights(self, points: Tensor) -> Tensor:
        """Density under the noise relative to the mixture ``(n,)``: at most 2."""
        centres = self._centres.double()
        # Log density ratio of N(c, I) to N(0, I) at z: c·z - |c|²/2.
        ratios = points.double() @ centres.T - centres.square().sum(1) / 2
        around = math.log((1 - _PLAIN) / len(centres)) + torch.logsumexp(ratios, 1)
        plain = torch.full_like(around, math.log(_PLAIN))
        # Weight = density under the noise / density of the mixture, at most 1 / _PLAIN.
        return torch.exp(-torch.logaddexp(around, plain))

    @property
    def measured(self) -> Measured:
        """The estimate from the points so far."""
        n, (total, squares) = self.sampled, self._sums
        if not self._failures:
            return Measured(samples=n)
        # Kish's effective sample size, (Σ w)² / Σ w².
        mean, effective = total / n, total**2 / squares
        if effective < ENOUGH:
            return Measured(samples=n, failures=self._failures, effective=float(effective))
        # Delta method: the standard error of the logarithm is that of the mean divided by the mean.
        error = math.sqrt(max(0.0, squares / n - mean**2) / n) / mean
        reach = math.exp(_errors(effective) * error)
        p = math.ldexp(mean, self._exponent)
        return Measured(
            p,
            p / reach,
            min(1.0, p * reach),
            n,
            self._failures,
            float(effective),
        )


def _errors(effective: float) -> float:
    return next(errors for least, errors in _ERRORS if effective >= least)
