"""Bounds of a single operation: by intervals, by lines, and back-substitution of coefficients.

A ReLU, plain or leaky, is relaxed by the lines of CROWN (Zhang et al., 2018), a maximum as in
DeepPoly (Singh et al., 2019), with a second upper line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from robgui.bounds.network import Affine, Operation, Relu, WindowMaximum, alone, evaluate, windows

#: Input index of each row of coefficients; a slice if all rows share one input.
Owners = Tensor | slice


@dataclass(frozen=True, slots=True)
class Relaxation:
    """Linear lower and upper bounds of a ReLU or a maximum, for every input of a chunk.

    The result lies above ``low·x`` and below ``high·x + intercept``; ``low`` and ``high`` are ``(n,
    *shape)``, for a maximum ``(n, numbers, k)``; ``intercept`` is ``(n, numbers)``.
    """

    low: Tensor
    high: Tensor
    intercept: Tensor


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
    # Without ``spread`` every weight of a number has one sign, so its ends are reached at the ends
    # of the box: each input contributes its smaller and its larger end.
    lowest = highest = operation.offset
    for i in range(len(operation.inputs)):
        ends = [operation.apply(*alone(values, i)) - operation.offset for values in (low, high)]
        lowest, highest = lowest + torch.minimum(*ends), highest + torch.maximum(*ends)
    return lowest, highest


def undecided(operation: Relu | WindowMaximum, low: Tensor, high: Tensor) -> Tensor:
    """Mask of inputs whose sign (ReLU) or rank (maximum) is open: only these need better bounds."""
    if isinstance(operation, Relu):
        return (low < 0) & (high > 0)
    lows, highs = windows(operation, low), windows(operation, high)
    # An input whose upper end is below another's lower end never wins and needs no better bound.
    can_be_largest = highs > lows.amax(2, keepdim=True)
    is_open = can_be_largest & (can_be_largest.sum(2, keepdim=True) > 1)
    # One more for the padding, dropped below.
    flags = torch.zeros((len(low), low[0].numel() + 1), dtype=torch.bool, device=low.device)
    flags.scatter_reduce_(
        1, operation.table.flatten().expand(len(low), -1), is_open.flatten(1), "amax"
    )
    return flags[:, :-1].reshape(low.shape)


def relax(operation: Relu | WindowMaximum, low: Tensor, high: Tensor) -> Relaxation:
    """Linear bounds of the result, given bounds of the input."""
    if isinstance(operation, Relu):
        return _relax_relu(operation.slope, low, high)
    return _relax_maximum(operation, low, high)


def _relax_relu(slope: float, low: Tensor, high: Tensor) -> Relaxation:
    """Upper line: the chord. Lower line: the piece that leaves the smaller area between the two.

    Zhang et al. (2018) call this CROWN-Ada: the lower slope is chosen for each number.
    """
    on, off = low >= 0, high <= 0
    # The line through (low, slope·low) and (high, high) lies above both pieces between them.
    chord = (high - slope * low) / (high - low).clamp_min(torch.finfo(low.dtype).tiny)
    above = torch.where(on, 1.0, torch.where(off, slope, chord))
    below = torch.where(on, 1.0, torch.where(off, slope, torch.where(high > -low, 1.0, slope)))
    intercept = torch.where(on | off, 0.0, (slope - above) * low)
    return Relaxation(below, above, intercept.flatten(1))


def _relax_maximum(operation: WindowMaximum, low: Tensor, high: Tensor) -> Relaxation:
    """Lower line: the input with the highest lower bound.

    Upper line: with L the highest lower bound, max x = L + max (x - L)+ <= L + Σ chord of
    (x_i - L)+, or the highest upper bound; of the two, whichever is lower at the centre of the box.
    If one input is always the maximum, the first is exact.
    """
    lows, highs = windows(operation, low), windows(operation, high)
    best, where = lows.max(2, keepdim=True)
    below = torch.zeros_like(lows).scatter_(2, where, 1.0)
    over = (highs - best).clamp_min(0)
    # 1 where the numerator is 0 anyway: an input that cannot exceed L, or the padding at -inf.
    width = torch.where(over > 0, highs - lows, 1.0)
    chords = over / width
    # At the centre of the box each chord is at half of its height.
    flat = highs.amax(2) <= best[..., 0] + over.sum(2) / 2
    # With one candidate the chord is exact, and a constant would lose its slope.
    flat &= (over > 0).sum(2) > 1
    intercept = best[..., 0] - (chords * torch.where(over > 0, lows, 0.0)).sum(2)
    return Relaxation(
        below,
        torch.where(flat[..., None], 0.0, chords),
        torch.where(flat, highs.amax(2), intercept),
    )


def backsubstitute(
    operation: Relu | WindowMaximum,
    rows: Tensor,
    relaxed: Relaxation,
    owners: Owners,
    shape: tuple[int, ...],
) -> tuple[Tensor, Tensor]:
    """Coefficients on the result -> on the input, with the constant term.

    A lower bound takes the lower line if the coefficient is positive, else the upper.
    """
    # Only upper lines have an intercept, and they apply where a coefficient is negative.
    constant = (rows.clamp_max(0).flatten(1) * relaxed.intercept[owners]).sum(1)
    if isinstance(operation, Relu):
        return torch.where(rows > 0, relaxed.low[owners], relaxed.high[owners]) * rows, constant
    flat = rows.flatten(1)[..., None]
    each = torch.where(flat > 0, relaxed.low[owners], relaxed.high[owners]) * flat
    found = torch.zeros((len(rows), math.prod(shape) + 1), dtype=rows.dtype, device=rows.device)
    found.scatter_add_(1, operation.table.flatten().expand(len(rows), -1), each.flatten(1))
    return found[:, :-1].reshape(len(rows), *shape), constant


def backsubstitute_affine(
    operation: Affine, rows: Tensor, shapes: list[tuple[int, ...]]
) -> list[Tensor]:
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
        # The sum, whose gradient is ``rows`` exactly: given the rows themselves, torch would import
        # its compiler first, which takes a quarter of a second and 60 MB.
        return list(torch.autograd.grad((operation.apply(*inputs) * rows).sum(), inputs))
