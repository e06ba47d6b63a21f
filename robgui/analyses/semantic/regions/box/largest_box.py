"""The largest box around a start in which, with 95 % confidence, hardly a pose loses the class.

Every pose known to lose the class, from the first look, from other boxes and from this one, must be
cut off. The largest box without them is sampled, above all near its corners, and each lost pose
found there is followed towards the start, which cuts the box near the border of the class. When a
look finds none, a ladder of slightly smaller boxes is tested on poses drawn after it was fixed;
the first ladders of all boxes of a run share one risk. If no box of it passes, the search
continues; every later trial has its own risk, and all of them together stay below 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

import numpy as np

from robgui.analyses.semantic.regions.box.box_test import (
    VOLUMES,
    Answer,
    DrawnPoses,
    Ladder,
    at_most,
    needed,
)
from robgui.analyses.semantic.regions.box.company import Company
from robgui.analyses.semantic.regions.box.empty_box import EmptyBox, Reach
from robgui.analyses.semantic.regions.box.rung import Rung
from robgui.analyses.semantic.regions.domain import Domain

#: Poses of the first and of the largest look into a box, how many clean ones end the search, and
#: most looks. Looks double while they find none.
#: 32 clean poses leave 5 % for a share of 9 %: worth a test, which may still fail.
LOOK, LARGEST_LOOK, CLEAN, LOOKS = 8, 64, 32, 30
#: Poses near corners in every look, at most, and their distance from the faces as a share of the
#: sides.
CORNERS, INSET = 8, 0.06
#: Lost poses of a look that are followed towards the start, and the number of halvings.
FOLLOWED, HALVINGS = 2, 5
#: Trials of a ladder; the first gets this share of the risk, each other one half of what is left.
TRIALS, FIRST_RISK = 6, 0.9
#: After a ladder that did not pass, the next one starts this much smaller.
_SMALLER = 0.9

#: Asks for poses ``(m, n)`` in shares of the ranges.
Asking = Generator[np.ndarray, Answer, None]


class LargestBox:
    """One box; ``life`` asks for poses until the box has passed or is abandoned.

    Attributes:
        low: ``(n,)`` lower bounds in shares of the ranges.
        high: ``(n,)`` upper bounds.
        first: Length of its sides at the start.
        drawn: Poses of the last test that lie in the box.
        most: The share of lost poses that the last test does not rule out.
        done: Whether it has passed or was given up.
        progress: How much of the work is done, 0 to 1.
        hurried: Says whether a number of poses would use up the time: then the search ends, and the
            test begins.

    Args:
        seed: ``(n,)`` the start.
        domain: The ranges.
        target: The class to keep.
        generator: Where poses come from.
        lost: Poses ``(m, n)`` known to lose the class, in parts; those found join them, so boxes
            with the same list learn from each other.
        most_lost: The share of lost poses to rule out.
        risk: Of all tests together.
        company: The first tests of several boxes share the part of ``risk`` that is for them, and
            the other tests have equal parts of the rest; without it, the risk is this box's own.
        epsilon: Half the side of the box before anything is known.
    """

    def __init__(
        self,
        seed: np.ndarray,
        domain: Domain,
        target: int,
        generator: np.random.Generator,
        *,
        lost: list[np.ndarray],
        most_lost: float,
        risk: float,
        epsilon: float,
        company: Company | None = None,
    ) -> None:
        low, high = domain.held((seed - epsilon)[None], (seed + epsilon)[None])
        self.low, self.high, self._seed = low[0], high[0], seed
        self.first = float((self.high - self.low).max())
        self._target, self._generator, self._lost = target, generator, lost
        self._empty = EmptyBox(seed, domain)
        self._most_lost, self._risk, self._company = most_lost, risk, company or Company(1)
        self._begun = False
        self._turns = np.where(domain.wraps, domain.width, np.inf)
        self.drawn = DrawnPoses.none(len(seed))
        self.most, self.done, self.progress = 1.0, False, 0.0
        self.hurried: Callable[[int], bool] = lambda poses: False

    def life(self) -> Asking:
        """Searches and tests until a box passes."""
        self._cut()
        yield from self._search(CLEAN)
        for trial in range(TRIALS):
            self.progress = 0.5
            if (yield from self._test(trial)) or trial == TRIALS - 1:
                break
            yield from self._followed(self.drawn.points[self.drawn.tops != self._target])
            self._cut()
            yield from self._search(2 * CLEAN)
            last = self._rungs((_SMALLER,))[0]
            self.low, self.high = last.low, last.high
        self.done, self.progress = True, 1.0

    def _risk_of(self, trial: int) -> float:
        if trial == 0:
            return FIRST_RISK * self._risk
        # The sum over all trials of all boxes stays below the whole risk.
        return (1 - FIRST_RISK) * self._risk / self._company.size * 0.5**trial

    def _asked(self, points: np.ndarray) -> Generator[np.ndarray, Answer, Answer]:
        """Asks for poses and keeps those that lost the class."""
        answer = yield points
        lost = points[self._gone(answer)]
        if len(lost):
            # The list is shared by all boxes of a space: each learns from the others' losses.
            self._lost.append(lost)
        return answer

    def _gone(self, answer: Answer) -> np.ndarray:
        return np.asarray(answer[1] != self._target)

    def _box(self, low: np.ndarray, high: np.ndarray) -> Rung:
        return Rung(low, high, self._turns)

    def _cut(self) -> None:
        """Makes it the largest box without a pose known to lose the class."""
        lost = np.concatenate([np.zeros((0, len(self._seed))), *self._lost])
        now = None
        if self._begun:
            now = Reach(self._seed - self.low, self.high - self._seed)
        # Once a box exists it is cut rather than replaced; see EmptyBox.largest.
        self._begun = True
        reach = self._empty.largest(lost, self._generator, now)
        self.low, self.high = self._seed - reach.down, self._seed + reach.up

    def _search(self, clean: int) -> Asking:
        """Looks and cuts until looks of ``clean`` poses in a row find no lost one."""
        size, kept = LOOK, 0
        for _ in range(LOOKS):
            if kept >= clean or self._must_test():
                return
            inside = self._box(self.low, self.high).drawn(size, self._generator)
            points = np.concatenate([self._corners(), inside])
            gone = self._gone((yield from self._asked(points)))
            if gone.any():
                yield from self._followed(points[gone])
                self._cut()
                # A clean look earns a larger one, a lost pose starts over: most poses are spent
                # near the end.
                size, kept = max(LOOK, size // 2), 0
            else:
                size, kept = min(2 * size, LARGEST_LOOK), kept + size
            # The search is half of the work, the test the other; a cut must not move the bar back.
            self.progress = max(self.progress, 0.5 * min(1.0, kept / clean))

    def _corners(self) -> np.ndarray:
        """Poses near the corners of the box, or near some of many.

        A border that is slanted or bent cuts off a corner first, which is too small a part of the
        box to be met by chance.
        """
        n = len(self._seed)
        if 2**n <= CORNERS:
            upper = np.array(list(np.ndindex(*[2] * n)), dtype=float)
        else:
            upper = self._generator.integers(0, 2, (CORNERS, n)).astype(float)
        inset = INSET + (1 - 2 * INSET) * upper
        return np.asarray(self.low + (self.high - self.low) * inset)

    def _followed(self, lost: np.ndarray) -> Asking:
        """Follows some lost poses towards the start, bisecting to where the class holds."""
        if not len(lost):
            return
        # Some by chance, not the nearest: those would all come from one side.
        away = lost[self._generator.permutation(len(lost))[:FOLLOWED]] - self._seed
        near, far = np.zeros(len(away)), np.ones(len(away))
        for _ in range(HALVINGS):
            middle = (near + far) / 2
            answer = yield from self._asked(self._seed + middle[:, None] * away)
            gone = self._gone(answer)
            near, far = np.where(gone, near, middle), np.where(gone, middle, far)

    def _must_test(self) -> bool:
        """Whether the time left is needed for the first test."""
        # Enough for one more look and the whole first test, whose answer counts more than a larger
        # box.
        return self.hurried(LARGEST_LOOK + needed(self._most_lost, self._risk_of(0)))

    def _rungs(self, volumes: tuple[float, ...]) -> list[Rung]:
        """Boxes with these shares of the volume.

        Every face not at the end of its range moves inwards by the same share of its side.
        """
        reach = Reach(self._seed - self.low, self.high - self._seed)
        lower, upper = self._empty.free(reach)
        faces = max(1, int(lower.sum() + upper.sum()))
        rungs = []
        for volume in volumes:
            # Each free face moves by the same share of its side, so ``faces`` of them give the
            # volume.
            moved = (1 - volume ** (1 / faces)) * reach.sides
            down = np.where(lower, np.maximum(reach.down - moved, 0), reach.down)
            up = np.where(upper, np.maximum(reach.up - moved, 0), reach.up)
            rungs.append(self._box(self._seed - down, self._seed + up))
        return rungs

    def _test(self, trial: int) -> Generator[np.ndarray, Answer, bool]:
        """Draws new poses until a box of the ladder passes, or none can be expected to."""
        risk = self._risk_of(trial)
        company = self._company if trial == 0 else None
        # Fixed before any pose of the test is drawn: the search has seen none of them.
        company = company or Company(1)
        ladder = Ladder(self._rungs(VOLUMES), self._most_lost, risk, company)
        self.drawn = ladder.drawn
        while not company.complete:
            yield self.drawn.points[:0]
        while not ladder.won and not ladder.given_up:
            if company.asks(ladder):
                points = company.draw(self._generator)
                answer = yield from self._asked(points)
                company.add(points, answer, self._gone(answer))
            else:
                # Another box asks for all, or this one has enough unless another ladder fails.
                yield self.drawn.points[:0]
            self._follow(ladder, risk)
        won, ladder.over = ladder.won, True
        if won:
            # What was ruled out is the share that was asked about, and no smaller one.
            self.most = self._most_lost
        return won

    def _follow(self, ladder: Ladder, risk: float) -> None:
        """Shows how far the test is."""
        box = ladder.rungs[ladder.top]
        self.low, self.high = box.low, box.high
        lost, total = int(ladder.lost[ladder.top]), int(ladder.total[ladder.top])
        # Nothing is claimed before the end.
        self.most = max(at_most(lost, total, risk), 1.01 * self._most_lost)
        self.progress = max(self.progress, 0.5 + 0.5 * ladder.progress)
