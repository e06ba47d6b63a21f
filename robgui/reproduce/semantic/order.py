"""Whether networks rank differently by SRVR than by accuracy, as far as the numbers can tell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

#: Two numbers differ if they are this many standard errors of their difference apart.
SURE = 2.0


def order_differs(
    volume: np.ndarray, accuracy: Sequence[float], tested: int, names: Sequence[str]
) -> tuple[bool | None, str]:
    """Section 4.4: is a network that is more accurate less robust?

    True when one pair of networks says so beyond chance, False when every pair that differs in
    accuracy has the same order in both beyond chance, None when the numbers are too uncertain for
    either.

    Args:
        volume: ``(M, K, P, Q)`` share of every region; networks are compared on the same shapes and
            starts.
        accuracy: ``(M,)`` share of inputs that each network gets right.
        tested: Number of these inputs.
        names: ``(M,)`` of the networks.
    """
    # (M, K P): methods of one start depend on each other, so their mean counts once.
    each = volume.mean(3).reshape(len(names), -1)
    unsure: list[str] = []
    same: list[str] = []
    for pair in combinations(range(len(names)), 2):
        better, worse = sorted(pair, key=lambda m: -accuracy[m])
        words = f"{names[better]} and {names[worse]}"
        if accuracy[better] - accuracy[worse] <= SURE * _accuracy_error(
            accuracy[better], accuracy[worse], tested
        ):
            unsure.append(f"{words} (accuracy)")
            continue
        # Paired by shape and start: what makes a shape hard cancels.
        gain = each[worse] - each[better]
        if abs(gain.mean()) <= SURE * _error(gain):
            unsure.append(f"{words} (SRVR)")
        elif gain.mean() > 0:
            return (
                True,
                (
                    f"{names[better]} is more accurate and less robust than {names[worse]}, both"
                    f" beyond {SURE:g} standard errors."
                ),
            )
        else:
            same.append(words)
    if unsure:
        return (
            None,
            (
                f"Cannot tell: within {SURE:g} standard errors there is no difference between"
                f" {', '.join(unsure)}."
            ),
        )
    return False, f"The order is the same, beyond {SURE:g} standard errors, for {', '.join(same)}."


def _error(values: np.ndarray) -> float:
    """Standard error of a mean; infinite with fewer than two values."""
    if len(values) > 1:
        return float(values.std(ddof=1) / np.sqrt(len(values)))
    return np.inf


def _accuracy_error(one: float, other: float, tested: int) -> float:
    if tested:
        # As if on separate inputs; on the same ones the error is mostly smaller, so
        # this errs towards "cannot tell".
        return float(np.sqrt((one * (1 - one) + other * (1 - other)) / tested))
    return np.inf
