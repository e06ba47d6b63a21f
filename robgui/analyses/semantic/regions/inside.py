"""What is inside a found region and just outside it."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.semantic.scene.pictures import blank_pictures, small_pictures
from robgui.analyses.semantic.scene.space import Space
from robgui.core.model.randomness import HOST, host_generator

#: Pictures from inside and from outside of each region.
SHOWN = 3
#: Points examined beyond each face, and their distance from it as a share of the range.
_BEYOND, _FAR = 4, 0.04


@dataclass(frozen=True, slots=True)
class ShownPoints:
    """E points ``(E, n)`` with their pictures ``(E, h, w, 3)``, scores and classes ``(E,)``.

    Nan, white and -1 if there is none.
    """

    points: np.ndarray
    pictures: np.ndarray
    scores: np.ndarray
    top1: np.ndarray


class Interior:
    """Means, variances and pictures of regions with bounds ``(S, 2, n)``.

    Rows are filled one region after the other.

    Attributes:
        mean: ``(S,)`` mean score inside; nan where it is not known yet.
        var: ``(S,)`` variance of the score inside.
        inside: For each region done so far: its start, the point with the lowest and the one with
            the highest score.
        outside: For each region done so far: points beyond its faces, those with the lowest scores.
        lowest: ``(S, n)`` the point inside with the lowest score.
        lowest_score: ``(S,)`` that score.
        lowest_top1: ``(S,)`` the class there.
        lost: ``(S,)`` poses inside at which the class is not on top; -1 where it is not known yet.
        total: ``(S,)`` poses inside that were looked at.
        calls: Images that the network has seen.
    """

    def __init__(
        self,
        space: Space,
        target: int,
        bounds: Tensor,
        starts: Tensor,
        samples: int,
        seed: int,
        batch: int,
    ) -> None:
        self._space, self._target, self._bounds, self._starts, self._batch = (
            space,
            target,
            bounds,
            starts,
            batch,
        )
        count, n = len(bounds), bounds.shape[2]
        generator = host_generator(seed)
        # The same random numbers for every region: differences between regions are not chance.
        self._unit = torch.rand((samples, n), generator=generator, dtype=torch.float64, device=HOST)
        self._beyond = torch.rand(
            (2 * n * _BEYOND, n), generator=generator, dtype=torch.float64, device=HOST
        )
        self.mean, self.var = np.full(count, np.nan), np.full(count, np.nan)
        self.inside: list[ShownPoints] = []
        self.outside: list[ShownPoints] = []
        self.lowest = np.full((count, n), np.nan)
        self.lowest_score, self.lowest_top1 = (
            np.full(count, np.nan),
            np.full(count, -1, dtype=np.int64),
        )
        self.lost, self.total = np.full(count, -1, dtype=np.int64), np.zeros(count, dtype=np.int64)
        self.calls = 0

    def look(self) -> Iterator[None]:
        """Looks at every region; yields after every batch."""
        for region in range(len(self._bounds)):
            yield from self._look_inside(region)
            yield
            yield from self._look_outside(region)
            yield

    def _look_inside(self, region: int) -> Generator[None, None, None]:
        low, high = self._bounds[region]
        points = self._space.wrapped(low + (high - low) * self._unit)
        # The start comes last and is not part of the sample.
        points = torch.cat([points, self._starts[region : region + 1]])
        scores, tops = yield from self._space.scores(points, self._target, self._batch)
        self.calls += len(points)
        self._keep(region, points, scores, tops)

    def take(self, region: int, drawn: tuple[Tensor, Tensor, Tensor]) -> Iterator[None]:
        """Counts poses drawn inside a region elsewhere, and looks around the region.

        The start comes last, with scores and classes. Yields after every batch.
        """
        self._keep(region, *drawn)
        yield from self._look_outside(region)
        yield

    def _keep(self, region: int, points: Tensor, scores: Tensor, tops: Tensor) -> None:
        # Twice, so that one is the sample and one the start.
        if len(points) == 1:  # Nothing but the start is known.
            points, scores, tops = (
                values.expand(2, *values.shape[1:]) for values in (points, scores, tops)
            )
        sampled = scores[:-1].double()
        lowest, highest = int(sampled.argmin()), int(sampled.argmax())
        # Population variance: equations 2 and 3 speak of the region, not of a sample.
        self.mean[region], self.var[region] = sampled.mean(), sampled.var(correction=0)
        self.lost[region] = int((tops[:-1] != self._target).sum())
        self.total[region] = len(sampled)
        self.lowest[region] = points[lowest].numpy()
        self.lowest_score[region], self.lowest_top1[region] = sampled[lowest], tops[lowest]
        places = [len(points) - 1, lowest, highest]
        self.inside.append(self._shown(points, scores, tops, places))

    def _look_outside(self, region: int) -> Generator[None, None, None]:
        points = self._outer_points(region)
        scores, tops = yield from self._space.scores(points, self._target, self._batch)
        self.calls += len(points)
        self.outside.append(self._shown(points, scores, tops, scores.argsort()[:SHOWN].tolist()))

    def _outer_points(self, region: int) -> Tensor:
        """Points ``(k, n)`` beyond the faces that are not at the end of their range."""
        low, high = self._bounds[region]
        points = low + (high - low) * self._beyond
        floor, ceiling = self._space.low, self._space.high
        width = ceiling - floor
        kept = []
        for face in range(2 * len(width)):
            axis, upper = face // 2, face % 2
            value = high[axis] + _FAR * width[axis] if upper else low[axis] - _FAR * width[axis]
            free = bool(floor[axis] <= value) and bool(value <= ceiling[axis])
            if self._space.axes[axis].periodic:
                # On a periodic axis there is an outside only if the region leaves room for both
                # sides.
                free = bool(high[axis] - low[axis] < (1 - 2 * _FAR) * width[axis])
            if free:
                # A clone: the same random points serve every region.
                part = points[face * _BEYOND : (face + 1) * _BEYOND].clone()
                part[:, axis] = float(value)
                kept.append(part)
        return self._space.wrapped(torch.cat(kept)) if kept else points[:0]

    def _shown(
        self, points: Tensor, scores: Tensor, tops: Tensor, places: list[int]
    ) -> ShownPoints:
        n = points.shape[1]
        shown = ShownPoints(
            np.full((SHOWN, n), np.nan),
            blank_pictures(SHOWN, self._space.classifier.shape),
            np.full(SHOWN, np.nan),
            np.full(SHOWN, -1, dtype=np.int64),
        )
        if places:
            count = len(places)
            shown.pictures[:count] = small_pictures(self._space.images(points[places]))
            shown.points[:count] = points[places].numpy()
            shown.scores[:count], shown.top1[:count] = scores[places], tops[places]
        return shown
