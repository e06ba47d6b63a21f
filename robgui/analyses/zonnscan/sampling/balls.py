"""Samples in L1 and L2 balls cut by the cube.

``HitAndRunCloud`` is uniform in ball ∩ cube: hit-and-run along the axes (each coordinate in turn is
drawn uniformly on the chord through the point). Rejection is hopeless there: with 600 black pixels
it accepts one in 2^600. ``ClippedCloud`` clips uniform samples of the whole ball into the cube,
which piles them up on its faces; that is another law and is named so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.points import block_size, stretch_generator
from robgui.analyses.zonnscan.sampling.zones import EVERY, Block
from robgui.analyses.zonnscan.zone import Power

#: Passes over all coordinates. The start is close to uniform already: after 4 passes no
#: Kolmogorov-Smirnov test with 8,000 samples in 3 or 50 dimensions could tell the law from that
#: after 400 passes; 8 leave a margin.
SWEEPS = 8


class _BallCloud:
    """What both laws share.

    Args:
        centre: ``(1, d)`` the input.
        radii: ``(Z,)``.
        power: 1 or 2, the norm.
        seed: Start of the random numbers.
    """

    lanes = 1

    def __init__(self, centre: Tensor, radii: Tensor, power: Power, seed: int) -> None:
        self.block_size = block_size(centre.shape[1] * len(radii))
        self._centre = centre
        self._radii = radii
        self._power = power
        self._seed = seed


class ClippedCloud(_BallCloud):
    """Uniform in the ball, then clipped to the cube; the same directions for every radius."""

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        generator = stretch_generator(self._seed, start, self._centre.device)
        unit = unit_ball(stop - start, self._centre.shape[1], self._power, generator).to(
            self._centre.device
        )
        return _ClippedBlock(self._centre, self._radii, unit)


class _ClippedBlock:
    def __init__(self, centre: Tensor, radii: Tensor, unit: Tensor) -> None:
        self._centre, self._radii, self._unit = centre, radii, unit

    def prepare(self) -> Iterator[None]:
        return iter(())

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        return torch.addcmul(
            self._centre, self._radii[zones, None, None], self._unit[rows], out=out
        ).clamp_(0, 1)


class HitAndRunCloud(_BallCloud):
    """Uniform in ball ∩ cube; every radius runs its chains with the same random numbers."""

    def block(self, start: int, stop: int, zones: Tensor) -> Block:
        generator = stretch_generator(self._seed, start, self._centre.device)
        return _HitAndRunBlock(
            self._centre, self._radii[zones], zones, self._power, stop - start, generator
        )


class _HitAndRunBlock:
    """Chains ``(d, Z, n)``: one coordinate of all chains is contiguous in memory."""

    def __init__(
        self,
        centre: Tensor,
        radii: Tensor,
        zones: Tensor,
        power: Power,
        count: int,
        generator: torch.Generator,
    ) -> None:
        place = generator.device
        self._zones = zones
        self._target = centre.device
        self._low = -centre[0].to(place)
        self._high = 1 - centre[0].to(place)
        self._power = power
        self._generator = generator
        # radius^power: what the sum of |t|^power may use up. In double precision, since many
        # coordinates subtract from it.
        self._budget = radii.to(place, torch.float64)[:, None] ** power
        self._count = count
        self._offsets = self._start()

    # The chains run between yields, before anything is asked of the model.
    def prepare(self) -> Iterator[None]:
        for _ in range(SWEEPS):
            yield from self._sweep()

    def at(self, zones: Tensor, rows: slice = EVERY, out: Tensor | None = None) -> Tensor:
        # The chains hold only the zones of this block; the caller speaks of zones by their number.
        places = torch.searchsorted(self._zones, zones)
        offsets = self._offsets[:, :, rows].to(self._target)[:, places].permute(1, 2, 0)
        return torch.sub(offsets, self._low.to(self._target), out=out).clamp_(0, 1)

    def _start(self) -> Tensor:
        """The product law closest to the uniform one in many dimensions, scaled to a ball's norms.

        Every coordinate has density exp(-|t / scale|^power) on its room; the scale matches the mean
        norm to the ball's. If the cube does not cut the ball (or cuts it through the centre) this
        is already the uniform law.
        """
        # Two half-lines per coordinate, below and above the input:
        # how likely is each, and where on it.
        below, above = (room.double()[:, None] for room in (-self._low, self._high))
        scale = product_scale(below, above, self._budget[:, 0], self._power)
        share = _mass(below, scale, self._power) / (
            _mass(below, scale, self._power) + _mass(above, scale, self._power)
        )
        u = self._uniform(len(self._low), 1, self._count)
        share, below, above, scale = (
            t[..., None].to(u.dtype) for t in (share, below, above, scale)
        )
        down = u < share
        room = torch.where(down, below, above)
        depth = torch.where(
            down, (share - u) / share.clamp_min(1e-30), (u - share) / (1 - share).clamp_min(1e-30)
        )
        size = torch.minimum(_quantile(depth.clamp(0, 1), room, scale, self._power), room)
        # The radial law of a uniform ball in d dimensions: u^(1/d). Just inside, so rounding keeps
        # it in.
        radial = self._uniform(1, self._count).double().pow(1 / len(self._low)).mul(1 - 1e-6)
        # Puts each start at the distance that a uniform point of the ball would have.
        factor = radial * (self._budget / size.pow(self._power).sum(0, dtype=torch.float64)).pow(
            1 / self._power
        )
        # At most doubled: where the cube cuts off most of the ball the budget cannot be used up.
        size = torch.minimum(size * factor.clamp_max(2).to(u.dtype), room)
        return torch.where(down, -size, size)

    def _sweep(self) -> Iterator[None]:
        u = self._uniform(len(self._low), 1, self._count)
        # Recomputed in each sweep: the running difference below would drift.
        slack = self._budget - self._offsets.abs().pow_(self._power).sum(0, dtype=torch.float64)
        slack = slack.clamp_min_(0).to(u.dtype)
        for i in range(len(u)):
            coordinate = self._offsets[i]
            free = slack + coordinate.abs().pow(self._power)
            chord = free.pow(1 / self._power)
            # Uniform on the chord through the point along this axis, cut by the cube.
            drawn = torch.lerp(
                (-chord).clamp_min(self._low[i]), chord.clamp_max(self._high[i]), u[i]
            )
            slack = (free - drawn.abs().pow(self._power)).clamp_min_(0)
            self._offsets[i] = drawn
            # A few milliseconds of work between two yields.
            if i % 64 == 63:
                yield

    def _uniform(self, *size: int) -> Tensor:
        return torch.rand(size, generator=self._generator, device=self._generator.device)


def product_scale(below: Tensor, above: Tensor, budget: Tensor, power: Power) -> Tensor:
    """Scale ``(Z,)`` at which the mean of sum |t|^power over the product law is the budget.

    At most 100, almost uniform.

    Args:
        below: ``(d, 1)`` room under the centre, in [0, 1].
        above: ``(d, 1)`` room over it.
        budget: ``(Z,)`` radius to the power.
        power: The norm.
    """
    low, high = torch.full_like(budget, 1e-6), torch.full_like(budget, 100.0)
    for _ in range(60):
        # Bisection on a logarithmic scale: 60 halvings of eight decades leave no digit of a double.
        scale = (low * high).sqrt()
        moments = _moment(below, scale, power) + _moment(above, scale, power)
        mean = (moments / (_mass(below, scale, power) + _mass(above, scale, power))).sum(0)
        low, high = torch.where(mean < budget, scale, low), torch.where(mean < budget, high, scale)
    return high


def _mass(room: Tensor, scale: Tensor, power: Power) -> Tensor:
    """Integral of exp(-(t/scale)^power) over [0, room]."""
    if power == 1:
        # expm1 and log1p keep the digits of a room that is small beside the scale.
        return -scale * torch.expm1(-room / scale)
    return torch.erf(room / scale) * scale * (math.sqrt(math.pi) / 2)


def _moment(room: Tensor, scale: Tensor, power: Power) -> Tensor:
    """Integral of t^power exp(-(t/scale)^power) over [0, room]."""
    edge = room * torch.exp(-((room / scale) ** power))
    if power == 1:
        return scale * (_mass(room, scale, 1) - edge)
    return scale.square() / 2 * (_mass(room, scale, 2) - edge)


def _quantile(share: Tensor, room: Tensor, scale: Tensor, power: Power) -> Tensor:
    """The t in [0, room] below which ``share`` of the mass lies."""
    if power == 1:
        return -scale * torch.log1p(share * torch.expm1(-room / scale))
    return scale * torch.erfinv(share * torch.erf(room / scale))


def unit_ball(count: int, dims: int, power: Power, generator: torch.Generator) -> Tensor:
    """Uniform points ``(count, dims)`` of the unit ball.

    With density exp(-|t|^power) in every coordinate the direction is uniform in the ball's sense,
    and one more exponential number in the norm sets the distance (Barthe, Guédon, Mendelson and
    Naor, 2005).
    """
    device = generator.device
    extra = torch.empty((count, 1), device=device).exponential_(generator=generator)
    if power == 2:
        t = torch.randn((count, dims), generator=generator, device=device) / 2**0.5
        return t / (t.square().sum(1, keepdim=True) + extra).sqrt()
    t = torch.empty((count, dims), device=device).exponential_(generator=generator)
    sign = torch.rand((count, dims), generator=generator, device=device).sub_(0.5).sign_()
    return sign * t / (t.sum(1, keepdim=True) + extra)
