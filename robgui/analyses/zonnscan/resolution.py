"""What a number of samples can resolve at all, whatever they show."""

from __future__ import annotations

import math

#: n samples of a value in [0, 1] cannot tell a mean below ln(2 / 0.05) / n from 0: rarer values may
#: be absent from all of them.
RESOLVED = math.log(2 / 0.05)


def resolution(samples: float) -> float:
    """The smallest mean uncertainty that this number of samples can tell from 0."""
    if samples > 0:
        return RESOLVED / samples
    return 1.0


def rare(samples: float) -> float:
    """What rare values may add to the error of a mean: the second term of Bernstein's inequality.

    Student's interval knows only the spread it has seen. Near a sharp boundary a few samples make
    up most of the mean, and until several of them are seen the spread is underestimated.
    """
    # Bernstein: the error is at most sqrt(2 v L / n) + L / (3 n) with L = ln(2
    # / 0.05); Student's interval stands for the first term, this is the second.
    return resolution(samples) / 3


def rarer(samples: float) -> float:
    """The same on the side where rare values are extreme.

    The sum of few of them is skewed like a Poisson count, whose exact upper end lies about 1.96²/2
    + 1 = 2.9 counts beyond Student's.
    """
    # 2.9 counts of n, and resolution is 3.7 / n: the quotient is just over 0.75.
    return 0.75 * resolution(samples)
