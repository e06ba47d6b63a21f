"""An engine and the bare model in turns of a fraction of a second, so that both meet the same
load of the machine.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch

from robgui.core.execution.step import Step
from robgui.core.model.classifier import Classifier

#: Seconds of one turn of the engine: long against the making of one picture, short against what
#: disturbs a machine.
TURN = 0.3


@dataclass(frozen=True)
class Turns:
    """What every turn took.

    Attributes:
        calls: ``(turns,)`` inputs the model saw.
        engine: ``(turns, 2)`` seconds of the engine, wall clock and processor.
        bare: ``(turns, 2)`` seconds of the bare model on as many inputs.
    """

    calls: np.ndarray
    engine: np.ndarray
    bare: np.ndarray

    def words(self) -> str:
        """Ratios of the sums, and the median over the turns, by either clock."""
        sums = self.engine.sum(0) / self.bare.sum(0)
        medians = np.median(self.engine / self.bare, axis=0)
        seconds = f"engine {self.engine[:, 0].sum():.1f} s, bare {self.bare[:, 0].sum():.1f} s"
        ratios = (
            f"in all {sums[0]:.3f} (processor {sums[1]:.3f}), median of {len(self.calls)} turns"
            f" {medians[0]:.3f} ({medians[1]:.3f})"
        )
        return f"{int(self.calls.sum()):,} calls, {seconds}; engine / bare {ratios}"


def take_turns(
    classifier: Classifier, steps: Iterator[Step], batch: int, limit: float = np.inf
) -> Turns:
    """Runs ``steps`` to their end, or for ``limit`` seconds.

    The bare model takes ready-made inputs in batches of ``batch``.
    """
    x = torch.rand((batch, *classifier.shape))
    classifier.infer(x)
    rows, ends, going = [], time.perf_counter() + limit, True
    while going and time.perf_counter() < ends:
        before, began = classifier.calls, _now()
        while going and time.perf_counter() - began[0] < TURN:
            going = next(steps, None) is not None
        spent, count = _now() - began, classifier.calls - before
        if count:
            rows.append((count, spent, _bare(classifier, x, count)))
    calls, engine, bare = zip(*rows, strict=True)
    return Turns(np.array(calls), np.stack(engine), np.stack(bare))


def _bare(classifier: Classifier, x: torch.Tensor, count: int) -> np.ndarray:
    """Seconds for ``count`` inputs; what the batches do not fit into is counted in part."""
    batches = max(1, round(count / len(x)))
    began = _now()
    for _ in range(batches):
        classifier.infer(x)
    return (_now() - began) * count / (batches * len(x))


def _now() -> np.ndarray:
    return np.array([time.perf_counter(), time.process_time()])
