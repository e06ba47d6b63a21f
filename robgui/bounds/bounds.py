"""CROWN bounds (the same as DeepPoly's): linear lower bounds of the scores, pulled back to the
box of inputs.

Zhang et al., "Efficient neural network robustness certification with general activation functions"
(2018), and Singh et al., "An abstract domain for certifying neural networks" (2019). Interval
arithmetic comes first and is never given up: every bound is the better of the two, and only numbers
whose sign intervals leave open are bounded again.

The model rounds after every operation. Its results differ from the exact ones by an unknown error
of known size (``rounding``), which is bounded like a further input: so the bounds hold for what the
model computes in single precision, whatever the order of its sums.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.bounds.network import (
    Affine,
    Largest,
    Network,
    Operation,
    Rectifier,
    Steps,
    alone,
    doubled,
    evaluate,
    windows,
)
from robgui.bounds.rounding import LARGEST, roundings
from robgui.core.devices import to_device, to_host

#: Numbers held at once for the bounds of a chunk of inputs (128 MB in double precision).
_HELD = 16_000_000
#: Numbers in the rows of coefficients pulled back together: few enough to stay near the processor.
_HELD_ROWS = 1_000_000
#: Work on the bounds of one layer, in coefficients pulled back per input (about a second); beyond
#: it the least sure numbers are bounded by lines and intervals have to do for the rest.
MOST_WORK = 60_000_000


#: Which input each row of coefficients belongs to; a slice where it is one for all.
Owners = Tensor | slice


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Lines below and above a rectifier or a largest value, for every input of a chunk.

    The result lies above ``low·x`` and below ``high·x + lift``; ``low`` and ``high`` are ``(n,
    *shape)``, for a largest value ``(n, numbers, k)``; ``lift`` is ``(n, numbers)``.
    """

    low: Tensor
    high: Tensor
    lift: Tensor


@dataclass(frozen=True, slots=True)
class Bounds:
    """What holds for n boxes of inputs.

    Attributes:
        lower: ``(n, m)`` lower bounds of the weighted scores.
        scores_low: ``(n, scores)`` lower bounds of the scores.
        scores_high: Upper bounds.
    """

    lower: Tensor
    scores_low: Tensor
    scores_high: Tensor


