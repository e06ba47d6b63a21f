"""Several boxes tested at once: one stream of poses serves all of them, and they share one risk.

Each pose is uniform in the union of the boxes that still want poses, so given that it falls into
one of them it is uniform in that box and in every smaller one of its ladder, whatever has been seen
before: which boxes want poses, and how many are drawn, never depends on an answer to come. Boxes
that overlap are tested by the same poses; boxes apart need as many as each would alone.

The exponential of the evidence has a mean of 1 at most for a box that loses too much, at every
time of the common stream, and so has the mean of several of them, however they depend on each
other. By Ville's inequality such a mean ever exceeds 1/risk with probability ``risk`` at most. A
claim is made only if the mean over every set of ladders with it, each at its weakest box, is 1/risk
or more. Where all ladders pass, each needs no more evidence than it would alone; one that fails
makes the others need twice as much, and so on: never more than with equal parts of the risk.

``python -m tests.bench.studies.closed_boxes --starts 4`` counts false claims where the border is
known.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from robgui.analyses.semantic.regions.box.rung import drawn_in_all

if TYPE_CHECKING:
    from robgui.analyses.semantic.regions.box.box_test import Answer, Ladder

#: Poses of a draw: at most for each ladder that wants some, and at least.
AT_ONCE, FEWEST = 32, 8


class Company:
    """Ladders that share one risk, so that any of them is claimed falsely no more often than that.

    The sets must not depend on what is drawn: all ladders are fixed before the first pose.

    Attributes:
        size: How many ladders there will be.
        ladders: Those that have joined.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.ladders: list[Ladder] = []
        self._asking: Ladder | None = None
        # Ladders of the last draw, with the place of the box that is drawn in.
        self._wanting: list[tuple[Ladder, int]] = []
        self._held = np.zeros((0, 0), dtype=bool)

    def join(self, ladder: Ladder) -> None:
        """One more ladder."""
        self.ladders.append(ladder)

    @property
    def complete(self) -> bool:
        """Whether all ladders are fixed."""
        return len(self.ladders) == self.size

    @property
    def undecided(self) -> bool:
        """Whether any ladder still needs poses even if all others pass."""
        return any(ladder.open for ladder in self.ladders)

    def limit(self, ladder: Ladder) -> float:
        """The evidence that a ladder needs: as if alone while others are undecided."""
        if self.undecided:
            return ladder.least
        enough = math.exp(ladder.least)
        others = (one for one in self.ladders if one is not ladder)
        # The worst set is the one with every ladder that falls short of its own part.
        owed = sum(max(0.0, enough - math.exp(min(one.weakest, one.least))) for one in others)
        return math.log(enough + owed)

    def asks(self, ladder: Ladder) -> bool:
        """Whether this ladder is the one that draws for all."""
        if self._asking is None or not self._asking.wants:
            self._asking = next((one for one in self.ladders if one.wants), None)
        return self._asking is ladder

    def draw(self, generator: np.random.Generator) -> np.ndarray:
        """Poses ``(m, n)`` for all ladders that want some."""
        self._wanting = [(one, one.drawn_in) for one in self.ladders if one.wants]
        boxes = [one.rungs[place] for one, place in self._wanting]
        points, held = drawn_in_all(boxes, AT_ONCE * len(boxes), generator)
        wanted = np.array([[one.wanted] for one, _ in self._wanting])
        # As soon as one has what it wanted: the next draw may leave it out.
        enough = (held.cumsum(1) >= wanted).any(0)
        many = int(enough.argmax()) + 1 if enough.any() else len(points)
        if len(boxes) > 1:
            many = max(many, FEWEST)
        self._held = held[:, :many]
        return points[:many]

    def add(self, points: np.ndarray, answer: Answer, gone: np.ndarray) -> None:
        """Gives each ladder of the last draw its part; lost poses are told to the others too."""
        for ladder in self.ladders:
            counted, told = self._held_by(ladder, len(points)), gone.copy()
            if counted is not None:
                place, held = counted
                # Poses drawn in a smaller box do not represent the whole, but a lost one is not
                # hidden.
                told = held & (gone | (place <= ladder.top))
                ladder.add(points[held], gone[held], place)
            ladder.tell(points, answer, told)

    def _held_by(self, ladder: Ladder, count: int) -> tuple[int, np.ndarray] | None:
        for (one, place), held in zip(self._wanting, self._held, strict=True):
            if one is ladder and not one.over:
                return place, held
        return None
