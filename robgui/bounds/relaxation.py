"""One operation at a time: its interval, lines below and above it, and coefficients pulled back
through it.

A rectifier is relaxed by the lines of CROWN (Zhang et al., 2018), the largest of several numbers as
in DeepPoly (Singh et al., 2019), with a second line above.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from robgui.bounds.network import Affine, Largest, Operation, Rectifier, alone, evaluate, windows

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


def interval(operation: Operation, low: list[Tensor], high: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Bounds of the result from those of its inputs, by interval arithmetic."""
    if not isinstance(operation, Affine):
        return evaluate(operation, *low), evaluate(operation, *high)
    if operation.spread is not None:
        # The image of a box under an affine map, |W| times its radius around W times its centre.
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


def undecided(operation: Rectifier | Largest, low: Tensor, high: Tensor) -> Tensor:
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


def relax(operation: Rectifier | Largest, low: Tensor, high: Tensor) -> Relaxation:
    """Lines below and above, from bounds of what goes in."""
    if isinstance(operation, Rectifier):
        return _relax_rectifier(operation.slope, low, high)
    return _relax_largest(operation, low, high)


def _relax_rectifier(slope: float, low: Tensor, high: Tensor) -> Relaxation:
    """Above: the chord. Below: of the two pieces the one that leaves less area between the
    lines (CROWN, with the slope below chosen for each number: CROWN-Ada).
    """
    on, off = low >= 0, high <= 0
    # The line through (low, slope·low) and (high, high) lies above both pieces between them.
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


def through(
    operation: Rectifier | Largest,
    rows: Tensor,
    relaxed: Relaxation,
    owners: Owners,
    shape: tuple[int, ...],
) -> tuple[Tensor, Tensor]:
    """Coefficients on the result -> on the input, and what the lines add: below where a
    coefficient is positive, else above.
    """
    # Only lines above have a constant, and they are taken where a coefficient is negative.
    lifted = (rows.clamp_max(0).flatten(1) * relaxed.lift[owners]).sum(1)
    if isinstance(operation, Rectifier):
        return torch.where(rows > 0, relaxed.low[owners], relaxed.high[owners]) * rows, lifted
    flat = rows.flatten(1)[..., None]
    each = torch.where(flat > 0, relaxed.low[owners], relaxed.high[owners]) * flat
    found = torch.zeros((len(rows), math.prod(shape) + 1), dtype=rows.dtype, device=rows.device)
    found.scatter_add_(1, operation.table.flatten().expand(len(rows), -1), each.flatten(1))
    return found[:, :-1].reshape(len(rows), *shape), lifted


def transposed(operation: Affine, rows: Tensor, shapes: list[tuple[int, ...]]) -> list[Tensor]:
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
