"""The rounds of a scan: all zones get a few samples first, then each gets more until it is sure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.zonnscan.sampling.intervals import doubt, unsure
from robgui.analyses.zonnscan.sampling.points import SOBOL_DIMENSIONS, stretches
from robgui.analyses.zonnscan.sampling.tally import Counts, Tally
from robgui.analyses.zonnscan.sampling.zones import Block, Cloud
from robgui.core.model.classifier import Classifier

#: Batches counted together: counting takes many small operations, and a picture every four batches
#: is enough.
COUNTED = 4
#: Model calls for the first curve over all zones around a large input.
FIRST_CURVE = 64


class Scan:
    """Samples every zone of a cloud until its interval is narrow enough or ``cap`` is reached.

    Iterating does the work and yields after each batch, from the first samples on; ``tally`` holds
    the counts so far.

    Attributes:
        active: Zones that need more samples.
        used: How many zones have been begun; the others wait.
        more: Called after every round; says how many of the waiting zones to begin, in order.

    Args:
        classifier: The model.
        cloud: Zones and their samples.
        tally: Where to count.
        cap: Most samples per zone, a multiple of the cloud's lanes.
        target: Half-width of the index at which a zone stops; 0 never stops early.
        target_share: Half-width of the share of changes that it needs too; 0 does not watch it.
        batch: Most inputs per model call; 0 lets the program choose.
        first: Zones to begin with; the others wait until ``more`` names them. None: all.
        hurried: Whether the time is limited: then the least known zones come first.
    """

    def __init__(
        self,
        classifier: Classifier,
        cloud: Cloud,
        tally: Tally,
        *,
        cap: int,
        target: float = 0.0,
        target_share: float = 0.0,
        batch: int = 0,
        first: int | None = None,
        hurried: bool = False,
    ) -> None:
        self.tally = tally
        self.cap = cap
        self.active = list(range(len(tally.samples) if first is None else first))
        self.used = len(self.active)
        self.more: Callable[[Counts], int] = lambda counts: 0
        self._hurried = hurried
        self._classifier = classifier
        self._cloud = cloud
        self._target, self._target_share = target, target_share
        self._batch = batch
        self._memory: Tensor | None = None

    @property
    def total(self) -> int:
        """Samples to take if no zone stops early and none is added."""
        return self.cap * self.used

    @property
    def done(self) -> int:
        """Samples taken, or saved by stopping early."""
        # A zone that stopped early counts in full, so progress reaches its end.
        stopped = np.ones(self.used, dtype=bool)
        stopped[self.active] = False
        return int(np.where(stopped, self.cap, self.tally.samples[: self.used]).sum())

    def __iter__(self) -> Iterator[None]:
        # Algorithm 1 draws k samples in one go; here they come in rounds, so that a zone can
        # stop when its interval is narrow enough. A round is named by the sample it begins with.
        rounds = {round_[0][0]: round_ for round_ in stretches(self.cap, self._cloud.block_size)}
        while self.active:
            taken, chosen = self.tally.samples.copy(), self._chosen()
            # Zones added later have fewer samples: each continues with its own next round, so all
            # zones use the same base points.
            for start in np.unique(taken[chosen]).tolist():
                yield from self._round(
                    rounds[start], [zone for zone in chosen if taken[zone] == start]
                )
            # Decided after a whole round, never within one: intervals
            # allow for looks at round ends only.
            self.active = self.going_on()
            added = self.more(self.tally.counts())
            self.active += range(self.used, self.used + added)
            self.used += added

    def _chosen(self) -> list[int]:
        """The zones of the next round: new ones, else all that continue.

        In a hurry, those whose intervals are widest relative to the target, down to half of it.
        """
        # A radius without samples is a hole in the curve, so new zones go first.
        new = [zone for zone in self.active if self.tally.samples[zone] == 0]
        if new or not self._hurried:
            return new or self.active
        wide = doubt(self.tally.counts(), self.cap, self._target, self._target_share)[self.active]
        # Down to half of the widest: the widest alone would be one zone per call.
        least = wide.max() / 2
        return [zone for zone, one in zip(self.active, wide, strict=True) if one >= least]

    def _round(self, stretches: list[tuple[int, int]], numbers: list[int]) -> Iterator[None]:
        zones = torch.tensor(numbers, device=self._classifier.device)
        for first, last in stretches:
            block = self._cloud.block(first, last, zones)
            yield from block.prepare()
            for portion in self._portions(first, last, len(numbers)):
                yield from self._count(block, zones, numbers, first, portion)

    def _portions(self, first: int, last: int, zones: int) -> Iterator[range]:
        """Rows of a block that all zones get before any gets more.

        The first samples of a large input come a few at a time, so the first curve over all zones
        takes 64 calls; its points are independent, so any of them may come first.
        """
        rows = last - first
        begun = rows
        # Only plain points: part of a Sobol or antithetic row would not be a sample of its law.
        if first == 0 and self._cloud.lanes == 1 and self._large:
            begun = min(rows, max(1, FIRST_CURVE // zones))
        start = 0
        while start < rows:
            # Each portion doubles what all zones have.
            yield range(start, min(rows, start + max(begun, start)))
            start += max(begun, start)

    @property
    def _large(self) -> bool:
        return math.prod(self._classifier.shape) > SOBOL_DIMENSIONS

    def _count(
        self, block: Block, zones: Tensor, numbers: list[int], first: int, portion: range
    ) -> Iterator[None]:
        """Counts these rows of a block in all zones."""
        # Enough zones for COUNTED batches: scores wait on the device and are counted together.
        together = max(1, COUNTED * self._classifier.batch(self._batch) // len(portion))
        for i in range(0, len(zones), together):
            part = zones[i : i + together]
            scores = torch.empty(
                (len(part), len(portion), self._classifier.classes), device=zones.device
            )
            for some, rows in self._batches(len(part), len(portion)):
                # Not before the first samples are counted: a Step in between would have nothing
                # new.
                if (some.start or rows.start) and self.tally.samples.any():
                    yield
                drawn = slice(portion.start + rows.start, portion.start + rows.stop)
                scores[some, rows] = self._answers(block, part[some], drawn)
            start = first + portion.start
            # One check for COUNTED batches: one for each took 1 % more of the time.
            checked = self._classifier.sound(scores.flatten(0, 1))
            self.tally.add(numbers[i : i + together], part, start, checked)
            yield

    def _batches(self, zones: int, count: int) -> Iterator[tuple[slice, slice]]:
        """Batches of ``count`` samples of each zone: some zones whole, or some rows of one."""
        size = self._classifier.batch(self._batch)
        together, rows = max(1, size // count), min(size, count)
        for zone in range(0, zones, together):
            for row in range(0, count, rows):
                yield slice(zone, min(zone + together, zones)), slice(row, min(row + rows, count))

    def _answers(self, block: Block, zones: Tensor, rows: slice) -> Tensor:
        """Scores ``(len(zones), rows, C)`` of one batch of samples, made in the last one's memory.

        Allocating memory costs time.
        """
        size = (len(zones), rows.stop - rows.start, math.prod(self._classifier.shape))
        values = math.prod(size)
        if self._memory is None or len(self._memory) < values:
            self._memory = torch.empty(values, device=zones.device)
        samples = block.at(zones, rows, self._memory[:values].view(size))
        x = samples.view(-1, *self._classifier.shape)
        return self._classifier.infer(x, self._batch, checked=False).view(*size[:2], -1)

    def going_on(self) -> list[int]:
        """The zones that need more samples: neither at the cap nor sure enough."""
        going = unsure(self.tally.counts(), self.cap, self._target, self._target_share)
        return np.flatnonzero(going[: self.used]).tolist()
