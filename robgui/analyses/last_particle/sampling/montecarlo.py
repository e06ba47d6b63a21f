"""Plain Monte Carlo for comparison: k samples without a failure prove only p < -log(risk) / k."""

from __future__ import annotations

from collections.abc import Generator, Iterator

import numpy as np
import torch
from torch import Tensor

from robgui.analyses.last_particle.particles.setup import Score
from robgui.analyses.last_particle.particles.streams import Streams

#: Samples drawn for one test at a time; fixed, so the batch does not change them.
_BLOCK = 64
#: Keeps these random numbers apart from those of the particles.
_STREAM = 1 << 40


class MonteCarlo:
    """Counts failures among plain samples of every test.

    Attributes:
        failures: ``(tests,)`` so far.
        sampled: ``(tests,)`` samples so far.

    Args:
        score: The margin.
        dim: Latent dimensions.
        tests: How many tests.
        samples: Samples for each.
        seed: Start of the random numbers.
        rows: Samples per model call at most.
        device: Where the samples live.
    """

    def __init__(
        self,
        score: Score,
        dim: int,
        tests: int,
        samples: int,
        seed: int,
        rows: int,
        device: torch.device,
    ) -> None:
        self._score, self._dim, self._samples, self._device = score, dim, samples, device
        self._streams = Streams(seed, device, score.spread)
        self._blocks = max(1, rows // _BLOCK)
        if rows < _BLOCK:
            self._rows = max(1, rows)
        else:
            self._rows = self._blocks * _BLOCK
        self.failures = np.zeros(tests, dtype=np.int64)
        self.sampled = np.zeros(tests, dtype=np.int64)

    def run(self, only: np.ndarray | None = None) -> Iterator[None]:
        """Samples all tests or ``only`` these, one after the other.

        Yields after every model call.
        """
        # Rounded up; what the last block has too many is not counted.
        per_test = -(-self._samples // _BLOCK)
        todo = np.repeat(np.arange(len(self.failures)) if only is None else only, per_test)
        for first in range(0, len(todo), self._blocks):
            part = todo[first : first + self._blocks]
            for test in np.unique(part):
                if self.sampled[test] == 0:
                    self._streams.open(_STREAM + int(test))
            yield from self._sample(part)
            yield

    def _sample(self, part: np.ndarray) -> Iterator[None]:
        owner = np.repeat(part, _BLOCK)
        latent = self._drawn(part, owner)
        wanted = np.concatenate(
            [
                self._wanted(test, int(count))
                for test, count in zip(*np.unique(part, return_counts=True), strict=True)
            ]
        )
        failing = yield from self._fails(latent, torch.from_numpy(owner).to(self._device))
        fails = failing & wanted
        # ``add.at``, since a test may own several rows, which += would count once.
        np.add.at(self.failures, owner[fails], 1)
        np.add.at(self.sampled, owner[wanted], 1)
        for test in np.unique(part):
            if self.sampled[test] == self._samples:
                self._streams.close(_STREAM + int(test))

    def _drawn(self, part: np.ndarray, owner: np.ndarray) -> Tensor:
        """Points ``(blocks * 64, dim)``; a test may occur more than once, its blocks in order."""
        inside = self._score.inside(torch.from_numpy(owner).to(self._device))
        lanes = (part + _STREAM).tolist()
        return self._streams.normal_inside(lanes, _BLOCK, self._dim, inside).flatten(0, 1)

    def _wanted(self, test: int, blocks: int) -> np.ndarray:
        """Which of a test's next samples still count; the last block may be cut."""
        return np.asarray(np.arange(blocks * _BLOCK) < self._samples - self.sampled[test])

    def _fails(self, latent: Tensor, owner: Tensor) -> Generator[None, None, np.ndarray]:
        """Which points fail; a slow model gets a few at a time."""
        parts = []
        for first in range(0, len(latent), max(self._rows, 1)):
            if first:
                yield
            rows = slice(first, first + self._rows)
            with torch.inference_mode():
                parts.append((self._score.bind(owner[rows])(latent[rows]) > 0).cpu().numpy())
        return np.concatenate(parts)
