"""Random numbers: one stream per lane, drawn by another thread while the model answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.kernel import Bound
from robgui.core.errors import ParamsError

#: Numbers drawn for one lane at a time. Fixed, which makes a lane's random numbers independent of
#: the batch.
_DRAWN = 8192
#: Most redraws of a point; a condition that holds for one in fifty needs a thousand draws for a
#: million points.
_MOST_TRIES = 2000


class Streams:
    """One stream of random numbers per lane.

    A lane depends on neither its neighbours nor the batch.

    Normal numbers are drawn on the device, with the particles; uniform ones on the host, where
    choices are made.

    Attributes:
        device: Where the particles are.

    Args:
        seed: Seed of the run.
        device: Where the particles are.
        spread: Standard deviation of the normal numbers.
    """

    def __init__(self, seed: int, device: torch.device, spread: float) -> None:
        self._seed, self.device, self._spread = seed, device, spread
        self._normal: dict[int, torch.Generator] = {}
        self._uniform: dict[int, np.random.Generator] = {}

    def open(self, lane: int) -> None:
        """Starts the stream of a lane."""
        start = np.random.SeedSequence([self._seed, lane])
        self._normal[lane] = torch.Generator(self.device).manual_seed(
            int(start.generate_state(1, np.uint64)[0]) >> 1
        )
        # A child sequence: uniform and normal numbers of a lane are independent.
        self._uniform[lane] = np.random.default_rng(start.spawn(1)[0])

    def close(self, lane: int) -> None:
        """Forgets the stream of a lane that has ended."""
        del self._normal[lane], self._uniform[lane]

    def normal(self, lanes: Sequence[int], *size: int) -> Tensor:
        """Normal numbers ``(lanes, *size)``."""
        out = torch.empty((len(lanes), *size), device=self.device)
        self.fill(lanes, out, [1.0] * len(lanes))
        return out

    def fill(self, lanes: Sequence[int], out: Tensor, sizes: Sequence[float]) -> None:
        """Fills ``out (lanes, …)`` with normal numbers, scaled by ``sizes[i]`` for lane i."""
        for lane, part, factor in zip(lanes, out.unbind(), sizes, strict=True):
            part.normal_(0.0, factor * self._spread, generator=self._normal[lane])

    def normal_inside(
        self, lanes: Sequence[int], count: int, dim: int, inside: Bound | None
    ) -> Tensor:
        """Normal points ``(lanes, count, dim)``, drawn again until all are ``inside``.

        Args:
            lanes: The lanes.
            count: Points of each.
            dim: Dimensions.
            inside: Points ``(lanes * count, dim)`` -> which are wanted; None for all.
        """
        points = self.normal(lanes, count, dim)
        if inside is None:
            return points
        # Rejection: only points outside are replaced, but a whole set is drawn for a lane, so what
        # it draws does not depend on how its neighbours fare.
        for _ in range(_MOST_TRIES):
            outside = ~inside(points.flatten(0, 1)).reshape(len(lanes), count)
            again = outside.any(1).nonzero()[:, 0].tolist()
            if not again:
                return points
            drawn = self.normal([lanes[place] for place in again], count, dim)
            for place, fresh in zip(again, drawn, strict=True):
                points[place] = torch.where(outside[place, :, None], fresh, points[place])
        raise ParamsError(
            "The noise consists of points that are too hard to come by; take another kind or size"
            " of noise."
        )

    def uniform(self, lanes: Sequence[int], *size: int) -> np.ndarray:
        """Uniform numbers ``(lanes, *size)``, double precision."""
        out = np.empty((len(lanes), *size))
        for lane, part in zip(lanes, out, strict=True):
            self._uniform[lane].random(out=part)
        return out


class Drawn(NamedTuple):
    """The numbers that lanes use in a round.

    Attributes:
        uniform: ``(lanes, t + 1, K)`` uniform numbers.
        leaps: ``(lanes, leaps, K)`` uniform numbers for where leaps lead.
        noise: ``(lanes, stretch, K, dim)`` g of the first moves.
    """

    uniform: np.ndarray
    leaps: np.ndarray
    noise: Tensor


class Rounds:
    """The numbers for rounds of t moves, drawn some moves ahead.

    Attributes:
        coming: What the lanes of the last round take first in their next one, see ``first``; there
            once ``noise`` has given everything.

    Args:
        streams: Where the numbers come from.
        dim: Latent dimensions.
        steps: t.
        kill: K.
        leaps: How many of the moves are leaps.
    """

    def __init__(self, streams: Streams, dim: int, steps: int, kill: int, leaps: int = 0) -> None:
        self._streams, self._dim, self._steps, self._kill = streams, dim, steps, kill
        self._leaps = leaps
        # A fixed number per lane, not per batch: the stretch decides which draw a number belongs
        # to.
        self._stretch = max(1, min(steps, _DRAWN // (kill * dim)))
        # Two, by turns: one is filled while the other is used up. Fresh memory for every stretch
        # would cost as much as the numbers in it.
        self._memory = [torch.empty(0, device=streams.device) for _ in range(2)]
        # One thread: each stream must be drawn from in order.
        self._other = ThreadPoolExecutor(1)

    @torch.inference_mode()
    def first(self, lanes: Sequence[int]) -> Drawn:
        """The first numbers of a round for these lanes, in memory of their own."""
        noise = torch.empty(self._size(lanes, self._stretch), device=self._streams.device)
        return self._first(lanes, noise)

    def noise(self, lanes: Sequence[int], sizes: np.ndarray, first: Tensor) -> Iterator[Tensor]:
        """The noise s g / sqrt(1 + s²) of every move ``(lanes * K, dim)``.

        Args:
            lanes: The lanes.
            sizes: ``(lanes,)`` s.
            first: See ``first``; scaled in place.
        """
        factors = sizes / np.sqrt(1 + sizes * sizes)
        counts = [
            min(self._stretch, self._steps - done)
            for done in range(self._stretch, self._steps, self._stretch)
        ]
        # The first stretch was drawn before its sizes were known; later ones are scaled as they are
        # drawn.
        scaling = torch.from_numpy(factors).to(first.device, first.dtype).reshape(-1, 1, 1, 1)
        made = _by_move(first.mul_(scaling))
        for count in counts:
            # Drawn by the other thread while the model answers for the current stretch.
            more = self._other.submit(self._more, lanes, factors.tolist(), count)
            yield from made
            made = more.result()
        # The next round's first numbers too: a round then starts without waiting.
        coming = self._other.submit(self._coming, lanes)
        yield from made
        self.coming = coming.result()

    def close(self) -> None:
        """Ends the drawing thread after its current draw."""
        self._other.shutdown()

    @torch.inference_mode()
    def _more(self, lanes: Sequence[int], sizes: Sequence[float], count: int) -> Sequence[Tensor]:
        noise = self._spare(lanes, count)
        self._streams.fill(lanes, noise, sizes)
        return _by_move(noise)

    @torch.inference_mode()
    def _coming(self, lanes: Sequence[int]) -> Drawn:
        return self._first(lanes, self._spare(lanes, self._stretch))

    def _first(self, lanes: Sequence[int], noise: Tensor) -> Drawn:
        first = self._steps + 1
        uniform = self._streams.uniform(lanes, first + self._leaps, self._kill)
        self._streams.fill(lanes, noise, [1.0] * len(lanes))
        return Drawn(uniform[:, :first], uniform[:, first:], noise)

    def _spare(self, lanes: Sequence[int], count: int) -> Tensor:
        """The memory that is not in use, for the noise of ``count`` moves."""
        self._memory.reverse()
        size = self._size(lanes, count)
        if len(self._memory[0]) < math.prod(size):
            self._memory[0] = torch.empty(math.prod(size), device=self._streams.device)
        return self._memory[0][: math.prod(size)].view(size)

    def _size(self, lanes: Sequence[int], count: int) -> tuple[int, ...]:
        return len(lanes), count, self._kill, self._dim


def _by_move(noise: Tensor) -> Sequence[Tensor]:
    """``(lanes, moves, K, dim)`` noise as ``(lanes * K, dim)`` for each move; no copy if K is 1."""
    return noise.transpose(0, 1).flatten(1, 2).unbind()
