"""How long one input takes a model: alone, in a batch, with its gradient."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robgui.core.errors import RobguiError

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from robgui.core.model.classifier import Classifier

#: Longest timed call in seconds; a slower model is timed on a single input.
_SLOW = 0.25
#: A call quicker than this is timed again, and the quickest one counts: the first call of a model
#: also prepares its kernels, and any call may have to share the processor.
_QUICK = 1.0
#: Calls are timed until they have taken this many seconds together, at most so often.
_ENOUGH, _TIMES = 0.1, 5
#: Cost of an untimed gradient, in calls without one.
_SLOPE = 3.0


@dataclass(frozen=True, slots=True)
class CallTimes:
    """Seconds for one input; 0 if the model has not been timed.

    Attributes:
        alone: By itself.
        together: In a batch of ``batch``, the model's own size.
        slope: With the gradient.
    """

    alone: float = 0.0
    together: float = 0.0
    slope: float = 0.0
    batch: int = 1

    @property
    def known(self) -> bool:
        """Whether the model was timed."""
        return self.alone > 0

    def each(self, at_once: int = 0) -> float:
        """Seconds for one of ``at_once`` inputs given together; 0 means the model's own batch."""
        if not at_once or at_once >= self.batch:
            return self.together
        # A call costs something by itself and something for each input.
        call = max(0.0, self.alone - self.together) * self.batch / max(1, self.batch - 1)
        return min(self.alone, max(self.together, self.together + call / at_once))


def timed(classifier: Classifier) -> CallTimes:
    """Times a few calls; the model's call count and random state stay as they were.

    A model that fails on them has no times, which is no reason not to open it.
    """
    from robgui.core.devices import draws_kept

    calls = classifier.calls
    try:
        with draws_kept(classifier.device):
            return _timed(classifier)
    except (RobguiError, MemoryError):
        return CallTimes()
    finally:
        classifier.calls = calls


def _timed(classifier: Classifier) -> CallTimes:
    import torch

    one = torch.full((1, *classifier.shape), 0.5, device=classifier.device)
    alone = _seconds(lambda: float(classifier.infer(one).sum()))  # Waits for the device.
    batch = min(classifier.batch(), max(1, int(_SLOW / max(alone, 1e-9))))
    if batch == 1:
        return CallTimes(alone, alone, _SLOPE * alone)
    # Copied out: an expanded tensor has stride 0, which some kernels take a slower path for.
    x = one.expand(batch, *classifier.shape).contiguous()
    together = _seconds(lambda: float(classifier.infer(x).sum())) / batch
    # A gradient keeps every layer's output in memory, a plain call does not.
    few = max(1, batch // 4)
    slope = _slope_seconds(classifier, x[:few]) / few
    return CallTimes(alone, together, slope or _SLOPE * together, batch)


def _slope_seconds(classifier: Classifier, x: torch.Tensor) -> float:
    """Seconds of one call with its gradient; 0 if the model cannot give one."""
    if not classifier.capabilities.gradients:
        return 0.0

    def call() -> float:
        moved = x.clone().requires_grad_()
        classifier.logits(moved).sum().backward()  # type: ignore[no-untyped-call]
        assert moved.grad is not None
        return float(moved.grad.sum())  # Waits for the device.

    try:
        return _seconds(call)
    except (RobguiError, RuntimeError, AssertionError, MemoryError):
        return 0.0  # It only claims to; a run says so when it needs one.


def _seconds(call: Callable[[], object]) -> float:
    best, spent = math.inf, 0.0
    for tried in range(1, _TIMES + 1):
        began = time.perf_counter()
        call()
        took = time.perf_counter() - began
        best, spent = min(best, took), spent + took
        # A slow first call alone is no measure: it may be the preparation that was slow.
        if best > _QUICK or (tried > 1 and spent > _ENOUGH):
            break
    return best
