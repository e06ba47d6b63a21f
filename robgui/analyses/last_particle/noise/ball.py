"""Uniform points of a ball cut by the bounds of the values, as a Gaussian point under a condition.

A uniform point of the sphere in d + 2 dimensions, its last two coordinates left out, is uniform in
the ball of d dimensions. Let y have d normal coordinates, each truncated to κ [a, b], where [a, b]
is the room of that value in units of the radius, and two free ones; y is made of a Gaussian latent
point coordinate by coordinate. Given its length ρ, y / ρ is uniform on the part of the unit sphere
whose first coordinates lie in (κ / ρ) [a, b]. Where ρ <= κ this part holds all of [a, b], so under
the condition "ρ <= κ and y / ρ within [a, b]" it is exactly uniform in the cut ball. κ is chosen so
that the condition is not rare: a move of the particles that breaks it is refused, which leaves the
conditional law as it is. Where the ball is so large that the bounds cut nearly all of it, uniform
points of the bounds under the condition "within the ball" serve instead.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.core.errors import ParamsError

#: Standard deviations beyond which a bound of a normal coordinate is left to the condition.
_FAR = 6.0
#: Tried values for how far κ² lies above the mean of ρ², in standard deviations.
_TRIED = (-1.5, 0.0, 1.5)
#: Points used to test the condition, and the least share for which it must hold.
#: Below 3 % a particle would wait for thirty draws at its start, and most
#: of its moves would be refused.
_PILOT, _LEAST = 64, 0.03


class CutBall:
    """Points of the unit ball within bounds, for P pairs of an input and a size.

    Args:
        low: ``(P, d)`` lowest values in units of the radius, at most 0.
        high: ``(P, d)`` highest; at least 0. Values with no room at all stay where they are.
    """

    def __init__(self, low: Tensor, high: Tensor) -> None:
        # In units of the radius nothing lies beyond -1 and 1.
        self._low, self._high = low.clamp_min(-1), high.clamp_max(1)
        self._free = self._high > self._low
        candidates = self._candidates()
        best = torch.stack([self._kept(kappa) for kappa in candidates]).max(0)
        if len(low) and float(best.values.min()) < _LEAST:
            raise ParamsError(
                "noise = ball: the bounds cut this ball so much that uniform points of it are hard"
                " to come by; take l2, which is cut off at the bounds, or another size."
            )
        self._kappa = torch.stack(candidates).gather(0, best.indices[None])[0]

    def _candidates(self) -> list[Tensor]:
        """The κ ``(P,)`` to try; 0 stands for uniform points of the bounds."""
        # 0, uniform points of the bounds, suits balls much larger than the bounds.
        tried = [self._fitting(above) for above in _TRIED]
        return [*tried, torch.zeros_like(tried[0])]

    def _fitting(self, above: float) -> Tensor:
        """κ with κ² = mean of ρ² + ``above`` standard deviations of it, by bisection."""
        rows = len(self._low)
        small = torch.full((rows,), 1e-2, dtype=torch.float64, device=self._low.device)
        # ρ is about √(d + 2) where nothing is cut, and smaller where something is.
        large = torch.full_like(small, 4 * math.sqrt(self._low.shape[1] + 2) + 8)
        # Halvings of a few decades on a logarithmic scale: no digit of a double is left.
        for _ in range(50):
            kappa = (small * large).sqrt()
            mean, variance = self._squares(kappa)
            over = kappa.square() > mean + above * variance.sqrt()
            small, large = torch.where(over, small, kappa), torch.where(over, kappa, large)
        return large

    def _squares(self, kappa: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance of ρ² ``(P,)``, the two free coordinates included."""
        a, b = (
            (kappa[:, None] * end.double()).clamp(-_FAR, _FAR) for end in (self._low, self._high)
        )
        mass = (torch.special.ndtr(b) - torch.special.ndtr(a)).clamp_min(1e-12)
        at_a, at_b = (torch.exp(-end.square() / 2) / math.sqrt(2 * math.pi) for end in (a, b))
        # Moments of a truncated normal variable: E[z²] = 1 + (a φ(a) - b φ(b)) / (Φ(b) - Φ(a)).
        second = 1 + (a * at_a - b * at_b) / mass
        fourth = 3 + ((a**3 + 3 * a) * at_a - (b**3 + 3 * b) * at_b) / mass
        free = self._free.double()
        spread = (fourth - second.square()).clamp_min(0) * free
        # The two free coordinates add 2 to the mean of ρ² and 4 to its variance (chi-squared with 2
        # degrees of freedom).
        return (second * free).sum(1) + 2, spread.sum(1) + 4

    def _kept(self, kappa: Tensor) -> Tensor:
        """How often the condition holds ``(P,)``, tested with fixed random numbers."""
        rows, dim = self._low.shape
        # Not the run's seed: κ is part of the noise's definition and must not vary with it.
        source = torch.Generator(torch.device("cpu")).manual_seed(0)
        latent = torch.randn((_PILOT, dim + 2), generator=source, device=source.device)
        latent = latent.to(self._low.device)
        kept = [
            self._inside(latent, row.expand(_PILOT), kappa).double().mean()
            for row in torch.arange(rows, device=self._low.device)
        ]
        if kept:
            return torch.stack(kept)
        return torch.zeros(0, device=self._low.device)

    def offsets(self, pairs: Tensor) -> Bound:
        """Latent ``(n, d + 2)`` -> points ``(n, d)`` within the bounds.

        Only valid under the condition.
        """
        low, high = self._low[pairs], self._high[pairs]

        def points(latent: Tensor) -> Tensor:
            raw, _ = self._points(latent, pairs, self._kappa)
            # Rounding may leave the bounds by a digit; the condition has already excluded anything
            # more.
            return torch.minimum(torch.maximum(raw, low), high)

        return points

    def inside(self, pairs: Tensor) -> Bound:
        """Latent ``(n, d + 2)`` -> which points meet the condition ``(n,)``."""
        return lambda latent: self._inside(latent, pairs, self._kappa)

    def _inside(self, latent: Tensor, pairs: Tensor, kappa: Tensor) -> Tensor:
        points, holds = self._points(latent, pairs, kappa)
        within = (points >= self._low[pairs]) & (points <= self._high[pairs])
        return holds & within.all(1)

    def _points(self, latent: Tensor, pairs: Tensor, kappa: Tensor) -> tuple[Tensor, Tensor]:
        """Points ``(n, d)``, and whether their length meets the condition."""
        low, high, free = self._low[pairs], self._high[pairs], self._free[pairs]
        own = kappa[pairs].to(latent.dtype)
        # Both laws are computed and one is picked: pairs of a batch may differ in κ.
        uniform = low + (high - low) * torch.special.ndtr(latent[:, :-2])
        scale = torch.where(own > 0, own, 1)[:, None]
        normal = truncated(latent[:, :-2], scale * low, scale * high) * free
        length = (normal.square().sum(1) + latent[:, -2:].square().sum(1)).sqrt()
        points = torch.where(own[:, None] > 0, normal / length[:, None], uniform)
        fits = torch.where(own > 0, length <= own, uniform.square().sum(1) <= 1)
        return points, fits


def truncated(z: Tensor, low: Tensor, high: Tensor) -> Tensor:
    """Normal numbers truncated to [low, high], as functions of normal numbers ``z``.

    At 0 the normal law is folded, which is exact; far bounds are left out.
    """
    first = torch.where(low > -_FAR, torch.special.ndtr(low), 0)
    last = torch.where(high < _FAR, torch.special.ndtr(high), 1)
    # Inverse transform between Φ(low) and Φ(high): a monotone function of z, so small moves stay
    # small.
    cut = torch.special.ndtri(torch.lerp(first, last, torch.special.ndtr(z)))
    cut = torch.minimum(torch.maximum(cut, low), high)
    # Special cases keep full precision where Φ is 0 or 1: no bound, and a bound at 0 with the other
    # far away.
    cut = torch.where((low <= -_FAR) & (high >= _FAR), z, cut)
    cut = torch.where((low == 0) & (high >= _FAR), z.abs(), cut)
    return torch.where((high == 0) & (low <= -_FAR), -z.abs(), cut)
