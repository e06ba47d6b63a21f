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
    return resolution(samples) / 3


def rarer(samples: float) -> float:
    """The same on the side where rare values are extreme.

    The sum of few of them is skewed like a Poisson count, whose exact upper end lies about 1.96²/2
    + 1 = 2.9 counts beyond Student's.
    """
    return 0.75 * resolution(samples)
