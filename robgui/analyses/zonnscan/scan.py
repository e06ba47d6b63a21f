"""The rounds of a scan: all zones get a few samples first, then each gets twice as many until it is sure enough."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch

from robgui.analyses.zonnscan.points import stretches
from robgui.analyses.zonnscan.tally import Tally, half_widths
from robgui.analyses.zonnscan.zones import Cloud
from robgui.core.classifier import Classifier

#: A zone may stop early from here on; with fewer samples the estimate of its own spread is a guess.
FEWEST = 128


class Scan:
    """Samples every zone of a cloud until its interval is narrow enough or ``cap`` is reached.

    Iterating does the work and gives control back after each batch; ``tally`` is up to date at that moment.

    Args:
        classifier: The model.
        cloud: Zones and their samples.
        tally: Where to count.
        cap: Most samples per zone, a multiple of the cloud's lanes.
        target: Half-width at which a zone stops; 0 never stops early.
        batch: Most inputs per model call; 0 lets the program choose.
    """

    def __init__(self, classifier: Classifier, cloud: Cloud, tally: Tally, *, cap: int, target: float = 0.0, batch: int = 0) -> None:
        self.tally = tally
        self.cap = cap
        self.active = list(range(len(tally.samples)))
        self._classifier = classifier
        self._cloud = cloud
        self._target = target
        self._batch = batch

    @property
    def total(self) -> int:
        """Samples to take if no zone stops early."""
        return self.cap * len(self.tally.samples)

    @property
    def done(self) -> int:
        """Samples taken or saved by stopping early."""
        stopped = np.ones(len(self.tally.samples), dtype=bool)
        stopped[self.active] = False
        return int(np.where(stopped, self.cap, self.tally.samples).sum())

    def __iter__(self) -> Iterator[None]:
        for round_ in stretches(self.cap, self._cloud.block_size):
            yield from self._round(round_)
            self._retire(round_[-1][1])
            if not self.active:
                return

    def _round(self, stretches: list[tuple[int, int]]) -> Iterator[None]:
        zones = torch.tensor(self.active, device=self._classifier.device)
        for first, last in stretches:
            block = self._cloud.block(first, last, zones)
            yield from block.prepare()
            together = max(1, self._classifier.batch(self._batch) // (last - first))
            for i in range(0, len(zones), together):
                part = zones[i : i + together]
                samples = block.at(part).reshape(-1, *self._classifier.shape)
                scores = self._classifier.infer(samples, self._batch)
                self.tally.add(self.active[i : i + together], part, first, scores)
                yield

    def _retire(self, samples: int) -> None:
        """Takes out the zones that have reached their cap or are sure enough."""
        if samples >= self.cap:
            self.active = []
        elif self._target > 0 and samples >= FEWEST:
            half = half_widths(self.tally.counts())
            self.active = [zone for zone in self.active if half[zone] > self._target]
