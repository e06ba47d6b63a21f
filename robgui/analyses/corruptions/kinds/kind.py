"""Corruption: one kind of corruption in five severities."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

#: Severities, as in Hendrycks and Dietterich (2019).
SEVERITIES = (1, 2, 3, 4, 5)
#: Smaller pictures take the constants of CIFAR-10.
SMALL = 64

Generators = list[torch.Generator]


@dataclass(frozen=True, slots=True)
class Corruption:
    """One kind of corruption.

    Attributes:
        title: What it is called.
        group: Noise, blur, weather or digital.
        large: Its constants from severity 1 to 5 for large pictures.
        small: The same for small ones.
        apply: ``(x, constant, generators) -> x`` on pictures ``(n, c, h, w)`` in [0, 1]; one
            generator for each picture.
        on_host: Whether it is made on the host and is best given pictures there.
    """

    title: str
    group: str
    large: tuple[Any, ...]
    small: tuple[Any, ...]
    apply: Callable[[Tensor, Any, Generators], Tensor]
    on_host: bool = False
