"""Update directions of the three region methods (equations 8, 12, 17, corrected), and losses.

A region is the box a < b with sides r = b - a. Each direction is the derivative of the loss by a
bound, divided by the area A_k of the face that the bound moves; with equal weights on the corners
it is the paper's formula.

Against the paper: the sign of the naive penalty and of the far-face term of OIR_W are reversed, and
the two sums s and s-bar are exchanged; here both are the mean of the slope away from the centre.
"""

from __future__ import annotations

import numpy as np

Pair = tuple[np.ndarray, np.ndarray]


def naive(
    lower: np.ndarray, upper: np.ndarray, sides: np.ndarray, areas: np.ndarray, lam: float
) -> Pair:
    """L = -∫_D f + λ/2 |r|².

    ``lower`` and ``upper`` ``(R, n)`` are the mean scores on the faces of D.
    """
    # Equation 8 with the sign of λr reversed: as printed, the penalty would push the bounds apart.
    if lam:
        penalty = lam * sides / areas
    else:
        penalty = np.zeros_like(sides)
    return lower - penalty, penalty - upper


def oir_b(
    lower: np.ndarray,
    upper: np.ndarray,
    outer_lower: np.ndarray,
    outer_upper: np.ndarray,
    alpha: float,
) -> Pair:
    """L = ∫_Q f - 2 ∫_D f with Q larger than D by α/2 of each side at each end."""
    # Equations 12 and 13. A bound of D moves both faces of Q: the near one by 1 + α/2, the far one
    # by -α/2. A face of Q is (1 + α)^(n - 1) times as large as one of D.
    swell = (1 + alpha) ** (lower.shape[1] - 1)
    near, far = 1 + alpha / 2, alpha / 2
    return 2 * lower - swell * (near * outer_lower + far * outer_upper), -2 * upper + swell * (
        near * outer_upper + far * outer_lower
    )


def oir_w(
    lower: np.ndarray,
    upper: np.ndarray,
    slope_lower: np.ndarray,
    slope_upper: np.ndarray,
    beta: float,
) -> Pair:
    """The limit of L = (β/α)(∫_Q f - ∫_D f) - ∫_D f for α to 0.

    Slopes are the means of ∇f·(node - centre) on the faces.
    """
    # Equations 17 and 18: γ = 2 - β(2n - 1) is twice this. It stays positive for β < 2/(2n - 1)
    # (Table 3); beyond that a high score would pull a bound inwards. The far face has a minus,
    # where equation 15 prints a plus.
    near, far = 1 - beta * (2 * lower.shape[1] - 1) / 2, beta / 2
    return (
        near * lower - far * upper - beta * slope_lower,
        -near * upper + far * lower + beta * slope_upper,
    )


def naive_loss(mean: np.ndarray, sides: np.ndarray, lam: float) -> np.ndarray:
    """The loss ``(R,)`` of the naive method from the mean score in the region."""
    # Equation 8: Δ 1ᵀf is the volume times the mean over the corners,
    # since Δ has 2^n in it (equation 5).
    return np.asarray(-sides.prod(1) * mean + lam / 2 * (sides**2).sum(1))


def oir_b_loss(
    mean: np.ndarray, outer_mean: np.ndarray, sides: np.ndarray, alpha: float
) -> np.ndarray:
    """The loss ``(R,)`` of OIR_B from the mean scores in D and in Q."""
    # Equation 12: Q is (1 + α)^n times as large as D.
    return np.asarray(sides.prod(1) * ((1 + alpha) ** sides.shape[1] * outer_mean - 2 * mean))


def oir_w_loss(
    mean: np.ndarray, lower: np.ndarray, upper: np.ndarray, sides: np.ndarray, beta: float
) -> np.ndarray:
    """The loss ``(R,)`` of OIR_W from the mean scores in the region and on its faces."""
    # Equation 14 in n dimensions: the shell between D and Q is α/2 of each side thick, so for
    # α to 0 its integral over α is half the sum over the faces.
    return np.asarray(sides.prod(1) * (beta / 2 * (lower + upper).sum(1) - mean))
