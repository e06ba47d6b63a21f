"""A sequential test of the share of lost poses, valid whenever it is read.

Let q be the share of poses in a box that lose the class. The likelihood of the draws under a tenth
of p, divided by that under p, exceeds 1/risk with probability at most ``risk`` while q >= p,
whenever one looks (Ville's inequality). Without a failure, p = 1 % takes 332 poses at a risk of 5
%; each failure asks for 254 more.

One test also serves a ladder of boxes, each inside the one before. Poses drawn in a box of the
ladder that fall into a smaller one are draws from that one. A box is claimed only if all smaller
ones have passed: boxes are then tested in an order fixed beforehand, from the smallest on, and the
first that loses too much passes with probability ``risk`` at most, so the risk need not be shared
among them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

#: The test's alternative: a share this many times smaller than the one it rules out.
#: At p = 1 % a kept pose counts ln(0.999 / 0.99) = 0.00905: ln 20 / 0.00905 = 332 poses at a risk
#: of 5 %, and ln 10 / 0.00905 = 254 more for each failure.
_SMALLER = 10.0
#: Volumes of the boxes as shares of the first.
VOLUMES = (1.0, 0.98, 0.96, 0.94, 0.91, 0.88, 0.85, 0.82)
#: A smaller box is preferred if it saves ten poses for a hundredth of the volume.
WORTH = 1000.0
#: A ladder is abandoned when it would take this multiple of the poses that a clean box needs.
MOST = 1.5


def evidence(lost: int, total: int, share: float) -> float:
    """How strongly ``lost`` of ``total`` poses speak against a share of at least ``share``."""
    if share < 1:
        # Log-likelihood ratio of one kept pose: ln((1 - p/10) / (1 - p)).
        kept = math.log((1 - share / _SMALLER) / (1 - share))
    else:
        kept = math.inf
    # A lost pose is ten times likelier under p than under p/10.
    return -lost * math.log(_SMALLER) + ((total - lost) * kept if total > lost else 0.0)


def needed(share: float, risk: float) -> int:
    """Poses without a failure that rule out ``share`` at this risk."""
    return math.ceil(-math.log(risk) / evidence(0, 1, share))


def at_most(lost: int, total: int, risk: float) -> float:
    """The smallest share ruled out, to a thousandth of itself; 1 if none is."""
    # Bisection on a logarithmic scale: the share may be anything from 1e-9 to 1.
    low, high = 1e-9, 1.0
    while high - low > 1e-3 * high:
        middle = math.sqrt(low * high)
        # Ville: the ratio exceeds 1/risk with probability at most ``risk``.
        if evidence(lost, total, middle) >= -math.log(risk):
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True, slots=True)
class Rung:
    """A box: ``low`` and ``high`` ``(n,)``."""

    low: np.ndarray
    high: np.ndarray

    @property
    def volume(self) -> float:
        """Product of the sides."""
        return float((self.high - self.low).prod())

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Which points ``(m, n)`` lie inside."""
        return np.asarray(((points >= self.low) & (points <= self.high)).all(1))


