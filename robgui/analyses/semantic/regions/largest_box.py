"""The largest box around a start in which, with 95 % confidence, hardly a pose loses the class.

Faces move out by doubling and, once refused, by bisection; a step is taken when fresh poses in the
added slab keep the class. Then poses drawn after the box was fixed decide. A box that does not
pass is cut where it lost the class and tried again on new poses; every trial has a risk of its own,
and all of them together stay below 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

import numpy as np

from robgui.analyses.semantic.regions.box_test import at_most, evidence, needed
from robgui.analyses.semantic.regions.domain import Domain

#: Poses drawn in the slab that a face would add: few, because the looks and the test that follow
#: see the whole box.
SLAB = 8
#: First step of a face, the step at which it rests and the longest one, as shares of the range.
FIRST_STEP, LAST_STEP, LONGEST = 0.02, 0.005, 0.25
#: Poses of a look that cuts a grown box before it is tested, and how often at most.
LOOK, LOOKS = 96, 12
#: Poses of a test drawn at once, and the most of it, as a multiple of what a box without a failure
#: needs. A box that needs more is cut, which costs little of it.
AT_ONCE, MOST = 64, 2.5
#: Trials of a box; each has half the risk of the one before.
TRIALS = 12
#: A face is cut this far inside the pose that lost the class.
_BEYOND = 0.0025
#: A box that failed a test shrinks by this share of its side at every face.
_INWARDS = 0.01

#: Scores and top classes of the poses asked for.
Answer = tuple[np.ndarray, np.ndarray]
#: Asks for poses ``(m, n)`` in shares of the ranges.
Asking = Generator[np.ndarray, Answer, None]


@dataclass(slots=True)
class DrawnPoses:
    """Poses of one test: ``points (m, n)`` in shares of the ranges, scores and classes ``(m,)``."""

    points: np.ndarray
    scores: np.ndarray
    tops: np.ndarray

    def add(self, points: np.ndarray, answer: Answer) -> None:
        """More of them."""
        self.points = np.concatenate([self.points, points])
        self.scores = np.concatenate([self.scores, answer[0]])
        self.tops = np.concatenate([self.tops, answer[1]])


class LargestBox:
    """One box; ``life`` asks for poses until the box has passed or is given up.

    Attributes:
        low: ``(n,)`` lower bounds in shares of the ranges.
        high: ``(n,)`` upper bounds.
        first: Length of its sides at the start.
        drawn: Poses of the last test.
        most: The share of lost poses that the last test does not rule out.
        done: Whether it has passed or was given up.
        progress: How much of the work is done, 0 to 1.
        hurried: Whether a number of poses would use up the time: then the box stops growing,
            and its test begins.
    """

    def __init__(
        self,
        seed: np.ndarray,
        domain: Domain,
        target: int,
        generator: np.random.Generator,
        *,
        most_lost: float,
        risk: float,
        epsilon: float,
    ) -> None:
        low, high = domain.held((seed - epsilon)[None], (seed + epsilon)[None])
        self.low, self.high, self._seed = low[0], high[0], seed
        self.first = float((self.high - self.low).max())
        self._domain, self._target, self._generator = domain, target, generator
        self._most_lost, self._risk, self._epsilon = most_lost, risk, epsilon
        self.drawn = self._nothing()
        self.most, self.done, self.progress = 1.0, False, 0.0
        self.hurried: Callable[[int], bool] = lambda poses: False

    def life(self) -> Asking:
        """Grows, looks, and tries until the box passes."""
        yield from self._grow()
        if (yield from self._look()):  # what was cut off may have kept other faces back
            yield from self._grow()
            yield from self._look()
        self.progress = 0.5
        for trial in range(1, TRIALS + 1):
            if (yield from self._test(self._risk / 2**trial)):
                break
            if trial < TRIALS:
                self._cut(self.drawn.points[self.drawn.tops != self._target])
                self._shrink()
        self.done, self.progress = True, 1.0

    def _nothing(self) -> DrawnPoses:
        points = np.zeros((0, len(self._seed)))
        return DrawnPoses(points, np.zeros(0), np.zeros(0, dtype=np.int64))

    def _lost(self, answer: Answer) -> np.ndarray:
        return np.asarray(answer[1] != self._target)

    def _inside(self, count: int) -> np.ndarray:
        unit = self._generator.random((count, len(self._seed)))
        return np.asarray(self.low + (self.high - self.low) * unit)

    def _grow(self) -> Asking:
        """Moves the faces in turn until none can move on."""
        faces = 2 * len(self._seed)
        step, refused = np.full(faces, FIRST_STEP), np.zeros(faces, dtype=bool)
        while (step >= LAST_STEP).any() and not self._must_test():
            for face in np.flatnonzero(step >= LAST_STEP).tolist():
                far = min(step[face], self._room(face))
                if far < 1e-9:
                    step[face] = 0.0
                    continue
                answer = yield self._slab(face, far)
                if self._lost(answer).any():
                    refused[face] = True
                else:
                    self._move(face, far)
                if refused[face]:
                    step[face] = step[face] / 2
                else:
                    step[face] = min(2 * step[face], LONGEST)
            self.progress = 0.5 * float((step < LAST_STEP).mean())

    def _look(self) -> Generator[np.ndarray, Answer, bool]:
        """Cuts the box until a look into it finds no lost pose; whether anything was cut off."""
        cut = False
        for _ in range(LOOKS):
            if self._must_test():
                break
            points = self._inside(LOOK)
            lost = points[self._lost((yield points))]
            if not len(lost):
                break
            self._cut(lost)
            cut = True
        return cut

    def _must_test(self) -> bool:
        """Whether the time left is what the first test takes."""
        return self.hurried(LOOK + needed(self._most_lost, self._risk / 2))

    def _room(self, face: int) -> float:
        """How far a face can move."""
        axis, domain = face // 2, self._domain
        if domain.wraps[axis]:
            return float(domain.width[axis] - (self.high[axis] - self.low[axis]))
        if face % 2:
            return float(domain.ceiling[axis] - self.high[axis])
        return float(self.low[axis] - domain.floor[axis])

    def _slab(self, face: int, far: float) -> np.ndarray:
        axis, points = face // 2, self._inside(SLAB)
        depth = far * self._generator.random(SLAB)
        if face % 2:
            points[:, axis] = self.high[axis] + depth
        else:
            points[:, axis] = self.low[axis] - depth
        return points

    def _move(self, face: int, far: float) -> None:
        side = self.high if face % 2 else self.low
        side[face // 2] += far if face % 2 else -far

    def _test(self, risk: float) -> Generator[np.ndarray, Answer, bool]:
        """Draws new poses until they show what is asked, or can no longer show it."""
        self.drawn, limit = self._nothing(), -np.log(risk)
        most = int(MOST * needed(self._most_lost, risk))
        while True:
            points = self._inside(AT_ONCE)
            self.drawn.add(points, (yield points))
            total, lost = len(self.drawn.tops), int((self.drawn.tops != self._target).sum())
            self.most = at_most(lost, total, risk)
            found = evidence(lost, total, self._most_lost)
            self.progress = 0.5 + 0.5 * min(1.0, max(0.0, found / limit))
            if found >= limit:
                self.most = min(self.most, self._most_lost)  # the bound is rounded up
                return True
            if found + evidence(0, most - total, self._most_lost) < limit:
                return False

    def _shrink(self) -> None:
        """Moves every face a little inwards that does not lie at the end of its range.

        The poses seen are few of those lost: a box cut past them alone would mostly fail again.
        """
        side = _INWARDS * (self.high - self.low)
        inner = self.low > self._domain.floor, self.high < self._domain.ceiling
        self.low = np.where(inner[0], np.minimum(self.low + side, self._seed), self.low)
        self.high = np.where(inner[1], np.maximum(self.high - side, self._seed), self.high)

    def _cut(self, lost: np.ndarray) -> None:
        """Moves faces inwards past poses ``(m, n)`` that lost the class, losing little volume."""
        for point in lost:
            if ((point < self.low) | (point > self.high)).any():
                continue
            low = np.where(point < self._seed, point + _BEYOND, np.inf)
            high = np.where(point > self._seed, point - _BEYOND, -np.inf)
            low, high = np.minimum(low, self._seed), np.maximum(high, self._seed)
            sides = np.maximum(self.high - self.low, 1e-12)
            kept = np.stack(
                [
                    np.where(point < self._seed, self.high - low, 0) / sides,
                    np.where(point > self._seed, high - self.low, 0) / sides,
                ]
            )
            end, axis = np.unravel_index(int(kept.argmax()), kept.shape)
            if end:
                self.high[axis] = high[axis]
            else:
                self.low[axis] = low[axis]
