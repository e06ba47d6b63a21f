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

from robgui.analyses.semantic.regions.box.company import Company
from robgui.analyses.semantic.regions.box.rung import Rung

#: Scores and top classes of the poses asked for.
Answer = tuple[np.ndarray, np.ndarray]

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


@dataclass(slots=True)
class DrawnPoses:
    """Poses of one test: ``points (m, n)`` in shares of the ranges, scores and classes ``(m,)``."""

    points: np.ndarray
    scores: np.ndarray
    tops: np.ndarray

    @classmethod
    def none(cls, n: int) -> DrawnPoses:
        """No pose of ``n`` axes yet."""
        return cls(np.zeros((0, n)), np.zeros(0), np.zeros(0, dtype=np.int64))

    def add(self, points: np.ndarray, answer: Answer) -> None:
        """Appends poses and their answers."""
        self.points = np.concatenate([self.points, points])
        self.scores = np.concatenate([self.scores, answer[0]])
        self.tops = np.concatenate([self.tops, answer[1]])

    def keep(self, which: np.ndarray) -> None:
        """Forgets the others."""
        self.points, self.scores, self.tops = (
            values[which] for values in (self.points, self.scores, self.tops)
        )


class Ladder:
    """The test of several nested boxes.

    Attributes:
        top: The largest box still aimed at.
        lost: ``(k,)`` poses of each box that lost the class.
        total: ``(k,)`` poses drawn in each box.
        drawn: Poses that represent the box aimed at, and all lost ones in it.
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
        self.drawn = DrawnPoses.none(len(rungs[0].low))
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
    def wants(self) -> bool:
        """Whether it takes part in the next draw."""
        return not (self.over or self.reached or self.given_up)

    @property
    def weakest(self) -> float:
        """The smallest evidence for any of its boxes."""
        return float(self._evidence.min())

    @property
    def open(self) -> bool:
        """Whether it still needs poses even if all others pass."""
        return not self.over and bool((self._evidence[self.top :] < self.least).any())

    def add(self, points: np.ndarray, lost: np.ndarray, drawn_in: int) -> None:
        """Counts poses ``(m, n)`` drawn in the box of this place, and which of them were lost."""
        passed = self._passed
        for place in range(drawn_in, len(self.rungs)):
            inside = self.rungs[place].holds(points)
            some, gone = int(inside.sum()), int((inside & lost).sum())
            self.total[place] += some
            self.lost[place] += gone
            # A box that has passed has stopped: what is drawn for others changes nothing for it.
            if not passed[place]:
                self._evidence[place] += evidence(gone, some, self._share)
        # Aims at a smaller box if it saves more poses than its volume is worth.
        self.top += int((self._cost() - WORTH * np.log(self._volumes))[self.top :].argmin())

    def tell(self, points: np.ndarray, answer: Answer, told: np.ndarray) -> None:
        """Keeps those of the poses that are told, as far as they lie in the box aimed at."""
        box = self.rungs[self.top]
        self.drawn.add(points[told], (answer[0][told], answer[1][told]))
        self.drawn.keep(box.holds(self.drawn.points))

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
