"""Noise as a push-forward of a Gaussian latent point, so one kernel serves every kind of noise.

box: Φ(z) mapped onto the L∞ ball within the bounds (uniform there). clip: uniform in the whole L∞
ball, then cut off at the bounds. l2: the first d coordinates of a normalised (d + 2)-vector are
uniform in the unit ball; then cut off. ball: uniform in ball ∩ bounds, see ``ball``. gaussian:
x + σ z. smooth, light, jpeg: see ``images``.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from robgui.analyses.last_particle.noise.ball import CutBall
from robgui.analyses.last_particle.noise.images import compressed, light, smooth
from robgui.analyses.last_particle.params import Noise
from robgui.analyses.last_particle.particles.kernel import Bound

#: How far towards the edge of the noise a latent point is placed.
_NEARLY = 0.95


class Prior:
    """The noise around n inputs, for P pairs of an input and a size.

    Attributes:
        dim: Latent dimensions.
        spread: Standard deviation of the latent points: 1, or sqrt(1/2) where erf makes them
            uniform without a factor.
        noise: Kind of noise.
        smooth: Whether gradients with respect to the latent point are informative.

    Args:
        noise: Kind of noise.
        inputs: ``(n, *shape)`` in [0, 1].
        sizes: ``(P,)`` size of the noise of each pair.
        owner: ``(P,)`` input of each pair.
        scale: ``(*shape)`` or what broadcasts to it: multiplies the size, 0 for a frozen feature.
        bounds: Lowest and highest values, each as ``scale``; None for no bounds.
        grid: First value, step and mask of features rounded after the noise, each as ``scale``;
            None for none.
        lengths: ``(n,)`` points of each sequence; the padding repeats the last point. None for no
            padding.
        blur: Width of the blotches of smooth noise, in pixels.
    """

    def __init__(
        self,
        noise: Noise,
        inputs: Tensor,
        sizes: Tensor,
        owner: Tensor,
        *,
        scale: Tensor,
        bounds: tuple[Tensor, Tensor] | None,
        grid: tuple[Tensor, Tensor, Tensor] | None = None,
        lengths: Tensor | None = None,
        blur: float = 2.0,
    ) -> None:
        self.noise, self._inputs, self._sizes, self._owner = noise, inputs, sizes, owner
        self._shape = tuple(inputs.shape[1:])
        self._scale = scale.expand(self._shape)
        if bounds is None:
            self._bounds = None
        else:
            self._bounds = (bounds[0].expand(self._shape), bounds[1].expand(self._shape))
        self._grid = grid
        self._lengths = lengths
        self._blur = blur
        self._values = math.prod(self._shape)
        self.dim = {"l2": self._values + 2, "ball": self._values + 2, "light": 2, "jpeg": 1}.get(
            noise, self._values
        )
        if noise in ("box", "clip"):
            # erf(z) is uniform on (-1, 1) if z has variance 1/2, which saves a factor on every
            # number.
            self.spread = math.sqrt(0.5)
        else:
            self.spread = 1.0
        self.smooth = noise not in ("jpeg", "ball")
        self._cut_ball = self._cutting() if noise == "ball" else None

    def bind(self, pairs: Tensor, *, fresh: bool = False) -> Bound:
        """A map of latent points ``(n, dim)`` to inputs, row i around the input of ``pairs[i]``.

        What it returns is overwritten by the next call, unless ``fresh``: then gradients flow, and
        in a ball only the direction of the latent point and its usual length count.
        """
        owner = self._owner[pairs]
        reach = self._scale * self._sizes[pairs].reshape(-1, *(1 for _ in self._shape))
        raw = self._raw(self._inputs[owner], reach, pairs, fresh)
        after = self._after(owner)
        if after is None:
            return raw
        return lambda latent: after(raw(latent))

    def inside(self, pairs: Tensor) -> Bound | None:
        """Latent points ``(n, dim)`` -> which of them belong to the noise ``(n,)``.

        None if all do.
        """
        return None if self._cut_ball is None else self._cut_ball.inside(pairs)

    def _raw(self, x: Tensor, reach: Tensor, pairs: Tensor, fresh: bool) -> Bound:
        out = None if fresh else torch.empty_like(x)
        if self.noise == "box":
            assert self._bounds is not None
            # Uniform on ball ∩ bounds. The authors clip instead (``clip``), which puts a share of
            # the noise on the bounds themselves: another law, and other answers.
            # An input outside the bounds is not pulled in: the noise only leads from it towards
            # them.
            low = torch.maximum(x - reach, torch.minimum(self._bounds[0], x))
            high = torch.minimum(x + reach, torch.maximum(self._bounds[1], x))
            return _uniform((low + high) / 2, (high - low) / 2, out)
        if self.noise == "clip":
            return self._cut(_uniform(x, reach, out))
        if self.noise == "l2":
            return self._cut(self._ball(x, reach, self._owner[pairs], out))
        if self._cut_ball is not None:
            points = self._cut_ball.offsets(pairs)
            return lambda latent: torch.addcmul(x, reach, points(latent).reshape(x.shape), out=out)
        if self.noise == "smooth":
            return self._cut(smooth(x, reach, self._blur))
        if self.noise == "light":
            return self._cut(light(x, reach))
        if self.noise == "jpeg":
            return compressed(x, self._sizes[pairs].clamp_max(1))
        return self._cut(lambda latent: torch.addcmul(x, reach, latent.reshape(x.shape), out=out))

    def _cutting(self) -> CutBall:
        """The room of every value, in units of the radius."""
        assert self._bounds is not None
        pairs = torch.arange(len(self._sizes), device=self._inputs.device)
        x, reach, free = self.limits(pairs)
        room = reach.clamp_min(torch.finfo(x.dtype).tiny)
        low = ((self._bounds[0] - x) / room).clamp(-1, 0) * free
        high = ((self._bounds[1] - x) / room).clamp(0, 1) * free
        return CutBall(low.flatten(1), high.flatten(1))

    def _ball(self, x: Tensor, reach: Tensor, owner: Tensor, out: Tensor | None) -> Bound:
        free = (self._scale > 0).to(x.dtype).expand_as(x)
        if self._lengths is not None:
            free = free * self._real(owner)
        free = free.flatten(1)

        def inputs(latent: Tensor) -> Tensor:
            moved = latent[:, : self._values] * free
            # Two extra coordinates make the first d uniform in the ball, not on the sphere.
            norm = (moved.square().sum(1) + latent[:, self._values :].square().sum(1)).sqrt()
            # For a search among directions: at their usual length they are nearly normal.
            if out is None:
                norm = (free.sum(1) + 2).sqrt()
            return torch.addcmul(x, reach, (moved / norm[:, None]).reshape(x.shape), out=out)

        return inputs

    def _cut(self, raw: Bound) -> Bound:
        if self._bounds is None:
            return raw
        low, high = self._bounds
        return lambda latent: torch.minimum(torch.maximum(raw(latent), low), high)

    def _after(self, owner: Tensor) -> Bound | None:
        """Applies rounding and padding, if any."""
        steps = [step for step in (self._rounding(), self._padding(owner)) if step is not None]
        if len(steps) == 2:
            return lambda x: steps[1](steps[0](x))
        if steps:
            return steps[0]
        return None

    def _rounding(self) -> Bound | None:
        if self._grid is None:
            return None
        first, step, mask = self._grid
        return lambda x: torch.where(mask, (((first + x * step).round() - first) / step), x)

    def _padding(self, owner: Tensor) -> Bound | None:
        if self._lengths is None:
            return None
        last = (self._lengths[owner] - 1).clamp_min(0)
        # Every point after the last real one repeats it.
        frame = torch.minimum(torch.arange(self._shape[0], device=owner.device), last[:, None])[
            :, :, None
        ].expand(-1, -1, self._shape[1])
        return lambda x: x.gather(1, frame)

    def _real(self, owner: Tensor) -> Tensor:
        """1 at the points of a sequence, 0 in its padding: ``(n, T, 1)``."""
        assert self._lengths is not None
        points = torch.arange(self._shape[0], device=owner.device)
        return (points < self._lengths[owner][:, None]).to(self._inputs.dtype)[:, :, None]

    def limits(self, pairs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Input, reach and free mask of each pair, each ``(n, *shape)``, to search the noise."""
        owner = self._owner[pairs]
        x = self._inputs[owner]
        reach = (self._scale * self._sizes[pairs].reshape(-1, *(1 for _ in self._shape))).expand_as(
            x
        )
        free = (reach > 0).to(x.dtype)
        return x, reach, free if self._lengths is None else free * self._real(owner)

    def latent_of(self, x: Tensor, pairs: Tensor) -> Tensor | None:
        """Latent points ``(n, dim)`` that nearly produce the inputs ``x`` within the noise.

        Box and clip noise only, None for the others; never at the edge of the noise, which no
        latent point reaches.
        """
        if self.noise not in ("box", "clip"):
            return None
        middle, reach, _ = self.limits(pairs)
        share = (x - middle) / reach.clamp_min(torch.finfo(x.dtype).tiny)
        # erf reaches 1 only at infinity: the edge itself has no latent point.
        return torch.erfinv(share.clamp(-_NEARLY, _NEARLY)).flatten(1)

    def settled(self, x: Tensor, pairs: Tensor) -> Tensor:
        """Inputs ``(n, *shape)`` clamped, rounded and padded as the noise would leave them."""
        if self._bounds is not None:
            x = torch.minimum(torch.maximum(x, self._bounds[0]), self._bounds[1])
        after = self._after(self._owner[pairs])
        if after is None:
            return x
        return after(x)


def _uniform(middle: Tensor, half: Tensor, out: Tensor | None) -> Bound:
    """Computes middle + half (2 Φ(√2 z) - 1) = middle + half erf(z), in one buffer if given."""
    if out is None:
        return lambda latent: torch.addcmul(middle, half, torch.erf(latent).reshape(middle.shape))
    flat = out.flatten(1)

    def inputs(latent: Tensor) -> Tensor:
        torch.erf(latent, out=flat)
        return torch.addcmul(middle, half, out, out=out)

    return inputs