class Ladder:
    """The test of several nested boxes.

    Attributes:
        top: The largest box still aimed at.
        lost: ``(k,)`` poses of each box that lost the class.
        total: ``(k,)`` poses drawn in each box.
        over: Whether it has won or was abandoned; set by who draws the poses.

    Args:
        rungs: The boxes, each inside the one before.
        share: The share of lost poses to rule out.
        risk: Of claiming a box that loses more.
        company: The ladders that share this risk, if any.
    """

    def __init__(
        self, rungs: list[Rung], share: float, risk: float, company: Company | None = None
    ) -> None:
        self.rungs, self._share, self.least = rungs, share, -math.log(risk)
        self._volumes = np.array([max(rung.volume, 1e-300) for rung in rungs])
        self._most = MOST * needed(share, risk)
        self._company = company or Company(1)
        self._company.join(self)
        self.top, self.over = 0, False
        self.lost, self.total = (np.zeros(len(rungs), dtype=np.int64) for _ in range(2))
        self._evidence = np.zeros(len(rungs))

    @property
    def drawn_in(self) -> int:
        """The box in which poses are drawn: the largest one aimed at that has not passed."""
        # The first box from the top that has not passed; all smaller ones get their share of its
        # poses.
        return self.top + int(self._passed[self.top :].argmin())

    @property
    def wanted(self) -> int:
        """Poses without a failure that this box still needs."""
        return max(1, math.ceil(float(self._missing()[self.drawn_in])))

    @property
    def reached(self) -> bool:
        """Whether the box aimed at and all smaller ones have passed, as far as is known now."""
        return bool(self._passed[self.top :].all())

    @property
    def won(self) -> bool:
        """Whether they have passed whatever becomes of the ladders that share the risk."""
        return self.reached and not self._company.undecided

    @property
    def given_up(self) -> bool:
        """Whether even the best box would take too many poses."""
        return not self.reached and self._cost()[self.top] > self._most

    @property
    def progress(self) -> float:
        """How much of the test is done, 0 to 1."""
        return float(np.clip(1 - self._cost()[self.top] / self._most, 0, 1))

    @property
    def weakest(self) -> float:
        """The smallest evidence for any of its boxes."""
        return float(self._evidence.min())

    @property
    def open(self) -> bool:
        """Whether it still needs poses even if all others pass."""
        return not self.over and bool((self._evidence[self.top :] < self.least).any())

    def add(self, points: np.ndarray, lost: np.ndarray) -> None:
        """Counts poses ``(m, n)`` drawn in the box ``drawn_in``, and which of them were lost."""
        passed = self._passed
        for place in range(self.drawn_in, len(self.rungs)):
            inside = self.rungs[place].holds(points)
            some, gone = int(inside.sum()), int((inside & lost).sum())
            self.total[place] += some
            self.lost[place] += gone
            # A box that has passed has stopped: what is drawn for others changes nothing for it.
            if not passed[place]:
                self._evidence[place] += evidence(gone, some, self._share)
        # Aims at a smaller box if it saves more poses than its volume is worth.
        self.top += int((self._cost() - WORTH * np.log(self._volumes))[self.top :].argmin())

    @property
    def _passed(self) -> np.ndarray:
        """``(k,)`` which boxes have passed."""
        return np.asarray(self._evidence >= self._company.limit(self))

    def _missing(self) -> np.ndarray:
        """``(k,)`` poses without a failure that each box still needs."""
        left = self._company.limit(self) - self._evidence
        return np.asarray(left.clip(0) / evidence(0, 1, self._share))

    def _cost(self) -> np.ndarray:
        """``(k,)`` poses needed until each box and all smaller ones have passed."""
        missing = self._missing() / self._volumes
        # A box is claimed with all smaller ones, so it costs what the most expensive of them costs;
        # a smaller box gets only its share of the poses drawn in a larger one.
        return np.array(
            [self._volumes[place] * missing[place:].max() for place in range(len(self.rungs))]
        )


class Company:
    """Ladders that share one risk, so that any of them is claimed falsely no more often than that.

    The exponential of the evidence has a mean of 1 at most for a box that loses too much, and so
    has the mean of several of them, however they depend on each other. A claim is made only if the
    mean over every set of ladders with it, each at its weakest box, is 1/risk or more. Where all
    ladders pass, each needs no more evidence than it would alone; one that fails makes the others
    need twice as much, and so on: never more than with equal parts of the risk.

    The sets must not depend on what is drawn: all ladders are fixed before the first pose.

    Attributes:
        size: How many ladders there will be.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self._ladders: list[Ladder] = []

    def join(self, ladder: Ladder) -> None:
        """One more ladder."""
        self._ladders.append(ladder)

    @property
    def complete(self) -> bool:
        """Whether all ladders are fixed."""
        return len(self._ladders) == self.size

    @property
    def undecided(self) -> bool:
        """Whether any ladder still needs poses even if all others pass."""
        return any(ladder.open for ladder in self._ladders)

    def limit(self, ladder: Ladder) -> float:
        """The evidence that a ladder needs: as if alone while others are undecided."""
        if self.undecided:
            return ladder.least
        enough = math.exp(ladder.least)
        others = (one for one in self._ladders if one is not ladder)
        # The worst set is the one with every ladder that falls short of its own part.
        owed = sum(max(0.0, enough - math.exp(min(one.weakest, one.least))) for one in others)
        return math.log(enough + owed)
