"""Semantic robustness volume ratio (SRVR): in how much of the space does a network keep the class?

Hamdi and Ghanem, Section 4.4 and Table 1: the mean, over shapes, starts and methods, of the volume
of the grown region divided by the volume of the whole range (equation 20). The starts are the same
for every shape and network; unless the paper's are wanted, they lie where all of them see the
class.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robgui.analyses.semantic.regions.params import METHODS
from robgui.analyses.semantic.regions.region_api import grown_of
from robgui.analyses.semantic.regions.region_growth import Growth
from robgui.analyses.semantic.regions.scan import (
    CoarseScan,
    common_starts,
    given_starts,
    same_starts,
)
from robgui.analyses.semantic.result import SrvrResult
from robgui.analyses.semantic.scene.space import open_spaces, target_classes
from robgui.analyses.semantic.volume_ratio.params import SrvrParams
from robgui.core.dataset import Dataset
from robgui.core.execution.step import Pace, Step
from robgui.core.model.classifier import Classifier


def srvr(
    classifiers: tuple[Classifier, ...], dataset: Dataset | None, params: SrvrParams
) -> Iterator[Step[SrvrResult]]:
    """Grows regions for every network and shape, network by network within each shape."""
    table = _Table(classifiers, dataset, params)
    pace = Pace()
    for _ in table.fill():
        if pace.due():
            yield table.step()
    yield table.step()


class _Table:
    """Everything known while the table is filled; ``step`` shows it at any moment."""

    def __init__(
        self, classifiers: tuple[Classifier, ...], dataset: Dataset | None, params: SrvrParams
    ) -> None:
        self._classifiers, self._params = classifiers, params
        self._spaces = open_spaces(classifiers, dataset, params)
        first = self._spaces[0][0]
        if params.starts:
            self._starts = given_starts(first, params.starts)
        else:
            # Section 4.4: "4 constant initial points for all experiments".
            self._starts = same_starts(first, params.start_count)
        self._methods = tuple(method for method in METHODS if method in params.methods)
        size = (len(classifiers), len(self._spaces[0]), len(self._starts), len(self._methods))
        n = len(first.axes)
        self._volume = np.full(size, np.nan)
        self._low, self._high = np.full((*size, n), np.nan), np.full((*size, n), np.nan)
        self._converged, self._hit, self._grew = (np.zeros(size, dtype=bool) for _ in range(3))
        self._score, self._top1 = np.full(size[:3], np.nan), np.full(size[:3], -1, dtype=np.int64)
        self._target = [one.number for one in target_classes(classifiers[0], dataset, params)]
        if params.target:
            self._calls = 0
        else:
            self._calls = sum(target >= 0 for target in self._target)
        self._steps = 0
        self._growth: Growth | None = None
        self._place = ""

    def fill(self) -> Iterator[None]:
        """Fills the table; yields after every batch."""
        for shape in range(len(self._spaces[0])):
            if self._target[shape] < 0:
                yield from self._decide(shape)
        # After all classes are known: a start must show the class of every shape.
        if self._params.begin == "class" and not self._params.starts:
            yield from self._choose_starts()
        for shape in range(len(self._spaces[0])):
            # Network by network within a shape: a run stopped early has
            # compared them on the same shapes.
            for network in range(len(self._classifiers)):
                yield from self._measure(network, shape)
        self._place = ""

    def step(self) -> Step[SrvrResult]:
        """The complete picture now."""
        each = self._params.iterations
        maps = len(self._classifiers) * len(self._spaces[0])
        # ``begin`` makes the grower once the starts have been looked at.
        if self._growth is None or not hasattr(self._growth, "grower"):
            current = 0
        else:
            current = self._growth.grower.steps
        return Step(
            done=self._steps + current, total=each * maps, result=self._result(), note=self._note()
        )

    def _note(self) -> str:
        """Which regions are growing and how far they are, in words.

        None of them is in the table until all have ended.
        """
        if self._growth is None:
            return self._place
        if not hasattr(self._growth, "grower"):
            return f"{self._place}: looking at the starts."
        grower = self._growth.grower
        at_rest = int((~grower.growing).sum())
        return (
            f"{self._place}: step {grower.steps:,} of {self._params.iterations:,}, {at_rest:,} of"
            f" {len(grower.growing):,} regions at rest."
        )

    def _words(self, shape: int, words: str) -> str:
        """``words`` as a sentence, with its shape if there are several."""
        count = len(self._spaces[0])
        if count > 1:
            return f"Shape {shape + 1} of {count}, {words}"
        return words[0].upper() + words[1:]

    def _decide(self, shape: int) -> Iterator[None]:
        """Takes the class that the first network sees most often."""
        self._place = self._words(
            shape, f"looking for the class that {self._classifiers[0].name} usually sees."
        )
        scan = CoarseScan(self._spaces[0][shape])
        before = self._calls
        for _ in scan.look(self._params.batch):
            self._calls = before + scan.looked
            yield
        self._target[shape] = scan.usual_class()

    def _choose_starts(self) -> Iterator[None]:
        """Looks at every shape with every network and starts where they see the class."""
        scans, targets = [], []
        for shape, target in enumerate(self._target):
            for network, spaces in enumerate(self._spaces):
                who = f"network {network + 1} of {len(self._spaces)}"
                self._place = self._words(shape, f"{who}: looking where the class is seen.")
                scan, before = CoarseScan(spaces[shape]), self._calls
                for _ in scan.look(self._params.batch):
                    self._calls = before + scan.looked
                    yield
                scans.append(scan)
                targets.append(target)
        self._starts = common_starts(
            self._spaces[0][0], scans, targets, self._params.mode, len(self._starts)
        )

    def _measure(self, network: int, shape: int) -> Iterator[None]:
        self._place = self._words(shape, f"network {network + 1} of {len(self._classifiers)}")
        space = self._spaces[network][shape]
        growth = self._growth = Growth(space, self._target[shape], self._params, self._params.mode)
        yield from growth.begin(self._starts)
        yield from growth.grow()
        grown, at = grown_of(growth.grower), (network, shape)
        size = self._volume.shape[2:]
        self._volume[at] = grown.volume.reshape(size)
        self._low[at], self._high[at] = grown.low.reshape(*size, -1), grown.high.reshape(*size, -1)
        self._converged[at], self._hit[at] = (
            grown.converged.reshape(size),
            grown.hit_domain.reshape(size),
        )
        able = growth.grower.able
        self._grew[at] = (able & ~grown.never_grew).reshape(size)
        # Counted as 0 instead of left out: leaving them out would reward a
        # network that sees the class nowhere.
        self._volume[at][~self._grew[at]] = 0
        self._score[at], self._top1[at] = growth.score.numpy(), growth.top1.numpy()
        self._calls += growth.calls
        self._growth = None
        # All of them, also where regions came to rest sooner: progress never goes back.
        self._steps += self._params.iterations
        yield

    def _result(self) -> SrvrResult:
        done = np.isfinite(self._volume)
        counts = done.sum((1, 2, 3))
        bad = np.isfinite(self._score) & ~self._able()
        return SrvrResult(
            # Equation 20, its expectation as a mean over shapes, starts and methods.
            srvr=_mean(self._volume, done, (1, 2, 3)),
            # Methods averaged first: regions from one start depend on each other.
            srvr_error=_error(self._volume.mean(3).reshape(len(counts), -1)),
            by_method=_mean(self._volume, done, (1, 2)),
            volume=self._volume.copy(),
            low=self._low.copy(),
            high=self._high.copy(),
            converged=self._converged.copy(),
            hit_domain=self._hit.copy(),
            grew=self._grew.copy(),
            start_score=self._score.copy(),
            start_top1=self._top1.copy(),
            starts=self._starts.numpy(),
            regions=counts,
            never_grew=(done & ~self._grew).sum((1, 2, 3)),
            # Every way to grow begins at the same starts.
            bad_starts=bad.sum((1, 2)) * len(self._methods),
            hits=(done & self._hit).sum((1, 2, 3)),
            unconverged=(done & ~self._converged).sum((1, 2, 3)),
            target=np.array(self._target, dtype=np.int64),
            networks=tuple(classifier.name for classifier in self._classifiers),
            shapes=tuple(space.name for space in self._spaces[0]),
            methods=self._methods,
            labels=tuple(self._classifiers[0].labels),
            axes=self._spaces[0][0].axes,
            model_calls=self._calls + (0 if self._growth is None else self._growth.calls),
        )

    def _able(self) -> np.ndarray:
        """Whether ``(M, K, P)`` the class is seen at the start.

        For adversarial regions, whether it is not seen.
        """
        # (M, K, P).
        held = self._top1 == np.array(self._target)[None, :, None]
        return np.asarray(held if self._params.mode == "robust" else ~held)


def table(result: SrvrResult) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """The table as text: a heading and one row for each network, the most robust first."""
    heading = ("network", "SRVR %", "± %", *(f"{method} %" for method in result.methods))
    heading += (
        "regions",
        "never grew",
        "class not seen at the start",
        "hit the range",
        "still growing when stopped",
    )
    rows = []
    # Unknown shares last; a share is never below 0.
    for m in np.argsort(-np.nan_to_num(result.srvr, nan=-1), kind="stable"):
        shares = (result.srvr[m], result.srvr_error[m], *result.by_method[m])
        counts = (
            result.regions[m],
            result.never_grew[m],
            result.bad_starts[m],
            result.hits[m],
            result.unconverged[m],
        )
        words = tuple("" if np.isnan(share) else f"{100 * share:.2f}" for share in shares)
        rows.append((result.networks[m], *words, *(str(int(count)) for count in counts)))
    return heading, rows


def _mean(values: np.ndarray, done: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    count = done.sum(axes)
    # Not nanmean, which warns about rows without a value.
    total = np.where(done, values, 0).sum(axes)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _error(values: np.ndarray) -> np.ndarray:
    """Standard error of the mean of each row ``(M, regions)``; nan with fewer than two values."""
    counts = np.isfinite(values).sum(1)
    spread = np.array(
        [
            np.var(row[np.isfinite(row)], ddof=1) if count > 1 else np.nan
            for row, count in zip(values, counts, strict=True)
        ]
    )
    return np.asarray(np.sqrt(spread / np.maximum(counts, 1)))
