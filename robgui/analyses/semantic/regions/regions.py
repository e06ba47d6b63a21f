"""Semantic regions: how far around a pose, light, rotation does the class hold?

The default finds the largest box around each start in which hardly a pose loses the class. Hamdi
and Ghanem, Section 3: from a start u0 a box grows in which the score stays high (robust, equation
2) or low (adversarial, equation 3). Naive, OIR_B and OIR_W (Algorithms 1 and 2) grow side by side
from every start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch

from robgui.analyses.semantic.params import IMAGE
from robgui.analyses.semantic.regions.boxes import GrowingBoxes
from robgui.analyses.semantic.regions.inside import Interior, ShownPoints
from robgui.analyses.semantic.regions.params import Mode, RegionsParams, starts_on
from robgui.analyses.semantic.regions.region_api import Grown
from robgui.analyses.semantic.regions.region_growth import Growth, start_warning
from robgui.analyses.semantic.regions.scan import CoarseScan, given_starts, good_starts
from robgui.analyses.semantic.result import RegionsResult
from robgui.analyses.semantic.scene.pictures import affordable, blank_pictures
from robgui.analyses.semantic.scene.space import scene_of, target_classes
from robgui.core.dataset import Dataset
from robgui.core.devices import to_host
from robgui.core.errors import DataError
from robgui.core.execution.budget.time_limit import Deadline
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier

#: Regions whose worst pose is kept as a picture.
_MOST_WORST = 6
#: Parts in which progress is counted.
_PARTS = 1000
#: Share of a time limit for the first look around.
_LOOK_SHARE = 0.15
#: Approximate number of poses for a box, from its start to the end of its test.
_POSES_OF_A_BOX = 800


def semantic_regions(
    classifier: Classifier, dataset: Dataset | None, params: RegionsParams
) -> Iterator[Step[RegionsResult]]:
    """Grows regions from every start with every method at once, then examines their inside."""
    deadline = Deadline(params.max_seconds)
    run = _Regions(classifier, dataset, params, deadline)
    yield from deadline.counted(_worked(run))


def _worked(run: _Regions) -> Iterator[Step[RegionsResult]]:
    pace = Pace()
    for _ in run.work():
        if pace.due():
            yield run.step()
    yield run.step(last=True)


class _Regions:
    """Everything a run of growing regions knows.

    ``step`` shows it at any moment after the first batch.
    """

    def __init__(
        self,
        classifier: Classifier,
        dataset: Dataset | None,
        params: RegionsParams,
        deadline: Deadline,
    ) -> None:
        self._deadline = deadline
        if params.scene == IMAGE and dataset is not None and len(dataset) != 1:
            raise DataError(
                f"Semantic regions of an image take exactly one input, not {len(dataset):,}; choose"
                " one in the gallery."
            )
        self._params, self._classifier = params, classifier
        self._space = scene_of(params, classifier, dataset)
        self._starts = given_starts(self._space, params.starts) if params.starts else None
        self._target, self._seen = target_classes(classifier, dataset, params)[0]
        self._calls = int(self._target >= 0 and not params.target)
        self._scan = CoarseScan(self._space)
        if params.mode == "adversarial":
            self._side: Mode = "adversarial"
        else:
            self._side = "robust"
        self._growth = self._new_growth()
        self._interior: Interior | None = None
        self._worst: dict[str, np.ndarray] | None = None

    def _new_growth(self) -> Growth | GrowingBoxes:
        if self._params.mode == "box":
            lost = self._scan.lost(self._target)
            return GrowingBoxes(self._space, self._target, self._params, lost, self._deadline)
        return Growth(self._space, self._target, self._params, self._side)

    def work(self) -> Iterator[None]:
        """Scan, growing, inside; yields after every batch."""
        yield from self._growth.begin(self._space.middle[None][:0])  # No region yet.
        yield from self._look_around()
        starts = self._starts
        if starts is None:
            many = self._affordable()
            starts = good_starts(self._space, self._scan, self._target, self._side, many)
        growth = self._new_growth()
        yield from growth.begin(starts)
        self._growth = growth
        yield
        yield from self._growth.grow()
        yield from self._look_inside()

    def _affordable(self) -> int:
        """How many starts there is time for, at the speed so far."""
        wanted, deadline = starts_on(self._params, self._classifier.shape), self._deadline
        if not deadline.limited:
            return wanted
        calls = deadline.left * self._scan.looked / max(deadline.seconds, 1e-9)
        return max(1, min(wanted, int(calls / _POSES_OF_A_BOX)))

    def _look_inside(self) -> Iterator[None]:
        """Examines the inside of the regions; a box has been sampled by its test."""
        params, growth, grown = self._params, self._growth, self._growth.grown
        bounds, starts = (
            torch.from_numpy(values)
            for values in (np.stack([grown.low, grown.high], 1), grown.start)
        )
        inside = Interior(
            self._space, self._target, bounds, starts, params.samples, params.seed, params.batch
        )
        self._interior = inside
        if isinstance(growth, GrowingBoxes):
            for region in range(len(bounds)):
                yield from inside.take(region, growth.points(region))
        else:
            yield from inside.look()
        self._keep_worst(inside)

    def _look_around(self) -> Iterator[None]:
        """Finds where the class holds, and which class a mesh is taken for."""
        told = self._target
        for _ in self._scan.look(self._params.batch):
            if told >= 0:
                self._target = told
            else:
                self._target = self._scan.usual_class()
            yield
            # The look fills gaps from coarse to fine, so it may end anywhere.
            if self._deadline.beyond(_LOOK_SHARE):
                return

    def step(self, *, last: bool = False) -> Step[RegionsResult]:
        """The complete picture now; the last one is marked as cut if its time was up."""
        regions, note = len(self._growth.able), ""
        if self._interior is None:
            looked = 0
        else:
            looked = len(self._interior.outside)
        if regions:
            done = int(_PARTS * self._growth.progress) + looked
        else:
            done = 0
        if not regions:
            seen = f"{self._scan.looked} of {len(self._scan.points)}"
            note = f"Looking where the class holds: {seen} pictures."
        cut = last and self._deadline.limited and not bool(self._growth.grown.converged.all())
        return Step(done, _PARTS + max(1, regions), self._result(), note, cut)

    def _holds(self) -> np.ndarray:
        """Whether mean and variance satisfy equations 2 and 3.

        The variance of an adversarial region should be small too.
        """
        if self._interior is None:
            return np.zeros(len(self._growth.able), dtype=bool)
        mean, var, p = self._interior.mean, self._interior.var, self._params
        if self._side == "robust":
            enough = mean >= 1 - p.eps_m
        else:
            enough = mean <= p.eps_m
        return np.asarray(enough & (var <= p.eps_v))

    def _keep_worst(self, inside: Interior) -> None:
        """The images behind the findings.

        Where the class fails inside a region, the lowest scores first.
        """
        able = self._growth.able
        failing = np.flatnonzero(able & (inside.lowest_top1 != self._target))
        order = failing[np.argsort(inside.lowest_score[failing], kind="stable")][
            : affordable(self._classifier.shape, _MOST_WORST)
        ]
        (images,) = to_host(self._space.images(torch.from_numpy(inside.lowest[order])))
        self._worst = {
            "worst_images": images,
            "worst_points": inside.lowest[order],
            "worst_scores": inside.lowest_score[order],
            "worst_top1": inside.lowest_top1[order],
            "worst_region": order.astype(np.int64),
        }

    def _no_worst(self) -> dict[str, np.ndarray]:
        none = np.zeros(0, dtype=np.int64)
        shape, n = self._classifier.shape, len(self._space.axes)
        images, points = np.zeros((0, *shape), dtype=np.float32), np.zeros((0, n))
        return dict(zip(_WORST, (images, points, np.zeros(0), none, none), strict=True))

    def _warnings(self, start_scores: np.ndarray, start_tops: np.ndarray) -> tuple[str, ...]:
        labels, scores, tops = self._classifier.labels, start_scores.tolist(), start_tops.tolist()
        sentences = (
            start_warning(
                self._side,
                number,
                score,
                labels[top],
                labels[self._target],
                top == self._target,
            )
            for number, (score, top) in enumerate(zip(scores, tops, strict=True), 1)
        )
        return tuple(filter(None, sentences))

    def _result(self) -> RegionsResult:
        grown, inside = self._growth.grown, self._interior
        scores, tops = self._growth.score.double().numpy(), self._growth.top1.numpy()
        count = len(grown.method)
        nothing = np.full(count, np.nan)
        complete = inside is not None and len(inside.outside) == count
        return RegionsResult(
            axes=self._space.axes,
            low=grown.low,
            high=grown.high,
            trace=grown.trace.astype(np.float32),
            loss=grown.loss.astype(np.float32),
            method=grown.method,
            start=grown.start,
            start_number=grown.start_number,
            start_score=scores[grown.start_number],
            start_top1=tops[grown.start_number],
            grown=self._growth.able,
            converged=grown.converged,
            hit_domain=grown.hit_domain,
            never_grew=grown.never_grew,
            volume=grown.volume,
            inside_mean=nothing if inside is None else inside.mean.copy(),
            inside_var=nothing if inside is None else inside.var.copy(),
            holds=self._holds(),
            warnings=self._warnings(scores, tops),
            **_shown(
                "inside",
                inside.inside if inside is not None and complete else [],
                self._classifier.shape,
                grown,
            ),
            **_shown(
                "outside",
                inside.outside if inside is not None and complete else [],
                self._classifier.shape,
                grown,
            ),
            map_x=self._scan.x,
            map_y=self._scan.y,
            map_score=self._scan.map_of(self._target),
            network=self._classifier.name,
            shape=self._space.name,
            labels=tuple(self._classifier.labels),
            target=self._target,
            scene_axes=tuple(self._space.scene.axes),
            values=self._space.values,
            model_calls=self._calls
            + self._scan.looked
            + self._growth.calls
            + (0 if inside is None else inside.calls),
            **(self._worst or self._no_worst()),
            inside_lost=np.full(count, -1) if inside is None else inside.lost.copy(),
            inside_total=np.zeros(count, dtype=np.int64) if inside is None else inside.total.copy(),
            seen=self._seen,
            inside_most=self._growth.most if isinstance(self._growth, GrowingBoxes) else nothing,
        )


_WORST = ("worst_images", "worst_points", "worst_scores", "worst_top1", "worst_region")


def _shown(
    name: str, rows: list[ShownPoints], shape: tuple[int, ...], grown: Grown
) -> dict[str, Any]:
    """The fields of the result for pictures from inside or outside.

    Empty when there are none yet.
    """
    count, n = grown.low.shape
    blank = blank_pictures(0, shape)
    empty = ShownPoints(np.zeros((0, n)), blank, np.zeros(0), np.zeros(0, dtype=np.int64))
    parts = rows or [empty] * count
    fields = ("points", "pictures", "scores", "top1")
    if not parts:
        return {
            f"{name}_{field}": np.zeros(
                (0, *getattr(empty, field).shape), getattr(empty, field).dtype
            )
            for field in fields
        }
    return {
        f"{name}_{field}": np.stack([getattr(part, field) for part in parts]) for field in fields
    }
