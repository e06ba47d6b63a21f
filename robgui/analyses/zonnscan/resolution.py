"""What a number of samples can tell at all, whatever they have shown."""

from __future__ import annotations

import math

#: n samples of a value in [0, 1] cannot tell a mean below ln(2 / 0.05) / n from 0: what makes up so
#: little may have hidden from all of them.
RESOLVED = math.log(2 / 0.05)


def resolution(samples: float) -> float:
    """The smallest mean uncertainty that this number of samples can tell from 0."""
    if samples > 0:
        return RESOLVED / samples
    return 1.0


def rare(samples: float) -> float:
    """What rare values may add to the error of a mean: the second term of Bernstein's inequality.

    Student's interval knows the spread it has seen. Near a sharp boundary a few samples make up
    most of the mean, and while few of them have been seen the spread is found too small.
    """
    return resolution(samples) / 3


def rarer(samples: float) -> float:
    """The same to the side where rare values stand far out.

    The sum of few of them is skewed as a Poisson count is, whose exact upper end lies about
    1.96²/2 + 1 = 2.9 counts beyond Student's.
    """
    return 0.75 * resolution(samples)
