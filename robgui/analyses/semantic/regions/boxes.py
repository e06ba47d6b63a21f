"""Finds the largest boxes of a space: all of them ask together, the network answers in batches."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.regions.box.box_test import Answer
from robgui.analyses.semantic.regions.box.company import Company
from robgui.analyses.semantic.regions.box.largest_box import LargestBox
from robgui.analyses.semantic.regions.domain import Domain
from robgui.analyses.semantic.regions.lost import CONFIDENCE
from robgui.analyses.semantic.regions.params import RegionsParams
from robgui.analyses.semantic.regions.region_api import Grown
from robgui.analyses.semantic.regions.region_step import GREW
from robgui.analyses.semantic.scene.space import Space
from robgui.core.execution.budget.time_limit import Deadline


class GrowingBoxes:
    """One box for every start; those that begin outside the class do not grow.

    Attributes:
        score: ``(P,)`` score at each start.
        top1: ``(P,)`` class there.
        able: ``(P,)`` bool, which boxes grow.
        boxes: ``(P,)`` the boxes.
        calls: Images that the network has seen.

    Args:
        space: The space of poses.
        target: The class to keep.
        params: The settings.
        lost: Poses ``(m, n)`` already known to lose the class; all boxes learn from them, and from
            each other.
        deadline: The time limit.
    """

    def __init__(
        self,
        space: Space,
        target: int,
        params: RegionsParams,
        lost: Tensor,
        deadline: Deadline | None = None,
    ) -> None:
        self._space, self._target, self._params = space, target, params
        self._deadline = deadline or Deadline()
        self._domain = Domain.of(
            space.low.numpy(), space.high.numpy(), space.periodic, shares=True, clip=True
        )
        # One list for all boxes, to which each appends.
        self._lost = [self._domain.measured(lost.numpy())]
        self.boxes: list[LargestBox] = []
        self._starts = np.zeros((0, len(space.axes)))
        self._started = np.zeros(0)
        self._trace: list[np.ndarray] = []
        self.calls = 0
        self.score: Tensor
        self.top1: Tensor
        self.able: np.ndarray

    def begin(self, starts: Tensor) -> Iterator[None]:
        """Evaluates the starts ``(P, n)``; yields between batches."""
        params = self._params
        self.score, self.top1 = yield from self._space.scores(starts, self._target, params.batch)
        self.calls += len(starts)
        self.able = (self.top1 == self._target).numpy()
        self._starts, self._started = starts.numpy(), self.score.double().numpy()
        risk, company = self._risk()
        self.boxes = [
            LargestBox(
                seed,
                self._domain,
                self._target,
                # A generator per box: what one draws does not depend on how the others fare.
                np.random.default_rng([params.seed, place]),
                lost=self._lost,
                most_lost=params.most_lost,
                risk=risk,
                epsilon=params.epsilon,
                company=company,
            )
            for place, seed in enumerate(self._domain.measured(self._starts))
        ]
        self._trace = [self._bounds()]

    def _risk(self) -> tuple[float, Company | None]:
        """The risk of each box and who shares it: the headline may name any of them."""
        many = max(1, int(self.able.sum()))
        if self._deadline.limited:
            # One after the other: a later box may depend on the tests of earlier ones.
            return (1 - CONFIDENCE) / many, None
        return 1 - CONFIDENCE, Company(many)

    def grow(self) -> Iterator[None]:
        """Grows every box to its end; yields after every batch.

        One batch of poses serves all of them. With a time limit they grow one after the other, each
        in its share of the time, so there is an answer at the end.
        """
        places = np.flatnonzero(self.able).tolist()
        if not self._deadline.limited:
            yield from self._live(places)
            return
        for number, place in enumerate(places):
            # Each remaining box gets an equal share of the time that is left.
            end = self._deadline.seconds + self._deadline.left / (len(places) - number)
            self.boxes[place].hurried = self._hurry(end)
            yield from self._deadline.until(1.0, self._live([place]))

    def _hurry(self, end: float) -> Callable[[int], bool]:
        """Returns a function that says whether a number of poses would take until ``end``.

        It goes by the speed so far.
        """
        began, before = self._deadline.seconds, self.calls

        def hurried(poses: int) -> bool:
            spent, asked = self._deadline.seconds - began, self.calls - before
            # Before the first answer its speed is not known.
            return bool(asked) and self._deadline.seconds + poses * spent / asked >= end

        return hurried

    def _live(self, places: list[int]) -> Iterator[None]:
        lives = {place: self.boxes[place].life() for place in places}
        # Every box asks; one model call answers all of them.
        asked = {place: next(life) for place, life in lives.items()}
        while asked:
            answers = yield from self._answers(list(asked.values()))
            for place, answer in zip(list(asked), answers, strict=True):
                try:
                    asked[place] = lives[place].send(answer)
                except StopIteration:
                    del asked[place]
            bounds = self._bounds()
            # Only changes are kept: the film has no still frames.
            if (bounds != self._trace[-1]).any():
                self._trace.append(bounds)
            yield

    def points(self, place: int) -> tuple[Tensor, Tensor, Tensor]:
        """Poses ``(m, n)`` of the last test of a box with scores and classes, the start last.

        Only the start if the box did not grow.
        """
        drawn = self.boxes[place].drawn
        # A box across the seam draws poses beyond the range; the same poses inside it are shown.
        units = self._domain.in_units(self._domain.wrapped(drawn.points))
        points = torch.from_numpy(np.concatenate([units, self._starts[place : place + 1]]))
        scores, tops = torch.from_numpy(drawn.scores).float(), torch.from_numpy(drawn.tops)
        return (
            points,
            torch.cat([scores, self.score[place : place + 1]]),
            torch.cat([tops, self.top1[place : place + 1]]),
        )

    def _answers(self, asked: list[np.ndarray]) -> Generator[None, None, list[Answer]]:
        points = self._domain.in_units(self._domain.wrapped(np.concatenate(asked)))
        at = torch.from_numpy(points)
        scores, tops = yield from self._space.scores(at, self._target, self._params.batch)
        self.calls += len(points)
        # np.split wants the places between the parts; the end of the last is none.
        ends = np.cumsum([len(part) for part in asked])[:-1]
        pairs = (np.split(values, ends) for values in (scores.numpy(), tops.numpy()))
        answers: list[Answer] = list(zip(*pairs, strict=True))
        return answers

    def _bounds(self) -> np.ndarray:
        """Bounds ``(P, 2, n)`` in shares of the ranges."""
        n = self._starts.shape[1]
        bounds = [np.stack([box.low, box.high]) for box in self.boxes]
        if bounds:
            return np.stack(bounds)
        return np.zeros((0, 2, n))

    @property
    def progress(self) -> float:
        """How much of the work is done, 0 to 1."""
        growing = [box.progress for box, able in zip(self.boxes, self.able, strict=True) if able]
        if growing:
            return float(np.mean(growing))
        return 1.0

    @property
    def most(self) -> np.ndarray:
        """``(P,)`` shares of lost poses that are not ruled out; nan for a box not tested yet."""
        return np.array([box.most if len(box.drawn.tops) else np.nan for box in self.boxes])

    @property
    def grown(self) -> Grown:
        """The boxes as they are now."""
        trace = np.stack(self._trace, 1)
        low, high = trace[:, -1, 0], trace[:, -1, 1]
        first = np.array([box.first for box in self.boxes])
        units = self._domain.in_units(trace)
        return Grown(
            low=units[:, -1, 0],
            high=units[:, -1, 1],
            trace=units,
            loss=np.zeros((len(trace), 0)),
            method=("box",) * len(trace),
            start=self._starts,
            start_number=np.arange(len(trace)),
            start_score=self._started,
            # A start outside the class has nothing left to do.
            converged=np.array([box.done for box in self.boxes], dtype=bool) | ~self.able,
            hit_domain=self.able & self._domain.reached(low, high),
            never_grew=((high - low) <= GREW * first[:, None]).all(1),
            volume=self._domain.share(low, high),
        )
