"""The kinds of corruption in five severities, as published by Hendrycks and Dietterich (2019).

Their constants for ImageNet (224 pixels) and for CIFAR-10 (32 pixels) differ; pictures with a
shorter side below 64 pixels take the second. Random numbers are drawn on the host with a separate
seed for each picture: the same on every device and in every batch.
"""

from __future__ import annotations

from torch import Tensor

from robgui.analyses.corruptions.kinds.blur import BLUR
from robgui.analyses.corruptions.kinds.digital import DIGITAL
from robgui.analyses.corruptions.kinds.kind import SEVERITIES, SMALL, Corruption
from robgui.analyses.corruptions.kinds.noise import NOISE
from robgui.analyses.corruptions.kinds.weather import WEATHER
from robgui.core.model.randomness import host_generator

__all__ = ["KINDS", "SEVERITIES", "SMALL", "Corruption", "corrupt"]

KINDS: dict[str, Corruption] = {**NOISE, **BLUR, **WEATHER, **DIGITAL}


def corrupt(x: Tensor, name: str, severity: int, seeds: list[int]) -> Tensor:
    """Pictures ``(n, c, h, w)`` in [0, 1] corrupted; ``seeds`` has one number for each."""
    kind = KINDS[name]
    # Constants of CIFAR-10 for small pictures: a blur of 10 pixels would leave nothing of 32.
    if min(x.shape[2:]) < SMALL:
        constants = kind.small
    else:
        constants = kind.large
    return kind.apply(x, constants[severity - 1], [host_generator(seed) for seed in seeds]).clip(
        0, 1
    )
