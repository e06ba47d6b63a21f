"""How far a model's single-precision results can be from the exact ones.

A sum of n products, added up in any order, with or without fused operations, is wrong by at most
γ(n) times the sum of the products' sizes (Higham, "Accuracy and stability of numerical
algorithms", 2002, Section 3.1). The sizes are the largest over the whole box of inputs. Every count
has some slack, which covers the rounding of the bounds themselves: they are computed in double
precision, whose errors are smaller by nine digits. Convolutions by transforms (Winograd's,
Fourier's) are not such sums; they are covered only by the comparison with the model (``trial``).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from robgui.bounds.network import Affine, Operation, Relu, UnsupportedError, alone

#: Unit roundoff (half the distance from 1 to the next number) of single and double precision.
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
#: Beyond this, single precision overflows.
LARGEST = torch.finfo(torch.float32).max
#: Below this, single precision loses digits (subnormal numbers) or everything (flushed to zero).
_SMALLEST = torch.finfo(torch.float32).tiny


def gamma(count: int, unit: float = SINGLE) -> float:
    """The largest relative error of ``count`` roundings in a row."""
    if count * unit > 0.5:
        raise UnsupportedError(f"it adds up {count:,} numbers, too many for single precision")
    # Higham's Lemma 3.1; it needs count·unit < 1, and beyond a half the bound is useless.
    return count * unit / (1 - count * unit)


def roundings(operation: Operation, low: list[Tensor], high: list[Tensor]) -> Tensor | None:
    """How far the model's result may be from the exact one ``(n, *shape)``; None if it is exact.

    Args:
        operation: What is computed.
        low: Lower bounds of its inputs, as the model computes them.
        high: Upper bounds.
    """
    if isinstance(operation, Relu) and operation.slope:
        # Only negative inputs are multiplied; positive ones pass unrounded.
        return gamma(2) * operation.slope * (-low[0]).clamp_min(0) + _SMALLEST
    if not isinstance(operation, Affine) or not operation.roundings:
        return None
    largest = [torch.maximum(-a, b) for a, b in zip(low, high, strict=True)]
    # Each intermediate result may underflow, which no relative error covers.
    lost = operation.roundings * _SMALLEST
    return gamma(operation.roundings) * _sizes(operation, largest) + lost


def _sizes(operation: Affine, largest: list[Tensor]) -> Tensor:
    """Sum of the absolute values of an affine map's terms, for inputs of at most these sizes."""
    if operation.constants is None:
        total = operation.offset.abs()
    else:
        total = operation.constants
    if operation.spread is not None:
        return total + operation.spread(largest[0])
    for i in range(len(largest)):  # All weights of one number have the same sign.
        total = total + (operation.apply(*alone(largest, i)) - operation.offset).abs()
    return total


def told_apart(classes: int) -> float:
    """Log of the ratio from which single precision surely tells two probabilities apart.

    The larger one is at least 1 / ``classes``. Each carries five roundings (exponential, sum,
    division, conversion); then its logarithm is taken, whose rounding grows with its size.
    """
    return SINGLE * 8 * (2 + math.log(classes))
