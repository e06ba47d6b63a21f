"""How far single precision can take a model's results away from the exact ones.

A sum of n products, added up in any order, with or without fused operations, is wrong by at most
γ(n) times the sum of the products' sizes (Higham, "Accuracy and stability of numerical
algorithms", 2002, Section 3.1). The sizes are those over the whole box of inputs. Every count has
some to spare, which covers the rounding of the bounds themselves: they are computed in double
precision, whose errors are smaller by nine digits. Convolutions by way of transforms (Winograd's,
Fourier's) are no such sums; for them there is only the comparison with the model (``trial``).
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from robgui.bounds.network import Affine, Operation, Rectifier, UnsupportedError, alone

#: Half the distance from 1 to the next number: of single precision, and of double precision.
SINGLE, DOUBLE = 2.0**-24, 2.0**-53
#: Beyond this, single precision overflows.
LARGEST = torch.finfo(torch.float32).max
#: Below this, it loses digits or everything.
_SMALLEST = torch.finfo(torch.float32).tiny


def gamma(count: int, unit: float = SINGLE) -> float:
    """The largest relative error of ``count`` roundings in a row."""
    if count * unit > 0.5:
        raise UnsupportedError(f"it adds up {count:,} numbers, too many for single precision")
    # Lemma 3.1 there; it needs count·unit < 1, and beyond a half the bound is of no use.
    return count * unit / (1 - count * unit)


def roundings(operation: Operation, low: list[Tensor], high: list[Tensor]) -> Tensor | None:
    """How far the model's result may be from the exact one ``(n, *shape)``; None if it is exact.

    Args:
        operation: What is computed.
        low: Lower bounds of its inputs, as the model computes them.
        high: Upper bounds.
    """
    if isinstance(operation, Rectifier) and operation.slope:
        return gamma(2) * operation.slope * (-low[0]).clamp_min(0) + _SMALLEST
    if not isinstance(operation, Affine) or not operation.roundings:
        return None
    largest = [torch.maximum(-a, b) for a, b in zip(low, high, strict=True)]
    lost = operation.roundings * _SMALLEST
    return gamma(operation.roundings) * _sizes(operation, largest) + lost


def _sizes(operation: Affine, largest: list[Tensor]) -> Tensor:
    """The sizes of all that an affine map adds up, for inputs of at most these sizes."""
    if operation.constants is None:
        total = operation.offset.abs()
    else:
        total = operation.constants
    if operation.spread is not None:
        return total + operation.spread(largest[0])
    for i in range(len(largest)):  # all weights of one number have the same sign
        total = total + (operation.apply(*alone(largest, i)) - operation.offset).abs()
    return total


def told_apart(classes: int) -> float:
    """From which ratio single precision tells two probabilities apart for certain, as a logarithm.

    The larger one is at least one in ``classes``. Each is wrong by five roundings (exponential,
    sum, division, conversion); then its logarithm is taken, whose rounding grows with its size.
    """
    return SINGLE * 8 * (2 + math.log(classes))
