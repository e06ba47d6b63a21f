"""How fast a model is on its device, with and without half precision and channels last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from robgui.core.model.answers import Speed

if TYPE_CHECKING:
    import torch

    from robgui.core.model.classifier import Classifier

#: For each of up to four ways, while a person waits: long enough for many calls, and short.
_SECONDS = 0.5


def measure(classifier: Classifier) -> list[Speed]:
    """Times a batch of random inputs in each precision and layout.

    Leaves the classifier unchanged.
    """
    import torch

    ways = [("as it is", False, False), ("half precision", True, False)]
    if classifier.kind == "image":
        ways += [("channels last", False, True), ("both", True, True)]
    generator = torch.Generator(classifier.device).manual_seed(0)
    x = torch.rand(
        (min(64, classifier.batch()), *classifier.shape),
        generator=generator,
        device=classifier.device,
    )
    before = classifier.precision
    try:
        classifier.to(classifier.device, autocast=False, channels_last=False)
        reference = classifier.probs(x)
        return [_time(classifier, x, reference, *way) for way in ways]
    finally:
        classifier.to(classifier.device, autocast=before[0], channels_last=before[1])


def _time(
    classifier: Classifier,
    x: torch.Tensor,
    reference: torch.Tensor,
    name: str,
    autocast: bool,
    channels_last: bool,
) -> Speed:
    classifier.to(classifier.device, autocast=autocast, channels_last=channels_last)
    # Warms up too: the first call in a new precision or layout is a slow one.
    probabilities = classifier.probs(x)
    done, began = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - began) < _SECONDS:
        classifier.infer(x)
        done += len(x)
    return Speed(name, done / elapsed, float((probabilities - reference).abs().max()))
