"""A test of the share of lost poses that may be looked at after every pose and stays valid.

Let q be the share of poses in a box that lose the class. The likelihood of what was drawn under a
tenth of p, divided by that under p, exceeds 1/risk with probability at most ``risk`` while q >= p,
whenever one looks (Ville's inequality). Without a failure p = 1 % takes 332 poses at a risk of
5 %; each failure asks for 254 more.
"""

from __future__ import annotations

import math

#: The test looks for shares this many times smaller than the one it rules out.
_SMALLER = 10.0


def evidence(lost: int, total: int, share: float) -> float:
    """How strongly ``lost`` of ``total`` poses speak against a share of at least ``share``."""
    if share < 1:
        kept = math.log((1 - share / _SMALLER) / (1 - share))
    else:
        kept = math.inf
    return -lost * math.log(_SMALLER) + ((total - lost) * kept if total > lost else 0.0)


def needed(share: float, risk: float) -> int:
    """Poses without a failure that rule out ``share`` at this risk."""
    return math.ceil(-math.log(risk) / evidence(0, 1, share))


def at_most(lost: int, total: int, risk: float) -> float:
    """The smallest share that is ruled out, to a thousandth of itself; 1 where none is."""
    low, high = 1e-9, 1.0
    while high - low > 1e-3 * high:
        middle = math.sqrt(low * high)
        if evidence(lost, total, middle) >= -math.log(risk):
            high = middle
        else:
            low = middle
    return high
