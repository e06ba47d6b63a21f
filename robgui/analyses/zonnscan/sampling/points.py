"""Base points in the unit cube, the same for every zone (common random numbers).

Points come in rows of ``lanes``: the lanes of one row belong together (an antithetic pair, or one
Sobol point under independent scramblings). Any stretch of rows can be drawn at any time, and it
depends only on the seed and on where the stretch starts, never on the batch size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache
from typing import Protocol

import numpy as np
import torch
from scipy.stats import qmc
from torch import Tensor

from robgui.analyses.zonnscan.zone import Sampler
from robgui.core.devices import to_device
from robgui.core.model.randomness import HOST

#: Dimensions for which direction numbers are published (Joe and Kuo, 2008; scipy and torch carry
#: the same table).
SOBOL_DIMENSIONS = 21_201
#: Independent replicates of the Sobol points: 31 degrees of freedom cost 4 % of width against a
#: normal interval.
SOBOL_REPLICATES = 32
#: Points per zone in the first round: 1 in each of 32 Sobol replicates.
FIRST_ROUND = 32
#: Digits that scipy computes; it makes at most 2^30 points, and only _DIGITS of each are used.
_BITS = 30
#: Binary digits of a Sobol point that are kept: enough for 65,536 points in each replicate.
_DIGITS = 16
#: Numbers scrambled at once: few enough to stay in a CPU's cache between operations, and for torch
#: to run each operation on one thread. Otherwise eight short operations in turn would wait for all
#: threads eight times, which costs more than the work.
_AT_ONCE = 2**15 - 1


class Points(Protocol):
    """Points ``u`` in [0, 1]^dims, numbered from 0."""

    lanes: int

    def draw(self, start: int, stop: int) -> Tensor:
        """Points ``start … stop - 1`` as ``(stop - start, dims)``.

        Both are multiples of ``lanes``.
        """
        ...


class PlainPoints:
    """Independent uniform points."""

    lanes = 1

    def __init__(self, dims: int, seed: int, device: torch.device) -> None:
        self._dims = dims
        self._seed = seed
        self._device = device

    def draw(self, start: int, stop: int) -> Tensor:
        generator = stretch_generator(self._seed, start, self._device)
        return torch.rand(
            (stop - start, self._dims), generator=generator, device=generator.device
        ).to(self._device)


class AntitheticPoints:
    """Pairs ``u, 1 - u``: anything linear in the input cancels."""

    lanes = 2

    def __init__(self, dims: int, seed: int, device: torch.device) -> None:
        self._plain = PlainPoints(dims, seed, device)

    def draw(self, start: int, stop: int) -> Tensor:
        # A row holds two samples, so sample numbers are halved to number the points they come from.
        u = self._plain.draw(start // 2, stop // 2)
        # Both of a pair stand next to each other: a row is a pair.
        return torch.stack([u, 1 - u], 1).flatten(0, 1)


class SobolPoints:
    """Sobol points under 32 independent nested scramblings: replicates that are near normal.

    With one linear scrambling shared by all replicates and a digital shift of each, the error of a
    replicate takes only a handful of values in few dimensions, which suits Student's interval
    badly. Nested scrambling (Owen, 1995) flips every digit by a coin that depends on the digits
    before it; here the coin is a hash of the reversed digits in which a bit depends on the bits
    below it only (Laine and Karras, 2011; constants of Vegdahl, 2021). Digits beyond the first 16
    tell no two points of a replicate apart and are any bits of the hash.
    """

    lanes = SOBOL_REPLICATES

    def __init__(self, dims: int, seed: int, device: torch.device) -> None:
        generator = np.random.default_rng(seed)
        # Keys for every replicate and dimension: each scrambles independently of all others.
        keys = generator.integers(-(2**31), 2**31, size=(2, 1, self.lanes, dims), dtype=np.int32)
        self._shift, self._factor = torch.from_numpy(keys).to(device)
        # An odd factor is invertible modulo 2^32: no two points collapse.
        self._factor |= 1
        self._sequence = qmc.Sobol(dims, scramble=False, bits=_BITS)
        self._digits = torch.empty((0, dims), dtype=torch.int32, device=device)
        self._reverse = torch.from_numpy(
            _reversed_bits().astype(np.float32) * np.float32(2.0**-_DIGITS)
        ).to(device)

    def draw(self, start: int, stop: int) -> Tensor:
        first, last = start // self.lanes, stop // self.lanes
        self._extend(last)
        points = torch.empty(
            (last - first, self.lanes, self._digits.shape[1]), device=self._digits.device
        )
        few = max(1, _AT_ONCE // points[:1].numel())
        for i in range(0, len(points), few):
            self._scramble(
                self._digits[first + i : min(first + i + few, last)], points[i : i + few]
            )
        return points.flatten(0, 1)

    def _scramble(self, digits: Tensor, points: Tensor) -> None:
        """Fills ``points (n, lanes, dims)`` with every scrambling of the ``digits (n, dims)``."""
        # Laine and Karras's hash on reversed digits: a bit depends only on lower bits, which after
        # reversal are the more significant digits.
        hashed = (digits[:, None] + self._shift).mul_(self._factor)
        hashed ^= hashed * 0x05526C56
        hashed ^= hashed * 0x53A22864
        torch.index_select(self._reverse, 0, (hashed & 0xFFFF).flatten(), out=points.view(-1))
        # Eight more bits below the sixteen digits: without them values would repeat in steps of
        # 2^-16.
        points.add_((hashed >> 16).bitwise_and_(0xFF), alpha=2.0**-24)

    def _extend(self, count: int) -> None:
        """Draws the sequence up to ``count`` points, in powers of two to keep its balance."""
        while len(self._digits) < count:
            # Doubling: the sequence stays balanced at powers of two.
            more = self._sequence.random(max(1, len(self._digits)))
            reverse = _reversed_bits()[(more * 2**_DIGITS).astype(np.int32)]
            digits = to_device(torch.from_numpy(reverse), self._digits.device)
            # The part of the hash that does not depend on the replicate is done once.
            self._digits = torch.cat([self._digits, digits ^ digits * 0x3D20ADEA])


@cache
def _reversed_bits() -> np.ndarray:
    """Every number of 16 bits with its bits in reverse order."""
    numbers = np.arange(2**_DIGITS, dtype=np.int32)
    reverse = np.zeros_like(numbers)
    for _ in range(_DIGITS):
        numbers, reverse = numbers >> 1, reverse << 1 | numbers & 1
    return reverse


def base_points(
    sampler: Sampler, dims: int, samples: int, seed: int, device: torch.device
) -> tuple[Points, Sampler, str]:
    """The points, their sampler, and a sentence if another one was asked for."""
    note = _why_plain(sampler, dims, samples)
    if note or sampler == "plain":
        return PlainPoints(dims, seed, device), "plain", note
    kind = SobolPoints if sampler == "sobol" else AntitheticPoints
    return kind(dims, seed, device), sampler, ""


def _why_plain(sampler: Sampler, dims: int, samples: int) -> str:
    if sampler == "sobol" and dims > SOBOL_DIMENSIONS:
        return (
            f"Sobol points end at {SOBOL_DIMENSIONS:,} dimensions and this input has {dims:,}:"
            " plain sampling is used."
        )
    # Each replicate needs two points before its mean says anything of its spread.
    if sampler == "sobol" and samples < 2 * SOBOL_REPLICATES:
        return (
            f"Sobol points need at least {2 * SOBOL_REPLICATES} samples, not {samples}: plain"
            " sampling is used."
        )
    if sampler == "antithetic" and samples < 2:
        return "An antithetic pair needs 2 samples: plain sampling is used."
    return ""


def block_size(dims: int) -> int:
    """How many points are made at once.

    At most 4 million numbers, a power of two, independent of the batch.
    """
    # A power of two ends each stretch where a Sobol sequence is balanced.
    return 1 << int(math.log2(min(1024, max(SOBOL_REPLICATES, 2**22 // dims))))


def round_ends(cap: int) -> Iterator[int]:
    """Points of a zone after each round: 32, 64, 96 and so on, 256, 320, 384.

    A quarter of the last power of two is added, so an early stop overshoots little.
    """
    stop = min(FIRST_ROUND, cap)
    while stop < cap:
        yield stop
        stop = min(stop + max(FIRST_ROUND, (1 << stop.bit_length()) // 8), cap)
    yield stop


def stretches(cap: int, size: int) -> Iterator[list[tuple[int, int]]]:
    """Rounds of stretches ``(start, stop)`` over ``cap`` points, each at most ``size`` long."""
    start = 0
    for stop in round_ends(cap):
        yield [(first, min(first + size, stop)) for first in range(start, stop, size)]
        start = stop


def stretch_generator(seed: int, start: int, device: torch.device) -> torch.Generator:
    """Random numbers of the stretch that begins at ``start``, the same however often it is drawn.

    The first stretch is drawn on the host: any machine can redraw the samples that a panel shows.
    """
    # Only the first stretch: panels redraw its samples on machines without this device.
    place = HOST if start == 0 else device
    # A SeedSequence spreads neighbouring seeds and starts over unrelated streams.
    high, low = np.random.SeedSequence([seed, start]).generate_state(2, np.uint32).tolist()
    return torch.Generator(place).manual_seed(int(high) << 32 | int(low))