def bounds_of(
    network: Network,
    low: Tensor,
    high: Tensor,
    weights: Tensor,
    *,
    refine: bool = True,
) -> Steps[Bounds]:
    """Lower bounds ``(n, m)`` of ``weights``·scores over boxes of inputs; yields now and then.

    Args:
        network: What computes the scores.
        low: Lower corners ``(n, *shape)``.
        high: Upper corners.
        weights: Coefficients of the scores ``(n, m, scores)``.
        refine: Bounds by lines what intervals leave open in between; points need no such thing.
    """
    numbers = sum(math.prod(shape) for shape in network.shapes)
    size = max(1, _HELD // (5 * numbers))
    given = (torch.split(doubled(each, network.device), size) for each in (low, high, weights))
    parts = []
    for a, b, w in zip(*given, strict=True):
        parts.append((yield from _Chunk(network, a, b, refine=refine).bounds(w)))
    fields = (torch.cat(each) for each in zip(*parts, strict=True))
    return Bounds(*fields)


class _Chunk:
    """Bounds of every value of the network for a few inputs at once."""

    def __init__(self, network: Network, low: Tensor, high: Tensor, *, refine: bool) -> None:
        self._network = network
        self._refines = refine
        self._low: list[Tensor] = [low]
        self._high: list[Tensor] = [high]
        self._rounding: list[Tensor | None] = [None]
        self._centre, self._radius = (
            (self._low[0] + self._high[0]) / 2,
            (self._high[0] - self._low[0]) / 2,
        )
        self._relaxed: dict[int, Relaxation] = {}
        self._exact = [
            2
        ]  # 2: any corner can be reached; 1: each number by itself is exact; 0: neither

    def bounds(self, weights: Tensor) -> Steps[tuple[Tensor, Tensor, Tensor]]:
        """Bounds of weights ``(n, m, scores)`` times the scores, and of the scores by themselves.

        Yields after every few rows pulled back.
        """
        for operation in self._network.operations:
            yield from self._advance(operation)
        place = self._network.output
        plain = (
            weights.clamp_min(0) @ self._low[place][..., None]
            + weights.clamp_max(0) @ self._high[place][..., None]
        )[..., 0]
        owners = torch.arange(len(weights), device=weights.device).repeat_interleave(
            weights.shape[1]
        )
        limit = self._rows(place)
        pieces = zip(
            torch.split(weights.flatten(0, 1), limit), torch.split(owners, limit), strict=True
        )
        lines = []
        for piece in pieces:
            lines.append(self._pull(place, *piece))
            yield
        lower = torch.maximum(plain, torch.cat(lines).reshape(plain.shape))
        return self._finite(lower), self._low[place], self._high[place]

    def _finite(self, lower: Tensor) -> Tensor:
        """No bounds where the model may overflow."""
        ends = (torch.maximum(-a, b).flatten(1) for a, b in zip(self._low, self._high, strict=True))
        largest = torch.stack([each.amax(1) for each in ends]).amax(0)
        return torch.where((largest < LARGEST)[:, None], lower, -torch.inf)

    def _advance(self, operation: Operation) -> Iterator[None]:
        if not isinstance(operation, Affine):
            place = operation.inputs[0]
            yield from self._refine(place, operation)
            self._relaxed[len(self._low)] = _relax(operation, self._low[place], self._high[place])
        lows, highs = ([ends[p] for p in operation.inputs] for ends in (self._low, self._high))
        low, high = _interval(operation, lows, highs)
        error = roundings(operation, lows, highs)
        self._low.append(low if error is None else low - error)
        self._high.append(high if error is None else high + error)
        self._rounding.append(error)
        exact = min(self._exact[p] for p in operation.inputs)
        self._exact.append(
            exact - operation.mixes
            if isinstance(operation, Affine) and len(operation.inputs) == 1
            else 0
        )

    def _refine(self, place: int, operation: Rectifier | Largest) -> Iterator[None]:
        """Bounds again, by lines, what intervals leave open at ``place``."""
        by_itself = isinstance(self._network.operations[place - 1], Rectifier)
        if not self._refines or self._exact[place] > 0 or by_itself:
            return
        low, high = self._low[place], self._high[place]
        before = sum(math.prod(shape) for shape in self._network.shapes[: place + 1])
        chosen = _least_sure(
            _undecided(operation, low, high), low, high, max(1, MOST_WORK // before)
        )
        (open_ones,) = to_host(chosen)
        better = [low.flatten(1).clone(), high.flatten(1).clone()]
        for owner in range(
            len(low)
        ):  # one input at a time: its lines serve all its rows without being copied
            places = torch.from_numpy(np.flatnonzero(open_ones[owner]))
            for numbers in torch.split(to_device(places, low.device), self._rows(place)):
                one = torch.zeros(
                    (len(numbers), chosen.shape[1]), dtype=low.dtype, device=low.device
                )
                one = one.scatter_(1, numbers[:, None], 1.0).reshape(
                    len(numbers), *self._network.shapes[place]
                )
                whose = slice(owner, owner + 1)
                better[0][owner, numbers] = torch.maximum(
                    better[0][owner, numbers], self._pull(place, one, whose)
                )
                better[1][owner, numbers] = torch.minimum(
                    better[1][owner, numbers], -self._pull(place, -one, whose)
                )
                yield
        self._low[place], self._high[place] = (each.reshape(low.shape) for each in better)

    def _rows(self, place: int) -> int:
        """How many rows of coefficients fit into memory on their way from ``place`` to the
        input.
        """
        return max(
            1, _HELD_ROWS // max(math.prod(shape) for shape in self._network.shapes[: place + 1])
        )

    def _pull(self, place: int, rows: Tensor, owners: Owners) -> Tensor:
        """Lower bounds ``(r,)`` of rows ``(r, *shape)`` times the value at ``place``.

        Row i belongs to input owners[i].
        """
        waiting = {place: rows}
        total = torch.zeros(len(rows), dtype=rows.dtype, device=rows.device)
        for here in range(place, 0, -1):
            if here not in waiting:
                continue
            coefficients, operation = waiting.pop(here), self._network.operations[here - 1]
            error = self._rounding[here]
            if error is not None:
                total -= (coefficients.flatten(1).abs() * error.flatten(1)[owners]).sum(1)
            if isinstance(operation, Affine):
                total += (coefficients * operation.offset).flatten(1).sum(1)
                pulled = _transposed(
                    operation, coefficients, [self._network.shapes[p] for p in operation.inputs]
                )
            else:
                below, lifted = _through(
                    operation,
                    coefficients,
                    self._relaxed[here],
                    owners,
                    self._network.shapes[operation.inputs[0]],
                )
                total += lifted
                pulled = [below]
            for source, part in zip(operation.inputs, pulled, strict=True):
                waiting[source] = waiting[source] + part if source in waiting else part
        if 0 in waiting:
            last = waiting[0].flatten(1)
            total += (last * self._centre.flatten(1)[owners]).sum(1) - (
                last.abs() * self._radius.flatten(1)[owners]
            ).sum(1)
        return total


def _interval(operation: Operation, low: list[Tensor], high: list[Tensor]) -> tuple[Tensor, Tensor]:
    if not isinstance(operation, Affine):
        return evaluate(operation, *low), evaluate(operation, *high)
    if operation.spread is not None:
        centre, radius = (
            operation.apply((low[0] + high[0]) / 2),
            operation.spread((high[0] - low[0]) / 2),
        )
        return centre - radius, centre + radius
    lowest = highest = operation.offset
    for i in range(len(operation.inputs)):
        ends = [operation.apply(*alone(values, i)) - operation.offset for values in (low, high)]
        lowest, highest = lowest + torch.minimum(*ends), highest + torch.maximum(*ends)
    return lowest, highest


def _undecided(operation: Rectifier | Largest, low: Tensor, high: Tensor) -> Tensor:
    """Which numbers before a rectifier or a largest value are worth a better bound."""
    if isinstance(operation, Rectifier):
        return (low < 0) & (high > 0)
    lows, highs = windows(operation, low), windows(operation, high)
    open_here = (highs > lows.amax(2, keepdim=True)) & (
        (highs > lows.amax(2, keepdim=True)).sum(2, keepdim=True) > 1
    )
    flags = torch.zeros((len(low), low[0].numel() + 1), dtype=torch.bool, device=low.device)
    flags.scatter_reduce_(
        1, operation.table.flatten().expand(len(low), -1), open_here.flatten(1), "amax"
    )
    return flags[:, :-1].reshape(low.shape)


def _least_sure(undecided: Tensor, low: Tensor, high: Tensor, most: int) -> Tensor:
    """Flags ``(n, numbers)``: of the undecided numbers those with the widest bounds, about
    ``most`` per input.
    """
    width = torch.where(undecided, (high - low), 0.0).flatten(1)
    chosen = width > 0
    if most < width.shape[1]:
        chosen &= width >= width.kthvalue(width.shape[1] - most + 1, dim=1, keepdim=True).values
    return chosen


def _relax(operation: Rectifier | Largest, low: Tensor, high: Tensor) -> Relaxation:
    return (
        _relax_rectifier(operation.slope, low, high)
        if isinstance(operation, Rectifier)
        else _relax_largest(operation, low, high)
    )


def _relax_rectifier(slope: float, low: Tensor, high: Tensor) -> Relaxation:
    """Above: the chord. Below: of the two pieces the one that leaves less area between the
    lines.
    """
    on, off = low >= 0, high <= 0
    chord = (high - slope * low) / (high - low).clamp_min(torch.finfo(low.dtype).tiny)
    above = torch.where(on, 1.0, torch.where(off, slope, chord))
    below = torch.where(on, 1.0, torch.where(off, slope, torch.where(high > -low, 1.0, slope)))
    lift = torch.where(on | off, 0.0, (slope - above) * low)
    return Relaxation(below, above, lift.flatten(1))


def _relax_largest(operation: Largest, low: Tensor, high: Tensor) -> Relaxation:
    """Below: the number with the highest lower bound.

    Above: with L the highest lower bound, max x = L + max (x - L)+ <= L + Σ chord of (x_i - L)+, or
    the highest upper bound; of the two the one that is lower in the middle of the box. If one
    number is always the largest, the first is it.
    """
    lows, highs = windows(operation, low), windows(operation, high)
    best, where = lows.max(2, keepdim=True)
    below = torch.zeros_like(lows).scatter_(2, where, 1.0)
    over = (highs - best).clamp_min(0)
    width = torch.where(over > 0, highs - lows, 1.0)
    chords = over / width
    flat = highs.amax(2) <= best[..., 0] + over.sum(2) / 2
    flat &= (over > 0).sum(2) > 1
    lift = best[..., 0] - (chords * torch.where(over > 0, lows, 0.0)).sum(2)
    return Relaxation(
        below, torch.where(flat[..., None], 0.0, chords), torch.where(flat, highs.amax(2), lift)
    )


def _through(
    operation: Rectifier | Largest,
    rows: Tensor,
    relaxed: Relaxation,
    owners: Owners,
    shape: tuple[int, ...],
) -> tuple[Tensor, Tensor]:
    """Coefficients on the result -> on the input, and what the lines add: below where a
    coefficient is positive, else above.
    """
    lifted = (rows.clamp_max(0).flatten(1) * relaxed.lift[owners]).sum(1)
    if isinstance(operation, Rectifier):
        return torch.where(rows > 0, relaxed.low[owners], relaxed.high[owners]) * rows, lifted
    flat = rows.flatten(1)[..., None]
    each = torch.where(flat > 0, relaxed.low[owners], relaxed.high[owners]) * flat
    found = torch.zeros((len(rows), math.prod(shape) + 1), dtype=rows.dtype, device=rows.device)
    found.scatter_add_(1, operation.table.flatten().expand(len(rows), -1), each.flatten(1))
    return found[:, :-1].reshape(len(rows), *shape), lifted


def _transposed(operation: Affine, rows: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
    """Coefficients on the result -> on each input of an affine map."""
    if operation.pull is not None:
        return [operation.pull(rows)]
    with torch.enable_grad():
        inputs = [
            torch.zeros(
                (len(rows), *shape), dtype=rows.dtype, device=rows.device, requires_grad=True
            )
            for shape in shapes
        ]
        return list(torch.autograd.grad(operation.apply(*inputs), inputs, rows))
